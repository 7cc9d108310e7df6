"""Shapes of rigid pieces: what a piece of a molecule looks like, made once and kept.

A piece is kept with its surroundings: the atoms beyond its rotatable bonds and their neighbours,
with hydrogens where the molecule goes on. Its shapes are minimised conformers of that fragment.
They follow from the fragment's SMILES and the settings alone, so a piece looks the same in every
molecule, part and machine.
"""

import hashlib
import logging
import sqlite3
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from rdkit import Chem, rdBase

from ligen_py.molecules.graph import atoms_of
from ligen_py.molecules.ligands import chairs, conformers, ring_shapes, unmarked_stereo
from ligen_py.molecules.ligands.conformers import embed_piece
from ligen_py.molecules.ligands.ring_shapes import macrocycle

IN_MEMORY = 20_000
"""Pieces that one process remembers, about 3 kB each."""

DIGEST = 8
"""Bytes of a row's checksum."""

WAIT = 0.5
"""Seconds to wait for another process that writes into the same file."""

REFUSALS = 8
"""Times in a row that a file may be locked or read-only; after that a process leaves it alone."""

log = logging.getLogger("ligen_py")


@dataclass(frozen=True)
class Shapes:
    """The shapes of a fragment: none where its stereocentres exclude each other."""

    xyz: np.ndarray
    """f8 (shapes, atoms, 3): Angstrom; heavy atoms in the order of the fragment's SMILES, then the
    hydrogens of each heavy atom in turn."""
    first: list[int]
    """Of each heavy atom the first of its hydrogens; one more as the end of the last one's."""
    strain: np.ndarray
    """f8 (shapes,): energy above that of the first shape, kcal/mol."""
    energy: float
    """Of the first shape, kcal/mol; 0 where there is none."""

    def packed(self) -> bytes:
        """The shapes as bytes, with a checksum."""
        counts = np.diff(self.first).astype("u1")
        sizes = np.array([len(self.xyz), len(counts)], "<u4")
        numbers = np.concatenate([[self.energy], self.strain, self.xyz.ravel()]).astype("<f4")
        return _signed(sizes.tobytes() + counts.tobytes() + numbers.tobytes())

    @classmethod
    def unpacked(cls, data: bytes) -> "Shapes":
        """The shapes of `packed`, its checksum taken off."""
        shapes, heavy = np.frombuffer(data[:8], "<u4").tolist()
        counts = np.frombuffer(data[8 : 8 + heavy], "u1")
        first = np.cumsum([heavy, *counts.tolist()]).tolist()
        numbers = np.frombuffer(data[8 + heavy :], "<f4").astype("f8")
        strain, xyz = numbers[1 : shapes + 1], numbers[shapes + 1 :]
        return cls(xyz.reshape(shapes, first[-1], 3), first, strain, float(numbers[0]))


class UnknownShapeError(Exception):
    """A fragment has no shapes yet, and none were to be made."""


class ShapeCache:
    """Shapes by fragment: in memory, and in a file that processes share.

    The file may be deleted at any time. What cannot be read from it is made again; where it cannot
    be written, the process keeps what it makes to itself.
    """

    def __init__(self, path: Path | None, seed: int, limit: int, macrocycles: int) -> None:
        """`limit`: most shapes of a flexible piece; `macrocycles`: of one with a large ring."""
        self._made_with = seed, limit, macrocycles
        self._prefix = "/".join(map(str, (_way(), *self._made_with, "")))
        self._known: dict[str, Shapes | None] = {}
        self._file = _open(path) if path else None
        self._new: list[tuple[str, bytes]] = []
        self._refusals = 0

    def shapes(self, smiles: str, makes: bool = True) -> Shapes | None:
        """The shapes of a fragment; None where none were found, for another reason than stereo.

        Raises UnknownShapeError where they must be made, unless it `makes` them.
        """
        try:
            return self._known[smiles]
        except KeyError:
            pass
        content = self._read(smiles)
        if content is None and not makes:
            raise UnknownShapeError
        if content is None:
            found = make_shapes(smiles, *self._made_with)
            self._new.append((self._prefix + smiles, found.packed() if found else _signed(b"")))
        else:
            found = Shapes.unpacked(content) if content else None
        if len(self._known) >= IN_MEMORY:
            self._known.clear()
        self._known[smiles] = found
        return found

    def _read(self, smiles: str) -> bytes | None:
        """The content of a row; None where there is none, or a damaged one."""
        if self._file is None:
            return None
        key = (self._prefix + smiles,)
        try:
            row = self._file.execute("select shapes from pieces where piece = ?", key).fetchone()
        except sqlite3.Error as error:
            self._refused(error)
            return None
        if row is None or not isinstance(row[0], bytes):
            return None
        signature, content = row[0][:DIGEST], row[0][DIGEST:]
        return content if _signed(content)[:DIGEST] == signature else None

    def save(self) -> None:
        """Write what is new into the file; what others hold up is tried again the next time."""
        if self._file is not None and self._new:
            try:
                with self._file:
                    self._file.executemany("insert or replace into pieces values (?, ?)", self._new)
                self._refusals = 0
            except sqlite3.Error as error:
                self._refused(error)
                if self._file is not None:
                    return
        self._new.clear()

    def _refused(self, error: sqlite3.Error) -> None:
        """Go on without the file where it is damaged, or locked or read-only for long."""
        self._refusals += 1
        if self._refusals == REFUSALS or not isinstance(error, sqlite3.OperationalError):
            self._file = None


