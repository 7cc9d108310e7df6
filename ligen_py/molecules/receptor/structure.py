"""A structure file (PDB, mmCIF or PDBQT, plain or .gz) as a table of atoms in a canonical order."""

import gzip
import io
import string
import zlib
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import NamedTuple

import gemmi
import numpy as np

from ligen_py.errors import InputError
from ligen_py.molecules.elements import HALIDES, METALS
from ligen_py.molecules.pdbqt_input import as_pdb
from ligen_py.molecules.residues import SAME_AS, WATER_MODELS, WATERS, atom_name
from ligen_py.molecules.typing.xscore_residues import RECEPTOR_TYPE

TEXT_LIMIT = 1 << 29
"""Bytes of a structure file, unpacked: some five million atoms."""

ELEMENTS = frozenset(("C", "N", "O", "S", "P", "H", "D", "SE"))
"""Elements of standard amino acids and nucleotides, and of selenomethionine."""

COLUMNS = (
    "id", "type_symbol", "label_alt_id", "label_asym_id", "Cartn_x", "Cartn_y", "Cartn_z",
)  # fmt: skip
"""Columns of an mmCIF's atoms that have no other in their place, as authors' names would be."""

UNKNOWN = (".", "?")
"""What mmCIF writes where it has no value."""

HALOGENS = frozenset(("CL", "BR"))

NO_ELEMENTS = frozenset(("HE", "HO", "HS"))
"""What the parser makes of hydrogens such as HO1, left-aligned in a file without elements."""

IONS = {
    "SOD": "NA", "POT": "K", "CES": "CS", "CAL": "CA", "CLA": "CL", "CAD": "CD", "RUB": "RB",
    "LIT": "LI", "BAR": "BA",
}  # fmt: skip
"""CHARMM's names of ions, whose files have no elements."""

VALENCE = "0123456789+-"
"""What names of ions have beside the element: PDB's FE2 and CU1, CHARMM's ZN2, Amber's Na+."""

OF_COFACTORS = frozenset(("FE", "MG", "MN", "ZN"))
"""Metals whose names are those of no other atoms; a carbon may be called CO, a nitrogen NI."""

LEFT_ALIGNED = frozenset("BCDFHINOPS") | (METALS | HALOGENS | {"SE", "SI"}) - {
    "CA", "CD", "CE", "NA", "NB", "ND", "PB", "PD", "HF", "HG", "HO",
}  # fmt: skip
"""Elements that left-aligned names are taken for: no calcium, as CA is a carbon of most groups."""

MASSLESS = ("OM",)
"""Names of the charged point of a water with four, where another one says oxygen."""

FOUR_LETTERS = {
    "HISA": "HID", "HISB": "HIE", "HISD": "HID", "HISE": "HIE", "HISH": "HIP", "HIS1": "HIS",
    "LYSH": "LYS", "ARGN": "ARN", "ASPH": "ASH", "GLUH": "GLH", "CYSH": "CYS", "CYS1": "CYS",
    "CYS2": "CYX", "ASPP": "ASH", "GLUP": "GLH",
}  # fmt: skip
"""GROMACS's names of amino acids, with those of its CHARMM, by those that others give them."""

CAPS = (
    (-1, "ACE", {"CAY": "CH3", "CY": "C", "OY": "O"}),
    (1, "NME", {"NT": "N", "CAT": "CH3"}),
    (1, "NH2", {"NT": "N"}),
)
"""CHARMM's patches at a chain's ends (ACE and ACP, CT3, CT2), whose atoms are a part of the first
or last amino acid: which side they are on, their name and their atoms' names as residues."""
AT_CAP = 1.25
"""Angstrom; a hydrogen this near to a cap's atom is the cap's."""

APART = 3.0
"""Angstrom; metals or halogens that are all farther from each other are ions, no cluster."""

OTHER = "'"
"""Behind the name of a residue that is called like another one."""

