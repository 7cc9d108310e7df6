"""A genome is the same however its files are written."""

import bz2
import errno
import gzip
import logging
import lzma
import os
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from ligen_py import unpacking
from ligen_py.errors import InputError
from ligen_py.sequences import digests
from ligen_py.sequences import genome as module
from ligen_py.sequences.genome import VERSION, finish_keeping, read_genome
from ligen_py.sequences.planes import Genome

RECORDS = {
    "chr1": b"ACGTNacgtnRYkm" * 40 + b"A",
    "chr2": b"",
    "chr3": b"G" * 64,
    "chr4": b"TTAGGGU" * 100,
}


def lines(width: int, end: bytes = b"\n", last: bytes = b"\n") -> bytes:
    """The records as FASTA."""
    text = b""
    for name, letters in RECORDS.items():
        rows = [letters[at : at + width] for at in range(0, len(letters), width)]
        text += b">" + name.encode() + b" a > word" + end + b"".join(row + end for row in rows)
    return text.removesuffix(end) + last


def letters(genome: Genome) -> dict[str, bytes]:
    """All letters of a genome by record."""
    return {
        name: genome.letters(np.array([start]), int(length)).tobytes()
        for name, start, length in zip(genome.names, genome.starts, genome.lengths, strict=True)
    }


EXPECTED = {name: text.upper().replace(b"U", b"T") for name, text in RECORDS.items()}


@pytest.mark.parametrize(
    "text",
    [
        lines(60),
        lines(60, last=b""),
        lines(61, b"\r\n"),
        lines(61, b"\r\n", b""),
        lines(10_000),
        lines(1),
        lines(60).replace(b"\n", b"\n\n"),
        b"\xef\xbb\xbf\n" + lines(7),
        lines(60).replace(b"TTAGGGU", b"TTAG\nGGU"),
        # A line that ends as on Unix is as long as the others with their two characters.
        lines(7, b"\r\n")
        .replace(b"\r\nG\r\n", b"\r\n")
        .replace(b"GGGGGGG\r\nGGGGGGG\r\n", b"GGGGGGG\r\nGGGGGGGG\n", 1),
    ],
)
@pytest.mark.parametrize("block", [32, module.BLOCK])
def test_fasta_of_any_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: bytes, block: int
) -> None:
    monkeypatch.setattr(module, "BLOCK", block)
    path = tmp_path / "genome.fa"
    path.write_bytes(text)
    genome = read_genome(path)
    assert letters(genome) == EXPECTED
    assert genome.headers[0] == "chr1 a > word"


def test_a_header_may_hold_what_begins_one(tmp_path: Path) -> None:
    (tmp_path / "a.fa").write_bytes(b">G->A of chr1\nACGT\n>b >c\nAC\n")
    assert letters(read_genome(tmp_path / "a.fa")) == {"G->A": b"ACGT", "b": b"AC"}


def test_gzip_and_folder(tmp_path: Path) -> None:
    (tmp_path / "all.fa.gz").write_bytes(gzip.compress(lines(60)))
    assert letters(read_genome(tmp_path / "all.fa.gz")) == EXPECTED
    folder = tmp_path / "genome"
    folder.mkdir()
    for number, (name, text) in enumerate(RECORDS.items()):
        (folder / f"{number}.fa").write_bytes(b">" + name.encode() + b"\n" + text + b"\n")
    (folder / "0.fa.fai").write_text("an index")
    assert letters(read_genome(folder)) == EXPECTED


def test_a_link_to_nothing_is_no_genome_that_may_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.fa").write_text(">a\nACGT\n")
    (tmp_path / "b.fa").symlink_to("nowhere.fa")
    with pytest.raises(InputError, match=r"b\.fa: is a link to nothing; mend it"):
        read_genome(tmp_path)


