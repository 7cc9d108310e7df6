"""What each score and column means: unit, sign, source."""

from collections.abc import Sequence
from typing import NamedTuple

from ligen_py.records.networks import NETWORK_SHARE


class Meaning(NamedTuple):
    """A score in one line."""

    name: str
    unit: str
    better: str
    """Which values are better."""
    words: str


FUNCTIONS = {
    "vina": Meaning("Vina", "kcal/mol", "larger", "Vina's affinity with the sign reversed"),
    "vinardo": Meaning("Vinardo", "kcal/mol", "larger", "Vinardo's affinity, sign reversed"),
    "ad4": Meaning("AD4", "kcal/mol", "larger", "AutoDock4's affinity with the sign reversed"),
    "xscore": Meaning("X-Score", "pKd", "larger", "X-Score's predicted -log10 of Kd"),
    "gnina": Meaning("gnina", "pKd", "larger", "gnina's pose score times its predicted affinity"),
}
"""Of the totals; a function that is not here is named as it is."""

NETWORKS = frozenset(("gnina",))
"""Functions that are no energies: trained on complexes, perhaps on those that they judge."""

NETWORK_EFFORTS = frozenset(("thorough", "exhaustive"))
"""Efforts that let networks choose and rank where they are installed; said here, as a report does
not depend on the settings of searches."""

TRAINED = (
    "The networks were trained on PDBbind and CrossDocked2020, where many known complexes or their "
    "relatives are, so their success on a known protein is no measure of that on a new one."
)
"""What a reader has to know of them."""

JUDGED = [
    Meaning(
        "Score+CNN",
        "",
        "larger",
        f"network: the score plus {NETWORK_SHARE:g} times the logit of gnina's pose score in the "
        "networks' pose; finds more actives than the score alone",
    ),
    Meaning(
        "CNN",
        "probability",
        "larger",
        "network: gnina's pose score, that the networks' pose is within 2 Å of the crystal's",
    ),
    Meaning("CNN pK", "pK", "larger", "network: gnina's predicted affinity in the networks' pose"),
]
"""What networks say of the best molecules."""

CITATIONS = {
    "vina": "O. Trott, A. J. Olson, J. Comput. Chem. 2010, 31, 455",
    "vinardo": "R. Quiroga, M. A. Villarreal, PLoS ONE 2016, 11, e0155183",
    "ad4": "R. Huey, G. M. Morris, A. J. Olson, D. S. Goodsell, J. Comput. Chem. 2007, 28, 1145",
    "xscore": "R. Wang, L. Lai, S. Wang, J. Comput.-Aided Mol. Des. 2002, 16, 11",
    "gnina": "A. T. McNutt et al., J. Cheminform. 2021, 13, 43",
}

SIZE_POWER = 0.3
"""A function's score over this power of the number of heavy atoms has no trend with size, as
measured affinities have it (J. W. M. Nissink, J. Chem. Inf. Model. 2009, 49, 1617)."""


def function(name: str) -> Meaning:
    """What a scoring function's total means."""
    return FUNCTIONS.get(name, Meaning(name, "", "larger", f"the score by {name}"))


def units(functions: Sequence[str]) -> str:
    """Signs and units of the totals of scoring functions, as the footnote of a table.

    >>> units(["vina", "ad4", "xscore"])
    'larger is better; vina, ad4: kcal/mol with the sign reversed; xscore: pKd'
    """
    found: dict[str, list[str]] = {}
    for name in functions:
        found.setdefault(function(name).unit, []).append(name)
    said = {"kcal/mol": "kcal/mol with the sign reversed"}
    words = [f"{', '.join(names)}: {said.get(unit, unit)}" for unit, names in found.items() if unit]
    return "; ".join(["larger is better", *words])


def score(rank_by: str, functions: Sequence[str]) -> Meaning:
    """What the score is that ranks."""
    if rank_by == "first":
        return function(functions[0])._replace(name="Score")
    if rank_by == "energy":
        words = "the pose's energy less the free ligand's, over a function of torsions and size"
        return Meaning("Score", "kcal/mol, scaled", "larger", words)
    if rank_by == "networks":
        words = (
            "the pose's energy less the free ligand's, over a function of torsions and size, and "
            f"{NETWORK_SHARE:g} times the logit of gnina's pose score"
        )
        return Meaning("Score", "", "larger", words)
    names = ", ".join(function(name).name for name in functions)
    return Meaning("Score", "ranks", "larger", f"minus the mean of the ranks by {names}")


def columns(rank_by: str, functions: Sequence[str], networks: bool = False) -> list[Meaning]:
    """The glossary: a line for every score and column of the list of hits."""
    first = function(functions[0]) if functions else Meaning("first function", "", "", "")
    goal = "; 0.3 is a common goal for a lead" if first.unit == "kcal/mol" else ""
    return [
        score(rank_by, functions),
        *(function(name) for name in functions),
        *(JUDGED if networks else ()),
        Meaning(
            "LE",
            f"{first.unit} per atom",
            "larger",
            f"ligand efficiency: {first.name} over heavy atoms{goal}",
        ),
        Meaning(
            "Size rank",
            "rank",
            "smaller",
            f"rank by {first.name} over heavy atoms to the power {SIZE_POWER:g}: large molecules "
            "gain nothing by size",
        ),
        Meaning(
            "Gap",
            "kcal/mol",
            "larger",
            "how much worse the best pose is that lies elsewhere (2 Å or more); a small gap means "
            "that the pose is uncertain",
        ),
        Meaning(
            "Strain",
            "kcal/mol",
            "smaller",
            "MMFF94 energy, without charges, that the pose loses when it relaxes to the nearest "
            "minimum of the free molecule",
        ),
        Meaning("logP", "", "", "octanol-water partition coefficient by Crippen's method"),
        Meaning("TPSA", "Å²", "", "topological polar surface area"),
        Meaning("HBD, HBA", "", "", "hydrogen-bond donors and acceptors"),
        Meaning("Rot", "", "", "rotatable bonds"),
        Meaning(
            "Alerts",
            "",
            "fewer",
            "PAINS (interfere with assays) and Brenk (reactive, toxic or unstable) patterns",
        ),
        Meaning("Checks", "", "all pass", "tests of PoseBusters, computed by this program"),
    ]