LIGAND_FILES = (".sdf", ".mol", ".mol2", ".pdb", ".ent", ".pdbqt")
"""Endings of a reference ligand's file, before that of a compressed one."""


class Place(NamedTuple):
    """The residue of an atom; sorts by chain and number."""

    chain: str
    number: int
    insertion: str
    residue: str

    def __str__(self) -> str:
        return f"{self.chain}/{self.residue}/{self.number}{self.insertion}"


@dataclass(frozen=True)
class Atoms:
    """All atoms of a structure file, in an order that does not depend on the order in the file."""

    place: list[Place]
    name: np.ndarray
    altloc: np.ndarray
    """Letter of the alternate location, empty where there is only one."""
    symbol: np.ndarray
    """Element symbols in capitals; X where unknown."""
    hetero: np.ndarray
    """True for atoms of HETATM records."""
    model: np.ndarray
    """Number of the model, as in the file."""
    copy: np.ndarray
    """Number of the operator that made the atom for an assembly; 0: as in the file, -1: the file's
    own, and not in the assembly."""
    element: np.ndarray
    """Atomic numbers, u1; 0 where unknown."""
    occupancy: np.ndarray
    xyz: np.ndarray
    """(atoms, 3), Angstrom, float64."""

    def __len__(self) -> int:
        return len(self.place)


def ligand_kind(path: Path) -> str:
    """What a reference ligand's file is: sdf, mol, mol2, pdb or pdbqt; else InputError."""
    kind = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if f".{kind}" not in LIGAND_FILES:
        raise InputError(
            f"{path}: not a reference ligand; give an SDF, MOL, MOL2, PDB or PDBQT file"
        )
    return "pdb" if kind == "ent" else kind


def read_text(path: Path) -> str:
    """The text of a plain or gzipped file; InputError names the file and what is wrong with it."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder; give a file")
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"{path}: does not exist") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    try:
        if data[:2] == b"\x1f\x8b":
            data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(TEXT_LIMIT + 1)
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(f"{path}: the .gz is cut short or damaged; get the file again") from error
    if len(data) > TEXT_LIMIT:
        raise InputError(f"{path}: more than {TEXT_LIMIT} bytes of text; no structure is so large")
    # Columns of a PDB file are counted in bytes: one for every character.
    text = data.decode("utf-8-sig", errors="replace").encode("ascii", "replace").decode("ascii")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_atoms(path: Path, assembly: str | None = None) -> Atoms:
    """Every atom of every model of a structure file, and the copies that an assembly adds.

    The k-th operator of the assembly makes chain A-k of chain A, but for the identity, which makes
    the chain itself. Raises InputError if the file is missing, damaged, not a structure, without
    atoms or without this assembly, and if the parser returns fewer atoms than the file has.
    """
    text = read_text(path)
    if path.name.lower().removesuffix(".gz").endswith(".pdbqt"):
        text = as_pdb(path, text)
    structure, expected = _parse(path, text)
    _split_caps(structure)
    _split_ions(structure)
    atoms = _table(structure, _operators(path, structure, assembly))
    found = int((atoms.copy <= 0).sum())
    if not expected:
        raise InputError(f"{path}: contains no atoms; give a PDB or mmCIF file of the receptor")
    if found != expected:
        raise InputError(
            f"{path}: an unexplained loss: the file has {expected} atoms, {found} could be "
            "read; look for records behind END, or for a second data block"
        )
    return atoms


def _parse(path: Path, text: str) -> tuple[gemmi.Structure, int]:
    """The structure, and the number of atoms that a plain count of the file finds."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    try:
        if not first.lower().startswith("data_"):
            expected = count_records(path, text)
            return gemmi.read_pdb_string(_with_elements(_three_letters(text))), expected
        document = gemmi.cif.read_string(text)
        found = [len(block.find_mmcif_category("_atom_site.")) for block in document]
        block = document[found.index(max(found))]
        _plain_assemblies(block)
        _require_columns(path, block)
        _number_residues(block)
        return gemmi.make_structure_from_block(block), sum(found)
    except (RuntimeError, ValueError) as error:
        message = " ".join(str(error).split())
        raise InputError(f"{path}: not a PDB or mmCIF structure ({message})") from error


