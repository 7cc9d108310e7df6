"""Polar hydrogens and charges of a receptor, as AutoDock4 needs them.

Amino acids have the Gasteiger charges of their residue within a peptide (J. Gasteiger, M. Marsili,
Tetrahedron 36 (1980) 3219-3228) at pH 7, hydrogens on carbon merged into it. Hydrogens of the file
are used where a residue has polar ones; elsewhere they are built: in the plane or the tetrahedron
of the bonds, a hydroxyl's and a water's towards the nearest acceptors and away from hydrogens that
are placed before it. A histidine whose nitrogen binds a metal has its hydrogen on the other,
between two metals none; a cysteine there has none. Cofactors, nucleotides and modified side chains
that are known by name (`cofactors`) have the Gasteiger charges of their molecule, and so have
groups whose bonds are perceived (`perception`). Anything else is typed by element and neutral, but
for metals, halide ions and the sulfides of clusters.
"""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np

from ligen_py.molecules.receptor.heavy import Heavy, ties
from ligen_py.molecules.receptor.hydrogens import build, turns
from ligen_py.molecules.receptor.metals import anions, by_element
from ligen_py.molecules.receptor.states import ACIDS, CARBOXYL, Evidence, role_of, state_of
from ligen_py.molecules.receptor.templates import (
    IMINES,
    PARTNER,
    Template,
    amino_acid,
    cofactor,
    thiolate,
    without_hydrogens,
)
from ligen_py.molecules.residues import BACKBONE, WATERS, atom_name
from ligen_py.molecules.typing.ad4 import charged_receptor
from ligen_py.records.functions.ad4 import Ad4Receptor, Ad4Type
from ligen_py.records.functions.xscore import TAKES, Interaction

WATER = (-0.411, 0.205)
"""Gasteiger charges of water: oxygen, each hydrogen."""


@dataclass(frozen=True)
class Charged:
    """A receptor with charges, and how its hydrogens came about."""

    receptor: Ad4Receptor
    given: np.ndarray
    """Numbers of the given hydrogens that are used."""
    built: np.ndarray
    """Number of the residue of each other hydrogen (hydrogens,)."""
    states: list[tuple[int, str]]
    """Residues, by number, whose state is worth a word, and that word."""
    roles: dict[int, Interaction]
    """What the ring nitrogens of histidines do in hydrogen bonds, and the ends of acids with a
    hydrogen and of neutral lysines, by number of the atom."""
    cofactors: set[int]
    """Numbers of the residues whose SMILES is known."""
    amines: set[int]
    """Numbers of the residues whose backbone nitrogen is an amine, charged or not."""
    acids: set[int]
    """Numbers of the residues that end a chain as an acid with its hydrogen."""
    added: int = 0
    """How many used hydrogens are no atoms of the structure file, and so not among `given`."""


def charge(
    heavy: Heavy,
    hydrogens: np.ndarray,
    smiles: Mapping[str, str] | None = None,
    perceived: Mapping[int, Template] | None = None,
    complete: Set[int] = frozenset(),
) -> Charged:
    """Type and charge the heavy atoms, and add their polar hydrogens.

    `hydrogens` are the positions (n, 3) of those that are known, which may be none; `smiles` are
    cofactors by residue name, beside those of the table; `perceived` are atoms, by number, of
    groups without a SMILES; `complete` are numbers of residues all of whose hydrogens are known,
    so that a tyrosine without its own is a phenolate. A file may leave out some, as those of
    hydroxyls, which turn.
    """
    seen = Evidence.of(heavy, hydrogens, complete)
    given = seen.given
    templates, states, found = _templates(seen, smiles or {}, perceived or {})
    trusted = {int(heavy.residue[i]) for i in given}
    roles = {
        i: role for i, each in enumerate(templates) if (role := role_of(i, heavy, each)) is not None
    }
    acceptors = np.array([roles.get(i, kind) in TAKES for i, kind in enumerate(heavy.role)])
    is_known = [
        int(heavy.residue[i]) in trusted and (int(heavy.residue[i]) in complete or i in given)
        for i in range(len(templates))
    ]
    places = [hydrogens[given.get(i, []) if known else []] for i, known in enumerate(is_known)]
    placed = np.concatenate([np.empty((0, 3)), *places])
    # What turns does so between what cannot, and those before it.
    others = [i for i, known in enumerate(is_known) if not known]
    for i in sorted(others, key=lambda i: turns(i, templates[i], heavy)):
        places[i] = build(i, templates[i], heavy, acceptors, placed)
        placed = np.concatenate([placed, places[i]])
    count = np.array([len(each) for each in places])
    donor = np.repeat(np.arange(len(places)), count)
    kinds = [*(each.kind for each in templates), *[Ad4Type.HD] * len(donor)]
    charges = [each.charge for each in templates]
    charges += [templates[i].hydrogen_charge for i in donor.tolist()]
    return Charged(
        charged_receptor(np.concatenate([heavy.xyz, *places]), np.array(kinds), np.array(charges)),
        np.array(sorted(one for some in given.values() for one in some), np.int64),
        heavy.residue[donor[~np.array(is_known)[donor]]],
        states,
        roles,
        found,
        set(seen.amines),
        seen.acids,
    )


