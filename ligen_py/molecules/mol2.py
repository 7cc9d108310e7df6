"""MOL2 records of any program; RDKit's reader is made for those of Corina.

Corina draws five-rings with single and double bonds and writes every hydrogen. Other programs have
aromatic bonds in pyrroles, pyridones and pyrones, and may leave hydrogens out.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, islice

from rdkit import Chem

from ligen_py.molecules.graph import atoms_of, matches

MOST_WAYS = 64
"""Most ways of charging aromatic atoms that are tried."""

HEAD = "@<TRIPOS>MOLECULE"

COMMENT = re.compile(rf"({HEAD}[^\n]*\n[^\n]*\n)|^#[^\n]*(?:\n|$)", re.MULTILINE)
"""A head with its title, which may start with #, or a comment, which RDKit takes for an atom."""

CHARGES = re.compile(r"@<TRIPOS>UNITY_ATOM_ATTR[^\n]*\n([^@]*)")
"""Attributes of atoms, as Open Babel writes them; where there are any, RDKit charges no atom."""

CHARGE = re.compile(r"^\s*(\d+)\s+\d+\s*\n\s*charge\s+([+-]?\d+)", re.MULTILINE)

BONDS = re.compile(r"^@<TRIPOS>BOND[^\n]*\n([^@]*)", re.MULTILINE)
BOND_TYPES = ("1", "2", "3", "am", "ar")
"""Of others RDKit makes no bond, or one without an order."""

COUNTS = re.compile(r"@<TRIPOS>MOLECULE[^\n]*\n[^\n]*\n\s*\d+[ \t]+(\d+)")

CATION = "[#7,#8,#16;R;+1;!$(*[O-])]"
"""What RDKit makes of a nitrogen with three bonds, or an oxygen with two, if two are aromatic."""

LACKING = "[$([N;D1;-,-2;!$(*~[+])]-,=[!#1]),$([N;-;D2;!$(*~[+]);!$(*-[*]=,#,:*)])]"
"""What RDKit makes of amines and imines without their hydrogens; amides and azoles may be anions.

A record may have other hydrogens: RDKit's RemoveHs leaves that of C=N-H.
"""

UNPAIRED = "[#7+v3;$(*=[#6])]"
"""What RDKit makes of guanidines (C.cat) that are neutral."""


def read_mol2(text: str) -> Chem.Mol | None:
    """The molecule of a record, its hydrogens as atoms; None where RDKit cannot read all of it.

    Where hydrogens are missing, RDKit makes radicals. Of sulfonates it knows S.o2 beside O.co2, but
    not the S.O2 of most programs.
    """
    if lost_bond(text):
        return None
    text = without_comments(text).replace(" S.O2 ", " S.o2 ")
    if section := CHARGES.search(text):
        text = CHARGES.sub("", text)
        charges = {int(atom) - 1: int(charge) for atom, charge in CHARGE.findall(section[1])}
        found = read_mol2(text)
        return found if _has_charge(found, charges) else _charged(text, charges)
    mol = Chem.MolFromMol2Block(text, removeHs=False)
    if mol is not None and matches(mol, UNPAIRED):
        mol = Chem.MolFromMol2Block(text, removeHs=False, cleanupSubstructures=False) or mol
    mol = _aromatic(text, mol)
    if mol is None:
        return None
    is_bare = _is_bare(mol) or bool(matches(mol, LACKING))
    carbons = (atom for atom in atoms_of(mol) if atom.GetAtomicNum() == 6)
    if not is_bare and not any(atom.GetNumRadicalElectrons() for atom in carbons):
        return mol
    for carbon, _ in matches(mol, "[CD1]#[N+]"):  # an isonitrile
        mol.GetAtomWithIdx(carbon).SetFormalCharge(-1)
    if is_bare:  # alcohols and amines are anions
        for (number,) in matches(mol, "[-,-2;!$(*~[+])]"):
            atom = mol.GetAtomWithIdx(number)
            if atom.GetProp("_TriposAtomType") != "O.co2":
                atom.SetFormalCharge(0)
                atom.SetNumExplicitHs(int(atom.GetIsAromatic()))  # a pyrrole's
    for atom in atoms_of(mol):
        atom.SetNoImplicit(False)
        atom.SetNumRadicalElectrons(0)
    return _sanitised(mol)