def _three_letters(text: str) -> str:
    """A PDB file with GROMACS's residue names of four letters as names of three.

    The parser takes the fourth letter for a part of the chain's name, as it is in a file that has
    it in other residues, too.
    """
    lines = text.split("\n")
    rows = [
        row
        for row, line in enumerate(lines)
        if line[:4].upper() in ("ATOM", "HETA")
        and line[20:21].strip()
        and gemmi.find_tabulated_residue(line[17:20]).is_amino_acid()
    ]
    if not all(lines[row][17:21] in FOUR_LETTERS for row in rows):
        return text
    for row in rows:
        lines[row] = f"{lines[row][:17]}{FOUR_LETTERS[lines[row][17:21]]} {lines[row][21:]}"
    return "\n".join(lines)


def _with_elements(text: str) -> str:
    """A PDB file with the elements that it lacks, where the parser would guess wrong ones.

    The parser expects names of two columns for the element. CHARMM and GROMACS write all names one
    column behind the first: the iron of a haem would be fluorine. Others write all names from the
    first column on: its carbons would be calcium and curium. Then those of ions stay, which are
    alone in their residue.
    """
    lines = text.split("\n")
    names: dict[str, set[str]] = {}
    bare = []
    for row, line in enumerate(lines):
        if line[:4].upper() in ("ATOM", "HETA") and not line[76:78].strip():
            names.setdefault(line[17:27], set()).add(line[12:16])
            bare.append(row)
    alphas = {
        name
        for residue, own in names.items()
        if gemmi.find_tabulated_residue(residue[:3]).is_amino_acid()
        for name in own & {"CA  ", " CA "}
    }
    for row in bare:
        line = lines[row]
        name = line[12:16].strip()
        symbol = name.upper().strip(VALENCE)
        element = ""
        if line[12] == " " and len(name) < 4:
            element = symbol if symbol in OF_COFACTORS else ""
        elif alphas == {"CA  "} and len(names[line[17:27]]) > 1:
            element = symbol if symbol in LEFT_ALIGNED else symbol[:1]
        if element in LEFT_ALIGNED:
            occupancy = line[54:60].strip() or "1.00"
            lines[row] = f"{line[:54]}{occupancy:>6}{line[60:76]:<16}{element:>2}{line[78:]}"
    return "\n".join(lines)


def _split_caps(structure: gemmi.Structure) -> None:
    """Make CHARMM's caps, which are atoms of amino acids, residues of their own, in place."""
    for model in structure:
        for chain in model:
            caps = []
            for row, residue in enumerate(chain):
                known = gemmi.find_tabulated_residue(SAME_AS.get(residue.name, residue.name))
                if not known.is_amino_acid():
                    continue
                names = {atom.name for atom in residue}
                for step, name, others in CAPS:
                    if names >= set(others):
                        names -= set(others)
                        caps.append((row + max(step, 0), step, _cap(residue, name, others)))
            numbers = {str(residue.seqid) for residue in chain}
            for row, step, cap in reversed(caps):
                own, beside = cap.seqid, gemmi.SeqId((cap.seqid.num or 0) + step, " ")
                cap.seqid = gemmi.SeqId(own.num, "~") if str(beside) in numbers else beside
                chain.add_residue(cap, row)


def _cap(residue: gemmi.Residue, name: str, others: dict[str, str]) -> gemmi.Residue:
    """A cap's atoms, taken out of an amino acid."""
    cap = _beside(residue)
    cap.name = name
    heavy = [atom.pos for atom in residue if atom.name in others]
    for row in reversed(range(len(residue))):
        atom = residue[row]
        near = min(atom.pos.dist(other) for other in heavy) < AT_CAP
        if atom.name in others or (near and atom.name.lstrip("0123456789")[:1] == "H"):
            moved = atom.clone()
            moved.name = others.get(atom.name, atom.name)
            moved.element = gemmi.Element(moved.name.lstrip("0123456789")[:1])
            cap.add_atom(moved, 0)
            del residue[row]
    return cap


