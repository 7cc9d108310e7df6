"""RMSDs by spyrmsd: with symmetry, and of poses as they are named.

    .venv/bin/python tests/data/make_spyrmsd.py

Writes rmsd.json: of molecules with many symmetries, heavy atoms in the order of the SMILES, a
reference, poses, and their symmetry-corrected RMSD to it. Writes cluster.json: a centred ligand of
vina_poses.json, poses of it as translations, quaternions (w, x, y, z) and turns of its torsions in
degrees, and the RMSD of each pair, atom by atom, over the heavy atoms.
"""

import json

import numpy as np
from rdkit import Chem
from rdkit.Chem import AllChem
from scipy.spatial.transform import Rotation
from sources import HERE, header
from spyrmsd import rmsd

MOLECULES = {
    "benzene": "c1ccccc1",
    "cubane": "C12C3C4C1C5C2C3C45",
    "adamantane": "C1C2CC3CC1CC(C2)C3",
    "neopentane": "CC(C)(C)C",
    "hexamethylethane": "CC(C)(C)C(C)(C)C",
    "hexafluorobenzene": "Fc1c(F)c(F)c(F)c(F)c1F",
    "tri-tert-butylbenzene": "CC(C)(C)c1cc(C(C)(C)C)cc(C(C)(C)C)c1",
    "tetraphenylmethane": "c1ccccc1C(c1ccccc1)(c1ccccc1)c1ccccc1",
    "coronene": "c1cc2ccc3ccc4ccc5ccc6ccc1c1c2c3c4c5c61",
    "edetate": "[O-]C(=O)CN(CC(=O)[O-])CCN(CC(=O)[O-])CC(=O)[O-]",
    "sulfate": "[O-]S(=O)(=O)[O-]",
    "hexafluoropropane": "FC(F)(F)CC(F)(F)F",
    "terephthalic acid": "OC(=O)c1ccc(C(=O)O)cc1",
    "dinitrobenzene": "[O-][N+](=O)c1cc([N+](=O)[O-])ccc1",
    "guanidinium": "NC(N)=[NH2+]",
    "crown ether": "C1COCCOCCOCCOCCOCCO1",
    "pentamidine": "NC(=[NH2+])c1ccc(OCCCCCOc2ccc(C(N)=[NH2+])cc2)cc1",
    "suberanilide": "O=C(CCCCCCC(=O)Nc1ccccc1)Nc1ccccc1",
}
POSES = 4
CLUSTERED, CENTRES = 40, 7


def symmetric(smiles: str, rng: np.random.Generator) -> dict:
    """A molecule, poses that are near to its images, and their RMSDs."""
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    AllChem.EmbedMolecule(mol, randomSeed=7)
    heavy = Chem.RemoveHs(mol)
    xyz = np.round(heavy.GetConformer().GetPositions(), 4)
    skeleton = Chem.Mol(heavy)
    images = skeleton.GetSubstructMatches(skeleton, uniquify=False, maxMatches=100_000)
    poses = []
    for number in range(POSES):
        image = xyz[list(images[rng.integers(len(images))])]
        turn = Rotation.from_rotvec(rng.normal(0, 0.3 * number, 3))
        noise = rng.normal(0, 0.2, xyz.shape)
        poses.append(np.round(turn.apply(image) + rng.normal(0, number, 3) + noise, 4))
    elements = np.array([atom.GetAtomicNum() for atom in heavy.GetAtoms()])
    bonds = Chem.GetAdjacencyMatrix(heavy)
    found = rmsd.symmrmsd(xyz, poses, elements, elements, bonds, bonds)
    plain = [rmsd.rmsd(xyz, pose, elements, elements) for pose in poses]
    return {
        "smiles": smiles,
        "images": len(images),
        "reference": xyz.tolist(),
        "poses": [pose.tolist() for pose in poses],
        "rmsd": np.round(found, 6).tolist(),
        "plain": np.round(plain, 6).tolist(),
    }


