"""AutoDock Vina's energies: of pairs of atoms, and of poses of the complexes inside posebusters.

    .venv/bin/python tests/data/make_vina.py

Writes vina_pairs.tsv, ad4_pairs.tsv and vina_poses.json, from pocket_<code>.tsv of
make_receptors.py. Energies are in kcal/mol, as the program computes them, before it rounds.

vina_pairs.tsv: Vina's and Vinardo's energy of a group at the origin with a group at distance r on
the x axis. A group X-Y is an atom of AutoDock's type X with one of type Y behind it: 1.4 A farther
from the other group, 1.0 A where Y is a hydrogen.

ad4_pairs.tsv: Vina's AutoDock4 energy of two atoms within a ligand, at distance r, with charges q1
and q2, and the loss of its three torsions. Atoms 100 A away link them, so that nothing else
interacts; all maps are zero.
"""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from meeko import MoleculePreparation, PDBQTWriterLegacy
from rdkit import Chem
from rdkit.Chem import AllChem
from scipy.spatial.transform import Rotation
from sources import COMPLEXES, HERE, header, ligand, write_table
from vina import Vina

GROUPS = (
    "C", "C-OA", "N", "N-HD", "NA", "NA-HD", "O", "O-HD", "OA", "OA-HD", "S", "SA", "Se", "P", "F",
    "Cl", "Br", "I", "Si", "At", "Mg", "Ca", "Mn", "Fe", "Zn",
)  # fmt: skip
REACH = (2.7, 3.5, 4.4, 5.6, 7.9, 8.1)
AD4_TYPES = (
    "HD", "C", "A", "N", "NA", "OA", "S", "SA", "P", "F", "Cl", "Br", "I", "Si", "Mg", "Ca", "Mn",
    "Fe", "Zn",
)  # fmt: skip
AD4_REACH = (
    (1.4, 0.0, 0.0), (2.1, 0.3, -0.2), (3.1, 0.0, 0.0), (4.3, 0.0, 0.0), (6.0, 0.4, 0.25),
    (7.7, 0.0, 0.0), (8.3, 0.0, 0.0), (20.3, 1.0, 0.8), (20.6, 1.0, 0.8),
)  # fmt: skip
APART = 40.0
"""Angstrom, from one group of a receptor to the next."""

LIBRARY = {
    "levothyroxine": "NC(Cc1cc(I)c(Oc2cc(I)c(O)c(I)c2)c(I)c1)C(=O)O",
    "bromazepam": "O=C1CN=C(c2ccccn2)c2cc(Br)ccc2N1",
    "zoledronate": "OC(Cn1ccnc1)(P(=O)(O)O)P(=O)(O)O",
    "flusilazole": "C[Si](Cn1cncn1)(c1ccc(F)cc1)c1ccc(F)cc1",
    "captopril": "C[C@H](CS)C(=O)N1CCC[C@H]1C(=O)O",
    "clopidogrel": "COC(=O)[C@H](c1ccccc1Cl)N1CCc2sccc2C1",
    "sulfamethoxazole": "Cc1cc(NS(=O)(=O)c2ccc(N)cc2)no1",
}
"""Docked into 1s3v, for elements that the crystal ligands lack."""


def atom(number: int, place: np.ndarray, kind: str, charge: float = 0.0) -> str:
    x, y, z = place
    start = f"ATOM  {number:5d}  X   UNL A   1    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00"
    return f"{start}    {charge:6.3f} {kind}"


def group(name: str, place: np.ndarray, away: float) -> list[tuple[np.ndarray, str]]:
    """Places and types of a group; what is behind lies in the direction of `away` along x."""
    first, _, second = name.partition("-")
    behind = place + np.array([away * (1.0 if second == "HD" else 1.4), 0, 0])
    return [(place, first), *([(behind, second)] if second else [])]