def _beside(residue: gemmi.Residue) -> gemmi.Residue:
    """A residue without atoms that is called and numbered as another one."""
    new = gemmi.Residue()
    new.name, new.seqid, new.subchain = residue.name, residue.seqid, residue.subchain
    new.het_flag, new.entity_type = residue.het_flag, residue.entity_type
    return new


def _split_ions(structure: gemmi.Structure) -> None:
    """Make ions that share a number residues of their own, in place: 5, 5A, 5B and so on."""
    for model in structure:
        for chain in model:
            taken = {str(residue.seqid) for residue in chain}
            row = 0
            while row < len(chain):
                first = chain[row]
                free = (
                    place
                    for number in count(first.seqid.num or 0)
                    for letter in string.ascii_uppercase
                    for place in (gemmi.SeqId(number, letter),)
                    if str(place) not in taken
                )
                ions = []
                for atom in list(first)[1:] if _are_ions(first) else ():
                    ion = _beside(first)
                    ion.seqid = next(free)
                    ion.add_atom(atom)
                    ions.append(ion)
                    taken.add(str(ion.seqid))
                for _ in ions:
                    del first[1]
                for ion in ions:
                    row += 1
                    chain.add_residue(ion, row)
                row += 1


def _are_ions(residue: gemmi.Residue) -> bool:
    """Whether a residue is several ions of one element, each in one place."""
    symbols = {element_of(atom, residue.name).name.upper() for atom in residue}
    if len(residue) < 2 or len(symbols) > 1 or symbols.isdisjoint(METALS | HALIDES):
        return False
    xyz = np.array([atom.pos.tolist() for atom in residue])
    far = (np.linalg.norm(xyz[:i] - xyz[i], axis=1).min() > APART for i in range(1, len(xyz)))
    return all(far) and not any(atom.has_altloc() for atom in residue)


def _require_columns(path: Path, block: gemmi.cif.Block) -> None:
    """InputError where an mmCIF's atoms lack a column without which the parser reads none."""
    tags = [tag.lower() for tag in block.find_mmcif_category("_atom_site.").tags]
    missing = [name for name in COLUMNS if tags and f"_atom_site.{name}".lower() not in tags]
    if missing:
        raise InputError(
            f"{path}: its atoms have no column {missing[0]}, which mmCIF demands; write the file "
            "again with it"
        )


def _number_residues(block: gemmi.cif.Block) -> None:
    """Number the residues of an mmCIF that have no number by its authors, in place.

    Those of a chain have their place in the sequence. The others, which the parser would take for
    one residue, are counted on: a new one begins with another name, or where an atom's name comes
    again.
    """
    loop = block.find_mmcif_category("_atom_site.").loop
    if loop is None:
        return
    if "_atom_site.auth_seq_id" not in loop.tags:
        loop.add_columns(["_atom_site.auth_seq_id"], "?")
    if all(value not in UNKNOWN for value in block.find_values("_atom_site.auth_seq_id")):
        return
    table = block.find_mmcif_category("_atom_site.")
    column = {tag.rpartition(".")[2]: place for place, tag in enumerate(table.tags)}
    number = column["auth_seq_id"]
    without = [row for row in table if row[number] in UNKNOWN]

    def value(row: gemmi.cif.Table.Row, *names: str) -> str:
        return next((str(row[column[name]]) for name in names if name in column), "?")

    last: dict[tuple[str, str], int] = {}
    for row in table:
        chain = value(row, "pdbx_PDB_model_num"), value(row, "auth_asym_id", "label_asym_id")
        if row[number] in UNKNOWN:
            row[number] = value(row, "label_seq_id")
        if row[number] not in UNKNOWN:
            last[chain] = max(last.get(chain, 0), int(row[number]))
    before: tuple[str, ...] = ()
    seen: set[tuple[str, str]] = set()
    for row in without:
        if row[number] not in UNKNOWN:
            continue
        chain = value(row, "pdbx_PDB_model_num"), value(row, "auth_asym_id", "label_asym_id")
        own = *chain, value(row, "label_asym_id"), value(row, "auth_comp_id", "label_comp_id")
        atom = value(row, "auth_atom_id", "label_atom_id"), value(row, "label_alt_id")
        if own != before or atom in seen:
            last[chain] = last.get(chain, 0) + 1
            before, seen = own, set()
        seen.add(atom)
        row[number] = str(last[chain])


