"""Read a genome into bit planes: FASTA, plain or compressed, .2bit, or a folder of these.

The bytes of a file are looked at where they lie, in blocks that several threads pack at once; no
line is made into a string. Planes are kept in a cache, under the content of the files that they
came from.
"""

import hashlib
import json
import logging
import mmap
import os
import re
import shutil
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from ligen_py import granted
from ligen_py.errors import InputError
from ligen_py.sequences import twobit
from ligen_py.sequences.digests import AT_ONCE, Known
from ligen_py.sequences.fasta import WHITE
from ligen_py.sequences.iupac import SETS
from ligen_py.sequences.planes import WORD, Genome, layout
from ligen_py.unpacking import BOM, compression, refuse_bare_returns, refuse_no_text, unpacked
from ligen_py.whole_files import sync

log = logging.getLogger("ligen_py")

BLOCK = 1 << 21
"""Letters that a thread packs at a time: with fewer, all threads wait at Python's lock."""

THREADS = 8
"""That pack, at most: with these the SHA-256 of the file takes longer than its packing."""

SEARCHED = 1 << 22
"""Bytes that a thread looks through for headers at a time."""

VERSION = 3
"""Of the cache: raised when a file would be read otherwise than before."""

CHECKED = 1 << 24
"""Bytes of the planes that have a checksum of their own."""

LEFT_BEHIND = 86_400
"""Seconds after which a genome without its name was left by a process that was killed."""

INDEX_SUFFIXES = (".fai", ".gzi", ".dict", ".sizes", ".md5")
"""Files that lie beside genomes and hold none; a folder's others must be genomes."""

HOME = re.compile(r"\.[0-9a-f]{32}")
"""Name of a genome in the cache until it is complete."""

NEWLINE, RETURN = 10, 13

_ALLOWED = SETS.copy()
_ALLOWED[np.frombuffer(b"-.*Xx", np.uint8)] = 15
"""Letters that a record may hold; what is no IUPAC letter among them stands for an unknown base."""

_IS_WHITE = np.isin(np.arange(256), np.frombuffer(WHITE, np.uint8))

_keeping: list[threading.Thread] = []
"""Threads that write to the cache while the genome is in use; the process ends after them."""


class Body(NamedTuple):
    """A record of a file, not yet packed."""

    name: str
    header: str
    length: int
    pack: Callable[["Target"], Iterable[Callable[[], None]]]
    """Pieces of work that fill a target; they may run at once and in any order."""


class Target(NamedTuple):
    """Where a record goes."""

    planes: np.ndarray
    """uint32 (3, words of the record)."""
    start: int
    """Its place in the genome."""
    others: list[tuple[np.ndarray, np.ndarray]]
    """Places in the genome and letters other than A, C, G, T, N are appended here."""
    uneven: set[str]
    """Names of records whose lines turn out not to have one length are added here."""


def files_of(path: Path) -> list[Path]:
    """The genome files that a path stands for: itself, or those of a folder by name."""
    if not path.exists():
        raise InputError(f"{path}: does not exist; give a FASTA or .2bit file, or a folder of them")
    if path.is_file():
        return [path]
    genomes, _, folders = _inside(path)
    if not genomes:
        cure = f"; give its folder {folders[0].name}" if folders else ""
        raise InputError(f"{path}: contains no FASTA or .2bit file{cure}")
    return genomes


def tell_what_is_not_read(path: Path) -> None:
    """Name what lies in the folder of a genome and is no part of it; of folders a warning."""
    if path.is_dir():
        _, indices, folders = _inside(path)
        for item in indices:
            log.info("%s: no genome by its name; not read", item)
        for item in folders:
            log.warning("%s: a folder in that of a genome; its files are not read", item)


def _inside(path: Path) -> tuple[list[Path], list[Path], list[Path]]:
    """The genomes in a folder, the files with names of indices, and the folders, by name."""
    found = sorted(item for item in path.iterdir() if item.name[0] != ".")
    for item in found:
        if not item.exists():
            raise InputError(f"{item}: is a link to nothing; mend it, or take it out of the folder")
    files = [item for item in found if item.is_file()]
    indices = [item for item in files if item.name.lower().endswith(INDEX_SUFFIXES)]
    genomes = [item for item in files if item not in indices]
    return genomes, indices, [item for item in found if item.is_dir()]


