"""From a molecule as drawn to its parent: one fragment, one way of drawing, neutral if possible.

Salts, solvents, isotope labels and ways of drawing are those of ChEMBL's structure pipeline (Bento
et al., J. Cheminform. 12:51, 2020), and then those of `water_tautomers`. Notes list what was done.
"""

import hashlib
import re
from collections import Counter
from functools import cache
from typing import NamedTuple

from chembl_structure_pipeline import standardizer as chembl
from rdkit import Chem
from rdkit.Chem import KEKULE_ALL, ResonanceMolSupplier, rdMolDescriptors
from rdkit.Chem.MolStandardize import rdMolStandardize

from ligen_py.molecules.graph import CHARGED, atoms_of, holds, matches
from ligen_py.molecules.ligands import mobile_hydrogens, water_tautomers
from ligen_py.molecules.steps import Steps, at_once
from ligen_py.molecules.surroundings import MOST, Surroundings, surroundings

ISOTOPE = "[!0*]"
UNBALANCED = "[$([!+0;!$([+1]~[-1]);!$([-1]~[+1])]),$([+1](~[-1])~[-1]),$([-1](~[+1])~[+1])]"
"""An atom with a charge, unless a neighbour balances it alone, as in a nitro group."""
SEPARATED = "[$([PX4+]),$([SX4+]),$([SX4+2])]-[OX1-,SX1-]"
"""Phosphoryl and sulfonyl groups drawn with charges, as [S+2]([O-])[O-]; a sulfoxide has S+."""
_OF_SALTS = "Li,Na,K,Rb,Cs,Mg,Ca,Sr,Ba,Al,Mn,Fe,Co,Ni,Cu,Zn,Ag,Bi"
_NO_ANION = "[!$([OX2+0]);!$([SX2+0]);!$([NX3+0]*=[O,S]);!F;!Cl;!Br;!I]"
SALT = f"[{_OF_SALTS};+0,+1;D1,D2,D3;!$(*~{_NO_ANION})]-[O,S,N]"
"""A metal drawn with a bond to an acid's oxygen, sulfur or nitrogen, and with no other bonds but to
such atoms and halogens. With carbon, a neutral amine or a charged atom it is no salt's."""
MISPLACED = (
    "[N;+;H0;!$(*~[-])]=C-[N;+0;H1,H2]",
    "[n;+;H0;!$(*~[-])]:c:[n;+0;H1]",
    "[N;+;H0;!$(*~[-])]=c:[n;+0;H1]",
    "[N;+;H0;!$(*~[-])]=c:c:c:[n;+0;H1]",
)
"""A charged nitrogen without hydrogens, and one with hydrogens that could have the charge. Not that
of an amino group at an aromatic ring, such as N-methyl-2-aminopyridinium: it is hardly lost."""
TETRAARYLBORATE = "[BX4-](c)(c)(c)c"
SEPARATE = "[#7+;H0;!$(*~[-])]", "[O-,S-,#7-;!$(*~[+])]"
"""Charges that may be conjugated."""
_AT_CATION = "$(*c:[n+;!$(n[O-])]),$(*c:*:[n+;!$(n[O-])]),$(*c:*:*:[n+;!$(n[O-])])"
ACIDS = (
    "[OX2H1;$(OS(=O)=O)]",
    "[OX2H1;$(OP=[O,S])]",
    "[OX2H1;$(OC(=O)[#6])]",
    "[OX2H1;$(O[#7+;H0])]",
    f"[OX2H1,SX2H1,$([NX3H1][C,S]=O);{_AT_CATION}]",
)
"""Those that are the anion of an inner salt, the strongest first: at last N-oxides, and hydroxy
groups of rings with a charged nitrogen, as in 3-hydroxypyridinium and sydnones."""
MOST_FORMS = 256
"""Resonance structures in which such a charge is looked for."""
COUNTS = Chem.SanitizeFlags.SANITIZE_PROPERTIES | Chem.SanitizeFlags.SANITIZE_SYMMRINGS
"""What is sanitised where only hydrogens have been taken off."""
HEAVY = frozenset(range(2, 119))
ELECTRON_POOR = frozenset((5, 6, 14))
"""Elements whose cations lack two electrons, so that no proton takes their charge away."""
ABSOLUTE = Chem.StereoGroupType.STEREO_ABSOLUTE
OPEN_IMINE = "side of the hydrogen of C=N-H left open"
IN_WATER = "drawn as the tautomer that water has"
ONE_TAUTOMER = "drawn as the one of its tautomers that stands for all"
MIXTURE = "mixture, also of"
"""First words of the note of a record with several parents."""


