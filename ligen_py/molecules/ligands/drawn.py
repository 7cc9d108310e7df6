"""A record of a library as an RDKit molecule, or why it is none that can be docked."""

import logging
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache

from rdkit import Chem, rdBase

from ligen_py.molecules.elements import HALOGENS
from ligen_py.molecules.graph import atoms_of, matches
from ligen_py.molecules.library.reading import Record
from ligen_py.molecules.ligands.conformers import are_in_one_point, is_flat
from ligen_py.molecules.ligands.states import unmark_acids
from ligen_py.molecules.ligands.unmarked_stereo import axes, hands
from ligen_py.molecules.lists import USUAL
from ligen_py.molecules.mol2 import lost_bond, read_mol2
from ligen_py.molecules.surroundings import surroundings
from ligen_py.molecules.typing.xscore_ligands import SUPPORTED
from ligen_py.records.ledger import Reason

DETAIL_LENGTH = 200
"""Most characters of a message that go into the ledger."""

COUNTS_LINE = 3
"""Of an SDF record, behind three lines of text: how many atoms it has, and its version."""

_SIDED = re.compile(r"\[H\][/\\]|[/\\]\[H\]")
"""A hydrogen of a SMILES that names the side of a double bond."""

_CLOSED_ANYHOW = re.compile(r"~[%0-9]")
"""A ring that is closed by a bond of any order, which RDKit reads as a single bond."""

NO_ORDER = "a bond is neither single, double, triple nor aromatic"

_POLYMERS = frozenset(("SRU", "MON", "MER", "COP", "CRO", "GRA", "MOD"))
"""Brackets of an SDF, or of ChemAxon's extension, about what is repeated or grafted."""

_GROUP = re.compile(
    r"(?=.*[A-Z])(?:[nist]-?|tert-?|Me|Et|Pr|Bu|Ph|Bn|Bz|Ac|Boc|Cbz|Fmoc|Ts|Tos|Tf|Ms|TMS|TES|"
    r"TBS|TBDMS|TBDPS|TIPS|THP|PMB|MOM|Trt?|Ar|Alk|Cl|Br|[HCNOSPFIRX]|[0-9()'+-])+"
)
"""What stands for a group where it is the label of an atom (an alias of the V2000 format)."""
_OWN_LABEL = r"(?:H[0-9]*)?{0}(?:H[0-9]*)?[0-9'*]*[+-]?|Me"
"""A label that says no more than the atom's symbol: NH2, H3C, C12."""

_SANDWICH = "[#6-;r5]"
_D_OR_F_BLOCK = frozenset((*range(21, 31), *range(39, 49), *range(57, 81), *range(89, 104)))
"""Atomic numbers."""

_SAID = re.compile(r".*\[[0-9:]+\] (.*\S)|(Element '.*' not found)")
"""A message of RDKit behind its last time, or without one; before it may stand that of another
molecule. Other lines are traces of its own."""

_SHOWN = frozenset(("rdApp.warning", "rdApp.error"))
"""RDKit's logs that are on where nothing has turned them off."""
_OFF = ":disabled"
"""Behind the name of a log that is off."""

_RELATIVE = re.compile(r"\|(.*,)?r(,.*)?\|")
"""ChemAxon's mark of relative stereochemistry."""


class UnusableError(Exception):
    """Ends the preparation of a molecule."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class _Collector(logging.Handler):
    """Where RDKit's messages go: into a list within a block, else to stderr.

    Within the block RDKit's logs are on, behind it they are as before. A BlockLogs around it needs
    that: at its end it toggles those that it turned off, and would turn off one that is on.
    """

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] | None = None
        self._off: list[str] = []

    def __enter__(self) -> list[str]:
        self._off = _logs_off()
        for name in self._off:
            rdBase.EnableLog(name)
        self.messages = []
        return self.messages

    def __exit__(self, *error: object) -> None:
        self.messages = None
        for name in self._off:
            rdBase.DisableLog(name)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the message of a record, or show it."""
        if self.messages is not None:
            self.messages.append(record.getMessage())
        elif logging.lastResort and record.levelno >= logging.lastResort.level:
            logging.lastResort.handle(record)


@cache
def collector() -> _Collector:
    """The one of this process, where RDKit's messages go from now on."""
    off = _logs_off()
    rdBase.LogToPythonLogger()  # turns all on, which an open BlockLogs would toggle
    for name in _SHOWN.intersection(off):
        rdBase.DisableLog(name)
    logger = logging.getLogger("rdkit")
    logger.propagate = False
    collector = _Collector()
    logger.handlers[:] = [collector]
    return collector