def branches(lines: list[str]) -> list[tuple[int, int, list[int]]]:
    """Near atom, far atom and all atoms beyond, of each torsion of a PDBQT, outer ones last.

    Near is the side of the largest rigid piece, which is no torsion's far side.
    """
    row: dict[int, int] = {}
    pieces: list[list[int]] = [[]]
    stack, links = [0], []
    for line in lines:
        words = line.split()
        if line.startswith("ATOM"):
            row[int(line[6:11])] = len(row)
            pieces[stack[-1]].append(len(row) - 1)
        elif words[0] == "BRANCH":
            links.append((stack[-1], len(pieces), row[int(words[1])], int(words[2])))
            stack.append(len(pieces))
            pieces.append([])
        elif words[0] == "ENDBRANCH":
            stack.pop()
    ends = [(one, two, near, row[far]) for one, two, near, far in links]
    ends += [(two, one, far, near) for one, two, near, far in ends]

    def outward(piece: int, origin: int) -> tuple[list[int], list]:
        atoms, found = list(pieces[piece]), []
        for here, there, near, far in ends:
            if here == piece and there != origin:
                beyond, inner = outward(there, piece)
                found += [(near, far, beyond), *inner]
                atoms += beyond
        return atoms, found

    largest = max(range(len(pieces)), key=lambda number: len(pieces[number]))
    return outward(largest, -1)[1]


def clusters(rng: np.random.Generator) -> dict:
    """Poses around a few centres, and the RMSD of each pair."""
    document = json.loads((HERE / "vina_poses.json").read_text())
    (chosen,) = [each for each in document["ligands"] if each["name"] == "1s3v"]
    lines = chosen["pdbqt"]
    kinds = [line.split()[-1] for line in lines if line.startswith("ATOM")]
    heavy = np.array([kind not in ("H", "HD") for kind in kinds])
    start = np.array(chosen["poses"][0]["xyz"])
    start = np.round(start - start[heavy].mean(axis=0), 3)
    torsions = branches(lines)
    centre = [
        (
            rng.normal(0, 3, 3),
            Rotation.random(random_state=number),
            rng.uniform(0, 360, len(torsions)),
        )
        for number in range(CENTRES)
    ]
    poses, places = [], []
    for number in range(CLUSTERED):
        shift, turn, angles = centre[number % CENTRES]
        near = Rotation.from_rotvec(rng.normal(0, 0.15, 3)) * turn
        translation = np.round(shift + rng.normal(0, 0.5, 3), 4)
        x, y, z, w = near.as_quat()
        angles = np.round(angles + rng.normal(0, 12, len(torsions)), 3)
        xyz = start.copy()
        for (first, second, beyond), angle in reversed(list(zip(torsions, angles, strict=True))):
            axis = xyz[second] - xyz[first]
            spin = Rotation.from_rotvec(np.radians(angle) * axis / np.linalg.norm(axis))
            xyz[beyond] = spin.apply(xyz[beyond] - xyz[first]) + xyz[first]
        places.append(near.apply(xyz) + translation)
        poses.append(
            {
                "translation": translation.tolist(),
                "quaternion": np.round([w, x, y, z], 7).tolist(),
                "torsion": angles.tolist(),
            }
        )
    elements = np.ones(int(heavy.sum()))
    table = [
        [round(float(rmsd.rmsd(one[heavy], two[heavy], elements, elements)), 5) for two in places]
        for one in places
    ]
    # The limit lies where no pair is near to it, so that rounding decides nothing.
    values = np.unique(np.clip(table, 1.5, 2.5))
    gap = np.diff(values).argmax()
    limit = float(values[gap : gap + 2].mean())
    return {
        "ligand": chosen["name"],
        "xyz": start.tolist(),
        "axes": [[first, second] for first, second, _ in torsions],
        "score": rng.permutation(CLUSTERED).tolist(),
        "limit": round(limit, 4),
        "poses": poses,
        "rmsd": table,
    }


def main() -> None:
    """Write both documents."""
    about = [line.lstrip("# ") for line in header("make_spyrmsd.py", "spyrmsd", "rdkit", "scipy")]
    rng = np.random.default_rng(0)
    molecules = {name: symmetric(smiles, rng) for name, smiles in MOLECULES.items()}
    for file, content in (
        ("rmsd.json", {"molecules": molecules}),
        ("cluster.json", clusters(rng)),
    ):
        stored = {"about": about, "units": "Angstrom, degree"} | content
        (HERE / file).write_text(json.dumps(stored, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