def content_key(smiles: str) -> str:
    """32 hexadecimal digits that stand for a parent molecule.

    With half as many, two of 10^9 molecules would share them with a probability of 3 %, and one of
    the two would not be docked.
    """
    return hashlib.sha256(smiles.encode()).hexdigest()[:32]


def canonical_smiles(mol: Chem.Mol) -> str:
    """Canonical isomeric SMILES, hydrogens implicit."""
    return str(Chem.MolToSmiles(_without_hydrogens(mol)))


def smiles_with_groups(mol: Chem.Mol) -> str:
    """`canonical_smiles`, with ChemAxon's extension for groups of centres that may be inverted.

    Such groups say that a record is a racemate, or that of a stereoisomer only the relative
    configuration is known. Which of the isomers is drawn does not matter. A group that is its own
    mirror image, as of cis-4-methylcyclohexanol, says nothing.
    """
    if all(group.GetGroupType() == ABSOLUTE for group in mol.GetStereoGroups()):
        return canonical_smiles(mol)
    bare = Chem.RWMol(_without_hydrogens(mol))
    bare.SetStereoGroups([one for one in bare.GetStereoGroups() if _leaves_open(bare, one)])
    way = Chem.SmilesWriteParams(), Chem.CXSmilesFields.CX_ENHANCEDSTEREO
    return str(Chem.MolToCXSmiles(bare, *way))


def _leaves_open(mol: Chem.Mol, group: Chem.StereoGroup) -> bool:
    """Whether a group of centres stands for more than what is drawn."""
    if group.GetGroupType() == ABSOLUTE:
        return False
    image = Chem.Mol(mol)
    for atom in group.GetAtoms():
        image.GetAtomWithIdx(atom.GetIdx()).InvertChirality()
    return bool(group.GetBonds()) or canonical_smiles(image) != canonical_smiles(mol)


def _without_hydrogens(mol: Chem.Mol) -> Chem.Mol:
    if mol.GetNumAtoms() > mol.GetNumHeavyAtoms():
        return Chem.RemoveHs(mol, _hydrogens(), sanitize=False)
    return mol


@cache
def _hydrogens() -> Chem.RemoveHsParameters:
    """Those to take off: also the one of C=N-H, whose side is lost with the next proton."""
    result = Chem.RemoveHsParameters()
    result.removeDefiningBondStereo = True
    return result


class Parent(NamedTuple):
    """What is left of a molecule as drawn."""

    mol: Chem.Mol
    notes: list[str]
    """What was done to it, in words."""
    as_drawn: bool = False
    """Whether nothing was done but to take hydrogens off."""


def standardise(mol: Chem.Mol) -> Parent:
    """The parent of a sanitised molecule.

    Isotope labels, salts and solvents are removed; functional groups are drawn as ChEMBL draws
    them; charges are neutralised where a hydrogen can do it. Heavy atoms keep their coordinates.
    """
    return at_once(standardising(mol))