def check_file(path: Path, cure: str) -> None:
    """Warn where a file of shapes is damaged, or none: every process makes all shapes itself.

    `cure` is what to do about it, in words.
    """
    try:
        _connect(path).close()
    except (sqlite3.OperationalError, OSError):
        return  # others write, or nobody may: no fault of the file
    except sqlite3.Error:
        log.warning("%s: not a file of shapes, so none are kept; %s", path, cure)


def _open(path: Path) -> sqlite3.Connection | None:
    try:
        return _connect(path)
    except (sqlite3.Error, OSError):
        return None


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.touch()  # SQLite would not let a group write that the umask lets write
    file = sqlite3.connect(path, timeout=WAIT)
    try:
        file.execute("pragma synchronous = off")  # rows have checksums, and can be made again
        if file.execute("select 1 from sqlite_master where tbl_name != 'pieces'").fetchone():
            raise sqlite3.DatabaseError("another program's database")
        file.execute(
            "create table if not exists pieces (piece text primary key, shapes blob) without rowid"
        )
    except sqlite3.Error:
        file.close()
        raise
    return file


def _signed(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()[:DIGEST] + content


@cache
def _way() -> str:
    """Stands for the code that makes shapes, so that no row outlives a change of it."""
    modules = (chairs, conformers, ring_shapes, unmarked_stereo)
    files = (__file__, *(str(module.__file__) for module in modules))
    code = b"".join(Path(file).read_bytes() for file in files)
    return hashlib.sha256(code + rdBase.rdkitVersion.encode()).hexdigest()[:8]


def make_shapes(smiles: str, seed: int, limit: int, macrocycles: int) -> Shapes | None:
    """Shapes of a fragment: minimised conformers with different rings.

    Args:
        smiles: the fragment; what is cut off is replaced by hydrogens.
        seed: of the conformers.
        limit: most shapes.
        macrocycles: most shapes of a fragment with a ring of eight atoms or more.

    Returns:
        The shapes, those of lowest energy first; without a shape where the fragment has a conformer
        only if its stereochemistry is left open; None where it has none at all.
    """
    mol = Chem.MolFromSmiles(smiles)
    if mol is None or any(atom.GetNumRadicalElectrons() for atom in atoms_of(mol)):
        return None
    count = mol.GetNumAtoms()
    limit = macrocycles if macrocycle(mol.GetRingInfo().AtomRings()) else limit
    made = embed_piece(Chem.Mol(mol), seed, smiles, limit)
    if made is None:
        return None
    mol, energies = made
    owner = [atom.GetNeighbors()[0].GetIdx() for atom in list(atoms_of(mol))[count:]]
    order = np.argsort(owner, kind="stable")
    xyz = np.zeros((mol.GetNumConformers(), mol.GetNumAtoms(), 3))
    for number, conformer in enumerate(mol.GetConformers()):
        xyz[number] = conformer.GetPositions()
    xyz[:, count:] = xyz[:, count:][:, order]
    first = np.cumsum([count, *np.bincount(owner, minlength=count).tolist()]).tolist()
    lowest = energies[0] if energies else 0.0
    strain = np.array(energies, "f8") - lowest
    # As a file holds them, so that shapes are the same whether they were kept or made.
    xyz, strain = (numbers.astype("f4").astype("f8") for numbers in (xyz, strain))
    return Shapes(xyz, first, strain, float(np.float32(lowest)))
