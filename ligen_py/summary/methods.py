"""The methods paragraph, ready to paste: what was done, with versions, settings and citations."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ligen_py.records.networks import NETWORK_SHARE
from ligen_py.store.campaign.layout import Runs
from ligen_py.summary.dossier import Dossier
from ligen_py.summary.facts import settings_of
from ligen_py.summary.glossary import CITATIONS, NETWORKS, TRAINED, function

LIGEN = "L. Crisci et al., Future Gener. Comput. Syst. 2024, doi:10.1016/j.future.2024.03.045"
AUTODOCK = "G. M. Morris et al., J. Comput. Chem. 1998, 19, 1639 (Lamarckian genetic algorithm)"

LOCAL_SEARCHES = {"bfgs": "BFGS", "adadelta": "ADADELTA", "solis_wets": "Solis and Wets' method"}


def methods(dossiers: Sequence[Dossier], runs: Runs, effort: str) -> list[str]:
    """Sentences on preparation, docking, scoring and analysis, then the literature."""
    chosen = _settings(runs)
    pocket, parse, dock, filtered, refine, score = (
        chosen.get(kind, {}) for kind in ("pocket", "ligands", "poses", "kept", "refined", "scores")
    )
    program = next((str(name) for name in runs.created_by), "ligen_py")
    devices = sorted({_without_functions(str(name)) for name in runs.device if name})
    names = [function(name).name for name in dossiers[0].target.functions] if dossiers else []
    records = sum(balance.records for balance in dossiers[0].target.ledger) if dossiers else 0
    scored = ", ".join(f"{one.target.size:,} for {one.target.name}" for one in dossiers)
    text = [
        f"Virtual screening was done with {program}"
        + (f" on {', '.join(devices)}" if devices else "")
        + (f", at the effort {effort}" if effort else "")
        + f". Of {records:,} input records, molecules ranked were {scored}.",
        _ligands(parse),
        _receptors(pocket),
        _search(dock)
        + ", poses were filtered"
        + (" and clustered" if filtered.get("cluster_rmsd") else "")
        + _refined(refine)
        + f", and scored by {_joined(names)}{_marks(dossiers)}.",
    ]
    weights, consensus = score.get("pose_weights"), _is_consensus(dossiers)
    if isinstance(weights, dict) and score.get("rank_by") in ("energy", "networks"):
        heard = score["rank_by"] == "networks"
        functions = score.get("functions", list(weights))
        text.append(_choice(weights, functions, consensus, heard, _costs(score)))
    if consensus:
        text.append(f"Molecules were ranked by the mean of their ranks by {_joined(names)}.")
    text += _networks(dossiers)
    text.append(
        "Interactions follow the criteria of ProLIF and PLIP, pose checks those of PoseBusters; "
        "properties, alerts (PAINS, Brenk), scaffolds and Morgan fingerprints are RDKit's."
    )
    return text


def _without_functions(device: str) -> str:
    """The device as people name it: not every stage records a processor's functions."""
    return re.sub(r", functions \w+\)$", ")", device)


def _networks(dossiers: Sequence[Dossier]) -> list[str]:
    """What networks were asked of the best molecules; nothing where they were not."""
    judged = [one.target.networks for one in dossiers if one.target.networks]
    if not judged:
        return []
    functions = [name for name in dossiers[0].target.functions if name in CITATIONS]
    number = (functions.index("gnina") if "gnina" in functions else len(functions)) + 2
    count = max(len(found.molecules) for found in judged)
    weight = judged[0].weight
    chosen = f", and chose that of lowest energy - {weight:g} logit" if weight else ""
    return [
        f"Of the best {count} molecules of each target gnina's networks [{number}] judged all kept "
        f"poses of the best state{chosen}. Ranks, scores and interactions are those of the poses "
        f"that energies chose. {TRAINED}"
    ]


def _is_consensus(dossiers: Sequence[Dossier]) -> bool:
    return bool(dossiers) and dossiers[0].target.rank_by == "consensus"


def _choice(
    weights: Mapping[str, float],
    functions: Sequence[str],
    consensus: bool,
    networks_rank: bool,
    costs: str,
) -> str:
    """How poses were chosen and molecules ranked; networks and energies are named apart.

    With `consensus` molecules rank otherwise, with `networks_rank` by networks, too.
    """
    heard = {name: value for name, value in weights.items() if value and name in functions}
    if not heard or (len(heard) == 1 and not heard.keys() & NETWORKS):
        heard = dict.fromkeys(list(heard or functions)[:1], 1.0)  # as scoring does
    energies = [f"{w:g} {function(name).name}" for name, w in heard.items() if name not in NETWORKS]
    networks = [
        f"{w:g} logit of {function(name).name}" for name, w in heard.items() if name in NETWORKS
    ]
    ranked = "that energy"
    if len(energies) == 1 and not energies[0].startswith("1 "):
        ranked = "the whole of that energy"  # networks choose beside a part of it
    ranked += " alone" if networks and not networks_rank else ""
    if energies:
        chosen = f"The pose of lowest energy ({' + '.join(energies)})"
        if networks:
            chosen += f", less what convolutional networks say ({' + '.join(networks)})"
    else:
        chosen = f"The pose of which convolutional networks say most ({' + '.join(networks)})"
        others = [function(name).name for name in functions if name not in NETWORKS]
        ranked = f"the energy of {others[0]}" if others else "what they say"
    if consensus:
        return f"{chosen} was chosen."
    return (
        f"{chosen} was chosen; molecules were ranked by {ranked}, less the ligand's own part of it "
        f"in the pose where this is lowest{costs}, divided by (1 + 0.02 torsions) x the square "
        "root of the number of heavy atoms"
        + (f", plus {NETWORK_SHARE:g} logit of the networks. {TRAINED}" if networks_rank else ".")
    )