def standardising(mol: Chem.Mol) -> Steps[Parent]:
    """`standardise`, with a pause after each step."""
    if holds(mol, SALT):
        return (yield from standardising(_with_ions(mol)))._replace(as_drawn=False)
    if holds(mol, SEPARATED):
        return (yield from standardising(_with_double_bonds(mol)))._replace(as_drawn=False)
    bare = yield from _if_standard(mol)
    if bare is not None:
        return _with_one_drawing(Parent(bare, [], True))
    notes = []
    mol = Chem.Mol(mol)
    if holds(mol, ISOTOPE):
        for atom in atoms_of(mol):
            atom.SetIsotope(0)
        notes.append("isotope labels removed")
    Chem.ClearMolSubstanceGroups(mol)
    Chem.Kekulize(mol)
    mol = Chem.RemoveHs(mol, sanitize=False)
    Chem.FastFindRings(mol)
    changes = bool(notes) or len(Chem.GetMolFrags(mol)) > 1
    if changes or any(mol.HasSubstructMatch(group) for group in _redrawn()):
        changes = True
        mol = chembl.normalize_mol(mol)
    Chem.SanitizeMol(mol)
    if len(Chem.GetMolFrags(mol)) > 1:
        kept = chembl.get_fragment_parent_mol(_without_borates(mol))[0]
        Chem.SanitizeMol(kept)
        if not any(atom.GetDegree() for atom in atoms_of(kept)):
            kept = mol  # the ion of a rare metal, such as iron's beside acetates
        notes += _listed("taken off", _fragments(mol) - _fragments(kept))
        mol, more = largest_fragment(kept)
        notes += more
    if holds(mol, CHARGED):
        changes = changes or holds(mol, UNBALANCED)
        mol = _with_charge_at_hydrogen(_with_fewest_charges(mol))
        mol = _uncharged(mol)
        Chem.SanitizeMol(mol)
        mol = _with_fewest_charges(_with_inner_salt(mol))
    if mol.GetNumAtoms() > mol.GetNumHeavyAtoms():
        mol = Chem.RemoveHs(mol)
        count = mol.GetNumAtoms()
        mol = Chem.RemoveHs(mol, _hydrogens())
        notes += [OPEN_IMINE] if mol.GetNumAtoms() < count else []
    mol, moved = water_tautomers.as_in_water(mol)
    notes += [IN_WATER] if moved else []
    Chem.AssignStereochemistry(mol, cleanIt=True, force=True)
    return _with_one_drawing(Parent(mol, notes, not (changes or moved)))


def _with_one_drawing(parent: Parent) -> Parent:
    """A parent whose azoles and amidines have their hydrogens where all their tautomers do."""
    mol = mobile_hydrogens.placed(parent.mol, surroundings(parent.mol))
    if mol is parent.mol:
        return parent
    return Parent(mol, [*parent.notes, ONE_TAUTOMER], False)


def _without_borates(mol: Chem.Mol) -> Chem.Mol:
    """A molecule without tetraarylborates, where it has other carbon: ChEMBL's list lacks them.

    They are larger than most of their cations, some of which are in that list, such as choline.
    """
    centres = {centre for centre, *_ in matches(mol, TETRAARYLBORATE)}
    if not centres:
        return mol
    left = Chem.RWMol(mol)
    left.BeginBatchEdit()
    for part in Chem.GetMolFrags(mol):
        for atom in part if not centres.isdisjoint(part) else ():
            left.RemoveAtom(atom)
    left.CommitBatchEdit()
    return left.GetMol() if _has_carbon(left) else mol


def _with_ions(mol: Chem.Mol) -> Chem.Mol:
    """A molecule whose salts, as CC(=O)O[Ca]OC(C)=O, are ions without bonds between them."""
    cut = Chem.RWMol(mol)
    for metal in {match[0] for match in matches(mol, SALT)}:
        for other in mol.GetAtomWithIdx(metal).GetNeighbors():
            cut.RemoveBond(metal, other.GetIdx())
            for number, charge in ((metal, 1), (other.GetIdx(), -1)):
                atom = cut.GetAtomWithIdx(number)
                atom.SetFormalCharge(atom.GetFormalCharge() + charge)
                atom.SetNumRadicalElectrons(0)
    Chem.SanitizeMol(cut)
    return cut.GetMol()


