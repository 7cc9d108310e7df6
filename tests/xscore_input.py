"""Small systems with atom types: single atoms at chosen places, and random ones for kernels."""

import numpy as np

from ligen_py.engine.functions.xscore.reference import Molecule
from ligen_py.engine.random_input import make_ligands
from ligen_py.molecules.typing import ad4
from ligen_py.records.column import extended
from ligen_py.records.functions.ad4 import Ad4Ligands, Ad4Receptor
from ligen_py.records.functions.vina import VinaLigands, VinaReceptor
from ligen_py.records.functions.xscore import Interaction, XScoreLigands, XScoreReceptor
from ligen_py.records.ligands import Ligands
from ligen_py.records.pocket import Receptor

MATCHES = [
    # Radii 2.1 and 2.2: all of a receptor atom's logP up to 4.8 A, half of it at 5.65, none at 6.5.
    (0.500, [(4.0, -3.0)], True),  # 0.5 of its own is enough, whatever is around
    (0.499, [(4.0, -3.0)], False),
    (0.358, [], True),  # nothing around: 0
    (0.358, [(4.0, -0.9)], False),
    (0.358, [(4.0, -0.5)], False),  # -0.5 itself is too little
    (0.358, [(5.65, -0.9)], True),  # -0.45
    (0.358, [(5.65, -1.1)], False),  # -0.55
    (0.358, [(4.0, -0.9), (4.5, 0.528)], True),  # -0.372
    (0.358, [(4.0, -0.9), (5.65, 0.528)], False),  # -0.636
    (0.358, [(6.5, -3.0)], True),
    (0.013, [], True),  # the least of its table
    (0.0, [(4.0, 0.528)], False),
    (-0.243, [(4.0, 0.528)], False),  # a negative logP never counts
]
"""A hydrophobic ligand atom's logP, distance and logP of receptor atoms, and whether it counts."""

POLAR_CLASSES = (Interaction.DONOR, Interaction.ACCEPTOR, Interaction.DONOR_ACCEPTOR)


def receptor(
    xyz: list[list[float]],
    radius: float | list[float] = 2.2,
    interaction: int | list[int] = Interaction.HYDROPHOBIC,
    donor: int | list[int] = 0,
    acceptor: int | list[int] = 0,
    root: list[list[float]] | None = None,
    logp: float | list[float] = 0.0,
) -> XScoreReceptor:
    """A receptor of a few atoms; without `root` no atom has one."""
    count = len(xyz)
    return XScoreReceptor(
        xyz=np.array(xyz, "f4").reshape(count, 3),
        element=np.full(count, 6, "u1"),
        radius=np.broadcast_to(np.array(radius, "f4"), count).copy(),
        interaction=np.broadcast_to(np.array(interaction, "u1"), count).copy(),
        logp=np.broadcast_to(np.array(logp, "f4"), count).copy(),
        donor=np.broadcast_to(np.array(donor, "u1"), count).copy(),
        acceptor=np.broadcast_to(np.array(acceptor, "u1"), count).copy(),
        root=np.array(xyz if root is None else root, "f4").reshape(count, 3),
        rooted=np.full(count, root is not None, "u1"),
        residue=np.zeros(count, "i4"),
        label=np.full(count, "A/ALA/1/CB", object),
    )


def ligand(
    xyz: list[list[float]],
    radius: float = 2.1,
    interaction: int = Interaction.HYDROPHOBIC,
    element: int = 6,
    donor: int = 0,
    acceptor: int = 0,
    hydrogens: int = 0,
    rotors: float = 0.0,
    logp: float = 0.0,
) -> Molecule:
    """A ligand of equal, unbonded atoms."""
    count = len(xyz)
    return Molecule(
        xyz=np.array(xyz, "f4"),
        element=np.full(count, element, "u1"),
        radius=np.full(count, radius, "f4"),
        interaction=np.full(count, interaction, "u1"),
        donor=np.full(count, donor, "u1"),
        acceptor=np.full(count, acceptor, "u1"),
        logp=np.full(count, logp, "f4"),
        hydrogens=np.full(count, hydrogens, "u1"),
        bond=np.zeros((0, 2), "u1"),
        rotors=rotors,
    )