def _costs(score: Mapping[str, Any]) -> str:
    """What is added to a ligand's energy where states and molecules compete."""
    strain, row = score.get("strain_cost", 0), score.get("row_cost", 0)
    costs = [
        "the free energy of its protonation state in water" if score.get("state_cost") else "",
        f"{strain:g} of the strain of its rings" if strain else "",
        f"{row:g} kcal/mol times the logarithm of the number of stereoisomers" if row else "",
    ]
    words = [cost for cost in costs if cost]
    return f", plus {_joined(words)}" if words else ""


def citations(functions: Sequence[str], runs: Runs) -> list[str]:
    """The literature in the order of its numbers; the first is that of the search.

    Of two searches that is LiGen's, and the text has the other.
    """
    dock = _settings(runs).get("poses", {})
    own = [CITATIONS[name] for name in functions if name in CITATIONS]
    return [
        AUTODOCK if "population" in dock and not dock.get("restarts") else LIGEN,
        *own,
        "C. Bouysset, S. Fiorucci, J. Cheminform. 2021, 13, 72 (ProLIF)",
        "S. Salentin et al., Nucleic Acids Res. 2015, 43, W443 (PLIP)",
        "M. Buttenschoen, G. M. Morris, C. M. Deane, Chem. Sci. 2024, 15, 3130 (PoseBusters)",
        "J. B. Baell, G. A. Holloway, J. Med. Chem. 2010, 53, 2719 (PAINS)",
        "R. Brenk et al., ChemMedChem 2008, 3, 435 (alerts)",
        "RDKit: open-source cheminformatics, www.rdkit.org",
    ]


def _settings(runs: Runs) -> dict[str, dict[str, Any]]:
    """Settings of the first run record of each kind of file."""
    found: dict[str, dict[str, Any]] = {}
    for kind, text in zip(runs.kind, runs.settings, strict=True):
        found.setdefault(str(kind), settings_of(str(text)))
    return found


def _ligands(parse: Mapping[str, Any]) -> str:
    words = (
        "Molecules were standardised" if parse.get("standardise", True) else "Molecules as drawn"
    )
    if parse.get("protonate", True):
        words += _value(parse, "ph", ", protonated at pH {}")
    if parse.get("stereoisomers") == 1:
        words += ", docked as one stereoisomer each"
    else:
        words += _value(parse, "stereoisomers", ", expanded to up to {} stereoisomers")
    if parse.get("conformers") == 1:
        return f"{words} and one start conformer a state."
    return words + _value(parse, "conformers", " and up to {} start conformers a state") + "."


def _receptors(pocket: Mapping[str, Any]) -> str:
    words = "Receptors were prepared"
    if pocket.get("protonation") == "propka":
        words += _value(pocket, "ph", " with PDB2PQR and PROPKA at pH {}")
    return words + _value(pocket, "waters", "; crystal waters: {}") + "."


def _search(settings: Mapping[str, Any]) -> str:
    if "population" not in settings:
        starts = _value(settings, "num_restart", " from {} starts")
        return f"Ligands were docked by LiGen's geometric search [1]{starts}"
    both, most = settings.get("restarts"), settings.get("evaluations")
    searched = LOCAL_SEARCHES.get(str(settings.get("local_search")))
    return (
        "Ligands were docked by AutoDock's Lamarckian genetic algorithm "
        + (f"({AUTODOCK.partition(' (')[0]})" if both else "[1]")
        + " in AutoDock4's field"
        + _value(settings, "runs", ", {} runs")
        + _value(settings, "population", " of {} individuals")
        + (f" with local search by {searched}" if searched else "")
        + (f" and at most {most} energy evaluations each" if most else "")
        + (" and as many energy evaluations as AutoDock-GPU estimates" if most == 0 else "")
        + _value(settings, "seed", " (seed {})")
        + (_value(settings, "restarts", ", and by LiGen's [1] from {} starts") if both else "")
    )


def _refined(refine: Mapping[str, Any]) -> str:
    if refine.get("rounds") == 0:  # poses stay as the search made them
        return ""
    field = refine.get("field")
    return (
        ", refined"
        + (f" in the field of {function(str(field)).name}" if field else "")
        + (" and clustered" if refine.get("cluster_rmsd") else "")
    )


def _value(settings: Mapping[str, Any], name: str, words: str) -> str:
    if name not in settings:
        return ""
    value = settings[name]
    return words.format(_joined([str(one) for one in value]) if isinstance(value, list) else value)


def _marks(dossiers: Sequence[Dossier]) -> str:
    known = [name for name in dossiers[0].target.functions if name in CITATIONS] if dossiers else []
    return f" [{', '.join(str(number + 2) for number in range(len(known)))}]" if known else ""


def _joined(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
