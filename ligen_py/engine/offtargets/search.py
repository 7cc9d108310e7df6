"""Search a genome's bit planes for the sites of guides, on one OpenCL device or several.

The genome goes over a device in pieces. Each piece is looked through by `finder`, for sites with
the letters of the pattern, and these are compared with all guides by `comparer`, whose open cases
`bulges` decides (kernels/sequences). Lists that turn out too short are made longer, and the piece
is done again. Neither pieces nor devices change the result.
"""

import itertools
import math
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from ligen_py.engine.offtargets.alignment import Sites
from ligen_py.errors import DeviceError
from ligen_py.opencl import buffers
from ligen_py.opencl.device import Device
from ligen_py.opencl.program import Program, build
from ligen_py.sequences.guides import Query, spacer
from ligen_py.sequences.iupac import ANY, SETS, complement_set
from ligen_py.sequences.planes import GAP, WORD, Genome

KERNELS = "sequences/offtargets.cl"

FRONT, BACK = 4, 5
"""Words that a piece has before and behind its own (FRONT is that of the kernels)."""

CONSTANT_BYTES = 56 << 10
"""Of the letters of guides in one launch: constant memory has 64 KiB on many devices."""

GUIDE_BITS = 28
"""Of a hit's second word; the kind of bulge stands above."""

STRANDS = (0, 1)

LEAST = 1 << 13
"""Sites of the shortest list; all lists are multiples, so that each is whole blocks of any form."""

BULGES_GROUP = 64
"""Work-items of a work-group of `bulges`."""

SMALLEST = 64
"""Words of the shortest piece."""


@dataclass(frozen=True)
class Form:
    """How the kernels are built for a device; it changes speed only."""

    group: int
    """Work-items of a work-group (WG)."""
    lanes: int
    """Words of 32 sites that an item compares at once (LANES)."""
    run: int
    """Words of the genome that an item of `finder` looks through (RUN)."""
    columns: int
    """Columns whose mismatches are added up beforehand (GROUP), without bulges: 1 or 3."""
    together: int
    """Guides after which an item looks for close sites (TOGETHER)."""
    piece: int
    """Words of the genome at a time."""

    @classmethod
    def of(cls, device: Device) -> "Form":
        """What suits a device: vectors on a processor, many items on a GPU."""
        if device.is_simulator:
            return cls(4, 2, 2, 1, 2, 1 << 10)
        if device.kind == "cpu":
            return cls(1, 16, 32, 3, 4, 1 << 17)
        return cls(64, 2, 4, 1, 1, 1 << 21)


@dataclass(frozen=True)
class GuideBatch:
    """Guides whose letters stand at the same places, and what kernels need of them."""

    members: np.ndarray
    """Numbers of the guides."""
    first: int
    """Place of the first letter in the pattern."""
    length: int
    """Letters from the first to the last."""
    plain: bool
    """Only A, C, G, T."""
    sets: np.ndarray
    """uint8 (guides, length): set of bases of each letter."""
    limits: np.ndarray
    """uint8 (guides)."""

    def oriented(self, strand: int) -> np.ndarray:
        """The sets in the order of the forward strand."""
        return complement_set(self.sets[:, ::-1]) if strand else self.sets


def batches(query: Query) -> list[GuideBatch]:
    """The guides of a query in batches, each guide in one."""
    groups: dict[tuple[int, int, bool], list[int]] = {}
    for number, guide in enumerate(query.guides):
        first, last = spacer(guide)
        plain = set(guide.sequence[first : last + 1]) <= set("ACGT")
        groups.setdefault((first, last + 1 - first, plain), []).append(number)
    made = []
    for (first, length, plain), members in groups.items():
        text = [query.guides[n].sequence[first : first + length].encode() for n in members]
        sets = SETS[np.frombuffer(b"".join(text), np.uint8)].reshape(-1, length)
        limits = np.array([min(query.guides[n].limit, length) for n in members], np.uint8)
        made.append(GuideBatch(np.array(members), first, length, plain, sets, limits))
    return made