def _with_double_bonds(mol: Chem.Mol) -> Chem.Mol:
    """A molecule whose phosphoryl and sulfonyl groups have double bonds and no charges."""
    mol = Chem.Mol(mol)
    for match in matches(mol, SEPARATED):
        centre, oxygen = map(mol.GetAtomWithIdx, match)
        if centre.GetFormalCharge():  # of several anions at phosphorus one has the double bond
            centre.SetFormalCharge(centre.GetFormalCharge() - 1)
            oxygen.SetFormalCharge(0)
            mol.GetBondBetweenAtoms(*match).SetBondType(Chem.BondType.DOUBLE)
    Chem.SanitizeMol(mol)
    return mol


def _with_fewest_charges(mol: Chem.Mol) -> Chem.Mol:
    """Conjugated charges that cancel each other, as of [O-]c1cc[n+](C)cc1, drawn without them."""
    if not all(holds(mol, charge) for charge in SEPARATE):
        return mol
    forms: dict[str, Chem.Mol] = {}
    fewest = _charges(mol)
    for form in ResonanceMolSupplier(mol, KEKULE_ALL, MOST_FORMS):
        if form is None or _charges(form) > fewest or Chem.SanitizeMol(form, catchErrors=True):
            continue
        forms = forms if _charges(form) == fewest else {}
        fewest = _charges(form)
        forms[Chem.MolToSmiles(form)] = form
    return forms[min(forms)] if fewest < _charges(mol) else mol


def _charges(mol: Chem.Mol) -> int:
    return sum(abs(atom.GetFormalCharge()) for atom in atoms_of(mol))


def _with_charge_at_hydrogen(mol: Chem.Mol) -> Chem.Mol:
    """Amidinium and the like, such as 1-methylimidazolium, with the charge at an N with hydrogens.

    From there it can be neutralised; at which N it was drawn is no matter. Heavy atoms keep their
    numbers and coordinates.
    """
    ways = [(match[0], match[-1]) for smarts in MISPLACED for match in matches(mol, smarts)]
    forms = {}
    for form in ResonanceMolSupplier(mol, KEKULE_ALL, MOST_FORMS) if ways else ():
        if form is None or Chem.SanitizeMol(form, catchErrors=True):
            continue
        changed = [
            atom.GetIdx()
            for atom, before in zip(atoms_of(form), atoms_of(mol), strict=True)
            if atom.GetFormalCharge() != before.GetFormalCharge()
        ]
        if any(set(changed) == set(way) for way in ways):
            forms[Chem.MolToSmiles(form)] = form
    return _with_charge_at_hydrogen(forms[min(forms)]) if forms else mol


def _with_inner_salt(mol: Chem.Mol) -> Chem.Mol:
    """A cation with acids as their anion, so that it is uncharged: betaine, carnitine."""
    while Chem.GetFormalCharge(mol) > 0:
        found = next(filter(None, (matches(mol, smarts) for smarts in ACIDS)), ())
        forms = {}
        for (acid,) in found:
            form = Chem.Mol(mol)
            form.GetAtomWithIdx(acid).SetFormalCharge(-1)
            form.GetAtomWithIdx(acid).SetNumExplicitHs(0)
            Chem.SanitizeMol(form)
            forms[Chem.MolToSmiles(form)] = form
        if not forms:
            return mol
        mol = forms[min(forms)]
    return mol


def parent_smiles(smiles: str) -> str:
    """The parent of a molecule, both as SMILES; the same text where RDKit cannot read it."""
    mol = Chem.MolFromSmiles(smiles)
    return smiles if mol is None else canonical_smiles(standardise(mol).mol)


