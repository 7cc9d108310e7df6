"""Metals, ions and what else has no template: types and charges by element and surroundings."""

from collections.abc import Collection, Mapping, Sequence, Set

import numpy as np

from ligen_py.molecules.elements import HALIDES, METALS
from ligen_py.molecules.receptor.heavy import COORDINATES, Heavy
from ligen_py.molecules.receptor.templates import ORGANIC, Template
from ligen_py.records.functions.ad4 import Ad4Type
from ligen_py.records.functions.xscore import Interaction

METAL = {
    "MG": (Ad4Type.MG, 2), "CA": (Ad4Type.CA, 2), "MN": (Ad4Type.MN, 2), "FE": (Ad4Type.FE, 2),
    "ZN": (Ad4Type.ZN, 2), "CO": (Ad4Type.FE, 2), "NI": (Ad4Type.ZN, 2), "CU": (Ad4Type.ZN, 2),
    "CD": (Ad4Type.ZN, 2), "NA": (Ad4Type.CA, 1), "K": (Ad4Type.CA, 1), "LI": (Ad4Type.MG, 1),
    "RB": (Ad4Type.CA, 1), "CS": (Ad4Type.CA, 1),
} | dict.fromkeys(("AG", "AU", "TL"), (Ad4Type.ZN, 1)) | dict.fromkeys((
    "AL", "GA", "IN", "SC", "CR", "Y", "LA", "CE", "PR", "ND", "SM", "EU", "GD", "TB", "DY", "HO",
    "ER", "TM", "YB", "LU",
), (Ad4Type.ZN, 3))  # fmt: skip
"""Type and charge; metals that AutoDock4 lacks take the type of the most alike, others zinc's. With
-1 of each fluoride AlF4- and MgF3- have theirs."""

IONS = {
    "CU1": 1, "YB2": 2, "3CO": 3, "3NI": 3, "AU3": 3, "BS3": 3, "CU3": 3, "IR3": 3, "MN3": 3,
    "NCO": 3, "NRU": 3, "RH3": 3, "4TI": 4, "OS4": 4, "PT4": 4,
}  # fmt: skip
"""Charge of metals whose residue name in the PDB stands for a state, where it is another. NCO and
NRU are hexammines."""

SULFIDE = -1.5
"""Charge of a sulfur that is bound to metals alone. With 2 of each iron, [2Fe-2S] has 1, [3Fe-4S] 0
and [4Fe-4S] 2, each a common state of the cluster."""

OXIDE, FEWEST_OXIDES = -1.0, 3
"""Charge of an oxygen that is bound to a metal alone, and how many of a residue make an anion. With
2 of the metal, molybdate and tungstate have theirs, and vanadate that of HVO4(2-)."""

PYRROLE, FEWEST_PYRROLES = -0.5, 4
"""Charge of a nitrogen of a tetrapyrrole that binds its metal, and how many make one. With 2 of the
metal chlorophylls, haems without a SMILES and cobalamins (their phosphate included) have 0."""

END_OF_ACID = -0.5
"""Charge of each oxygen of a carboxylate of a tetrapyrrole: haem a has -2, sirohaem -8."""


def _metal(symbol: str, residue: str) -> tuple[Ad4Type, int]:
    """AutoDock4's type and the charge of a metal."""
    kind, valence = METAL.get(symbol, (Ad4Type.ZN, 2))
    return kind, IONS.get(residue.upper(), valence)


def metal_type(symbol: str, residue: str) -> str:
    """How the scoring functions see a metal or a halide ion, in words."""
    if symbol in HALIDES:
        return "a halide ion for X-Score and Vina; AutoDock4 charge -1"
    kind, valence = _metal(symbol, residue)
    own = kind.name == symbol
    stand_in = f"type {kind.name}" if own else f"has no {symbol}, takes {kind.name}"
    return f"a metal for X-Score and Vina; AutoDock4 {stand_in}, charge {valence:+d}"