def _logs_off() -> list[str]:
    """RDKit's logs that are off, by name."""
    status = rdBase.LogStatus().split()
    return [line.removesuffix(_OFF) for line in status if line.endswith(_OFF)]


def short(text: str) -> str:
    """A message as one line that fits into the ledger."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= DETAIL_LENGTH else line[: DETAIL_LENGTH - 3] + "..."


def molecule_of_record(record: Record, messages: list[str]) -> Chem.Mol:
    """The molecule of a record; UnusableError where there is none.

    `messages` are those that RDKit has written so far, as of `collector`.
    """
    if record.reason != Reason.NONE:
        raise UnusableError(record.reason, record.text)
    earlier = len(messages)
    if record.kind == "mol":
        if "\nM  END" not in record.text:
            raise UnusableError(Reason.UNPARSABLE, "no 'M  END' line; the record is cut short")
        mol = Chem.MolFromMolBlock(record.text, removeHs=False)
        if mol is not None and mol.HasQuery():
            mol = Chem.MolFromMolBlock(_without_counts(record.text), removeHs=False)
        if mol is not None:
            _read_sides(mol)
            _read_parities(mol)
    elif record.kind == "mol2":
        mol = read_mol2(record.text)
    else:
        if not (record.text.isascii() and record.text.isprintable()):
            raise UnusableError(Reason.UNPARSABLE, f"not a SMILES: {record.text!r}")
        if _CLOSED_ANYHOW.search(record.text.split("|")[0]):
            raise UnusableError(Reason.UNPARSABLE, NO_ORDER)
        mol = _of_smiles(record.text)
    if mol is None:
        said = _said(messages[earlier:])
        if record.kind == "mol2":
            said = lost_bond(record.text) or said
            if said.startswith("Element "):
                said += "; atom types of a MOL2 file are SYBYL's, as C.3 and Cl (GAFF's are c3, cl)"
        raise UnusableError(Reason.UNPARSABLE, said)
    if record.kind != "smiles" and _has_lost_bonds(mol):
        raise UnusableError(Reason.UNPARSABLE, "the record has atoms but no bonds")
    for atom in atoms_of(mol) if mol.HasQuery() else ():
        if atom.HasQuery() and _is_list(atom.DescribeQuery()):
            atom.SetAtomicNum(0)  # some lists count as their first element
    if record.kind == "mol" or "|" in record.text:
        _require_one_drawing(mol, record.text)
    require_no_sandwich(mol)
    unmark_acids(mol)
    _unmark_octahedra(mol)
    return mol


def _has_lost_bonds(mol: Chem.Mol) -> bool:
    """Whether carbon stands beside other heavy atoms without a single bond.

    Each atom would be a molecule of its own, and one of them be docked.
    """
    if mol.GetNumBonds():
        return False
    heavy = [atom.GetAtomicNum() for atom in mol.GetAtoms() if atom.GetAtomicNum() > 1]
    return len(heavy) > 1 and 6 in heavy


def _read_sides(mol: Chem.Mol) -> None:
    """Give double bonds the side of 3-D coordinates, in place, also where it is marked as open.

    RDKit writes that mark where it has embedded a molecule whose side was not drawn.
    """
    marked = [b for b in mol.GetBonds() if b.GetStereo() == Chem.BondStereo.STEREOANY]
    if not marked or not mol.GetConformer().Is3D():
        return
    for bond in marked:
        bond.SetStereo(Chem.BondStereo.STEREONONE)
        bond.SetBondDir(Chem.BondDir.NONE)
    Chem.DetectBondStereochemistry(mol)
    Chem.AssignStereochemistry(mol, cleanIt=True, force=True)


def _read_parities(mol: Chem.Mol) -> None:
    """Give centres the hand of the parity column, in place, where there are no coordinates."""
    if are_in_one_point(mol):
        Chem.AssignAtomChiralTagsFromMolParity(mol)
        Chem.AssignStereochemistry(mol, cleanIt=True, force=True)


def lost_stereo(mol: Chem.Mol, record: Record) -> str:
    """Why the stereo that is open in a record may have been drawn, or an empty string."""
    if record.kind == "smiles" or not mol.GetNumConformers():
        return ""
    if are_in_one_point(mol):
        return "no coordinates, so stereo may be lost: it is left open"
    if record.kind == "mol2" and is_flat(mol):
        return "flat MOL2 without wedges, so stereo may be lost: it is left open"
    return ""


def _unmark_octahedra(mol: Chem.Mol) -> None:
    """Take the marks off octahedra with five equal ends, in place; RDKit gives SF5 in space one."""
    for (centre,) in matches(mol, "[D6]"):
        atom = mol.GetAtomWithIdx(centre)
        ends = Counter(n.GetAtomicNum() for n in atom.GetNeighbors() if n.GetDegree() == 1)
        if max(ends.values(), default=0) > 4:
            atom.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)


def _require_one_drawing(mol: Chem.Mol, text: str) -> None:
    """UnusableError where a record stands for other molecules than its atoms and bonds say.

    Atoms and bonds are asked only where the text has such words, a tenth of the time.
    """
    said = ""
    many = "ENDPTS" in text or "m:" in text
    if many and any(bond.HasProp("_MolFileBondEndPts") for bond in mol.GetBonds()):
        said = "a bond leads to several atoms at once; draw it to one of them"
    elif any(g.GetProp("TYPE") in _POLYMERS for g in Chem.GetMolSubstanceGroups(mol)):
        said = "the brackets of a polymer; draw a molecule without them"
    for atom in atoms_of(mol) if "\nA  " in text or "$" in text else ():
        label = atom.GetProp("molFileAlias").strip() if atom.HasProp("molFileAlias") else ""
        own = _OWN_LABEL.format(re.escape(atom.GetSymbol()))
        is_group = atom.GetDegree() < 2 and _GROUP.fullmatch(label)
        if is_group and not re.fullmatch(own, label):
            said = f"an atom has the label '{label}'; draw the group that it stands for"
    if said:
        raise UnusableError(Reason.UNPARSABLE, said)


def require_no_sandwich(mol: Chem.Mol) -> None:
    """UnusableError for a metallocene drawn as ions, whose rings alone are other molecules."""
    if matches(mol, _SANDWICH):
        metals = {a.GetSymbol() for a in atoms_of(mol) if a.GetAtomicNum() in _D_OR_F_BLOCK}
        if metals:
            said = f"no atom type for {', '.join(sorted(metals))}, to which a ring is bonded"
            raise UnusableError(Reason.UNSUPPORTED_ELEMENT, said)


def _without_counts(text: str) -> str:
    """An SDF record without the hydrogens that its atoms ask for, as in a search.

    In V2000 RDKit takes such an atom's own hydrogens off.
    """
    lines = text.split("\n")
    if "V2000" in lines[COUNTS_LINE]:
        for number in range(COUNTS_LINE + 1, COUNTS_LINE + 1 + int(lines[COUNTS_LINE][:3])):
            lines[number] = lines[number][:42] + "  0" + lines[number][45:]
    return "\n".join(lines)


def _said(messages: Sequence[str]) -> str:
    """Why RDKit cannot read a record: its first message that is no warning, if there is one."""
    said = [found[1] or found[2] for message in messages if (found := _SAID.match(message))]
    errors = (message for message in said if "warning" not in message.lower())
    if not said and "****" in messages:  # of a bond drawn twice, or to an atom that is missing
        place = messages.index("****") + 1
        return "RDKit: " + ": ".join(messages[place : place + 2])
    return next(errors, said[0] if said else "RDKit cannot read the record")


def _is_list(query: str) -> bool:
    """Whether what RDKit says of an atom's query leaves more than one element, as [N,O] does."""
    return query.count("AtomAtomicNum") > 1 or "!=" in query or "not" in query


