"""Random molecules and fields that need no chemistry."""

import numpy as np

from ligen_py.records.ligands import Ligands
from ligen_py.records.molecule import Atom, Bond, Parts
from ligen_py.records.molecule import joined as molecule_bytes
from ligen_py.records.pocket import GeometricField
from ligen_py.records.poses import Poses


def random_tree(rng: np.random.Generator, atoms: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Parents, ends of subtrees and coordinates of a random tree numbered depth first."""
    parent, path = np.full(atoms, -1), [0]
    for i in range(1, atoms):
        while len(path) > 1 and rng.random() < 0.3:
            path.pop()
        parent[i] = path[-1]
        path.append(i)
    end = np.arange(1, atoms + 1)
    for i in range(atoms - 1, 0, -1):
        end[parent[i]] = max(end[parent[i]], end[i])
    xyz = np.zeros((atoms, 3))
    for i in range(1, atoms):
        steps = rng.standard_normal((50, 3))
        trial = xyz[parent[i]] + 1.5 * steps / np.linalg.norm(steps, axis=1)[:, None]
        nearest = np.linalg.norm(trial[:, None] - xyz[:i], axis=2).min(axis=1)
        xyz[i] = trial[nearest.argmax()]
    return parent, end, (xyz - xyz.mean(axis=0)).astype(np.float32)


def random_ligand(
    rng: np.random.Generator, atoms: int, torsions: int, hydrogens: float
) -> dict[str, np.ndarray]:
    """Columns of one ligand: a tree of atoms with some of its inner bonds rotatable.

    `hydrogens` is the share of its leaves that are hydrogens.
    """
    parent, end, xyz = random_tree(rng, atoms)
    leaf = np.arange(1, atoms + 1) == end
    hydrogen = leaf & (rng.random(atoms) < hydrogens)
    hydrogen[0] = False
    inner = [i for i in range(2, atoms) if not leaf[i]]
    rotatable = np.sort(rng.choice(inner, min(torsions, len(inner)), replace=False)).astype(int)
    piece = np.zeros(atoms, int)
    for i in range(1, atoms):
        piece[i] = i if i in rotatable else piece[parent[i]]
    distance = np.full((atoms, atoms), 99)
    np.fill_diagonal(distance, 0)
    for i in range(1, atoms):
        distance[i, :i] = distance[:i, i] = distance[parent[i], :i] + 1
    pairs = (distance > 3) & (piece[:, None] != piece)

    order = np.argsort(hydrogen, kind="stable")  # heavy atoms first, each part still depth first
    new = np.argsort(order)
    heavy = int((~hydrogen).sum())
    before = np.concatenate([[0], np.cumsum(hydrogen)])  # hydrogens before an old number
    limits = [
        [i - before[i], end[i] - before[end[i]], heavy + before[i], heavy + before[end[i]]]
        for i in rotatable
    ]
    words = (heavy + 31) // 32
    bits = np.zeros((heavy, words * 32), np.uint8)
    bits[:, :heavy] = pairs[np.ix_(order[:heavy], order[:heavy])]
    mask = np.packbits(bits.reshape(heavy, words, 32), axis=-1, bitorder="little").view("<u4")
    element = rng.choice([6, 7, 8, 16], atoms, p=[0.7, 0.15, 0.1, 0.05])
    return {
        "heavy": np.array([heavy], "i4"),
        "xyz": xyz[order],
        "element": np.where(hydrogen, 1, element)[order].astype("u1"),
        "bond": np.stack([new[parent[1:]], new[1:]], axis=1).astype("u1"),
        "torsion_axis": np.stack([new[parent[rotatable]], new[rotatable]], axis=1).astype("i2"),
        "torsion_range": np.array(limits, "i2").reshape(-1, 4),
        "pair_mask": mask.ravel().astype("u4"),
    }


def _molecule(row: dict[str, np.ndarray]) -> np.ndarray:
    """The bytes of a ligand's molecule: its elements and single bonds."""
    atoms = [Atom(element, 0, 0, 0, 0, 0, 0) for element in row["element"].tolist()]
    bonds = [Bond(near, far, 1, 0, 0) for near, far in row["bond"].tolist()]
    return molecule_bytes(Parts(atoms, bonds, []))


def make_ligands(sizes: list[tuple[int, int]], seed: int = 0, hydrogens: float = 0.7) -> Ligands:
    """Random ligands of (atoms, torsions) each."""
    rng = np.random.default_rng(seed)
    rows = [random_ligand(rng, atoms, torsions, hydrogens) for atoms, torsions in sizes]
    molecules = [_molecule(row) for row in rows]
    none = {column: array[:0] for column, array in random_ligand(rng, 5, 0, hydrogens).items()}

    def offsets(column: str) -> np.ndarray:
        """First row of each ligand in a column, and the end of the last."""
        return np.cumsum([0, *(len(row[column]) for row in rows)]).astype("i8")

    joined = {
        column: np.concatenate([none[column], *(row[column] for row in rows)]) for column in none
    }
    atoms = len(joined["xyz"])
    count = len(rows)
    return Ligands(
        smiles=np.full(count, "", object),
        conformer=np.zeros(count, "u2"),
        state_cost=np.zeros(count, "f4"),
        strain=np.zeros(count, "f4"),
        isomers=np.ones(count, "u2"),
        entry=np.arange(len(rows), dtype="i8"),
        first_atom=offsets("xyz"),
        first_bond=offsets("bond"),
        first_torsion=offsets("torsion_axis"),
        first_pair=offsets("pair_mask"),
        first_byte=np.cumsum([0, *map(len, molecules)]).astype("i8"),
        charge=np.zeros(atoms, "i1"),
        bond_order=np.ones(len(joined["bond"]), "u1"),
        molecule=np.concatenate([np.zeros(0, "u1"), *molecules]),
        **joined,
    )


def make_field(shape: tuple[int, int, int] = (21, 23, 25)) -> GeometricField:
    """A random field with a smooth centre, and three anchors."""
    rng = np.random.default_rng(0)
    return GeometricField(
        origin=np.array([-5.3, 2.1, 0.7]),
        spacing=np.array([0.5]),
        value=rng.choice([-12, -2, 0, 8, 9, 12, 14], shape).astype("i1"),
        anchor=np.array([[0, 7, 6], [-1, 8, 7], [1.5, 6.25, 5]], "f4"),
    )


def make_poses(ligands: Ligands, count: int, seed: int = 0) -> Poses:
    """Random genotypes near one another, so that some fall into one cluster."""
    rng = np.random.default_rng(seed)
    torsions = np.diff(ligands.first_torsion)
    total = count * len(torsions)
    quaternion = rng.standard_normal((total, 4)) * 0.2 + [1, 0, 0, 0]
    quaternion /= np.linalg.norm(quaternion, axis=1)[:, None]
    per_pose = np.repeat(torsions, count)
    return Poses(
        first_pose=np.arange(len(torsions) + 1, dtype="i8") * count,
        first_torsion=np.concatenate([[0], np.cumsum(per_pose)]).astype("i8"),
        restart=np.tile(np.arange(count, dtype="i4"), len(torsions)),
        translation=rng.standard_normal((total, 3)).astype("f4"),
        quaternion=quaternion.astype("f4"),
        torsion=(rng.integers(0, 3, per_pose.sum()) * 11.25).astype("f4"),
        score=rng.integers(0, 40, total).astype("i4"),
        internal_bumps=(rng.random(total) < 0.1).astype("i4"),
        pocket_bumps=(rng.random(total) < 0.2).astype("i4"),
        outside=np.zeros(total, "i4"),
    )