def typed_ligands(sizes: list[tuple[int, int]], seed: int = 0) -> XScoreLigands:
    """Random ligands of (atoms, torsions) each with random X-Score types."""
    rng = np.random.default_rng(seed)
    bare = make_ligands(sizes, seed)
    count = len(bare.xyz)
    start = np.repeat(bare.first_atom[:-1], np.diff(bare.first_bond))
    degree = np.bincount((bare.bond + start[:, None]).ravel(), minlength=count)
    kind = rng.choice([1, 2, 3, 4, 5], count)
    kind = np.where(bare.element == 1, 0, np.where(degree > 3, 2, kind))
    donor, acceptor = _geometry(rng, kind)
    return extended(
        bare,
        XScoreLigands,
        radius=np.where(kind > 0, rng.choice([1.55, 1.75, 1.9, 2.1], count), 0).astype("f4"),
        interaction=kind.astype("u1"),
        donor=donor,
        acceptor=acceptor,
        hydrogens=rng.integers(0, 4, count).astype("u1"),
        rotors=rng.integers(0, 20, len(sizes)).astype("f4") / 2,
        logp=rng.uniform(-0.5, 1.0, count).astype("f4"),
    )


def random_receptor(count: int, half_side: float, seed: int = 0) -> XScoreReceptor:
    """Random atoms in a cube about the origin; some are unscored, metals, or without a root."""
    rng = np.random.default_rng(seed)
    kind = rng.choice([1, 2, 3, 4, 5, 6], count, p=[0.4, 0.1, 0.2, 0.2, 0.08, 0.02])
    xyz = rng.uniform(-half_side, half_side, (count, 3))
    donor, acceptor = _geometry(rng, kind)
    return XScoreReceptor(
        xyz=xyz.astype("f4"),
        element=np.full(count, 6, "u1"),
        radius=rng.choice([0, 1.55, 1.75, 2.2], count, p=[0.02, 0.3, 0.3, 0.38]).astype("f4"),
        interaction=kind.astype("u1"),
        logp=rng.uniform(-1.0, 0.8, count).astype("f4"),
        donor=donor,
        acceptor=acceptor,
        root=(xyz + rng.standard_normal((count, 3))).astype("f4"),
        rooted=(rng.random(count) < 0.8).astype("u1"),
        residue=np.zeros(count, "i4"),
        label=np.full(count, "", object),
    )


def charged_receptor(count: int, half_side: float, seed: int = 0) -> Ad4Receptor:
    """Random atoms of AutoDock4 in a cube about the origin."""
    rng = np.random.default_rng(seed)
    return ad4.charged_receptor(
        rng.uniform(-half_side, half_side, (count, 3)).astype("f4").astype(float),
        rng.choice([1, 2, 3, 4, 5, 6, 8, 19], count, p=[0.3, 0.2, 0.1, 0.1, 0.1, 0.15, 0.04, 0.01]),
        rng.uniform(-0.6, 0.4, count),
    )


def as_vina(receptor: Receptor, types: np.ndarray | None = None) -> VinaReceptor:
    """A receptor with types of Vina; without any: carbons."""
    types = np.ones(len(receptor.xyz), "u1") if types is None else types.astype("u1")
    return VinaReceptor(receptor.xyz, receptor.element, receptor.residue, receptor.label, types)


def with_types(ligands: Ligands) -> dict[str, Ligands]:
    """Group -> ligands as its scoring functions see them: all heavy atoms alike."""
    count, atoms = len(ligands.entry), len(ligands.xyz)
    heavy, none = (ligands.element > 1).astype("u1"), np.zeros(atoms, "u1")
    zero, zeros = np.zeros(count, "f4"), np.zeros(atoms, "f4")
    alike = dict.fromkeys(("donor", "acceptor", "hydrogens"), none)
    return {
        "vina": extended(ligands, VinaLigands, rotors=zero, type=heavy),
        "ad4": extended(ligands, Ad4Ligands, torsions=zero, type=heavy, partial_charge=zeros),
        "xscore": extended(
            ligands,
            XScoreLigands,
            rotors=zero,
            radius=np.full(atoms, 1.9, "f4"),
            interaction=np.ones(atoms, "u1"),
            logp=zeros,
            **alike,
        ),
    }


def _geometry(rng: np.random.Generator, kind: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    gives = np.isin(kind, (Interaction.DONOR, Interaction.DONOR_ACCEPTOR, Interaction.METAL))
    takes = np.isin(kind, (Interaction.ACCEPTOR, Interaction.DONOR_ACCEPTOR))
    where = rng.integers(1, 3, (2, len(kind)))
    return np.where(gives, where[0], 0).astype("u1"), np.where(takes, where[1], 0).astype("u1")