def _of_smiles(text: str) -> Chem.Mol | None:
    """The molecule of a SMILES, without the hydrogens that it draws.

    Where they are what names the side of a double bond, RDKit passes that on to a bond of the ring
    the wrong way, so the sides are written anew.
    """
    if not _SIDED.search(text):
        return _relative(Chem.MolFromSmiles(text, _smiles_rules()), text)
    mol = Chem.MolFromSmiles(text, _smiles_rules(keeps_hydrogens=True))
    if mol is None:
        return None
    mol = Chem.RemoveHs(mol)
    for bond in mol.GetBonds():
        if bond.GetBondDir() in (Chem.BondDir.ENDUPRIGHT, Chem.BondDir.ENDDOWNRIGHT):
            bond.SetBondDir(Chem.BondDir.NONE)
    Chem.SetDoubleBondNeighborDirections(mol)
    return _relative(mol, text)


def _relative(mol: Chem.Mol | None, text: str) -> Chem.Mol | None:
    """A molecule; with the word r in its extension its marks are relative, as without a flag."""
    if mol is not None and "|" in text and _RELATIVE.search(text):
        mol.SetIntProp("_MolFileChiralFlag", 0)
        Chem.TranslateChiralFlagToStereoGroups(mol)
    return mol


@cache
def _smiles_rules(keeps_hydrogens: bool = False) -> Chem.SmilesParserParams:
    """A faulty extension behind a SMILES costs the extension, not the molecule."""
    result = Chem.SmilesParserParams()
    result.parseName = False
    result.strictCXSMILES = False
    result.removeHs = not keeps_hydrogens
    return result