def _if_standard(mol: Chem.Mol) -> Steps[Chem.Mol | None]:
    """A sanitised molecule without its hydrogens where nothing else is to be done, else None.

    Aromaticity and hybridisation are those of the molecule as it was read, so only hydrogens are
    counted and rings found again. ChEMBL's rules see bonds as single and double; each of their
    bonds has an atom that is not aromatic, so it is the same in both drawings. Charges that are
    balanced side by side are not neutralised.
    """
    bare = Chem.RemoveHs(mol, sanitize=False)
    yield None
    Chem.ClearMolSubstanceGroups(bare)
    if len(Chem.GetMolFrags(bare)) > 1:
        return None
    if Chem.SanitizeMol(bare, sanitizeOps=COUNTS, catchErrors=True):
        return None
    yield None
    Chem.AssignStereochemistry(bare, cleanIt=True, force=True)
    yield None
    seen = surroundings(bare)
    if not HEAVY.issuperset(seen.element) or any(atom.isotope for atom in seen.lists.atoms):
        return None
    if any(seen.charge) and not _is_balanced(seen):
        return None
    return None if _has_redrawn(seen) else bare


_groups_of: dict[int, tuple[int, ...]] = {}
"""What stands for an atom -> the groups that are drawn in another way whose centre it can be."""


def _has_redrawn(seen: Surroundings) -> bool:
    """Whether a molecule has a group that is drawn in another way.

    Most have no atom that could be the centre of one, which is known by what stands for it.
    """
    if any(number not in _groups_of for number in seen.number):
        _learn_groups(seen)
    possible = {group for number in seen.number for group in _groups_of[number]}
    return any(seen.mol.HasSubstructMatch(_every_redrawn()[group]) for group in possible)


def _learn_groups(seen: Surroundings) -> None:
    if len(_groups_of) > MOST:
        _groups_of.clear()
    found: dict[int, list[int]] = {number: [] for number in seen.number}
    for group, (star, place) in enumerate(_stars()):
        for match in seen.mol.GetSubstructMatches(star, uniquify=False, maxMatches=1_000_000):
            found[seen.number[match[place]]].append(group)
    _groups_of.update({number: tuple(sorted({*groups})) for number, groups in found.items()})


@cache
def _stars() -> list[tuple[Chem.Mol, int]]:
    """Of each group that is redrawn a central atom and its neighbours, and the atom's number.

    What is in a ring is left out, as surroundings do not say it.
    """
    return [_star(group) for group in _every_redrawn()]


_RING_BONDS = re.compile(r";x\d(,x\d)*")


def _star(group: Chem.Mol) -> tuple[Chem.Mol, int]:
    """An atom of a pattern, its neighbours, and its number there: what is rare in molecules.

    It is the atom with the most neighbours, or a ring's nitrogen with a hydrogen.
    """
    centre = max(
        group.GetAtoms(), key=lambda atom: (atom.GetSmarts()[:3] == "[nH", atom.GetDegree())
    )
    kept = {centre.GetIdx(), *(atom.GetIdx() for atom in centre.GetNeighbors())}
    star = Chem.RWMol(group)
    for bond in group.GetBonds():
        if "@" in bond.GetSmarts():
            star.ReplaceBond(bond.GetIdx(), Chem.BondFromSmarts("~"))
    for atom in group.GetAtoms():
        star.ReplaceAtom(atom.GetIdx(), Chem.AtomFromSmarts(_RING_BONDS.sub("", atom.GetSmarts())))
    for number in reversed(range(group.GetNumAtoms())):
        if number not in kept:
            star.RemoveAtom(number)
    return star.GetMol(), sorted(kept).index(centre.GetIdx())


def _is_balanced(seen: Surroundings) -> bool:
    """Whether one neighbour alone balances each charge, as in a nitro group."""
    return all(
        abs(charge) == 1
        and [seen.charge[other] for other in seen.neighbours[atom]].count(-charge) == 1
        for atom, charge in enumerate(seen.charge)
        if charge
    )


