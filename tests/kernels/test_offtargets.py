"""The off-target kernels give what the NumPy twin gives, on every device."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyopencl as cl
import pytest

from ligen_py.engine.offtargets import reference
from ligen_py.engine.offtargets import search as of_search
from ligen_py.engine.offtargets.alignment import Bulge, Sites
from ligen_py.engine.offtargets.results import rows_of
from ligen_py.engine.offtargets.search import Form, Searcher, joined, pieces, search
from ligen_py.errors import DeviceError
from ligen_py.opencl import program
from ligen_py.opencl.device import Device
from ligen_py.sequences.genome import read_genome
from ligen_py.sequences.guides import Guide, Query, checked
from ligen_py.sequences.planes import Genome
from tests.runtimes import leave_to_the_first

CAS9, CAS12 = "N" * 21 + "RG", "TTTV" + "N" * 20
BASES = np.frombuffer(b"ACGT", np.uint8)


def text(rng: np.random.Generator, count: int, letters: str = "ACGT") -> str:
    return "".join(rng.choice(list(letters), count))


def planted(rng: np.random.Generator, query: Query, lengths: tuple[int, ...]) -> list[bytes]:
    """Random records with sites near the guides, in which letters change, go and come."""
    comp = str.maketrans("ACGT", "TGCA")
    records = []
    for number, length in enumerate(lengths):
        record = list(text(rng, length))
        for place in range(0, length - 70, 90):
            guide = query.guides[int(rng.integers(len(query.guides)))]
            site = [
                text(rng, 1, "AG" if p == "R" else "ACG" if p == "V" else p if p != "N" else "ACGT")
                if g == "N" else text(rng, 1) if g not in "ACGT" else g
                for g, p in zip(guide.sequence, query.pattern, strict=True)
            ]  # fmt: skip
            for _ in range(int(rng.integers(0, guide.limit + 1))):
                site[int(rng.integers(5, 14))] = text(rng, 1)
            cut, change = int(rng.integers(6, 13)), int(rng.integers(-2, 3))
            site = site[:cut] + list(text(rng, max(0, change))) + site[cut + max(0, -change) :]
            word = "".join(site)
            word = word if rng.integers(2) else word[::-1].translate(comp)
            record[place : place + len(word)] = word
        for place in rng.integers(0, max(1, length - 5), length // 150):
            record[place] = str(rng.choice(list("NRYn")))
        whole = "".join(record[:length])
        records.append((whole.lower() if number % 2 else whole).encode())
    return records


def with_odd(query: Query) -> Iterator[bytes]:
    """Sites of the first guide with one N, and one letter too few, too many or neither."""
    letters = {"R": "G", "Y": "T", "B": "C", "D": "T", "H": "T", "V": "A", "N": "A"}
    for place in range(len(query.pattern)):
        both = zip(query.guides[0].sequence, query.pattern, strict=True)
        named = [g if p == "N" else p for g, p in both]
        site = [letters.get(letter, letter) for letter in named]
        if query.pattern[place] == "N":
            site[place] = "N"
        middle = len(site) // 2
        for changed in ("", site[middle], site[middle] * 2):
            yield "".join([*site[:middle], changed, *site[middle + 1 :]]).encode()


def written(path: Path, records: list[bytes]) -> Genome:
    path.write_bytes(b"".join(b">r%d\n%s\n" % item for item in enumerate(records)))
    return read_genome(path)


def found(genome: Genome, query: Query, sites: Sites) -> list[tuple[object, ...]]:
    rows, _ = rows_of(genome, query, sites, every=True, skip_n=False)
    letters = [bytes(row).rstrip(b"\0").decode() for row in (*rows.crrna, *rows.dna)]
    half = len(rows.guide)
    return [
        (
            *(int(rows.guide[i]), int(rows.record[i]), int(rows.position[i])),
            *("+-"[rows.strand[i]], int(rows.size[i]), Bulge(rows.bulge[i]).name),
            *(int(rows.at[i]), int(rows.mismatches[i]), letters[i], letters[half + i]),
        )
        for i in range(half)
    ]


QUERIES = {
    "plain": (CAS9, 0, 0, 20, "ACGT"),
    "bulges": (CAS9, 1, 1, 20, "ACGT"),
    "large bulges": (CAS9, 2, 2, 20, "ACGT"),
    "PAM first": (CAS12, 1, 2, 20, "ACGT"),
    "IUPAC": (CAS9, 0, 1, 20, "ACGTACGTRYNBDHV"),
    "no PAM": ("N" * 15, 0, 1, 15, "ACGT"),
    "more than a word": ("N" * 34 + "RG", 1, 1, 33, "ACGT"),
}


@cache
def example(name: str, *, small: bool) -> tuple[Query, list[bytes], list[tuple[object, ...]]]:
    """Guides, records, and what the twin finds, which takes it longer than a device."""
    pattern, dna, rna, length, alphabet = QUERIES[name]
    rng = np.random.default_rng(list(QUERIES).index(name))
    pam = "N" * (len(pattern) - length)
    guides = []
    for _ in range(3):
        letters = "A" + text(rng, length - 2, alphabet) + "C"
        guides.append(pam + letters if pattern == CAS12 else letters + pam)
    if name == "IUPAC":
        guides[0] = "ACBGTDACHGTVACRGTYNC" + pam  # each of the letters
    limits = (3, 2, 3)
    query = Query(pattern, tuple(map(Guide, "abc", guides, limits)), dna, rna)
    # The same guide again, with a limit and a name of its own.
    query = replace(query, guides=(*query.guides, query.guides[0]._replace(limit=1, name="d")))
    query = checked(query, "test")
    lengths = (170, 23, 0, 100) if small else (2000, 23, 22, 0, 1, 300, 900)
    records = planted(rng, query, lengths)
    odd = [text(rng, 4).encode() + one + text(rng, 4).encode() for one in with_odd(query)]
    records += odd[::7] if small else [b"".join(odd)]  # the twin takes a time for each record
    return query, records, [tuple(row) for row in reference.search(records, query)]


@pytest.mark.parametrize("name", QUERIES)
def test_the_twin_agrees(device: Device, tmp_path: Path, name: str) -> None:
    if device.is_simulator and name == "large bulges":
        pytest.skip("Oclgrind 21 lacks an instruction that its compiler makes (llvm.usub.sat)")
    if not device.is_simulator and name == "bulges":
        pytest.skip("as large bulges and more than a word, with numbers that take no other way")
    if name not in ("PAM first", "more than a word"):  # these have every branch
        leave_to_the_first(device)
    query, records, wanted = example(name, small=device.is_simulator)
    genome = written(tmp_path / "genome.fa", records)
    small = Form(group=2, lanes=2, run=2, columns=1, together=2, piece=64)
    sites, _ = search([device], query, genome, form=small)
    assert wanted
    assert found(genome, query, sites) == wanted


def test_the_devices_own_form_and_any_pieces(device: Device, tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    query = Query(CAS9, tuple(Guide("", text(rng, 20) + "NNN", 4) for _ in range(9)))
    records = planted(rng, query, (600,) if device.is_simulator else (9000, 400))
    genome = written(tmp_path / "genome.fa", records)
    wanted = [tuple(row) for row in reference.search(records, query)]
    whole, _ = search([device], query, genome)
    assert found(genome, query, whole) == wanted
    parts = [search([device], query, genome, part=(n, 3))[0] for n in (1, 2, 3)]
    assert found(genome, query, joined(parts)) == wanted


def test_two_workers_on_a_device_do_not_mix_their_arguments(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_to_the_first(device)
    if device.is_simulator:
        pytest.skip("it would take the simulator too long; the threads are the same")
    new_kernel = program.Program.new_kernel

    def slow(self: program.Program, name: str) -> Callable[..., cl.Event]:
        """A kernel that lets other threads go on between its arguments and its launch."""
        kernel = new_kernel(self, name)

        def launch(queue: cl.CommandQueue, items: Any, group: Any, *arguments: Any) -> cl.Event:
            kernel.set_args(*arguments)
            time.sleep(0.002)
            return cl.enqueue_nd_range_kernel(queue, kernel, items, group)

        return launch

    monkeypatch.setattr(program, "_programs", {})
    monkeypatch.setattr(program.Program, "new_kernel", slow)
    rng = np.random.default_rng(9)
    query = Query(CAS9, tuple(Guide("", text(rng, 20) + "NNN", 4) for _ in range(9)))
    records = planted(rng, query, (9000, 4000))
    genome = written(tmp_path / "genome.fa", records)
    sites, _ = search([device, device], query, genome, form=Form(2, 2, 2, 1, 1, 64))
    assert found(genome, query, sites) == [tuple(row) for row in reference.search(records, query)]


def test_where_a_device_fails_the_others_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    begun = []

    class Fake:
        """A device that does a piece a millisecond, but for the second: it fails at its first."""

        piece = 1

        def __init__(self, device: int, query: Query, form: Form | None) -> None:
            self.device = device

        def search(self, genome: Genome, some: Iterator[tuple[int, int]]) -> Iterator[Sites]:
            for piece in some:
                if self.device:
                    raise DeviceError("is lost")
                begun.append(piece)
                time.sleep(0.001)
                yield joined([])

    monkeypatch.setattr(of_search, "Searcher", Fake)
    genome = written(tmp_path / "genome.fa", [b"A" * (1 << 18)])
    with pytest.raises(DeviceError, match="is lost"):
        search(cast("list[Device]", [0, 1]), Query(CAS9, ()), genome)
    assert len(begun) < genome.bases // 64


def test_lists_that_are_too_short_lose_nothing(device: Device, tmp_path: Path) -> None:
    if device.is_simulator:
        pytest.skip("the lists hold more sites than the simulator gets done")
    query = Query("N" * 12, (Guide("", "ACGTACGTACGT", 12), Guide("", "AAAACCCCGGGG", 8)))
    records = [text(np.random.default_rng(1), 20_000).encode()]
    genome = written(tmp_path / "genome.fa", records)
    searcher = Searcher(device, query, Form(2, 2, 2, 1, 1, 1 << 10))
    searcher._hits, searcher._density = 100, 0.01
    sites = joined(list(searcher.search(genome, pieces(genome, (1, 1), searcher.piece))))
    windows = 20_000 - 11
    rows, _ = rows_of(genome, query, sites, every=True, skip_n=False)
    assert np.count_nonzero(rows.guide == 0) == 2 * windows
    assert searcher._hits > 100
    searcher._budget, searcher._hits = 0, 100
    with pytest.raises(DeviceError, match=r"has no room for the \d+ sites that guides have within"):
        list(searcher.search(genome, pieces(genome, (1, 1), searcher.piece)))


def test_long_patterns(device: Device, tmp_path: Path) -> None:
    leave_to_the_first(device)
    rng = np.random.default_rng(4)
    query = Query("N" * 45, (Guide("", text(rng, 45), 23),), 1, 1)
    records = [text(rng, 120 if device.is_simulator else 800).encode()]
    genome = written(tmp_path / "genome.fa", records)
    small = Form(group=2, lanes=1, run=2, columns=1, together=1, piece=64)
    sites, _ = search([device], query, genome, form=small)
    assert found(genome, query, sites) == [tuple(row) for row in reference.search(records, query)]


def test_unknown_bases_under_letters_that_do_not_count(device: Device, tmp_path: Path) -> None:
    """As between the halves of a TALEN pair."""
    query = Query("N" * 15, (Guide("", "ACGTACNNNNTGCAT", 0),))
    records = [b"GGACGTACNNNNTGCATGG", b"ACGTANNNNNTGCAT"]
    genome = written(tmp_path / "genome.fa", records)
    sites, _ = search([device], query, genome, form=Form(2, 1, 2, 1, 1, 64))
    wanted = [tuple(row) for row in reference.search(records, query)]
    assert len(wanted) == 1
    assert found(genome, query, sites) == wanted


def test_limits_of_more_than_four_bits(device: Device, tmp_path: Path) -> None:
    """Guides of letters that stand for two bases: half of 45 letters mismatch anywhere."""
    rng = np.random.default_rng(5)
    guides = tuple(Guide("", text(rng, 45, "RYKMSW"), limit) for limit in (15, 16, 17, 32, 33))
    query = Query("N" * 45, guides)
    records = [text(rng, 80 if device.is_simulator else 400).encode()]
    genome = written(tmp_path / "genome.fa", records)
    sites, _ = search([device], query, genome, form=Form(2, 1, 2, 1, 1, 64))
    wanted = [tuple(row) for row in reference.search(records, query)]
    assert max(row[7] for row in wanted) > 23
    assert found(genome, query, sites) == wanted