def is_atropisomer(mol: Chem.Mol, record: Record) -> bool:
    """Whether a record marks a bond between rings about which it is one of two isomers.

    SMILES have no sign for it: they are one parent, and docking turns the bond.
    """
    if record.kind == "smiles" and "|" not in record.text:
        return False
    marks = Chem.BondStereo.STEREOATROPCW, Chem.BondStereo.STEREOATROPCCW
    axes_between = matches(mol, "[^2]-[^2]")  # to ask every bond takes seven times as long
    return any(mol.GetBondBetweenAtoms(*ends).GetStereo() in marks for ends in axes_between)


def has_open_axis(mol: Chem.Mol) -> bool:
    """Whether a molecule is one of two mirror images, or sides, by cumulated double bonds.

    RDKit reads no mark of it, such as [C@AL1].
    """
    return any(
        axis.is_open and all(mol.GetAtomWithIdx(end).GetAtomicNum() == 6 for end in axis.atoms[1:3])
        for axis in axes(mol)
    )


def has_open_hand(mol: Chem.Mol) -> bool:
    """Whether a molecule is one of two mirror images by an atom of which RDKit keeps no mark."""
    found = hands(mol)
    if not found:
        return False
    centre = Chem.StereoType.Atom_Tetrahedral
    known = {one.centeredOn for one in Chem.FindPotentialStereo(mol) if one.type == centre}
    return any(hand.atom not in known for hand in found)


def unlabelled(mol: Chem.Mol) -> bool:
    """Take off the map numbers of atoms, which are labels; whether there were any."""
    labelled = [atom for atom in atoms_of(mol) if atom.GetAtomMapNum()]
    for atom in labelled:
        atom.SetAtomMapNum(0)
    return bool(labelled)


def without_datives(mol: Chem.Mol) -> bool:
    """Make a dative bond a single one between charges, as pKa and types are known; if there is one.

    RDKit counts a dative bond in no ring.
    """
    datives = [bond for bond in mol.GetBonds() if bond.GetBondType() == Chem.BondType.DATIVE]
    for bond in datives:
        giver, taker = bond.GetBeginAtom(), bond.GetEndAtom()
        giver.SetFormalCharge(giver.GetFormalCharge() + 1)
        taker.SetFormalCharge(taker.GetFormalCharge() - 1)
        bond.SetBondType(Chem.BondType.SINGLE)
    Chem.SanitizeMol(mol)
    return bool(datives)


def require_supported(mol: Chem.Mol) -> None:
    """UnusableError where a parent has an atom or a bond that has no type."""
    elements = surroundings(mol).element
    if not SUPPORTED.issuperset(elements):
        atoms = (atom for atom, element in enumerate(elements) if element not in SUPPORTED)
        strange = {mol.GetAtomWithIdx(atom).GetSymbol() for atom in atoms}
        names = ", ".join(sorted("a dummy atom" if name == "*" else name for name in strange))
        raise UnusableError(Reason.UNSUPPORTED_ELEMENT, f"no atom type for {names}")
    if len(elements) == 1 and elements[0] in HALOGENS:
        said = "a halogen alone, as of a salt of two ions, has no atom type"
        raise UnusableError(Reason.UNSUPPORTED_ELEMENT, said)
    lists = surroundings(mol).lists
    if not USUAL.issuperset([bond.type for bond in lists.bonds]):
        raise UnusableError(Reason.UNPARSABLE, NO_ORDER)
    if any(
        bond.code == 4 and not (lists.aromatic[near] and lists.aromatic[far])
        for near, far, bond in zip(lists.near, lists.far, lists.bonds, strict=True)
    ):
        said = "a bond outside rings is drawn as aromatic; draw it as single or double"
        raise UnusableError(Reason.UNPARSABLE, said)
    if max(elements, default=0) < 2:
        raise UnusableError(Reason.NO_ATOMS, "the record has no heavy atom")