def read_genome(path: Path, cache: Path | None = None) -> Genome:
    """A genome, from the cache folder where it has been read before; otherwise it goes there.

    Files are known by their content: by SHA-256, or where path, size and times of a file are those
    of a file that was hashed before, by that. Without `cache` nothing is kept.

    Raises InputError, which names the file, where one is no genome, has letters that are none of
    DNA, has a record without a name, or a name that another record has.
    """
    finish_keeping()
    files = files_of(path)
    tell_what_is_not_read(path)
    known = Known(cache)
    digests = [known.digest(file) for file in files]
    if cache is not None and None in digests and _holds_any(cache):
        # A file that was copied or touched may have been read before: its content says so.
        digests = list(known.hash_all(files))
    if cache is not None and None not in digests:
        found = _load(cache, together(digests))
        if found is not None:
            return found
    # Nothing waits for the digests of new files but the run record and the cache.
    hashing = ThreadPoolExecutor(AT_ONCE)
    hashed = [hashing.submit(known.hash, file) for file in files]
    hashing.shutdown(wait=False)
    with (
        _new_home(cache) as home,
        ThreadPoolExecutor(min(THREADS, granted.cores())) as pool,
    ):
        genome = _read(files, pool, home)
    genome = replace(genome, digest=lambda: together([one.result() for one in hashed]))
    if cache is not None:
        keep = partial(_save, home, genome) if home and home.is_dir() else genome.digest
        _keeping.append(threading.Thread(target=keep))
        _keeping[-1].start()
    return genome


def finish_keeping() -> None:
    """Wait until the genomes that were read are in their cache folders."""
    while _keeping:
        _keeping.pop().join()


def together(digests: Sequence[str | None]) -> str:
    """The digest of a genome from those of its files."""
    if len(digests) == 1:
        return str(digests[0])
    return hashlib.sha256("\n".join(map(str, digests)).encode()).hexdigest()


def _holds_any(cache: Path) -> bool:
    return any(cache.glob(f"*-v{VERSION}"))


def _load(cache: Path, digest: str) -> Genome | None:
    folder = cache / f"{digest[:32]}-v{VERSION}"
    if not folder.is_dir():
        return None
    try:
        records = json.loads((folder / "records.json").read_text())
        planes = np.load(folder / "planes.npy", mmap_mode="r")
        arrays = {key: np.array(records.pop(key), np.int64) for key in ("lengths", "starts")}
        words = layout(arrays["lengths"])[1]
        if planes.shape != (3, words) or planes.dtype != np.uint32:
            raise ValueError("planes")
        with ThreadPoolExecutor(min(THREADS, granted.cores())) as pool:
            if list(pool.map(zlib.crc32, _blocks(planes))) != records["checksums"]:
                raise ValueError("its checksums differ")
        return Genome(
            planes=planes,
            names=tuple(records["names"]),
            headers=tuple(records["headers"]),
            other_places=np.array(records["other_places"], np.int64),
            other_letters=np.frombuffer(records["other_letters"].encode(), np.uint8),
            digest=lambda: digest,
            **arrays,
        )
    except (OSError, ValueError, LookupError, TypeError) as error:
        log.warning("%s: damaged (%s); the genome is read again", folder, error)
        shutil.rmtree(folder, ignore_errors=True)
        return None


def _blocks(planes: np.ndarray) -> Iterator[memoryview]:
    """Some planes in the blocks that have a CRC-32."""
    content = planes.data.cast("B")
    return (content[start : start + CHECKED] for start in range(0, len(content), CHECKED))


def _tidy(cache: Path) -> None:
    """Remove the genomes that killed processes were reading: each takes 3 bits a base."""
    for home in cache.glob(".*"):
        if HOME.fullmatch(home.name):
            with suppress(OSError):
                changed = max(path.stat().st_mtime for path in (home, *home.iterdir()))
                if time.time() - changed > LEFT_BEHIND:
                    shutil.rmtree(home)


@contextmanager
def _new_home(cache: Path | None) -> Iterator[Path | None]:
    """A folder for a genome that is read now, without its name yet, where there is a cache."""
    home = None
    if cache is not None:
        try:
            cache.mkdir(parents=True, exist_ok=True)
            _tidy(cache)
            # Not by `tempfile`: other users of a shared cache could not read it.
            home = cache / f".{uuid4().hex}"
            home.mkdir()
        except OSError as error:
            log.warning("%s: cannot be written (%s); the genome is not kept", cache, error.strerror)
    try:
        yield home
    except BaseException:
        if home is not None:
            shutil.rmtree(home, ignore_errors=True)
        raise