def lost_bond(text: str) -> str:
    """What is wrong with the bonds of a record that RDKit would leave out; else an empty string."""
    text = without_comments(text)
    section = BONDS.search(text)
    rows = [line.split() for line in section[1].splitlines()] if section else []
    for words in rows:
        if len(words) > 3 and words[3] not in BOND_TYPES:
            known = ", ".join(BOND_TYPES)
            return f"bond {words[0]} has the type {words[3]!r}, which is none of {known}"
    found = sum(len(words) > 3 for words in rows)
    count = COUNTS.search(text)
    if count is None or int(count[1]) == found:
        return ""
    return f"the record has {found} bonds, but its third line says {count[1]}"


def without_comments(text: str) -> str:
    """The first record of a text, without comments: RDKit takes them for atoms and bonds."""
    text = COMMENT.sub(lambda found: found[1] or "", text)
    return text[: text.find(HEAD, text.find(HEAD) + 1)] if text.count(HEAD) > 1 else text


def _has_charge(mol: Chem.Mol | None, charges: dict[int, int]) -> bool:
    """Whether a molecule was read without radicals, and has the sum of some charges."""
    if mol is None or any(atom.GetNumRadicalElectrons() for atom in atoms_of(mol)):
        return False
    return int(Chem.GetFormalCharge(mol)) == sum(charges.values())


def _charged(text: str, charges: dict[int, int]) -> Chem.Mol | None:
    """The molecule with the charges that are given, and hydrogens as they stand if none is missing.

    Open Babel has the type O.co2 for every such oxygen; of these RDKit reads carboxylates alone.
    """
    text = text.replace(" O.co2", " O.3  ")
    mol = Chem.MolFromMol2Block(text, sanitize=False, removeHs=False, cleanupSubstructures=False)
    if mol is None:
        return None
    for atom in atoms_of(mol):
        atom.SetFormalCharge(charges.get(atom.GetIdx(), 0))
        atom.SetNoImplicit(True)
    for bond in mol.GetBonds():
        ends = bond.GetBeginAtom(), bond.GetEndAtom()
        oxygen = next(
            (end for end in ends if end.GetAtomicNum() == 8 and end.GetDegree() == 1), None
        )
        if oxygen and bond.GetBondType() == Chem.BondType.AROMATIC:
            other = bond.GetOtherAtom(oxygen)
            is_single = oxygen.GetFormalCharge() < 0 or _is_carbonyl(other)  # an acid's second
            bond.SetBondType(Chem.BondType.SINGLE if is_single else Chem.BondType.DOUBLE)
            bond.SetIsAromatic(False)
            oxygen.SetIsAromatic(False)
            other.SetIsAromatic(any(b.GetIsAromatic() for b in other.GetBonds()))
    whole = _sanitised(Chem.Mol(mol))
    if whole is None or _is_bare(whole) or any(map(_is_open, atoms_of(whole))):
        return _filled(mol)
    return whole


def _is_carbonyl(atom: Chem.Atom) -> bool:
    doubles = (bond.GetBondType() == Chem.BondType.DOUBLE for bond in atom.GetBonds())
    return atom.GetAtomicNum() == 6 and any(doubles)


def _is_open(atom: Chem.Atom) -> bool:
    """Whether an atom has unpaired electrons that it has in no usual molecule."""
    return atom.GetAtomicNum() in (6, 7) and atom.GetNumRadicalElectrons() > 0


def _filled(drawn: Chem.Mol) -> Chem.Mol | None:
    """The molecule with its charges and the hydrogens that it lacks, also those of pyrroles."""
    for atom in atoms_of(drawn):
        atom.SetNoImplicit(False)
    atoms = [atom.GetIdx() for atom in atoms_of(drawn) if atom.GetIsAromatic()]
    forms = (form for form in (_sanitised(Chem.Mol(drawn)),) if form)
    mol = _most_aromatic(chain(forms, _anions(drawn)), atoms)
    if mol is None:
        return None
    for atom, given in zip(atoms_of(mol), atoms_of(drawn), strict=True):
        if atom.GetFormalCharge() != given.GetFormalCharge():
            atom.SetFormalCharge(given.GetFormalCharge())
            atom.SetNumExplicitHs(1)
    return _sanitised(mol)


def _is_bare(mol: Chem.Mol) -> bool:
    return all(atom.GetAtomicNum() > 1 for atom in atoms_of(mol))