class Slice(NamedTuple):
    """Guides of one launch, for the lists of one strand."""

    first: int
    guides: int
    codes: Any
    """Letters as codes of bases, LENGTH each."""
    sets: Any
    """Letters as sets of bases, LENGTH each."""
    entries: Any
    """Three letters each, as places in the kernel's tables."""
    limits: Any
    masks: Any
    """Four words of 64 bits each: the letters' places that allow A, C, T, G."""


class GuideBatchOnDevice:
    """A batch's programs and tables."""

    def __init__(
        self, device: Device, query: Query, batch: GuideBatch, form: Form, first_guide: int
    ) -> None:
        """Upload the guides, numbered from `first_guide` on."""
        self.batch = batch
        bulges = query.dna_bulge + query.rna_bulge
        self._device, self._query, self._form = device, query, form
        self._together = 1 if bulges or not batch.plain else form.together
        self.columns = form.columns if not bulges and batch.plain else 1
        self._letters = buffers.upload(device, pattern_letters(query.pattern))
        span = batch.length + query.dna_bulge
        self.site_bytes = 4 + 8 * -(-span // WORD)
        self.begins = [self._begin(strand) for strand in STRANDS]
        self.finder = self._program(form, {"COMPARER": 0, "PAM": pam_letters(query.pattern)})
        self._plain: dict[int, tuple[Program, Form]] = {}
        self._general: dict[tuple[int, int], tuple[Program, Form]] = {}
        for strand in STRANDS:
            far_low = self._far_low(strand)
            if batch.plain:
                planes = 128 * -(-batch.length // 3) if self.columns == 3 else 4 * span
                fitted = fitting(form, device, planes)
                made = self._program(
                    fitted, {"FINDER": 0, "FAR_LOW": far_low, "GROUP": self.columns}
                )
                self._plain[strand] = made, fitted
            fitted = fitting(form, device, 3 * span)
            for validity in (0, 1) if not batch.plain else (1,):
                general = {"FINDER": 0, "FAR_LOW": far_low, "LETTERS": 16, "VALIDITY": validity}
                self._general[strand, validity] = self._program(fitted, general), fitted
        self.slices = [self._slices(strand, first_guide) for strand in STRANDS]

    def _far_low(self, strand: int) -> int:
        """Is the PAM at the high end of a window? Without bulges it makes no difference."""
        if not self._query.dna_bulge + self._query.rna_bulge:
            return 1
        return int((strand == 1) == self._query.pam_first)

    def _begin(self, strand: int) -> int:
        """Place of the first compared column in a window."""
        first, length = self.batch.first, self.batch.length
        if strand:
            first = len(self._query.pattern) - first - length
        return first - (self._query.dna_bulge if self._far_low(strand) else 0)

    def _program(self, form: Form, more: dict[str, int]) -> Program:
        query = self._query
        sizes = {"LENGTH": self.batch.length, "DNA": query.dna_bulge, "RNA": query.rna_bulge}
        shape = {"WG": form.group, "LANES": form.lanes, "RUN": form.run}
        return build(self._device, KERNELS, {**sizes, **shape, "TOGETHER": form.together, **more})

    def _slices(self, strand: int, first_guide: int) -> list[Slice]:
        batch, made = self.batch, []
        sets = batch.oriented(strand)
        many = max(1, CONSTANT_BYTES // (2 * batch.length + 2))
        for first in range(0, len(sets), many):
            some = np.ascontiguousarray(sets[first : first + many])
            codes = np.log2(np.maximum(some, 1)).astype(np.uint8) if batch.plain else some[:0]
            arrays = (codes, some, table_entries(codes), batch.limits[first : first + many])
            uploaded = [buffers.upload(self._device, array) for array in (*arrays, masks(some))]
            made.append(Slice(first_guide + first, len(some), *uploaded))
        return made

    def find(self, planes: Sequence[Any], words: int, most_invalid: int, lists: "Lists") -> Any:
        """Launch `finder`."""
        kernel, form = self.finder.kernel("finder"), self._form
        items = -(-words // (form.group * form.run)) * form.group
        begins = (np.int32(begin) for begin in self.begins)
        return kernel(
            self._device.queue, (items,), (form.group,), *planes, np.uint32(words), self._letters,
            *begins, np.uint32(most_invalid), np.uint32(lists.capacity),
            np.uint32(lists.odd_capacity), lists.counts, *lists.arrays,
        )  # fmt: skip

    def compare(self, lists: "Lists", hits: "Hits", candidates: "Candidates") -> Iterator[Any]:
        """Launch `comparer` for every list and slice, and `bulges` for what it leaves open."""
        queue = self._device.queue
        sizes = np.uint32(lists.capacity), np.uint32(lists.odd_capacity)
        for number in range(4):
            odd, strand = divmod(number, 2)
            general = odd or not self.batch.plain
            program, form = self._general[strand, odd] if general else self._plain[strand]
            room = lists.odd_capacity if odd else lists.capacity
            items = -(-room // (WORD * form.lanes * form.group)) * form.group
            for one in self.slices[strand]:
                count = next(candidates.counts)
                open_ = candidates.pairs, count, np.uint32(candidates.capacity)
                yield program.kernel("comparer")(
                    queue, (items,), (form.group,), np.uint32(number), lists.counts, *sizes,
                    *lists.arrays, np.uint32(one.guides), np.uint32(one.first),
                    one.sets if general else one.codes, one.entries, one.limits, *hits, *open_,
                )  # fmt: skip
                if self._query.dna_bulge + self._query.rna_bulge:
                    yield program.kernel("bulges")(
                        queue, (candidates.capacity,), (BULGES_GROUP,), *open_, np.uint32(strand),
                        np.uint32(one.first), *sizes, *lists.arrays, one.limits, one.masks, *hits,
                    )  # fmt: skip

    def launches(self) -> int:
        """How many launches `compare` makes."""
        return 4 * len(self.slices[0])

    def open_pairs(self) -> float:
        """The share of pairs of a random site and a guide that `comparer` leaves to `bulges`.

        A letter mismatches in one place with a chance of 3/4, in both its places with 9/16. The
        sum is over the two halves in which a bulge may be.
        """
        query, length = self._query, self.batch.length
        far = max(length // 2, query.rna_bulge + 1)
        near, share = length - far, 0.0
        sizes = [0] * query.dna_bulge + list(range(1, query.rna_bulge + 1))
        for limit, guides in zip(*np.unique(self.batch.limits, return_counts=True), strict=True):
            for size in sizes:
                for in_both, in_one in ((far - size, near), (near, far - size)):
                    counts = np.convolve(_binomial(in_both, 9 / 16), _binomial(in_one, 3 / 4))
                    share += float(guides * counts[: int(limit) + 1].sum())
        return share


def _binomial(number: int, chance: float) -> np.ndarray:
    """Chances of 0, 1, ... of a number of independent events."""
    return np.array([
        math.comb(number, n) * chance**n * (1 - chance) ** (number - n) for n in range(number + 1)
    ])  # fmt: skip


def fitting(form: Form, device: Device, planes: int) -> Form:
    """The form with fewer lanes or items, so that `planes` words a lane fit local memory."""
    limit = int(device.handle.local_mem_size)
    while planes * 4 * form.group * form.lanes > limit and form.group * form.lanes > 1:
        if form.lanes > 1:
            form = replace(form, lanes=form.lanes // 2)
        else:
            form = replace(form, group=form.group // 2)
    return form


def pam_letters(pattern: str) -> int:
    """Letters of the pattern that are not N."""
    return sum(letter != "N" for letter in pattern)


def pattern_letters(pattern: str) -> np.ndarray:
    """The table `letters` of `finder`: uint32 (2 strands, letters, 5)."""
    sets = SETS[np.frombuffer(pattern.encode(), np.uint8)]
    rows = []
    for strand in STRANDS:
        oriented = complement_set(sets[::-1]) if strand else sets
        for place in np.flatnonzero(oriented != ANY):
            bases = [0xFFFFFFFF * (int(oriented[place]) >> code & 1) for code in range(4)]
            rows.append([int(place), *bases])
    return np.array(rows, np.uint32).reshape(2, -1, 5)


def table_entries(codes: np.ndarray) -> np.ndarray:
    """Letters three by three as places in the tables of `comparer`: uint16 (guides, tables)."""
    padded = np.pad(codes, ((0, 0), (0, -codes.shape[1] % 3))).astype(np.uint16)
    threes = padded.reshape(len(codes), padded.shape[1] // 3, 3)
    entry = threes[:, :, 0] + 4 * threes[:, :, 1] + 16 * threes[:, :, 2]
    return (np.arange(threes.shape[1]) * 128 + 2 * entry).astype(np.uint16)


def masks(sets: np.ndarray) -> np.ndarray:
    """The places of letters that allow each base: uint64 (guides, 4)."""
    bits = np.uint64(1) << np.arange(sets.shape[1], dtype=np.uint64)
    return np.stack(
        [
            ((sets >> code & 1).astype(np.uint64) * bits).sum(1, dtype=np.uint64)
            for code in range(4)
        ],
        axis=1,
    )


class Lists(NamedTuple):
    """Buffers that `finder` fills and `comparer` reads."""

    capacity: int
    odd_capacity: int
    counts: Any
    arrays: tuple[Any, ...]
    """Positions, and the words high, low, valid."""


class Hits(NamedTuple):
    """Buffer of what was found, as the kernels take it."""

    pairs: Any
    count: Any
    capacity: np.uint32


class Candidates(NamedTuple):
    """Buffer of pairs that may match with a bulge; each launch has its own count."""

    pairs: Any
    counts: Iterator[Any]
    capacity: int


class Launched(NamedTuple):
    """A piece that the device is at work on."""

    piece: tuple[int, int]
    reserve: buffers.Reserve
    counts: list[Any]
    """Sites of the four lists, a buffer for each batch."""
    capacity: int
    odd_capacity: int
    hits: Hits
    candidate_counts: list[Any]
    candidate_capacity: int
    events: list[tuple[str, Any]]
    """Kernels, in their order."""


class Searcher:
    """One query on one device; programs and tables are made once.

    `kernel_seconds` adds up the device's own time in each kernel.
    """

    def __init__(self, device: Device, query: Query, form: Form | None = None) -> None:
        """Build the kernels and upload the guides; the form is the device's own by default."""
        self.device = device
        self.query = query
        self.form = form or Form.of(device)
        self.kernel_seconds = {"finder": 0.0, "comparer": 0.0}
        found = batches(query)
        self._members = np.concatenate([batch.members for batch in found])
        firsts = np.cumsum([0, *(len(batch.members) for batch in found)])
        self._batches = [
            GuideBatchOnDevice(device, query, batch, self.form, int(first))
            for batch, first in zip(found, firsts, strict=False)
        ]
        self._bulges = query.dna_bulge + query.rna_bulge > 0
        self._open = 0.0
        if self._bulges:
            self._open = 1.3 * max(one.open_pairs() / len(one.slices[0]) for one in self._batches)
        sets = SETS[np.frombuffer(query.pattern.encode(), np.uint8)]
        share = math.prod(int(bases).bit_count() / 4 for bases in sets)
        self._density = min(1.0, 1.5 * share)
        self._odd, self._hits = LEAST, 1 << 18
        # What stands under an N of a guide is no mismatch, whatever it is.
        free = [batch.limits + (batch.sets == ANY).sum(1) for batch in found]
        largest = max(int(each.max()) for each in free)
        self._most_invalid = largest + query.dna_bulge + query.rna_bulge
        self._budget = buffers.budget(device)
        room = self._budget / 2 // self._bytes_of_word()
        self.piece = int(min(self.form.piece, max(SMALLEST, room)))

    def search(self, genome: Genome, pieces: Iterable[tuple[int, int]]) -> Iterator[Sites]:
        """Sites of each piece (first word, word behind the last), of all guides, in no order.

        While one piece is fetched, the device has the next one.
        """
        reserves = deque([buffers.Reserve(self.device), buffers.Reserve(self.device)])
        waiting: deque[Launched] = deque()
        for piece in pieces:
            reserves.rotate()
            waiting.append(self._launch(genome, piece, reserves[0]))
            if len(waiting) == len(reserves):
                yield self._fetch(genome, waiting.popleft())
        while waiting:
            yield self._fetch(genome, waiting.popleft())

    def _launch(self, genome: Genome, piece: tuple[int, int], reserve: buffers.Reserve) -> Launched:
        first, last = piece
        reserve.restart()
        planes = [reserve.upload(plane[first - FRONT : last + BACK]) for plane in genome.planes]
        capacity = _rounded((last - first) * WORD * self._density)
        odd_capacity = min(_rounded(self._odd), _rounded((last - first) * WORD))
        total = 2 * capacity + 2 * odd_capacity
        words = max(one.site_bytes - 4 for one in self._batches) // 8
        arrays = (
            reserve.empty(total, np.uint32),
            reserve.empty(total * words, np.uint32),
            reserve.empty(total * words, np.uint32),
            reserve.empty(2 * odd_capacity * words, np.uint32),
        )
        count = reserve.upload(np.zeros(1, np.uint32))
        hits = Hits(reserve.empty(2 * self._hits, np.uint32), count, np.uint32(self._hits))
        launches = sum(one.launches() for one in self._batches)
        zeros = np.zeros(1, np.uint32)
        open_counts = [reserve.upload(zeros) for _ in range(launches if self._bulges else 1)]
        open_capacity = self._open_pairs(capacity)
        candidates = Candidates(
            reserve.empty(2 * open_capacity, np.uint32),
            iter(open_counts) if self._bulges else itertools.repeat(open_counts[0]),
            open_capacity,
        )
        counts = [reserve.upload(np.zeros(4, np.uint32)) for _ in self._batches]
        events = []
        for one, of_one in zip(self._batches, counts, strict=True):
            lists = Lists(capacity, odd_capacity, of_one, arrays)
            found = one.find(planes, last - first, self._most_invalid, lists)
            events.append(("finder", found))
            events += [("comparer", event) for event in one.compare(lists, hits, candidates)]
        self.device.queue.flush()
        return Launched(
            piece, reserve, counts, capacity, odd_capacity, hits, open_counts, open_capacity, events
        )

    def _open_pairs(self, sites: int) -> int:
        """Room for the pairs that one launch leaves to `bulges`."""
        return _rounded(self._open * sites) if self._bulges else BULGES_GROUP

    def _fetch(self, genome: Genome, launched: Launched) -> Sites:
        """The sites of a piece, which is done again where a list was too short."""
        last = launched.events[-1][1]
        counts = np.array(
            [buffers.download(self.device, held, 4, np.uint32, last) for held in launched.counts]
        )
        hits, *_ = (int(n) for n in self._numbers([launched.hits.count], last))
        still_open = int(max(self._numbers(launched.candidate_counts, last)))
        for name, event in launched.events:
            self.kernel_seconds[name] += buffers.seconds(event)
        clean, odd = int(counts[:, :2].max()), int(counts[:, 2:].max())
        if (
            clean > launched.capacity
            or odd > launched.odd_capacity
            or hits > launched.hits.capacity
            or still_open > launched.candidate_capacity
        ):
            return self._again(genome, launched, clean, odd, hits, still_open)
        pairs = launched.hits.pairs
        found = buffers.download(self.device, pairs, (hits, 2), np.uint32, last)
        site, guide = found[:, 0].astype(np.int64), found[:, 1]
        return Sites(
            guide=self._members[guide & ((1 << GUIDE_BITS) - 1)],
            place=launched.piece[0] * WORD + (site >> 1),
            strand=(site & 1).astype(np.uint8),
            kind=(guide >> GUIDE_BITS).astype(np.uint8),
        )

    def _numbers(self, held: Sequence[Any], after: Any) -> list[int]:
        return [
            int(buffers.download(self.device, buffer, 1, np.uint32, after)[0]) for buffer in held
        ]

    def _again(
        self, genome: Genome, launched: Launched, clean: int, odd: int, hits: int, still_open: int
    ) -> Sites:
        """Do a piece again with longer lists, by halves where the device has no room for them."""
        first, last = launched.piece
        bases = (last - first) * WORD
        self._density = max(self._density, min(1.0, 1.1 * clean / bases))
        self._odd = max(self._odd, min(bases, int(1.1 * odd)))
        self._open = max(self._open, 1.1 * still_open / launched.capacity)
        needed = (last - first) * self._bytes_of_word() + 8 * hits + 16 * self._odd
        if needed <= self._budget:
            self._hits = max(self._hits, int(1.1 * hits))
            return self._fetch(genome, self._launch(genome, launched.piece, launched.reserve))
        if last - first <= SMALLEST:
            raise DeviceError(
                f"{self.device.label} has no room for the {hits} sites that guides have within "
                f"{bases} bases; lower the mismatch limits"
            )
        middle = (first + last) // 2
        parts = [
            self._fetch(genome, self._launch(genome, half, launched.reserve))
            for half in ((first, middle), (middle, last))
        ]
        return joined(parts)

    def _bytes_of_word(self) -> float:
        """Memory for a word of the genome: its planes, and its share of the lists."""
        site = max(one.site_bytes for one in self._batches)
        return 12 + 2 * WORD * self._density * (site + 4 * self._open * self._bulges)


def search(
    devices: Sequence[Device],
    query: Query,
    genome: Genome,
    part: tuple[int, int] = (1, 1),
    form: Form | None = None,
    done: Callable[[int], object] = lambda _: None,
) -> tuple[Sites, dict[str, float]]:
    """All sites of a query in one part of a genome (number, of so many), in no order.

    Each device takes the next piece when it has done one; `done` is called with the bases of a
    piece when it is done. The seconds are those of the kernels, over all devices.
    """
    searchers = [Searcher(device, query, form) for device in devices]
    size = min(searcher.piece for searcher in searchers)
    waiting, lock = deque(pieces(genome, part, size)), threading.Lock()
    found: list[Sites] = []

    def mine(todo: deque[int]) -> Iterator[tuple[int, int]]:
        """The next pieces for one searcher, (first, end) words; `todo` gets the bases of each."""
        while True:
            with lock:
                if not waiting:
                    return
                piece = waiting.popleft()
            todo.append(genome.bases_in(piece))
            yield piece

    def work(searcher: Searcher) -> None:
        """Search pieces on one device until none is left; another thread does so on another one."""
        todo: deque[int] = deque()
        for sites in searcher.search(genome, mine(todo)):
            with lock:
                found.append(sites)
                done(todo.popleft())

    with ThreadPoolExecutor(len(searchers)) as pool:
        try:
            for ended in as_completed([pool.submit(work, searcher) for searcher in searchers]):
                ended.result()
        finally:
            # After an error or a signal the pool awaits threads, which would go on to the end.
            with lock:
                waiting.clear()
    seconds = {
        name: sum(searcher.kernel_seconds[name] for searcher in searchers)
        for name in ("finder", "comparer")
    }
    return joined(found), seconds


def pieces(genome: Genome, part: tuple[int, int], size: int) -> Iterator[tuple[int, int]]:
    """Words of one part of a genome, `size` at a time: first, and behind the last."""
    first, last = words_of(genome, part)
    for start in range(first, last, size):
        yield start, min(start + size, last)


def words_of(genome: Genome, part: tuple[int, int]) -> tuple[int, int]:
    """Words of one part of a genome (number, of so many): first, and behind the last."""
    number, parts = part
    # An RNA bulge may leave the first bases of a window before the first record.
    words = genome.planes.shape[1] - 2 * GAP + 1
    first, last = (GAP - 1 + words * place // parts for place in (number - 1, number))
    return first, last


def joined(parts: Sequence[Sites]) -> Sites:
    """Sites of several pieces."""
    none = Sites(*(np.zeros(0, kind) for kind in (np.int64, np.int64, np.uint8, np.uint8)))
    return Sites(
        *(
            np.concatenate([getattr(part, spec.name) for part in (none, *parts)])
            for spec in fields(Sites)
        )
    )


def _rounded(count: float) -> int:
    """A capacity: whole blocks of any form."""
    return max(1, math.ceil(count / LEAST)) * LEAST
