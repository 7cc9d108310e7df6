"""Forms in which a parent may bind: tautomers and stereoisomers.

Every function returns the forms in an order that depends on the molecule and the settings alone, at
most as many as wanted. Heavy atoms keep their numbers and coordinates.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from rdkit import Chem
from rdkit.Chem.EnumerateStereoisomers import (
    EnumerateStereoisomers,
    GetStereoisomerCount,
    StereoEnumerationOptions,
)
from rdkit.Chem.MolStandardize import rdMolStandardize

from ligen_py.molecules.graph import atoms_of, matches

MOST_TAUTOMERS = 64
"""Tautomers that are generated before the best are chosen."""

_ACCEPTOR = "$(C=[O,N,S]),$(C#N),$([N+](=O)[O-])"
MOBILE = f"[CX4;$(C([{_ACCEPTOR}])[{_ACCEPTOR}]),$(CC=N)]"
"""A carbon whose hydrogen may move: of a 1,3-diketone or the like, or beside an imine."""
HARDLY_ANY = (
    "[OX2H,SX2H][CX3]=[NX2]",
    "[CX3]=[CX3]([OX2H,SX2H])[#7,#8,#16]",
    "c=;!@[NX2;H1]",
    "c=;@[C,N]",
    "[CX3]=[CX3][NX2]=[OX1]",
)
"""Groups that water hardly has: imidic acids, enols of acids and amides, imines of aromatic rings
and what opens these in a fused ring, and nitrosoalkenes."""
HYDRAZONE = "O=[#6][#6]=[NX2][#7,#8;!H0]"
"""Of a hydroxyazo or hydroxynitroso dye, whose other form has one aromatic ring more."""

MOST_INVERTED = 2
"""Stereocentres that are inverted at a time in a drawing that cannot exist in space."""
MOST_MENDED = 24
"""Most drawings with inverted centres that are tried: all for a system with six centres."""


def tautomers(mol: Chem.Mol, limit: int) -> list[Chem.Mol]:
    """The molecule as drawn, then its other tautomers by RDKit's score; `limit` in all.

    Stereocentres and double bonds that are marked stay as they are, and so do coordinates. What
    RDKit makes and water hardly has is left out: enols of ketones, acids and amides, imidic acids,
    imines of rings, and dienones.
    """
    if limit == 1:
        return [mol]
    parameters = rdMolStandardize.CleanupParameters()
    parameters.maxTautomers = MOST_TAUTOMERS
    parameters.tautomerRemoveSp3Stereo = False
    parameters.tautomerRemoveBondStereo = False
    found = rdMolStandardize.TautomerEnumerator(parameters).Enumerate(mol)
    score = rdMolStandardize.TautomerEnumerator.ScoreTautomer
    drawn = Chem.MolToSmiles(mol)
    others = [
        (-score(tautomer), smiles, tautomer)
        for smiles, tautomer in zip(found.smiles, found.tautomers, strict=True)
        if smiles != drawn and _may_be(mol, tautomer)
    ]
    others.sort(key=lambda item: item[:2])
    chosen = [tautomer for _, _, tautomer in others[: limit - 1]]
    for tautomer in chosen:  # RDKit drops coordinates, not the order of atoms
        tautomer.RemoveAllConformers()
        for conformer in mol.GetConformers():
            tautomer.AddConformer(conformer)
    return [mol, *chosen]


def _may_be(drawn: Chem.Mol, tautomer: Chem.Mol) -> bool:
    """Whether there may be more than a trace of a tautomer."""
    forms = drawn, tautomer
    before, after = ({atom for (atom,) in matches(form, "[CX4]")} for form in forms)
    mobile = {atom for form in forms for (atom,) in matches(form, MOBILE)}
    marked = {atom.GetIdx() for atom in atoms_of(drawn) if atom.GetChiralTag()}
    if not before ^ after <= mobile - marked:
        return False
    is_hydrazone = len(matches(tautomer, HYDRAZONE)) > len(matches(drawn, HYDRAZONE))
    if not is_hydrazone and len(matches(tautomer, "[a;r6]")) < len(matches(drawn, "[a;r6]")):
        return False
    return all(len(matches(tautomer, one)) <= len(matches(drawn, one)) for one in HARDLY_ANY)


def tetrahedral_carbons(mol: Chem.Mol) -> list[int]:
    """The sp3 carbon atoms, by their place among the heavy atoms."""
    found = [atom for (atom,) in matches(mol, "[#6^3]")]
    if mol.GetNumAtoms() == mol.GetNumHeavyAtoms():
        return found
    places = {atom: place for place, (atom,) in enumerate(matches(mol, "[!#1]"))}
    return [places[atom] for atom in found]


def acid_centres(mol: Chem.Mol) -> dict[int, list[int]]:
    """Phosphorus and sulfur atoms with two terminal oxygens or more, and these oxygens.

    A proton moves between the oxygens, so that a drawing with O, O- and OH is no stereocentre.
    Hydrogens may be atoms.
    """
    found = {}
    for (centre,) in matches(mol, "[#15,#16]"):
        ends = [
            other.GetIdx()
            for other in mol.GetAtomWithIdx(centre).GetNeighbors()
            if other.GetAtomicNum() == 8 and _is_end(other)
        ]
        if len(ends) > 1:
            found[centre] = ends
    return found


def _is_end(atom: Chem.Atom) -> bool:
    return sum(other.GetAtomicNum() > 1 for other in atom.GetNeighbors()) == 1


def hydrogen_places(mol: Chem.Mol) -> str:
    """The same text for two forms that differ in bond orders and the places of charges alone.

    They are one ion, such as 4-methylimidazolium drawn with the charge at either nitrogen.
    """
    bare = Chem.RWMol(mol)
    for atom, before in zip(atoms_of(bare), atoms_of(mol), strict=True):
        atom.SetIsotope(1 + before.GetTotalNumHs())
        atom.SetNumExplicitHs(0)
        atom.SetNoImplicit(True)
        atom.SetFormalCharge(0)
        atom.SetIsAromatic(False)
    for bond in bare.GetBonds():
        bond.SetBondType(Chem.BondType.SINGLE)
        bond.SetIsAromatic(False)
        bond.SetStereo(Chem.BondStereo.STEREONONE)
    return f"{Chem.GetFormalCharge(mol)} {Chem.MolToSmiles(bare)}"


def unmark_acids(mol: Chem.Mol) -> None:
    """Take the marks off acid centres, in place; coordinates with O and OH seem to have them."""
    marked = [atom for i in acid_centres(mol) if (atom := mol.GetAtomWithIdx(i)).GetChiralTag()]
    for atom in marked:
        atom.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)
    if marked:
        Chem.AssignStereochemistry(mol, cleanIt=True, force=True)


def with_equal_oxygens(mol: Chem.Mol) -> Chem.Mol:
    """A copy whose acid centres have equal oxygens, so that RDKit sees no stereocentre there."""
    result = Chem.RWMol(mol)
    for centre, ends in acid_centres(mol).items():
        acid = result.GetAtomWithIdx(centre)
        for end in ends:
            bond, oxygen = result.GetBondBetweenAtoms(centre, end), result.GetAtomWithIdx(end)
            if bond.GetBondType() == Chem.BondType.DOUBLE:
                acid.SetFormalCharge(acid.GetFormalCharge() + 1)
            bond.SetBondType(Chem.BondType.SINGLE)
            oxygen.SetFormalCharge(-1)
            oxygen.SetNumExplicitHs(0)
            oxygen.SetNoImplicit(True)
        acid.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)
    equal = result.GetMol()
    equal.UpdatePropertyCache(strict=False)
    return equal


UNMARKED = (Chem.StereoSpecified.Unspecified, Chem.StereoSpecified.Unknown)
"""What RDKit says of a centre or double bond whose stereochemistry is open."""


def _is_open(mol: Chem.Mol) -> bool:
    """Whether a drawing leaves centres or double bonds open; also where acids look like centres."""
    return bool(len(mol.GetStereoGroups())) or any(
        one.specified in UNMARKED for one in Chem.FindPotentialStereo(mol)
    )


def undefined_stereo(mol: Chem.Mol) -> int:
    """Number of stereoisomers that a drawing allows, by its unmarked centres and bonds."""
    if not _is_open(mol):
        return 1
    options = StereoEnumerationOptions(unique=True)
    equal = with_equal_oxygens(mol)
    return int(GetStereoisomerCount(equal, options)) >> _cumulated(equal)


def open_stereo(mol: Chem.Mol) -> int:
    """Number of centres and double bonds whose stereochemistry a drawing leaves open."""
    centres, bonds = open_centres_and_bonds(mol)
    return len(centres) + bonds


def open_centres_and_bonds(mol: Chem.Mol) -> tuple[list[int], int]:
    """Atoms that are centres which a drawing leaves open, and how many double bonds are so.

    RDKit also counts allenes, of whose bonds none has sides, C=N-H, whose sides interconvert, and
    atoms of other than four neighbours.
    """
    centre = Chem.StereoType.Atom_Tetrahedral
    equal = with_equal_oxygens(mol)
    found = [one for one in Chem.FindPotentialStereo(equal) if one.specified in UNMARKED]
    bonds = [bond for bond in _bonds_of(equal, found) if not (_is_cumulated(bond) or _is_nh(bond))]
    return [one.centeredOn for one in found if one.type == centre], len(bonds)


def _cumulated(mol: Chem.Mol) -> int:
    """Bonds of allenes and the like that RDKit counts as open, though they have no sides."""
    found = [one for one in Chem.FindPotentialStereo(mol) if one.specified in UNMARKED]
    return sum(map(_is_cumulated, _bonds_of(mol, found)))


def _bonds_of(mol: Chem.Mol, found: Sequence[Chem.StereoInfo]) -> list[Chem.Bond]:
    double = Chem.StereoType.Bond_Double
    return [mol.GetBondWithIdx(one.centeredOn) for one in found if one.type == double]


def _is_cumulated(bond: Chem.Bond) -> bool:
    return any(
        other.GetBondType() == Chem.BondType.DOUBLE and other.GetIdx() != bond.GetIdx()
        for atom in (bond.GetBeginAtom(), bond.GetEndAtom())
        for other in atom.GetBonds()
        if atom.GetAtomicNum() == 6
    )


def _is_nh(bond: Chem.Bond) -> bool:
    """Whether one end is a nitrogen with hydrogens alone; hydrogens may be atoms."""
    ends = bond.GetBeginAtom(), bond.GetEndAtom()
    return any(atom.GetAtomicNum() == 7 and _is_end(atom) for atom in ends)


def stereoisomers(mol: Chem.Mol, most: int, seed: int) -> Iterator[Chem.Mol]:
    """Stereoisomers that agree with the drawing: all, or a random choice of `most` (seeded).

    None where the drawing leaves nothing open. Some may be impossible in space; no conformer will
    be found for these.
    """
    has_acids = bool(acid_centres(mol))  # whose marks, if any, are taken off
    if not has_acids and not _is_open(mol):
        return
    options = StereoEnumerationOptions(
        unique=True, onlyUnassigned=True, maxIsomers=most, rand=random.Random(seed)
    )
    if not has_acids:
        yield from EnumerateStereoisomers(mol, options=options)
        return
    for isomer in EnumerateStereoisomers(with_equal_oxygens(mol), options=options):
        form = Chem.Mol(mol)
        Chem.SetDoubleBondNeighborDirections(isomer)
        for atom, marked in zip(atoms_of(form), atoms_of(isomer), strict=True):
            atom.SetChiralTag(marked.GetChiralTag())
        for bond, mark in zip(form.GetBonds(), isomer.GetBonds(), strict=True):
            bond.SetBondDir(mark.GetBondDir())
        Chem.AssignStereochemistry(form, cleanIt=True, force=True)
        yield form


def open_fusions(mol: Chem.Mol, isomers: Iterable[Chem.Mol]) -> list[int]:
    """The unmarked atoms in two rings or more that some of a molecule's stereoisomers mark."""
    rings = mol.GetRingInfo()
    return [
        atom.GetIdx()
        for atom in atoms_of(mol)
        if rings.NumAtomRings(atom.GetIdx()) > 1
        and not atom.GetChiralTag()
        and any(isomer.GetAtomWithIdx(atom.GetIdx()).GetChiralTag() for isomer in isomers)
    ]