def _plain_assemblies(block: gemmi.cif.Block) -> None:
    """Reduce an mmCIF's assemblies to their names, in place.

    The parser leaves out those whose details it does not know, such as parts of a virus, and all
    where one of five columns is missing.
    """
    names = dict.fromkeys(block.find_values("_pdbx_struct_assembly_gen.assembly_id"))
    facts = ["details", "method_details", "oligomeric_details", "oligomeric_count"]
    loop = block.init_mmcif_loop("_pdbx_struct_assembly.", ["id", *facts])
    for name in names:
        loop.add_row([name, *"????"])


def count_records(path: Path, text: str) -> int:
    """Number of ATOM and HETATM records; InputError where one has no numbers as coordinates."""
    count = 0
    for number, line in enumerate(text.splitlines(), start=1):
        if line[:4].upper() not in ("ATOM", "HETA"):
            continue
        count += 1
        try:
            [float(line[first : first + 8]) for first in (30, 38, 46)]
        except ValueError as error:
            raise InputError(
                f"{path}: line {number}: no coordinates in columns 31 to 54; correct the record"
            ) from error
    return count


def element_of(atom: gemmi.Atom, residue: str) -> gemmi.Element:
    """An atom's element: of an ion by its name, in a known residue by the name's first letter.

    Names in wrong columns, and some programs, make calcium of CA in an alanine and carbon of CA in
    a calcium ion, so names and residues count more than what is written.
    """
    name = atom.name.upper()
    alone = _ion(residue)
    if _ion(name) == alone and alone in METALS | HALOGENS:
        return gemmi.Element(alone)
    if name in MASSLESS and residue.upper() in WATERS | WATER_MODELS:
        return gemmi.Element("X")
    known = gemmi.find_tabulated_residue(SAME_AS.get(residue, residue))
    first = name.lstrip("0123456789")[:1]
    written = atom.element.name.upper()
    if written in NO_ELEMENTS and name != written:
        return gemmi.Element("H")
    is_chain = known.is_amino_acid() or known.is_nucleic_acid()
    wrong = (known.is_standard() and written not in ELEMENTS) or name == written == "CA"
    if first not in ELEMENTS or not is_chain or (atom.element.atomic_number and not wrong):
        return atom.element
    return gemmi.Element(first)


def _ion(name: str) -> str:
    """The element of an ion of this name, if it is one's."""
    return IONS.get(name.upper(), name.upper().strip(VALENCE))


@dataclass(frozen=True)
class Operator:
    """A motion that makes a copy of some chains."""

    number: int
    chains: frozenset[str]
    subchains: frozenset[str]
    """mmCIF's label chains; one of the two is empty."""
    transform: gemmi.Transform


def _operators(path: Path, structure: gemmi.Structure, name: str | None) -> list[Operator] | None:
    """The motions of a biological assembly; None if no assembly is wanted."""
    if name is None:
        return None
    for assembly in structure.assemblies:
        if assembly.name != name:
            continue
        motions = [
            (frozenset(part.chains), frozenset(part.subchains), motion.transform)
            for part in assembly.generators
            for motion in part.operators
        ]
        return [
            Operator(0 if transform.is_identity() else number, chains, subchains, transform)
            for number, (chains, subchains, transform) in enumerate(motions, start=1)
        ]
    known = ", ".join(assembly.name for assembly in structure.assemblies) or "none"
    raise InputError(f"{path}: has no assembly {name}; its assemblies are: {known}")