def _templates(
    seen: Evidence, smiles: Mapping[str, str], perceived: Mapping[int, Template]
) -> tuple[list[Template], list[tuple[int, str]], set[int]]:
    """What every heavy atom is, the states worth a word, and residues whose SMILES is known."""
    heavy = seen.heavy
    by_names: dict[int, dict[str, int]] = {}
    members: dict[int, list[int]] = {}  # in a cofactor two atoms may have one name
    for i, name in enumerate(heavy.name):
        residue = int(heavy.residue[i])
        by_names.setdefault(residue, {})[atom_name(heavy.residue_name[i], name)] = i
        members.setdefault(residue, []).append(i)
    known: dict[int, Template] = {}
    states: list[tuple[int, str]] = []
    found: set[int] = set()
    others: list[tuple[int, dict[str, int]]] = []
    for residue, atoms in by_names.items():
        some = next(iter(atoms.values()))
        if heavy.residue_name[some] in WATERS:
            known[some] = Template(Ad4Type.OA, WATER[0], 2, WATER[1], False)
            continue
        state, why = state_of(atoms, seen)
        if why:
            called = "ARN" if state in IMINES else state
            states.append((residue, f"state {called}: {why}"))
        if state:
            mine = _by_name(residue, state, atoms, seen)
            cure = "correct the file, or take propka's hydrogens"
            states += [(residue, words) for words in _unlike(atoms, mine, seen.given, cure)]
        else:
            mine = _by_smiles(members[residue], seen, smiles)
            found |= {residue} if mine else set()
            others.append((residue, atoms))
        known |= mine
    known = dict(perceived) | known
    for residue, atoms in others:
        if known.keys().isdisjoint(atoms.values()):
            known |= _backbone(atoms, heavy)
        words = _unlike(atoms, known, seen.given, "correct the file")
        states += [(residue, each) for each in words]
    return _every(known, members.values(), seen), states, found


def _by_name(
    residue: int, state: str, atoms: Mapping[str, int], seen: Evidence
) -> dict[int, Template]:
    """What the atoms of an amino acid are in its state."""
    is_acid = residue in seen.acids
    last = "acid" if is_acid else "carboxylate" if "OXT" in atoms else ""
    by_name = amino_acid(state, last, seen.amines.get(residue))
    bound = {name: len(ties(i, seen.heavy)) for name, i in atoms.items()}
    # A ligand is in the place of a hydrogen.
    taken = {name for name, i in atoms.items() if i in seen.given or bound[name]}
    for one, two in filter(None, (ACIDS.get(state), CARBOXYL if is_acid else None)):
        if one in taken and two not in taken:
            by_name = by_name | {one: by_name[two], two: by_name[one]}
    # These have the chain's bonds, and that of a lysine's partner, in the template.
    done = ("N", "C", "NZ") if state in PARTNER else ("N", "C")
    return {
        i: without_hydrogens(by_name[name], 0 if name in done else bound[name])
        for name, i in atoms.items()
        if name in by_name
    }


def _unlike(
    atoms: Mapping[str, int],
    known: Mapping[int, Template],
    given: Mapping[int, Sequence[int]],
    cure: str,
) -> list[str]:
    """Atoms of a residue whose hydrogens in the file are not as many as in its state."""
    return [
        f"{name}'s polar hydrogens are {len(given[i])} in the file, {known[i].hydrogens} in the "
        f"state that AutoDock4 takes it for; {cure}"
        for name, i in atoms.items()
        if i in given and i in known and known[i].hydrogens != len(given[i])
    ]


def _by_smiles(
    atoms: Sequence[int], seen: Evidence, smiles: Mapping[str, str]
) -> dict[int, Template]:
    """What the atoms of a residue are by its SMILES; nothing where none is known."""
    heavy, row = seen.heavy, {i: place for place, i in enumerate(atoms)}
    known = cofactor(
        heavy.residue_name[atoms[0]],
        [heavy.symbol[i] for i in atoms],
        [[row[other] for other in heavy.bonded[i] if other in row] for i in atoms],
        {row[i]: heavy.symbol[other] for i in atoms for other in ties(i, heavy)[:1]},
        smiles,
        [len(seen.given.get(i, ())) for i in atoms] if seen.given.keys() & row.keys() else [],
    )
    return {atoms[place]: template for place, template in known.items()}


def _backbone(atoms: Mapping[str, int], heavy: Heavy) -> dict[int, Template]:
    """What the backbone of a residue is that nothing else is known of; nothing outside a chain."""
    if not _is_in_chain(atoms, heavy):
        return {}
    alanine = amino_acid("ALA")
    found = {atoms[name]: alanine[name] for name in BACKBONE}
    nitrogen = atoms["N"]
    if len(heavy.bonded[nitrogen]) > 2:
        found[nitrogen] = without_hydrogens(found[nitrogen])
    return found


def _is_in_chain(atoms: Mapping[str, int], heavy: Heavy) -> bool:
    """Whether a residue, by its atoms' names, has an amino acid's backbone with a link."""
    if any(name not in atoms or heavy.symbol[atoms[name]] != BACKBONE[name] for name in BACKBONE):
        return False
    before, after = ([heavy.name[j] for j in ties(atoms[name], heavy)] for name in ("N", "C"))
    return "C" in before or "N" in after


def _every(
    known: Mapping[int, Template], residues: Collection[Sequence[int]], seen: Evidence
) -> list[Template]:
    """What every heavy atom is: thiols that bind a metal are thiolates, the rest by element."""
    heavy, binding = seen.heavy, seen.binding
    charges = anions(heavy, residues)
    every = [known.get(i) or by_element(i, heavy, binding, charges) for i in range(len(heavy.name))]
    for i in binding - seen.given.keys():
        if heavy.symbol[i] == "S" and every[i].hydrogens:
            every[i] = thiolate(every[i])
    return every