def test_a_folder_in_that_of_a_genome_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its chromosomes were left out without a word."""
    for name in ("more", ".hidden"):
        (tmp_path / name).mkdir()
    with pytest.raises(
        InputError, match=r"contains no FASTA or \.2bit file; give its folder more$"
    ):
        read_genome(tmp_path)
    (tmp_path / "a.fa").write_bytes(lines(60))
    assert letters(read_genome(tmp_path)) == EXPECTED
    words = f"{tmp_path / 'more'}: a folder in that of a genome; its files are not read"
    assert caplog.messages == [words]


def test_a_file_that_is_none_goes_out_of_the_folder_of_a_genome(tmp_path: Path) -> None:
    """The cure was to give a genome."""
    (tmp_path / "a.fa").write_bytes(lines(60))
    (tmp_path / "README.txt").write_text("of a server")
    with pytest.raises(InputError, match=r"README\.txt: does not .* move the file out of the ge"):
        read_genome(tmp_path)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("version", [0, 1])
def test_twobit(tmp_path: Path, order: str, version: int) -> None:
    sequence = b"ACGTTGCANNNNNACGTGGCATTTACGTAC" * 5 + b"NN"
    places = np.flatnonzero(np.frombuffer(sequence, np.uint8) == ord("N"))
    starts = places[np.flatnonzero(np.diff(places, prepend=-9) > 1)]
    sizes = [int(np.argmin([c == ord("N") for c in sequence[s:]] + [False])) for s in starts]
    codes = [{"T": 0, "C": 1, "A": 2, "G": 3}.get(chr(c), 0) for c in sequence]
    codes += [0] * (-len(codes) % 4)
    packed = bytes(
        codes[i] << 6 | codes[i + 1] << 4 | codes[i + 2] << 2 | codes[i + 3]
        for i in range(0, len(codes), 4)
    )
    offset = 16 + 1 + 4 + (8 if version else 4)
    head = struct.pack(f"{order}4I", 0x1A412743, version, 1, 0) + b"\x04chrX"
    head += struct.pack(f"{order}{'Q' if version else 'I'}", offset)
    blocks = [len(sequence), len(starts), *starts, *sizes, 1, 3, 5, 0]
    path = tmp_path / "genome.2bit"
    path.write_bytes(head + struct.pack(f"{order}{len(blocks)}I", *blocks) + packed)
    assert letters(read_genome(path)) == {"chrX": sequence}
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(InputError, match="cut short"):
        read_genome(path)


def test_the_cache_goes_by_content(tmp_path: Path) -> None:
    path, cache = tmp_path / "a.fa", tmp_path / "cache"
    path.write_bytes(lines(60))
    first = read_genome(path, cache)
    again = tmp_path / "b.fa"
    again.write_bytes(lines(60))
    second = read_genome(again, cache)
    assert isinstance(second.planes, np.memmap)
    assert (second.planes == first.planes).all()
    assert letters(second) == EXPECTED
    assert second.digest() == first.digest()
    path.write_bytes(lines(10_000).replace(b"TTAGGGU", b"TTACGGU"))
    assert letters(read_genome(path, cache))["chr4"] == EXPECTED["chr4"].replace(b"AG", b"AC")


def test_damaged_planes_of_the_cache_are_made_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Planes of zeros have no base, so that no off-target was found."""
    path, cache = tmp_path / "a.fa", tmp_path / "cache"
    path.write_bytes(lines(60))
    read_genome(path, cache)
    finish_keeping()
    (planes,) = cache.glob("*-v*/planes.npy")
    whole = planes.read_bytes()
    planes.write_bytes(whole[:128] + bytes(len(whole) - 128))
    assert letters(read_genome(path, cache)) == EXPECTED
    assert "damaged (its checksums differ); the genome is read again" in caplog.text
    finish_keeping()
    assert planes.read_bytes() == whole


def test_what_a_killed_process_left_in_the_cache_is_removed(tmp_path: Path) -> None:
    path, cache = tmp_path / "a.fa", tmp_path / "cache"
    path.write_bytes(lines(60))
    old, new = cache / f".{'0' * 32}", cache / f".{'1' * 32}"
    for home in (old, new):
        home.mkdir(parents=True)
        (home / "planes.npy").write_bytes(bytes(100))
    for one in (old / "planes.npy", old):
        os.utime(one, (0, 0))
    read_genome(path, cache)
    finish_keeping()
    assert not old.exists()
    assert new.is_dir()  # another process may be at it


ENDS = """
import sys, time
from pathlib import Path
from ligen_py.sequences import genome

own = genome.sync
genome.sync = lambda path: (time.sleep(0.5), own(path))
genome.read_genome(Path("a.fa"), Path("cache"))
"""


