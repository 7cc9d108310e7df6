"""Meeko's view of ligands, and AutoDock4's and Vina's parameters as Meeko ships them.

    .venv/bin/python tests/data/make_meeko.py

Writes meeko_ligands.tsv: for the crystal ligands inside posebusters, the drugs of
config/demo/drugs.smi, and molecules with rarer elements and groups: each atom's AutoDock type and
Gasteiger charge (- for merged hydrogens), and the bonds that Meeko lets turn, atoms numbered as in
the SMILES with hydrogens behind. Writes meeko_parameters.tsv: what the package's parameter files
say of the atoms of small molecules, one atom of each element and role.
"""

import json
import warnings
from importlib import resources

from meeko import MoleculePreparation
from rdkit import Chem
from rdkit.Chem import AllChem
from sources import COMPLEXES, HERE, header, ligand, write_table

OTHERS = {
    "iodobenzene": "Ic1ccccc1",
    "iodoform": "IC(I)I",
    "bromoform": "BrC(Br)Br",
    "chloroform": "ClC(Cl)Cl",
    "fluoroform": "FC(F)F",
    "silane": "CC[Si](C)(C)CCO",
    "trifluoromethane_sulfonamide": "FC(F)(F)S(=O)(=O)Nc1ccccc1",
    "phosphate": "COP(=O)([O-])[O-]",
    "phosphonium": "C[P+](C)(C)CCO",
    "boronic_acid": "OB(O)c1ccccc1",
    "thiol": "SCCC(N)=S",
    "thioether": "CSCCSC",
    "thiophene": "c1ccsc1CC",
    "sulfoxide": "CS(=O)CC",
    "sulfonium": "C[S+](C)CC",
    "thiazole": "c1cscn1",
    "guanidinium": "NC(=[NH2+])NCC",
    "amidine": "CC(=N)NC",
    "azide": "CCN=[N+]=[N-]",
    "nitrile": "CC#N",
    "isonitrile": "CC[N+]#[C-]",
    "nitro": "CC[N+](=O)[O-]",
    "oxime": "CC(C)=NO",
    "hydrazine": "CNNC",
    "azo": "CN=NC",
    "triazene": "CN=NN(C)C",
    "n_oxide": "C[N+](C)(C)[O-]",
    "pyridine_n_oxide": "[O-][n+]1ccccc1",
    "imidazolium": "C[n+]1cc[nH]c1",
    "tetrazole": "c1nnn[nH]1",
    "ammonium": "C[N+](C)(C)CCO",
    "enamine": "C=CN(C)C",
    "sulfonic_acid": "CS(=O)(=O)O",
    "tertiary_amide": "CC(=O)N(C)CC",
    "symmetric_amide": "CC(=O)N(CC)CC",
    "urea": "CNC(=O)NC",
    "carbamate": "COC(=O)N(C)CC",
    "thioamide": "CC(=S)NC",
    "acid": "OC(=O)CCC(=O)[O-]",
    "alkyne": "CC#CCO",
    "diyne": "CCC#CC#CCO",
    "hydrazone": "CC=NN(C)CC",
    "allene": "CC=C=CC",
    "biphenyl": "c1ccccc1-c1ccccc1",
    "butadiene": "C=CC=C",
    "peroxide": "COOC",
    "disulfide": "CCSSCC",
    "neopentane": "CC(C)(C)C",
    "water": "O",
    "ammonia": "N",
    "methane": "C",
    "aminopyrrole": "CCNn1cccc1",
    "tertiary_thioamide": "CC(=S)N(C)CC",
    "tertiary_amidine": "CC(=N)N(C)CC",
    "phosphine": "CPCC",
    "hydrogen_fluoride": "F",
    "magnesium": "[Mg+2]",
    "calcium": "[Ca+2]",
    "manganese": "[Mn+2]",
    "iron": "[Fe+2]",
    "zinc": "[Zn+2]",
}
ROLES = {
    "HD": ("CO", 5), "C": ("CC", 0), "A": ("c1ccccc1", 0), "N": ("CC(=O)N", 3), "NA": ("CN", 1),
    "OA": ("CO", 1), "S": ("CS(C)(=O)=O", 1), "SA": ("CSC", 1), "P": ("CP(C)(C)=O", 1),
    "F": ("CF", 1), "CL": ("CCl", 1), "BR": ("CBr", 1), "I": ("CI", 1), "MG": ("[Mg+2]", 0),
    "CA": ("[Ca+2]", 0), "MN": ("[Mn+2]", 0), "FE": ("[Fe+2]", 0), "ZN": ("[Zn+2]", 0),
}  # fmt: skip
"""Type -> a molecule, and the atom in it that has the type."""

FILES = ("ad4_vdw", "ad4_hb", "ad4_desolv_param", "ad4_desolv_volume", "vina_params")
COLUMNS = (
    "rmin_half", "epsilon", "ad4_hb_rij", "ad4_hb_epsij", "ad4_sol_par", "ad4_sol_vol", "vina_ri",
)  # fmt: skip


def drugs() -> dict[str, str]:
    lines = (HERE.parents[1] / "config" / "demo" / "drugs.smi").read_text().splitlines()
    return {name: smiles for smiles, name in (line.split()[:2] for line in lines if line.strip())}


def ligand_row(name: str, smiles: str) -> tuple:
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    AllChem.Compute2DCoords(mol)
    (setup,) = MoleculePreparation(rigid_macrocycles=True)(mol)
    atoms = [atom for atom in setup.atoms if not atom.is_pseudo_atom]
    assert [atom.index for atom in atoms] == list(range(mol.GetNumAtoms()))
    types = ["-" if atom.is_ignore else atom.atom_type for atom in atoms]
    charges = ["-" if atom.is_ignore else f"{atom.charge:.3f}" for atom in atoms]
    turning = sorted(
        tuple(sorted(bond)) for bond, info in setup.bond_info.items() if info.rotatable
    )
    axes = " ".join(f"{a}-{b}" for a, b in turning)
    return name, smiles, " ".join(types), " ".join(charges), axes or "-"


def parameter_row(kind: str, smiles: str, place: int) -> tuple:
    """The last rule of each file that fits the atom, which is the one that counts."""
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    known: dict[str, object] = {}
    for file in FILES:
        path = resources.files("meeko") / "data" / "params" / f"{file}.json"
        (rules,) = json.loads(path.read_text()).values()
        for rule in rules:
            query = Chem.MolFromSmarts(rule["smarts"])
            if any(match[0] == place for match in mol.GetSubstructMatches(query)):
                known |= rule
    return kind, smiles, *(known.get(column) or 0.0 for column in COLUMNS)


def main() -> None:
    """Write both tables."""
    warnings.filterwarnings("ignore", message="RDKit molecule not labeled as 3D")
    molecules = {name: Chem.MolToSmiles(Chem.RemoveHs(ligand(name))) for name in COMPLEXES}
    rows, left_out = [], []
    for name, smiles in (molecules | drugs() | OTHERS).items():
        try:
            rows.append(ligand_row(name, smiles))
        except (RuntimeError, ValueError) as error:
            left_out.append((name, str(error)[:60]))
    print("left out:", left_out)
    head = header("make_meeko.py", "meeko", "rdkit")
    write_table("meeko_ligands.tsv", head, "name smiles types charges turning", rows)
    rows = [parameter_row(kind, *where) for kind, where in ROLES.items()]
    write_table("meeko_parameters.tsv", head, f"type smiles {' '.join(COLUMNS)}", rows)


if __name__ == "__main__":
    main()