def mid_step(distance: float) -> float:
    """A distance in the middle of a step of Vina's table, which has 32 steps to 1 A^2."""
    return round(float(np.sqrt((np.floor(distance**2 * 32) + 0.5) / 32)), 3)


def pairs(form: str) -> Iterator[tuple]:
    """Rows of vina_pairs.tsv for one functional form."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "receptor.pdbqt"
        for other in GROUPS:
            lines = []
            for number, distance in enumerate(REACH):
                place = np.array([APART * number + mid_step(distance), 0, 0])
                lines += [atom(1, *each) for each in group(other, place, 1)]
            path.write_text("\n".join(lines) + "\n")
            program = Vina(sf_name=form, cpu=1, verbosity=0)
            program.set_receptor(str(path))
            length = APART * len(REACH)
            program.compute_vina_maps([length / 2 - 20, 0, 0], [length, 20, 20], spacing=10.0)
            for own in GROUPS:
                energies = []
                for number in range(len(REACH)):
                    atoms = group(own, np.array([APART * number, 0, 0]), -1)
                    text = "\n".join(["ROOT", *(atom(1, *each) for each in atoms), "ENDROOT"])
                    program.set_ligand_from_string(f"{text}\nTORSDOF 0\n")
                    energies.append(f"{program._vina.score()[1]:.6f}")
                yield (form, own, other, *energies)


def zero_maps(prefix: Path) -> None:
    """Maps of no energy, 320 A wide."""
    for kind in (*AD4_TYPES, "e", "d"):
        head = ["GRID_PARAMETER_FILE x", "GRID_DATA_FILE x", "MACROMOLECULE x", "SPACING 40.0"]
        lines = [*head, "NELEMENTS 8 8 8", "CENTER 0.0 0.0 0.0", *["0.0"] * 9**3]
        Path(f"{prefix}.{kind}.map").write_text("\n".join(lines) + "\n")


def ad4_pairs() -> Iterator[tuple]:
    """Rows of ad4_pairs.tsv."""
    with tempfile.TemporaryDirectory() as folder:
        zero_maps(Path(folder) / "zero")
        program = Vina(sf_name="ad4", cpu=1, verbosity=0)
        program.load_maps(str(Path(folder) / "zero"))
        for place, one in enumerate(AD4_TYPES):
            for two in AD4_TYPES[place:]:
                energies = []
                for distance, first, second in AD4_REACH:
                    r = mid_step(distance)
                    text = [
                        "ROOT", atom(1, np.zeros(3), one, first), "ENDROOT",
                        "BRANCH   1   2", atom(2, np.array([0, 0, 100.0]), "C"),
                        "BRANCH   2   3", atom(3, np.array([0, 0, -100.0]), "C"),
                        "BRANCH   3   4", atom(4, np.array([r, 0, 0]), two, second),
                        "ENDBRANCH   3   4", "ENDBRANCH   2   3", "ENDBRANCH   1   2", "TORSDOF 3",
                    ]  # fmt: skip
                    program.set_ligand_from_string("\n".join(text) + "\n")
                    *_, intra, torsional, _ = program._vina.score()
                    energies.append(f"{intra:.7f}")
                yield (one, two, *energies, f"{torsional:.4f}")


def meeko_lines(mol: Chem.Mol) -> list[str]:
    (setup,) = MoleculePreparation(rigid_macrocycles=True)(mol)
    text, fine, why = PDBQTWriterLegacy.write_string(setup)
    assert fine, why
    return [line for line in text.splitlines() if not line.startswith("REMARK")]


def places(lines: list[str]) -> np.ndarray:
    rows = [line for line in lines if line.startswith("ATOM")]
    return np.array([[float(row[first : first + 8]) for first in (30, 38, 46)] for row in rows])


def moved(lines: list[str], xyz: np.ndarray) -> str:
    """The ligand in another pose."""
    rows = iter(xyz)
    changed = [
        line[:30] + "".join(f"{value:8.3f}" for value in next(rows)) + line[54:]
        if line.startswith("ATOM")
        else line
        for line in lines
    ]
    return "\n".join(changed) + "\n"


def poses_of(program: Vina, lines: list[str], in_place: bool, rng: np.random.Generator) -> list:
    """The crystal pose and ones moved a little from it, and the best of a short docking."""
    xyz = places(lines)
    result = []
    if in_place:
        result.append(xyz)
        for _ in range(2):
            turn = Rotation.from_rotvec(rng.normal(0, 0.15, 3))
            centre = xyz.mean(axis=0)
            result.append(turn.apply(xyz - centre) + centre + rng.normal(0, 0.3, 3))
    program.set_ligand_from_string(moved(lines, xyz))
    program.dock(exhaustiveness=2, n_poses=3)
    docked = program.poses(n_poses=3).split("ENDMDL")
    result += [found for model in docked if len(found := places(model.splitlines()))]
    return [np.round(pose, 3) for pose in result]


def scored(programs: dict[str, Vina], lines: list[str], poses: list) -> list[dict]:
    result = []
    for pose in poses:
        row: dict = {"xyz": pose.tolist()}
        for form, program in programs.items():
            program.set_ligand_from_string(moved(lines, pose))
            total, inter, *_, intra, torsional, _ = program._vina.score()
            terms = {"total": total, "inter": inter, "intra": intra, "torsional": torsional}
            row[form] = {name: round(value, 5) for name, value in terms.items()}
        result.append(row)
    return result


def opened(pocket: Path, centre: np.ndarray) -> dict[str, Vina]:
    """Both forms with the receptor of a table of make_receptors.py."""
    with pocket.open() as stream:
        rows = [line.rstrip("\n").split("\t") for line in stream if line[0] != "#"][1:]
    lines = [atom(1, np.array(row[4:7], float), row[8], float(row[7])) for row in rows]
    programs = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "receptor.pdbqt"
        path.write_text("\n".join(lines) + "\n")
        for form in ("vina", "vinardo"):
            program = Vina(sf_name=form, cpu=1, seed=1, verbosity=0)
            program.set_receptor(str(path))
            program.compute_vina_maps(center=centre.tolist(), box_size=[22, 22, 22])
            programs[form] = program
    return programs


def main() -> None:
    """Write all tables."""
    head = header("make_vina.py", "vina", "numpy")
    columns = " ".join(f"r={mid_step(distance)}" for distance in REACH)
    rows = [*pairs("vina"), *pairs("vinardo")]
    write_table("vina_pairs.tsv", head, f"form ligand receptor {columns}", rows)
    columns = " ".join(f"r={mid_step(r)},q1={one},q2={two}" for r, one, two in AD4_REACH)
    write_table("ad4_pairs.tsv", head, f"first second {columns} torsional", list(ad4_pairs()))

    rng = np.random.default_rng(0)
    ligands = []
    for name in COMPLEXES:
        mol = ligand(name)
        lines = meeko_lines(mol)
        programs = opened(HERE / f"pocket_{name}.tsv", places(lines).mean(axis=0))
        poses = scored(programs, lines, poses_of(programs["vina"], lines, True, rng))
        ligands.append({"name": name, "pocket": name, "pdbqt": lines, "poses": poses})
        if name != "1s3v":
            continue
        for other, smiles in LIBRARY.items():
            drug = Chem.AddHs(Chem.MolFromSmiles(smiles))
            AllChem.EmbedMolecule(drug, randomSeed=1)
            lines = meeko_lines(drug)
            poses = scored(programs, lines, poses_of(programs["vina"], lines, False, rng))
            ligands.append({"name": other, "pocket": name, "pdbqt": lines, "poses": poses})
    head = [line.lstrip("# ") for line in header("make_vina.py", "vina", "meeko", "rdkit", "scipy")]
    document = {"about": head, "units": "kcal/mol, Angstrom", "ligands": ligands}
    (HERE / "vina_poses.json").write_text(json.dumps(document, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
