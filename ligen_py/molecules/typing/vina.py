"""Vina's atom types (XS) of ligands and receptors, and the torsions that Vina's N_rot counts.

Sources: AutoDock Vina 1.2 for the types; its usual preparation, Meeko, for which nitrogens accept
and which bonds are active torsions, because Vina itself reads both from its input.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from ligen_py.molecules.graph import Graph
from ligen_py.molecules.typing.input import LigandAtoms, ReceptorAtoms
from ligen_py.records.functions.vina import VinaType
from ligen_py.records.functions.xscore import Interaction

POLAR_HYDROGEN_ON = frozenset((7, 8, 9, 15, 16))
"""Elements whose hydrogens are atoms of their own in Vina's input; all others are merged."""

HETERO_FREE = frozenset((1, 6))
"""Neighbours that leave a carbon hydrophobic."""

BY_ELEMENT = {
    5: VinaType.C_P, 9: VinaType.F_H, 14: VinaType.SI, 15: VinaType.P_P, 16: VinaType.S_P,
    17: VinaType.CL_H, 33: VinaType.P_P, 34: VinaType.S_P, 35: VinaType.BR_H, 53: VinaType.I_H,
    85: VinaType.AT,
}  # fmt: skip
"""Types that the element alone decides; boron counts as carbon, arsenic as phosphorus, selenium as
sulfur."""

NITROGEN = (VinaType.N_P, VinaType.N_D, VinaType.N_A, VinaType.N_DA)
OXYGEN = (VinaType.O_P, VinaType.O_D, VinaType.O_A, VinaType.O_DA)

LIGAND_TYPE = np.full(256, VinaType.MET_D, "u1")
"""Type by atomic number; of carbon, a polar one's."""
LIGAND_TYPE[[1, 6, *BY_ELEMENT]] = [VinaType.NONE, VinaType.C_P, *BY_ELEMENT.values()]


def ligand_columns(atoms: LigandAtoms) -> dict[str, np.ndarray]:
    """The columns that `VinaLigands` adds to ligands."""
    graph, active = atoms.graph, active_torsions(atoms.graph)
    turning = atoms.owner[graph.bond[active, 0]]
    return {"rotors": atoms.sums(turning, rotors(graph, active)), "type": ligand_types(graph)}


def receptor_columns(atoms: ReceptorAtoms) -> dict[str, np.ndarray]:
    """The columns that `VinaReceptor` adds to the receptor."""
    around = [numbers.tolist() for numbers in atoms.bonded]
    return {"type": receptor_types(atoms.common.element.tolist(), atoms.role, around)}


def vina_type(element: int, gives: bool, takes: bool, neighbours: Iterable[int]) -> VinaType:
    """Type of an atom by atomic number, hydrogen-bond role and its neighbours' atomic numbers.

    What has no type of its own is taken for a metal, as all such atoms of structure files are.
    """
    if element == 1:
        return VinaType.NONE
    if element == 6:
        return VinaType.C_H if HETERO_FREE.issuperset(neighbours) else VinaType.C_P
    if element in (7, 8):
        return (NITROGEN if element == 7 else OXYGEN)[gives + 2 * takes]
    return BY_ELEMENT.get(element, VinaType.MET_D)


def ligand_types(graph: Graph) -> np.ndarray:
    """Types u1 (atoms,) of a molecule with explicit hydrogens, or of several side by side."""
    element = graph.element
    types = LIGAND_TYPE[element]
    clean = graph.count(~np.isin(element, list(HETERO_FREE))) == 0
    types[(element == 6) & clean] = VinaType.C_H
    role = (graph.hydrogens > 0) + 2 * graph.accepts
    for number, by_role in ((7, NITROGEN), (8, OXYGEN)):
        chosen = element == number
        types[chosen] = np.array(by_role)[role[chosen]]
    return types


def receptor_types(
    element: Sequence[int], role: Sequence[Interaction], bonded: Sequence[Sequence[int]]
) -> np.ndarray:
    """Types u1 (atoms,) of receptor heavy atoms.

    Args:
        element: atomic numbers.
        role: X-Score's classes, whose donors and acceptors among N and O are also Vina's.
        bonded: atomic numbers of each atom's heavy neighbours.
    """
    gives = (Interaction.DONOR, Interaction.DONOR_ACCEPTOR)
    takes = (Interaction.ACCEPTOR, Interaction.DONOR_ACCEPTOR)
    types = [
        vina_type(int(number), kind in gives, kind in takes, around)
        for number, kind, around in zip(element, role, bonded, strict=True)
    ]
    return np.array(types, "u1")


def rotors(graph: Graph, active: np.ndarray) -> np.ndarray:
    """What each active torsion (bonds, in rows of `Graph.bond`) gives to Vina's N_rot, f4.

    An end of a torsion gives 1/2 if the other end has two or more heavy neighbours. So hydroxyls
    count 1/2 and torsions inside the molecule 1.
    """
    inner = graph.heavy > 1
    return (0.5 * inner[graph.bond[active]].sum(axis=1)).astype("f4")


def active_torsions(graph: Graph) -> np.ndarray:
    """Bonds (rows of `Graph.bond`) that Meeko lets turn.

    Single, acyclic, no amide, each end with other neighbours. Merged (nonpolar) hydrogens are no
    neighbours. A tertiary amide turns if its substituents differ. Beside a triple bond no single
    bond turns; the ends of an alkyne turn against each other once, about the triple bond. These are
    other bonds than the search turns, which leaves hydroxyls and symmetric tops.
    """
    polar = np.isin(graph.element, list(POLAR_HYDROGEN_ON))
    inner = np.where(polar, graph.degree, graph.heavy) > 1
    linear = (graph.highest_order == 3)[graph.bond].any(axis=1)
    turns = ((graph.order == 1) & ~linear) | (graph.order == 3)
    turns &= ~graph.cyclic & ~graph.amide
    return np.flatnonzero(turns & inner[graph.bond].all(axis=1))