def _aromatic(text: str, given: Chem.Mol | None) -> Chem.Mol | None:
    """The molecule with the fewest charges in which what has aromatic bonds is aromatic.

    RDKit charges all nitrogens with three bonds there, and the oxygen of a pyrone, and leaves
    azoles without a hydrogen neutral. Then there is no Kekule form, or that of another molecule: a
    purine's without its hydrogens. `given` is what RDKit finds.
    """
    drawn = Chem.MolFromMol2Block(text, sanitize=False, removeHs=False)
    if drawn is None:
        return given
    atoms = [atom.GetIdx() for atom in atoms_of(drawn) if atom.GetIsAromatic()]
    is_sure = given is not None and not matches(given, CATION)
    if is_sure and (not _is_bare(given) or _are_aromatic(given, atoms)):
        return given
    neutral = Chem.Mol(drawn)
    for number in _charged_by_rdkit(drawn):
        neutral.GetAtomWithIdx(number).SetFormalCharge(0)
    forms = chain(_less_charged(drawn), () if given is None else (given,), _anions(neutral))
    return _most_aromatic(forms, atoms) or next(_cations(drawn), None)


def _most_aromatic(forms: Iterable[Chem.Mol], atoms: Sequence[int]) -> Chem.Mol | None:
    """The first form in which some atoms are aromatic, else the first; None if there is none."""
    first = None
    for form in forms:
        if _are_aromatic(form, atoms):
            return form
        first = first or form
    return first


def _are_aromatic(mol: Chem.Mol, atoms: Sequence[int]) -> bool:
    return all(mol.GetAtomWithIdx(number).GetIsAromatic() for number in atoms)


def _is_oxide(atom: Chem.Atom) -> bool:
    return atom.GetAtomicNum() == 8 and atom.GetFormalCharge() < 0


def _has_no_hydrogen(atom: Chem.Atom) -> bool:
    return all(other.GetAtomicNum() > 1 for other in atom.GetNeighbors())


def _charged_by_rdkit(drawn: Chem.Mol) -> list[int]:
    """Aromatic atoms with a charge that is not an oxide's, those with a hydrogen first."""
    atoms = [
        atom
        for atom in atoms_of(drawn)
        if atom.GetAtomicNum() in (7, 8, 16)
        and atom.GetIsAromatic()
        and atom.GetFormalCharge() == 1
        and not any(_is_oxide(other) for other in atom.GetNeighbors())
    ]
    atoms.sort(key=_has_no_hydrogen)
    return [atom.GetIdx() for atom in atoms]


def _less_charged(drawn: Chem.Mol) -> Iterator[Chem.Mol]:
    """Molecules with fewer charges than RDKit gives, the fewest first."""
    atoms = _charged_by_rdkit(drawn)
    ways = chain.from_iterable(combinations(atoms, count) for count in range(len(atoms)))
    for charged in islice(ways, MOST_WAYS):
        form = Chem.Mol(drawn)
        for number in atoms:
            form.GetAtomWithIdx(number).SetFormalCharge(int(number in charged))
        if form := _sanitised(form):
            yield form


def _cations(drawn: Chem.Mol) -> Iterator[Chem.Mol]:
    """Molecules in which aromatic nitrogens with three bonds are cations, the fewest first.

    RDKit charges those of type N.ar alone; imidazolium has N.pl3 in some programs.
    """
    atoms = [
        atom
        for atom in atoms_of(drawn)
        if atom.GetAtomicNum() == 7 and atom.GetIsAromatic() and atom.GetDegree() == 3
    ]
    atoms.sort(key=_has_no_hydrogen)
    numbers = [atom.GetIdx() for atom in atoms if not atom.GetFormalCharge()]
    ways = chain.from_iterable(combinations(numbers, 1 + count) for count in range(len(numbers)))
    for charged in islice(ways, MOST_WAYS):
        form = Chem.Mol(drawn)
        for number in charged:
            form.GetAtomWithIdx(number).SetFormalCharge(1)
        if form := _sanitised(form):
            yield form


def _anions(drawn: Chem.Mol) -> Iterator[Chem.Mol]:
    """Molecules in which azoles that lack a hydrogen are anions, the fewest of them first."""
    atoms = [
        atom.GetIdx()
        for atom in atoms_of(drawn)
        if atom.GetAtomicNum() == 7 and atom.GetIsAromatic() and atom.GetDegree() == 2
    ]
    Chem.FastFindRings(drawn)
    rings = drawn.GetRingInfo()
    # A purine's hydrogen is in the five-ring.
    atoms.sort(key=lambda number: not rings.IsAtomInRingOfSize(number, 5))
    ways = chain.from_iterable(combinations(atoms, 1 + count) for count in range(len(atoms)))
    for charged in islice(ways, MOST_WAYS):
        form = Chem.Mol(drawn)
        for number in charged:
            form.GetAtomWithIdx(number).SetFormalCharge(-1)
        if form := _sanitised(form):
            yield form


def _sanitised(mol: Chem.Mol) -> Chem.Mol | None:
    if Chem.SanitizeMol(mol, catchErrors=True):
        return None
    Chem.AssignStereochemistryFrom3D(mol)
    return mol