def by_element(i: int, heavy: Heavy, binding: Set[int], anions: Mapping[int, float]) -> Template:
    """An atom without a template: of a cofactor, nucleotide or modified side chain, or an ion.

    `binding` are nitrogens and sulfurs that bind a metal; `anions` as by the function of that name.
    """
    symbol, role = heavy.symbol[i], heavy.role[i]
    if symbol in ORGANIC:
        accepts = role in (Interaction.ACCEPTOR, Interaction.DONOR_ACCEPTOR)
        kind = Ad4Type.NA if symbol == "N" and accepts else ORGANIC[symbol]
        is_ion = symbol in HALIDES and not heavy.bonded[i]
        is_sulfide = symbol == "S" and i in binding and not heavy.bonded[i]
        charge_of = -1.0 if is_ion else SULFIDE if is_sulfide else anions.get(i, 0.0)
        return Template(kind, charge_of, 0, 0.0, False)
    kind, valence = _metal(symbol, heavy.residue_name[i])
    # What is neither, as xenon, takes a metal's size alone: AutoDock4 has nothing nearer.
    return Template(kind, float(valence * (symbol in METALS)), 0, 0.0, False)


def anions(heavy: Heavy, residues: Collection[Sequence[int]]) -> dict[int, float]:
    """Charges, by number of the atom, of anions that are bound to metals.

    `residues` are the numbers of the atoms of each.
    """
    pyrroles = _pyrroles(heavy, residues)
    found = dict.fromkeys(_oxides(heavy, residues), OXIDE) | dict.fromkeys(pyrroles, PYRROLE)
    return found | dict.fromkeys(_ends_of_acids(heavy, residues, pyrroles), END_OF_ACID)


def _oxides(heavy: Heavy, residues: Collection[Sequence[int]]) -> set[int]:
    """Oxygens of the anions of metals, such as vanadate."""
    found: set[int] = set()
    for numbers in residues:
        symbols = [heavy.symbol[i] for i in numbers]
        oxygens = [i for i in numbers if heavy.symbol[i] == "O" and not heavy.bonded[i]]
        is_anion = len(oxygens) == len(numbers) - 1 and not METALS.isdisjoint(symbols)
        found |= set(oxygens) if is_anion and len(oxygens) >= FEWEST_OXIDES else set()
    return found


def _pyrroles(heavy: Heavy, residues: Collection[Sequence[int]]) -> set[int]:
    """Nitrogens of tetrapyrroles with a metal: each is bound to two carbons with three bonds."""
    found: set[int] = set()
    for numbers in residues:
        rings = [
            i
            for i in numbers
            if heavy.symbol[i] == "N"
            and len(heavy.bonded[i]) == 2
            and all(len(heavy.bonded[other]) > 2 for other in heavy.bonded[i])
        ]
        metals = [i for i in numbers if heavy.symbol[i] in METALS]
        if len(rings) < FEWEST_PYRROLES or not metals:
            continue
        for metal in metals:
            far = np.linalg.norm(heavy.xyz[rings] - heavy.xyz[metal], axis=1)
            near = [i for i, distance in zip(rings, far, strict=True) if distance < COORDINATES]
            found |= set(near) if len(near) == FEWEST_PYRROLES else set()
    return found


def _ends_of_acids(
    heavy: Heavy, residues: Collection[Sequence[int]], pyrroles: Set[int]
) -> set[int]:
    """Oxygens of the carboxylates of tetrapyrroles with a metal."""
    found: set[int] = set()
    for numbers in residues:
        for i in [] if pyrroles.isdisjoint(numbers) else numbers:
            near = heavy.bonded[i] if heavy.symbol[i] == "C" else ()
            ends = [o for o in near if heavy.symbol[o] == "O" and len(heavy.bonded[o]) == 1]
            found |= set(ends) if len(ends) == 2 else set()
    return found