def _new_planes(home: Path | None, words: int) -> np.ndarray:
    """Planes of zeros: those of the cache's file where there is a home, else in memory.

    So they are in memory once, and go to disk while they are in use.
    """
    if home is not None and home.is_dir():  # else the disk refused it before
        try:
            planes = np.lib.format.open_memmap(home / "planes.npy", "w+", np.uint32, (3, words))
            with (home / "planes.npy").open("r+b") as file:  # a full disk says so now, or never
                os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)
            return planes
        except OSError as error:
            shutil.rmtree(home, ignore_errors=True)
            why = error.strerror
            log.warning("%s: cannot be written (%s); the genome is not kept", home.parent, why)
    return np.zeros((3, words), np.uint32)


def _save(home: Path, genome: Genome) -> None:
    """Complete the home of a genome, then give it its name; a full disk is no error."""
    folder = home
    try:
        sync(home / "planes.npy")
        records = {
            "names": genome.names,
            "headers": genome.headers,
            "lengths": genome.lengths.tolist(),
            "starts": genome.starts.tolist(),
            # By this thread alone: it may outlive the interpreter's pools of threads.
            "checksums": list(map(zlib.crc32, _blocks(genome.planes))),
            "other_places": genome.other_places.tolist(),
            "other_letters": genome.other_letters.tobytes().decode(),
        }
        (home / "records.json").write_text(json.dumps(records))
        for path in (home / "records.json", home):
            sync(path)
        folder = home.with_name(f"{genome.digest()[:32]}-v{VERSION}")
        home.rename(folder)
        sync(folder.parent)
        for older in folder.parent.glob(f"{genome.digest()[:32]}-v*"):
            if older != folder:  # of an earlier version, which took as much room
                shutil.rmtree(older, ignore_errors=True)
    except OSError as error:
        shutil.rmtree(home, ignore_errors=True)
        if not folder.is_dir():  # else another process was first
            log.warning("%s: cannot be written (%s); not kept", folder, error.strerror)


def _read(files: Sequence[Path], pool: ThreadPoolExecutor, home: Path | None) -> Genome:
    with ExitStack() as stack:
        texts = [(file, stack.enter_context(_bytes_of(file))) for file in files]
        genome, uneven = _packed(texts, pool, home, set())
        if uneven:
            genome, _ = _packed(texts, pool, home, uneven)
    return genome