@cache
def _redrawn() -> list[Chem.Mol]:
    """Groups that ChEMBL draws in another way: the left sides of its rules."""
    lines = chembl._normalization_transforms.splitlines()
    rules = [line.split("\t")[-1] for line in lines if ">>" in line and not line.startswith("//")]
    groups = [Chem.MolFromSmarts(rule.split(">>")[0]) for rule in rules]
    return [chembl._alkoxide_pattern, *groups]


@cache
def _every_redrawn() -> list[Chem.Mol]:
    """Groups that ChEMBL, or water, draws in another way."""
    return [*_redrawn(), *water_tautomers.redrawn()]


def _uncharged(mol: Chem.Mol) -> Chem.Mol:
    """A molecule without the charges that a proton can take away or bring.

    A carbocation, such as tropylium, stays: what would take its charge is a hydride.
    """
    cations = [
        (atom.GetIdx(), atom.GetFormalCharge(), atom.GetTotalNumHs())
        for atom in atoms_of(mol)
        if atom.GetFormalCharge() > 0 and atom.GetAtomicNum() in ELECTRON_POOR
    ]
    mol = _uncharger().uncharge(mol)
    for number, charge, hydrogens in cations:
        atom = mol.GetAtomWithIdx(number)
        atom.SetFormalCharge(charge)
        atom.SetNoImplicit(True)
        atom.SetNumExplicitHs(hydrogens)
    return mol


@cache
def _uncharger() -> rdMolStandardize.Uncharger:
    """ChEMBL's, made once: it has patterns to parse.

    Every charge that a hydrogen takes away goes, also where that leaves an ion: a betaine drawn as
    such and as its salt with an acid are one parent.
    """
    return rdMolStandardize.Uncharger(canonicalOrder=True, force=True)


def largest_fragment(mol: Chem.Mol) -> tuple[Chem.Mol, list[str]]:
    """The main fragment of a molecule, and a note on the others.

    Of several fragments the one with carbon, then with the most heavy atoms, then the heaviest,
    then the first by SMILES.
    """
    if len(Chem.GetMolFrags(mol)) < 2:
        return mol, []
    fragments = Chem.GetMolFrags(mol, asMols=True)
    chosen = min(fragments, key=_rank)
    others = [fragment for fragment in fragments if fragment is not chosen]
    taken: Counter[str] = Counter()
    parents: Counter[str] = Counter()
    own = _neutral_smiles(chosen)
    for part in others:
        # Valproate beside valproic acid is no other parent.
        if _has_carbon(part) and (parent := _neutral_smiles(part)) != own:
            parents[parent] += 1
        else:
            taken[canonical_smiles(part)] += 1
    return chosen, [*_listed("taken off", taken), *_listed(MIXTURE, parents)]


def _neutral_smiles(fragment: Chem.Mol) -> str:
    return canonical_smiles(_uncharged(fragment))


def _rank(fragment: Chem.Mol) -> tuple[bool, int, float, str]:
    weight = round(rdMolDescriptors.CalcExactMolWt(fragment), 3)
    return (
        not _has_carbon(fragment),
        -fragment.GetNumHeavyAtoms(),
        -weight,
        canonical_smiles(fragment),
    )


def _has_carbon(fragment: Chem.Mol) -> bool:
    return any(atom.GetAtomicNum() == 6 for atom in fragment.GetAtoms())


def _fragments(mol: Chem.Mol) -> Counter[str]:
    return Counter(canonical_smiles(part) for part in Chem.GetMolFrags(mol, asMols=True))


def _listed(what: str, fragments: Counter[str]) -> list[str]:
    """A note such as "taken off: 2 Cl, O"; none if there are no fragments."""
    words = [f"{n} {smiles}" if n > 1 else smiles for smiles, n in sorted(fragments.items())]
    return [f"{what}: {', '.join(words)}"] if words else []
