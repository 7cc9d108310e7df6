"""What the scripts beside this file share: the complexes of posebusters, and headers of tables."""

from collections.abc import Sequence
from importlib import metadata, resources
from pathlib import Path

import gemmi
from rdkit import Chem

HERE = Path(__file__).parent
COMPLEXES = {"1s3v": "A", "1ia1": "B", "1uou": "A", "1of6": "AB"}
"""PDB codes of the complexes inside posebusters -> chains used; the reference ligands lie there."""


def structure_file(name: str) -> Path:
    return _folder(name) / f"{name}_protein_one_lig_removed.pdb"


def ligand_file(name: str) -> Path:
    return _folder(name) / f"{name}_ligand.sdf"


def _folder(name: str) -> Path:
    return Path(str(resources.files("posebusters"))) / "datasets" / "pdb" / name


def ligand(name: str) -> Chem.Mol:
    """The crystal ligand with hydrogens, which RDKit adds."""
    return Chem.AddHs(Chem.MolFromMolFile(str(ligand_file(name))), addCoords=True)


def amino_acids(name: str) -> gemmi.Structure:
    """The amino acids of the chains used, without anything else."""
    structure = gemmi.read_pdb(str(structure_file(name)))
    model = structure[0]
    for chain in [chain.name for chain in model if chain.name not in COMPLEXES[name]]:
        model.remove_chain(chain)
    for chain in model:
        for number in reversed(range(len(chain))):
            if not gemmi.find_tabulated_residue(chain[number].name).is_amino_acid():
                del chain[number]
    return structure


def header(script: str, *packages: str) -> list[str]:
    """First lines of a table: who computed it, and the command that makes it anew."""
    versions = ", ".join(f"{package} {metadata.version(package)}" for package in packages)
    return [f"# computed by {versions}", f"# made by: python tests/data/{script}"]


def write_table(name: str, head: Sequence[str], columns: str, rows: Sequence[Sequence]) -> None:
    """A TSV file: comment lines, the columns' names, rows."""
    lines = [*head, "\t".join(columns.split())]
    lines += ["\t".join(str(value) for value in row) for row in rows]
    (HERE / name).write_text("\n".join(lines) + "\n")
