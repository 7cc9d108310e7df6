"""Properties by RDKit's descriptors, and what other readers count in files.

    .venv/bin/python tests/data/make_rdkit.py

Writes properties.tsv: of the drugs of config/demo/drugs.smi. Writes counts.tsv: records by RDKit's
readers of SMILES and SDF, atoms and residues by gemmi, in files of the demo and of posebusters.
"""

from collections import Counter
from pathlib import Path

import gemmi
from rdkit import Chem
from rdkit.Chem import Descriptors
from sources import COMPLEXES, HERE, header, ligand_file, structure_file, write_table

DRUGS = HERE.parents[1] / "config" / "demo" / "drugs.smi"

PROPERTIES = {
    "weight": lambda mol: f"{Descriptors.ExactMolWt(mol):.4f}",
    "logp": lambda mol: f"{Descriptors.MolLogP(mol):.4f}",
    "donors": Descriptors.NumHDonors,
    "acceptors": Descriptors.NumHAcceptors,
    "tpsa": lambda mol: f"{Descriptors.TPSA(mol):.2f}",
    "rotatable": Descriptors.NumRotatableBonds,
    "rings": Descriptors.RingCount,
    "heavy": Descriptors.HeavyAtomCount,
    "charge": Chem.GetFormalCharge,
}


def graph_counts(mol: Chem.Mol) -> tuple:
    """Hydrogens, bonds, aromatic atoms, bonds in rings, and five- and six-rings."""
    sizes = Counter(map(len, mol.GetRingInfo().AtomRings()))
    return (
        sum(atom.GetTotalNumHs() for atom in mol.GetAtoms()),
        mol.GetNumBonds(),
        sum(atom.GetIsAromatic() for atom in mol.GetAtoms()),
        sum(bond.IsInRing() for bond in mol.GetBonds()),
        sizes[5],
        sizes[6],
    )


def file_rows() -> list[tuple]:
    """File, what is counted, how many."""
    rows = [("drugs.smi", "records", len(Chem.SmilesMolSupplier(str(DRUGS), " ", 0, 1, False)))]
    for name in COMPLEXES:
        for path in (
            ligand_file(name),
            Path(str(ligand_file(name)).replace("ligand.", "ligands.")),
        ):
            mols = list(Chem.SDMolSupplier(str(path)))
            rows.append((path.name, "records", len(mols)))
            rows.append((path.name, "heavy", " ".join(str(mol.GetNumHeavyAtoms()) for mol in mols)))
        structure = gemmi.read_structure(str(structure_file(name)))
        file = structure_file(name).name
        atoms = list(structure[0].all())
        symbols = Counter(each.atom.element.name.upper() for each in atoms)
        residues = {(each.chain.name, str(each.residue.seqid)) for each in atoms}
        chains = sorted({each.chain.name for each in atoms})
        rows.append((file, "atoms", len(atoms)))
        rows.append((file, "residues", len(residues)))
        rows.append((file, "chains", " ".join(chains)))
        text = " ".join(f"{symbol}:{count}" for symbol, count in sorted(symbols.items()))
        rows.append((file, "elements", text))
    return rows


def main() -> None:
    """Write both tables."""
    rows = []
    for line in DRUGS.read_text().splitlines():
        smiles, name = line.split()[:2]
        mol = Chem.MolFromSmiles(smiles)
        values = [compute(mol) for compute in PROPERTIES.values()]
        rows.append((name, smiles, *values, *graph_counts(mol)))
    columns = f"name smiles {' '.join(PROPERTIES)} hydrogens bonds aromatic cyclic five six"
    write_table("properties.tsv", header("make_rdkit.py", "rdkit"), columns, rows)
    head = header("make_rdkit.py", "rdkit", "gemmi", "posebusters")
    write_table("counts.tsv", head, "file what count", file_rows())


if __name__ == "__main__":
    main()
