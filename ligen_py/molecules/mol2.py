"""MOL2 records of any program; RDKit's reader is made for those of Corina.

Corina draws five-rings with single and double bonds and writes every hydrogen. Other programs have
aromatic bonds in pyrroles, and may leave hydrogens out.
"""

from itertools import chain, combinations, islice

from rdkit import Chem

from ligen_py.molecules.graph import atoms_of, matches

MOST_WAYS = 64
"""Most ways of charging aromatic nitrogens that are tried."""


def read_mol2(text: str) -> Chem.Mol | None:
    """The molecule of a record, its hydrogens as atoms; None where RDKit cannot read it.

    Where hydrogens are missing, RDKit makes radicals.
    """
    mol = Chem.MolFromMol2Block(text, removeHs=False) or _with_fewest_charges(text)
    if mol is None:
        return None
    carbons = [atom for atom in atoms_of(mol) if atom.GetAtomicNum() == 6]
    if not any(atom.GetNumRadicalElectrons() for atom in carbons):
        return mol
    for carbon, _ in matches(mol, "[CD1]#[N+]"):  # an isonitrile
        mol.GetAtomWithIdx(carbon).SetFormalCharge(-1)
    if all(atom.GetAtomicNum() > 1 for atom in atoms_of(mol)):  # alcohols and amines are anions
        for (number,) in matches(mol, "[-,-2;!$(*~[+])]"):
            atom = mol.GetAtomWithIdx(number)
            if atom.GetProp("_TriposAtomType") != "O.co2":
                atom.SetFormalCharge(0)
                atom.SetNumExplicitHs(int(atom.GetIsAromatic()))  # a pyrrole's
    for atom in atoms_of(mol):
        atom.SetNoImplicit(False)
        atom.SetNumRadicalElectrons(0)
    return _sanitised(mol)


def _with_fewest_charges(text: str) -> Chem.Mol | None:
    """A molecule with pyrroles in aromatic bonds, to whose nitrogens RDKit gives charges.

    Where none or fewer of these make a molecule, azoles that lack a hydrogen are anions.
    """
    mol = Chem.MolFromMol2Block(text, sanitize=False, removeHs=False)
    atoms = [
        atom.GetIdx()
        for atom in (atoms_of(mol) if mol else ())
        if atom.GetAtomicNum() == 7 and atom.GetIsAromatic() and atom.GetFormalCharge() == 1
    ]
    ways = chain.from_iterable(combinations(atoms, count) for count in range(len(atoms)))
    for charged in islice(ways, MOST_WAYS):
        for atom in atoms:
            mol.GetAtomWithIdx(atom).SetFormalCharge(int(atom in charged))
        if found := _sanitised(Chem.Mol(mol)):
            return found
    for atom in atoms:
        mol.GetAtomWithIdx(atom).SetFormalCharge(0)
    bare = [
        atom.GetIdx()
        for atom in (atoms_of(mol) if mol else ())
        if atom.GetAtomicNum() == 7 and atom.GetIsAromatic() and atom.GetDegree() == 2
    ]
    ways = chain.from_iterable(combinations(bare, count) for count in range(1, len(bare) + 1))
    for charged in islice(ways, MOST_WAYS):
        anion = Chem.Mol(mol)
        for atom in charged:
            anion.GetAtomWithIdx(atom).SetFormalCharge(-1)
        if found := _sanitised(anion):
            return found
    return None


def _sanitised(mol: Chem.Mol) -> Chem.Mol | None:
    if Chem.SanitizeMol(mol, catchErrors=True):
        return None
    Chem.AssignStereochemistryFrom3D(mol)
    return mol