def without_nitrogens(mol: Chem.Mol, centres: Iterable[int]) -> Chem.Mol:
    """A copy without the marks of those centres that are nitrogens which can turn inside out."""
    result = Chem.Mol(mol)
    for atom in map(result.GetAtomWithIdx, centres):
        if atom.GetAtomicNum() == 7 and atom.GetDegree() < 4:
            atom.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)
    return result


def inverted(mol: Chem.Mol) -> Iterator[list[Chem.Mol]]:
    """A molecule with one, then two marked centres at ring fusions inverted.

    A bridge can make a drawing impossible: it joins both ends of a ring from one side. Lists by the
    number of inverted centres, each in the order of SMILES.
    """
    rings = mol.GetRingInfo()
    centres = [
        atom.GetIdx()
        for atom in atoms_of(mol)
        if rings.NumAtomRings(atom.GetIdx()) > 1
        and atom.GetChiralTag() != Chem.ChiralType.CHI_UNSPECIFIED
    ]
    left = MOST_MENDED
    for count in range(1, MOST_INVERTED + 1):
        forms = {}
        for chosen in combinations(centres, count):
            form = Chem.Mol(mol)
            for number in chosen:
                form.GetAtomWithIdx(number).InvertChirality()
            Chem.AssignStereochemistry(form, cleanIt=True, force=True)
            forms[Chem.MolToSmiles(form)] = form
        found = [forms[smiles] for smiles in sorted(forms)[:left]]
        left -= len(found)
        yield found
