"""FASTA as it is found in the wild, against what Biopython's rules would give."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pytest

from ligen_py import unpacking
from ligen_py.errors import InputError
from ligen_py.sequences import fasta
from ligen_py.sequences.fasta import FastaRecord, read_fasta

TEXT = b">sp|P1|ONE first  protein\nMKV\nLAW\n>two\n\n>three\tx\nacdef*"
RECORDS = [
    FastaRecord("sp|P1|ONE", "sp|P1|ONE first  protein", b"MKVLAW"),
    FastaRecord("two", "two", b""),
    FastaRecord("three", "three\tx", b"acdef*"),
]


def zstd(text: bytes) -> bytes:
    return bytes(pyarrow.Codec("zstd").compress(text, asbytes=True))


def saved(folder: Path, content: bytes) -> Path:
    path = folder / "some.fa"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "form",
    [
        lambda text: text,
        lambda text: text + b"\n\n",
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: b"\xef\xbb\xbf\n \n" + text,
        lambda text: text.replace(b"MKV", b"M K\tV"),
        gzip.compress,
        lambda text: gzip.compress(text[:20]) + gzip.compress(text[20:]),
        bz2.compress,
        zstd,
        lambda text: b"\x50\x2a\x4d\x18\x04\0\0\0size" + zstd(text),  # as pzstd writes
    ],
)
def test_every_form_gives_the_same_records(tmp_path: Path, form: Callable[[bytes], bytes]) -> None:
    assert list(read_fasta(saved(tmp_path, form(TEXT)))) == RECORDS


@pytest.mark.parametrize("packed", [gzip.compress, bz2.compress, zstd])
def test_a_bomb_is_stopped(
    tmp_path: Path, packed: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "RATIO_GRACE", 1 << 20)
    path = saved(tmp_path, packed(b">a\n" + b"M" * (1 << 24)))
    with pytest.raises(InputError, match=r"some\.fa: more than 400 bytes come out of each"):
        list(read_fasta(path))


@pytest.mark.parametrize("size", range(1, 12))
def test_blocks_may_end_anywhere(
    tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fasta, "_BLOCK", size)
    text = TEXT.replace(b"\n>two", b"\n\n>two")
    assert list(read_fasta(saved(tmp_path, text))) == RECORDS


def test_names_and_headers(tmp_path: Path) -> None:
    found = list(read_fasta(saved(tmp_path, b">\nMK\n> spaced  out \nM>K\n>\xe9\xff x\n")))
    assert found == [
        FastaRecord("record_1", "", b"MK"),
        FastaRecord("spaced", "spaced  out", b"M>K"),
        FastaRecord("éÿ", "éÿ x", b""),
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "contains no sequences"),
        (b" \n\n", "contains no sequences"),
        (b"MKVLAW\n", "does not begin with '>'"),
        ("\ufeff>a\nMK\n".encode("utf-16-le"), "UTF-16"),
        (">a\nMK\n".encode("utf-16-le"), "UTF-16"),
        (b">a\rMK\r", "bare carriage returns"),
        (b">a\nMK\n>b\0c\nMK\n", "header of record 2 has a zero byte"),
        (b">" + b"x" * (fasta.HEADER_LIMIT + 1), "header of record 1"),
        (gzip.compress(TEXT * 99, mtime=0)[:-20], "damaged or cut short"),
        (b"\x1f\x8b" + b"x" * 99, "damaged or cut short"),
        (zstd(TEXT * 99)[:-2], "damaged or cut short"),
        (bz2.compress(TEXT * 99)[:-2], "damaged or cut short"),
        (lzma.compress(TEXT), "is packed with xz; unpack it, .*gzip, Zstandard and bzip2 are read"),
        (b"PK\x03\x04\x14", "is a ZIP archive.*; unpack it"),
    ],
    ids=[
        "empty",
        "blank-lines",
        "no-header",
        "utf-16",
        "utf-16-unmarked",
        "carriage-returns",
        "zero-byte",
        "long-header",
        "cut-gzip",
        "broken-gzip",
        "cut-zstd",
        "cut-bzip2",
        "xz",
        "zip",
    ],
)
def test_what_is_no_fasta_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = saved(tmp_path, content)
    with pytest.raises(InputError, match=words) as caught:
        list(read_fasta(path))
    assert str(path) in str(caught.value)