def test_a_genome_is_kept_by_a_process_that_ends_before(tmp_path: Path) -> None:
    """Its pools of threads are gone by then."""
    (tmp_path / "a.fa").write_bytes(lines(60))
    (tmp_path / "cache" / f"{'0' * 32}-v2").mkdir(parents=True)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    words = [sys.executable, "-c", ENDS]
    done = subprocess.run(
        words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    names = [name for name in kept(tmp_path / "cache") if not name.startswith("0")]
    assert [name.rpartition("-")[2] for name in names] == [f"v{VERSION}"]


def test_an_older_version_of_a_genome_goes_when_the_new_one_is_kept(tmp_path: Path) -> None:
    path, cache = tmp_path / "a.fa", tmp_path / "cache"
    path.write_bytes(lines(60))
    older = cache / f"{read_genome(path).digest()[:32]}-v2"
    other = cache / f"{'0' * 32}-v2"
    for one in (older, other):
        one.mkdir(parents=True)
    read_genome(path, cache)
    finish_keeping()
    assert not older.exists()
    assert other.is_dir()


def kept(cache: Path) -> list[str]:
    """What a cache holds beside digests of files."""
    return [path.name for path in cache.iterdir() if path.name != "digests"]


def test_other_users_read_the_cache_as_the_umask_lets_them(tmp_path: Path) -> None:
    path, cache = tmp_path / "a.fa", tmp_path / "cache"
    path.write_bytes(lines(60))
    before = os.umask(0o002)
    try:
        read_genome(path, cache)
        finish_keeping()
    finally:
        os.umask(before)
    modes = {file.stat().st_mode & 0o777: file.is_dir() for file in cache.rglob("*")}
    assert modes == {0o775: True, 0o664: False}


@pytest.mark.parametrize("text", [lines(60), lines(60).replace(b"TTAGGGU", b"TTAG\nGGU")])
def test_a_genome_is_packed_where_it_is_kept(tmp_path: Path, text: bytes) -> None:
    path, cache = tmp_path / "a.fa", tmp_path / "cache"
    path.write_bytes(text)
    found = read_genome(path, cache)
    assert letters(found) == EXPECTED
    finish_keeping()
    (name,) = kept(cache)
    assert name.startswith(found.digest()[:32])
    assert (np.load(cache / name / "planes.npy") == found.planes).all()
    assert (read_genome(path).planes == found.planes).all()
    with pytest.raises(ValueError, match="read-only"):
        found.planes[0, 0] = 1


def test_a_full_disk_keeps_no_genome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    path, cache = tmp_path / "a.fa", tmp_path / "cache"
    path.write_bytes(lines(60))
    with caplog.at_level(logging.WARNING):
        found = read_genome(path, cache)
    assert letters(found) == EXPECTED
    assert f"{cache}: cannot be written (No space left on device)" in caplog.text
    finish_keeping()
    assert not kept(cache)
    assert len(found.digest()) == 64


def test_a_bad_genome_leaves_nothing_in_the_cache(tmp_path: Path) -> None:
    path, cache = tmp_path / "a.fa", tmp_path / "cache"
    path.write_bytes(b">a\nACGT\nACEF\n")
    with pytest.raises(InputError, match="no letter of DNA"):
        read_genome(path, cache)
    assert not kept(cache)


@pytest.mark.parametrize("size", [1, 7, 64])
def test_headers_at_the_borders_of_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(module, "SEARCHED", size)
    path = tmp_path / "a.fa"
    path.write_bytes(b"\xef\xbb\xbf" + lines(60, b"\r\n"))
    assert letters(read_genome(path)) == EXPECTED


def test_a_file_that_has_not_changed_is_not_hashed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.fa"
    path.write_bytes(lines(60))
    known = digests.Known(tmp_path / "cache")
    assert known.hash(path)
    assert known.digest(path) is None  # so young that another change could have the same time
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 10)
    assert known.hash(path) == known.digest(path)
    (entry,) = (tmp_path / "cache" / "digests").iterdir()
    entry.write_bytes(b"\xff" * 64)
    assert known.digest(path) is None
    entry.unlink()
    entry.mkdir()  # cannot be read, as a file of another user
    assert known.digest(path) is None
    path.write_bytes(lines(61))
    assert known.digest(path) is None


def test_runs_of_n_are_no_bomb_but_a_whole_file_of_them_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "RATIO_GRACE", 1 << 16)
    monkeypatch.setattr(unpacking, "GENOME_GRACE", 1 << 20)
    unknown = b">a\n" + b"N" * (1 << 24) + b"\n"
    bases = np.random.default_rng(1).choice(np.frombuffer(b"ACGT", np.uint8), 1 << 18).tobytes()
    path = tmp_path / "a.fa.bz2"
    path.write_bytes(bz2.compress(unknown + b">b\n" + bases))
    assert read_genome(path).lengths.tolist() == [1 << 24, 1 << 18]
    path.write_bytes(bz2.compress(unknown))
    with pytest.raises(InputError, match=r"a\.fa\.bz2: more than 2000 bytes come out of each"):
        read_genome(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "empty"),
        (b">a\n>b\n\n", "has no base in any record"),
        (b"ACGT\n", "does not begin with '>'"),
        (lzma.compress(b">a\nACGT\n"), "is packed with xz; unpack it, .*gzip, Zst.* are read"),
        (">a\nACGT\n".encode("utf-16"), "is UTF-16 text; save it as UTF-8"),
        (b">a\rACGT\r", r"bare carriage returns; convert the file, as with tr"),
        (b">a\nACGT\n>a b\nACGT\n", "two records are called 'a'"),
        (b">a\nACGT\nACEF\n", "a, base 7: 'E' is no letter of DNA"),
        (b">\nACGT\n", "record 1 has no name"),
        (b">a\0b\nACGT\n", r"the header of 'a\\x00b' has a zero byte"),
        (b"> \xc2\xa0\nACGT\n", "record 1 has no name"),
        (b">a\nACGT\nAC\0\0\nACGT\n", r"a, base 7: '\\x00' is no letter of DNA"),
        (b">a\nACGT\n\0\0\0\n", r"a, base 5: '\\x00' is no letter of DNA"),
    ],
)
def test_bad_genomes(tmp_path: Path, text: bytes, words: str) -> None:
    path = tmp_path / "bad.fa"
    path.write_bytes(text)
    with pytest.raises(InputError, match=words):
        read_genome(path)
    with pytest.raises(InputError, match="does not exist"):
        read_genome(tmp_path / "none.fa")