def _packed(
    texts: Sequence[tuple[Path, mmap.mmap]],
    pool: ThreadPoolExecutor,
    home: Path | None,
    uneven: set[str],
) -> tuple[Genome, set[str]]:
    """The genome, right where no more records turned out to be uneven than those of `uneven`."""
    bodies = [body for file, text in texts for body in _bodies(file, text, pool, uneven)]
    _require_names([file for file, _ in texts], bodies)
    lengths = np.array([body.length for body in bodies], np.int64)
    if not lengths.any():
        names = ", ".join(str(file) for file, _ in texts)
        raise InputError(f"{names}: has no base in any record; give the whole file")
    starts, words = layout(lengths)
    planes = _new_planes(home, words)
    others: list[tuple[np.ndarray, np.ndarray]] = []
    found: set[str] = set()

    def work() -> Iterator[Callable[[], None]]:
        """The pieces of packing all records; no two write the same word: threads run them."""
        for body, start in zip(bodies, starts, strict=True):
            first = int(start) // WORD
            mine = planes[:, first : first + -(-body.length // WORD)]
            yield from body.pack(Target(mine, int(start), others, found))

    for _ in pool.map(lambda piece: piece(), work()):
        pass
    planes.flags.writeable = False
    places = np.concatenate([np.zeros(0, np.int64), *(piece[0] for piece in others)])
    letters = np.concatenate([np.zeros(0, np.uint8), *(piece[1] for piece in others)])
    order = np.argsort(places)
    genome = Genome(
        planes,
        tuple(body.name for body in bodies),
        tuple(body.header for body in bodies),
        lengths,
        starts,
        places[order],
        letters[order],
    )
    return genome, found


def _require_names(files: Sequence[Path], bodies: Sequence[Body]) -> None:
    where = files[0] if len(files) == 1 else files[0].parent
    if not bodies:
        raise InputError(f"{where}: contains no sequence")
    seen: set[str] = set()
    for body in bodies:
        if body.name in seen:
            raise InputError(
                f"{where}: two records are called {body.name!r} (the first word of the header); "
                "rename one, or leave one file out"
            )
        seen.add(body.name)


@contextmanager
def _bytes_of(path: Path) -> Iterator[mmap.mmap]:
    """The bytes of a file without its compression: mapped, from a temporary file if need be."""
    with ExitStack() as stack:
        if compression(path):
            source: Any = stack.enter_context(tempfile.TemporaryFile())
            with unpacked(path, genome=True) as stream:
                shutil.copyfileobj(stream, source, 1 << 24)
            source.flush()
        else:
            source = stack.enter_context(path.open("rb"))
        size = os.fstat(source.fileno()).st_size
        if size == 0:
            raise InputError(f"{path}: is empty; give a FASTA or .2bit file")
        yield mmap.mmap(source.fileno(), 0, prot=mmap.PROT_READ)


def _bodies(
    path: Path, text: mmap.mmap, pool: ThreadPoolExecutor, uneven: set[str]
) -> Iterator[Body]:
    data = np.frombuffer(text, np.uint8)
    if twobit.is_twobit(text[:4]):
        for record in twobit.read_twobit(path, data):
            yield Body(record.name, record.name, record.length, _twobit_packer(record))
        return
    refuse_no_text(path, text[:8])
    starts = list(_headers(data, pool))
    if not starts or text[: starts[0]].removeprefix(BOM).strip(WHITE):
        raise InputError(
            f"{path}: does not begin with '>' and is not .2bit; give a genome, or move the file "
            "out of the genome's folder"
        )
    for number, (start, end) in enumerate(
        zip(starts, [*starts[1:], len(data)], strict=True), start=1
    ):
        line = text.find(b"\n", start, end)
        line = end if line < 0 else line
        refuse_bare_returns(path, text[start + 1 : line])
        header = text[start + 1 : line].strip(b" \t\r\n").decode("utf-8", "replace")
        if "\0" in header:
            raise InputError(
                f"{path}: the header of {header!r} has a zero byte; copy the file again"
            )
        if not header.split():
            raise InputError(f"{path}: record {number} has no name; give it one")
        yield _fasta_body(path, header, text, data, min(line + 1, end), end, uneven)


def _headers(data: np.ndarray, pool: ThreadPoolExecutor) -> Iterator[int]:
    """Places of the '>' that begin a line."""

    def within(start: int) -> np.ndarray:
        return start + np.flatnonzero(data[start : start + SEARCHED] == ord(">"))

    for places in pool.map(within, range(0, len(data), SEARCHED)):
        for at in places.tolist():
            marked = at == len(BOM) and data[:at].tobytes() == BOM
            if at == 0 or data[at - 1] in (NEWLINE, RETURN) or marked:
                yield at


def _fasta_body(
    path: Path,
    header: str,
    text: mmap.mmap,
    data: np.ndarray,
    first: int,
    end: int,
    uneven: set[str],
) -> Body:
    """A record whose lines have one length is read where it lies; an uneven one is joined first."""
    name = header.split(maxsplit=1)[0]
    while end > first and _IS_WHITE[data[end - 1]]:
        end -= 1
    letters = data[first:end]
    line = text.find(b"\n", first, end)
    if name in uneven or line < 0:
        letters = letters[~_IS_WHITE[letters]] if name in uneven else letters
        step = width = max(1, len(letters))
    else:
        step = line + 1 - first
        width = step - 1 - int(line > first and data[line - 1] == RETURN)
        if width == 0:  # a blank line comes first
            letters = letters[~_IS_WHITE[letters]]
            step = width = max(1, len(letters))
    rows = len(letters) // step if step > width else 0
    length = rows * width + len(letters) - rows * step

    def pack(target: Target) -> Iterator[Callable[[], None]]:
        """Pieces of packing these letters: of whole lines where all lines have one length."""
        if rows == 0:
            for at in range(0, length, BLOCK):
                yield partial(_pack, path, name, letters[at : at + BLOCK], target, at)
            return
        # A multiple of 32 lines begins a word, whatever their length.
        many = max(1, BLOCK // width // WORD) * WORD
        for row in range(0, rows, many):
            last = min(row + many, rows)
            lines = letters[row * step : last * step].reshape(-1, step)
            tail = letters[last * step :] if last == rows else letters[:0]
            yield partial(_pack_lines, path, name, lines, width, tail, target, row * width)

    return Body(name, header, length, pack)


def _pack_lines(
    path: Path,
    name: str,
    lines: np.ndarray,
    width: int,
    tail: np.ndarray,
    target: Target,
    at: int,
) -> None:
    """Pack lines with their endings (rows, step) and the last, shorter one, which has none."""
    ended = (lines[:, -1] == NEWLINE).all() and (lines[:, width:-1] == RETURN).all()
    if len(tail) > width or not ended:
        target.uneven.add(name)
        return
    size = lines.shape[0] * width
    letters = _scratch.some(size + len(tail)).letters
    letters[:size].reshape(-1, width)[:] = lines[:, :width]
    letters[size:] = tail
    _pack(path, name, letters, target, at)


class _Scratch(threading.local):
    """Arrays of a thread that are used again for each block.

    New arrays for each step would give their pages back to the system and take new ones.
    """

    size = 0

    def some(self, size: int) -> "_Scratch":
        """Arrays of so many letters, with what they held before."""
        if size > self.size:
            self.size = max(size, BLOCK)
            self._arrays = [np.empty(self.size, np.uint8) for _ in range(4)]
        self.letters, self.upper, one, two = (array[:size] for array in self._arrays)
        self.one, self.two = one.view(bool), two.view(bool)
        return self


_scratch = _Scratch()


def _pack(path: Path, name: str, letters: np.ndarray, target: Target, at: int) -> None:
    """Pack letters of a record from place `at` on, a multiple of 32, into its planes."""
    made = _scratch.some(len(letters))
    upper, valid, some = made.upper, made.one, made.two
    np.bitwise_and(letters, np.uint8(0xDF), out=upper)
    # 'A' 41, 'C' 43, 'G' 47, 'T' 54, 'U' 55, hexadecimal: bits 1 and 2 are the code.
    np.equal(upper, 0x41, out=valid)
    for letter in (0x43, 0x47, 0x54):
        np.equal(upper, letter, out=some)
        np.logical_or(valid, some, out=valid)
    if not valid.all():
        _keep_others(path, name, letters, upper, valid, target, at)
    planes = target.planes[:, at // WORD : at // WORD + -(-len(letters) // WORD)]
    for plane, bit in zip(planes, (4, 2, 0), strict=True):
        if bit:
            np.bitwise_and(upper, np.uint8(bit), out=some.view(np.uint8))
        packed = np.packbits(some.view(np.uint8) if bit else valid, bitorder="little")
        plane.view(np.uint8)[: len(packed)] = packed
    planes[:2] &= planes[2]


def _keep_others(
    path: Path,
    name: str,
    letters: np.ndarray,
    upper: np.ndarray,
    valid: np.ndarray,
    target: Target,
    at: int,
) -> None:
    valid |= upper == ord("U")
    places = np.flatnonzero(~valid & (upper != ord("N")))
    if not len(places):
        return
    found = letters[places]
    if _IS_WHITE[found].any():
        target.uneven.add(name)
        return
    wrong = np.flatnonzero(_ALLOWED[found] == 0)
    if len(wrong):
        letter = chr(found[wrong[0]])
        raise InputError(
            f"{path}: {name}, base {at + int(places[wrong[0]]) + 1}: {letter!r} is no letter of "
            "DNA; give the sequence of a genome"
        )
    known = found & np.uint8(0xDF)
    named = (SETS[known] > 0) & (found >= ord("A"))
    target.others.append((target.start + at + places[named], known[named]))


def _twobit_packer(record: twobit.TwoBitRecord) -> Callable[[Target], Iterator[Callable[[], None]]]:
    def pack(target: Target) -> Iterator[Callable[[], None]]:
        """One piece of packing: a record of .2bit is unpacked whole."""

        def work() -> None:
            """Write the record's planes into their place."""
            target.planes[:] = twobit.unpack(record)

        yield work

    return pack