def _copies(
    chain: str, residue: gemmi.Residue, operators: list[Operator] | None
) -> list[tuple[int, str, gemmi.Transform | None]]:
    """Copy number, chain name and motion of each copy of a residue that is wanted."""
    if operators is None:
        return [(0, chain, None)]
    wanted = [
        each for each in operators if chain in each.chains or residue.subchain in each.subchains
    ]
    copies = [
        (each.number, f"{chain}-{each.number}", each.transform) for each in wanted if each.number
    ]
    # An identity that the assembly has twice makes the chain once.
    return [(0 if len(copies) < len(wanted) else -1, chain, None), *copies]


def _models(structure: gemmi.Structure) -> list[int]:
    """Numbers of the models as in the file, or 1, 2, ... where two have the same."""
    numbers = [model.num for model in structure]
    return numbers if len(set(numbers)) == len(numbers) else list(range(1, len(numbers) + 1))


def _word(name: str) -> str:
    """A name without the sign that divides chain, residue, number and atom in labels."""
    return name.replace("/", "|")


def _residue_name(residue: gemmi.Residue) -> str:
    """A residue's name; HOH for a water that is called after its model.

    One that is called like water or a state of an amino acid and is another molecule, such as
    sorbose (SOL) and phosphohistidine (HIP), has OTHER behind its name.
    """
    name = residue.name.upper()
    heavy = {atom.element.name for atom in residue if atom.element.atomic_number > 1} - {"D"}
    if name in WATER_MODELS and heavy == {"O"}:
        return "HOH"
    is_other = name in WATERS and "C" in heavy
    if name in SAME_AS and name != "MSE":
        known = RECEPTOR_TYPE[SAME_AS[name]]
        more = [
            element_of(atom, residue.name).name.upper()
            for atom in residue
            if atom_name(SAME_AS[name], atom.name) not in known
        ]
        # Lone pairs have no element, the oxygens of a chain's end many names.
        more = [element for element in more if element not in ("H", "D", "X")]
        is_other = len(more) > 2 or not {"O"}.issuperset(more)
    is_amino_acid = name in SAME_AS or gemmi.find_tabulated_residue(name).is_amino_acid()
    return _word(name if is_amino_acid else residue.name) + OTHER * is_other


def _table(structure: gemmi.Structure, operators: list[Operator] | None) -> Atoms:
    rows = [
        (
            number,
            Place(
                _word(name),
                residue.seqid.num or 0,
                residue.seqid.icode.strip(),
                own,
            ),
            _word(atom.name),
            atom.altloc.strip("\0 "),
            tuple((transform.apply(atom.pos) if transform else atom.pos).tolist()),
            element.atomic_number,
            element.name.upper(),
            atom.occ,
            residue.het_flag == "H",
            copy,
        )
        for number, model in zip(_models(structure), structure, strict=True)
        for chain in model
        for residue in chain
        for own in (_residue_name(residue),)
        for copy, name, transform in _copies(chain.name.strip() or "_", residue, operators)
        for atom in residue
        for element in (element_of(atom, own if own.endswith(OTHER) else residue.name),)
    ]
    rows.sort()
    model, place, name, altloc, xyz, element, symbol, occupancy, hetero, copy = (
        zip(*rows, strict=True) if rows else [()] * 10
    )
    return Atoms(
        place=list(place),
        name=np.array(name, object),
        altloc=np.array(altloc, object),
        symbol=np.array(symbol, object),
        hetero=np.array(hetero, bool),
        model=np.array(model, np.int64),
        copy=np.array(copy, np.int64),
        # Deuterium is a hydrogen, whatever number the parser gives it.
        element=np.where(np.array(symbol, object) == "D", 1, np.array(element, np.int64)).astype(
            "u1"
        ),
        occupancy=np.array(occupancy, np.float64),
        xyz=np.array(xyz, np.float64).reshape(-1, 3),
    )
