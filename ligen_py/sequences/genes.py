"""Coding exons of genes: GTF, GFF3 and BED files, plain or compressed.

Places count from 0, and an end is the first base behind, as in BED.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from sys import intern
from typing import BinaryIO, NamedTuple
from urllib.parse import unquote

import numpy as np

from ligen_py.errors import InputError
from ligen_py.unpacking import BOM, opened, refuse_no_text

NAMES = ("gene_name", "gene", "Name", "gene_id", "locus_tag")
"""Attributes that name a line's gene, the best first."""

OF_GENE = NAMES[:2]
"""Those that never name anything else. Name on a line CDS of GFF3 is that of the CDS or protein."""

ALIASES = (*NAMES, "transcript_id", "transcript_name", "ID", "Parent", "protein_id")
"""Attributes by which a gene may be asked for."""

FURTHER = "Alias"
"""An attribute of GFF3 by which a gene may be asked for where no other is called so: the names of
one gene are often further names of others."""

NO_PARENTS = ("five_prime_UTR", "three_prime_UTR", "UTR", "start_codon", "stop_codon")
"""Kinds of lines that no other line belongs to; there are many."""

ATTRIBUTE = re.compile(
    rf"\s*({'|'.join(sorted((*ALIASES, FURTHER), key=len, reverse=True))})(?:\s*(=)|\s)(.*)"
)
"""Of GFF3 with '=', of GTF with a blank."""

QUOTED = re.compile(r'(?:[^;"]|"[^"]*")+')
"""An attribute of GTF with a semicolon in its quotes."""

STRANDS = {"+": 0, "-": 1}

UNSTRANDED = 2
"""The strand of a line with any other sign, as GFF3 has for a gene of pieces from both strands, and
of a line of BED without the column."""

SOME = 5
"""Names that a message lists."""


class Exon(NamedTuple):
    """A stretch of a gene that is translated."""

    start: int
    end: int


class Gene(NamedTuple):
    """The coding exons of a gene, joined over its transcripts, in the gene's direction."""

    name: str
    chromosome: str
    strand: int
    """0 forward, 1 reverse."""
    exons: tuple[Exon, ...]

    def exon_at(self, place: int) -> int:
        """The number, from 1, of the exon that a place on the chromosome is in; 0 for none."""
        return next(
            (n for n, exon in enumerate(self.exons, start=1) if exon.start <= place < exon.end), 0
        )

    def coding_place(self, place: int) -> int:
        """Coding bases in front of a place on the chromosome, which is in an exon."""
        number = self.exon_at(place)
        exon = self.exons[number - 1]
        inside = exon.end - 1 - place if self.strand else place - exon.start
        return sum(one.end - one.start for one in self.exons[: number - 1]) + inside


@dataclass(frozen=True)
class Annotation:
    """Coding stretches of a genome, in the order of their file."""

    path: Path
    chromosome: np.ndarray
    """object (stretches): names."""
    start: np.ndarray
    """int64."""
    end: np.ndarray
    """int64."""
    strand: np.ndarray
    """uint8: 0 forward, 1 reverse, 2 where a line has neither."""
    name: np.ndarray
    """object: the gene."""
    aliases: tuple[frozenset[str], ...]
    """Every name by which the gene or transcript of a stretch may be asked for; the `FURTHER` ones
    begin with Alias=."""
    _known: dict[tuple[str, str, int], Gene] = field(default_factory=dict)

    @cached_property
    def _rows_of_genes(self) -> dict[tuple[str, str, int], list[int]]:
        """The stretches of each gene on a chromosome and strand, found once for all genes."""
        found: dict[tuple[str, str, int], list[int]] = {}
        keys = zip(self.name, self.chromosome, self.strand.tolist(), strict=True)
        for row, key in enumerate(keys):
            found.setdefault(key, []).append(row)
        return found

    def gene(self, asked: str) -> Gene:
        """The gene or transcript of a name, with or without its version (NM_000001.4).

        InputError where there is none, where its exons are on two chromosomes or strands, or where
        their strand is not given.
        """
        rows = np.flatnonzero([asked in names for names in self.aliases])
        if not len(rows):
            rows = np.flatnonzero([f"{FURTHER}={asked}" in names for names in self.aliases])
            if len(genes := dict.fromkeys(self.name[rows])) > 1:
                raise InputError(
                    f"{self.path}: {asked!r} is a further name of {', '.join(genes)}; name one"
                )
        if not len(rows):
            known = sorted(set(self.name))[:SOME]
            raise InputError(
                f"{self.path}: has no coding sequence of a gene {asked!r}; it has genes such as "
                f"{', '.join(known)}"
            )
        # A dict keeps the order of the file.
        places = dict.fromkeys((self.chromosome[row], int(self.strand[row])) for row in rows)
        if len(places) > 1:
            where = ", ".join(f"{chromosome} ({'+-.'[strand]})" for chromosome, strand in places)
            raise InputError(
                f"{self.path}: {asked!r} has coding sequences on {where}; name a transcript"
            )
        if self.strand[rows[0]] == UNSTRANDED:
            raise InputError(
                f"{self.path}: {asked!r} has no strand; write + or - in column 7 of its lines, in "
                "a BED file in column 6"
            )
        return self._of_rows(asked, rows.tolist())

    def gene_of(self, stretch: int) -> Gene:
        """The gene that a stretch belongs to, on its chromosome and strand."""
        key = self.name[stretch], self.chromosome[stretch], int(self.strand[stretch])
        if key not in self._known:
            self._known[key] = self._of_rows(key[0], self._rows_of_genes[key])
        return self._known[key]

    def _of_rows(self, name: str, rows: Sequence[int]) -> Gene:
        exons = joined([Exon(int(self.start[row]), int(self.end[row])) for row in rows])
        strand = int(self.strand[rows[0]])
        ordered = tuple(exons[::-1] if strand == 1 else exons)
        return Gene(name, self.chromosome[rows[0]], strand, ordered)

    def coding(self, chromosomes: np.ndarray, places: np.ndarray) -> np.ndarray:
        """The stretch (int64) that each place is in, the first of several; -1 for none."""
        found = np.full(len(places), -1)
        number = {name: n for n, name in enumerate(dict.fromkeys(self.chromosome))}
        own = np.array([number[name] for name in self.chromosome], np.int64)
        # Sorted once: a draft genome may have as many contigs as genes.
        rows = np.lexsort((self.start, own))
        first_row = np.searchsorted(own[rows], np.arange(len(number) + 1))
        where = np.array([number.get(name, -1) for name in chromosomes], np.int64)
        order = np.argsort(where, kind="stable")
        names, starts = np.unique(where[order], return_index=True)
        for name, asked in zip(names, np.split(order, starts[1:]), strict=False):
            if name < 0:
                continue
            mine = rows[first_row[name] : first_row[name + 1]]
            # Where stretches overlap, an earlier one may reach further than those after it.
            reach = np.maximum.accumulate(self.end[mine])
            last = np.searchsorted(self.start[mine], places[asked], side="right") - 1
            inside = (last >= 0) & (reach[last] > places[asked])
            for row in np.flatnonzero(inside):
                first = int(np.searchsorted(reach, places[asked[row]], side="right"))
                some = mine[first : last[row] + 1]
                found[asked[row]] = some[self.end[some] > places[asked[row]]][0]
        return found


def joined(exons: list[Exon]) -> list[Exon]:
    """Exons in their order on the chromosome; those that overlap or touch become one."""
    result: list[Exon] = []
    for exon in sorted(exons):
        if result and exon.start <= result[-1].end:
            result[-1] = Exon(result[-1].start, max(result[-1].end, exon.end))
        else:
            result.append(exon)
    return result


def read_annotation(path: Path) -> Annotation:
    """The coding stretches of a file.

    GTF and GFF3: its lines CDS; its lines exon where it has no CDS. BED: each line, with 12 columns
    each block, cut to the thick part; whole where no line has one, for a line without is that of a
    transcript which codes for nothing. The fourth column names the gene. A line without a base
    counts for nothing.
    A line of GFF3 also has the names of the lines that it belongs to, such as its gene's, which
    names the line where it does not name a gene itself.

    Raises InputError, which names the file and the line.
    """
    coding: list[_Row] = []
    exons: list[_Row] = []
    above: dict[str, _Parent] = {}
    for number, words in _lines(path):
        try:
            if _is_gtf(words):
                if words[2] == "CDS":
                    exons.clear()  # an annotation has twice as many
                    coding.append(_of_gtf(words))
                elif words[2] == "exon":
                    if not coding:
                        exons.append(_of_gtf(words))
                elif "ID=" in words[8] and words[2] not in NO_PARENTS:
                    found = _attributes(words[8])
                    for one in found.get("ID", ()):
                        above[one] = _Parent(_name(found) or one, *_names_and_parents(found))
            else:
                (coding if _is_coding(words) else exons).extend(_of_bed(words))
        except (ValueError, IndexError) as error:
            raise InputError(f"{path}, line {number}: {_fault_of(words)}") from error
    rows = coding or exons
    if not rows:
        raise InputError(f"{path}: has no line CDS or exon; give the annotation of a genome")
    chromosomes, starts, ends, strands, genes, own_names, own_aliases, parents = zip(
        *rows, strict=True
    )
    known = {group: _above(group, above) for group in set(parents)}
    names = [
        gene or (known[group][-1].name if known[group] else name or next(iter(group), ""))
        for gene, name, group in zip(genes, own_names, parents, strict=True)
    ]
    merged: dict[tuple[frozenset[str], tuple[str, ...]], frozenset[str]] = {}
    aliases = tuple(
        merged.setdefault((own, group), own.union(*(one.aliases for one in known[group])))
        if known[group]
        else own
        for own, group in zip(own_aliases, parents, strict=True)
    )
    return Annotation(
        path,
        np.array(chromosomes, object),
        np.array(starts, np.int64),
        np.array(ends, np.int64),
        np.array(strands, np.uint8),
        np.array(names, object),
        aliases,
    )


_Row = tuple[str, int, int, int, str, str, frozenset[str], tuple[str, ...]]
"""Chromosome, start, end, strand, gene, name, aliases, IDs of what it belongs to."""


class _Parent(NamedTuple):
    """A line of GFF3 that others belong to: a transcript or a gene."""

    name: str
    aliases: frozenset[str]
    parents: tuple[str, ...]


def _is_gtf(words: list[str]) -> bool:
    """Is a line GTF or GFF3? Of BED the second column is a place."""
    return len(words) >= 9 and not words[1].isdecimal()


def _fault_of(words: list[str]) -> str:
    """What is wrong with a line that cannot be read."""
    if len(words) == 1 and len(words[0].split()) > 3:
        return "its columns are separated by blanks; separate them by tabs"
    if len(words) >= 12 and words[9].isdecimal():
        counts = [len(list(filter(None, words[k].split(",")))) for k in (10, 11)]
        if counts != [int(words[9])] * 2:
            return (
                f"has blocks: {words[9]} by column 10, {counts[0]} sizes, {counts[1]} starts; "
                "correct the line"
            )
    places = words[3:5] if _is_gtf(words) else words[1:3]
    if len(places) == 2 and all(map(str.isdecimal, places)):
        start, end = map(int, places)
        if end < start:
            return f"its end {end} lies before its start {start}; correct the line"
        if start == 0 and _is_gtf(words):
            return "its start is 0, and places of GTF and GFF3 count from 1; correct the line"
    return "is neither GTF, GFF3 nor BED of 4 to 12 columns; give the annotation of a genome"


def _above(parents: tuple[str, ...], known: dict[str, _Parent]) -> list[_Parent]:
    """What a line with such parents belongs to, the nearest first and its gene last."""
    found: dict[str, _Parent] = {}
    todo = list(parents)
    while todo:
        one = todo.pop(0)
        if one in known and one not in found:
            found[one] = known[one]
            todo += known[one].parents
    return list(found.values())


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Numbers and words of the lines that are no comments; GFF3's sequences are left out."""
    with opened(path) as stream:
        for number, line in enumerate(_every_line(stream), start=1):
            if number == 1:
                refuse_no_text(path, line)
            if line.startswith(b"##FASTA"):
                return
            if line.strip() and not line.startswith((b"#", b"track", b"browser")):
                yield number, line.decode("utf-8", "replace").rstrip("\r").split("\t")


def _every_line(stream: BinaryIO) -> Iterator[bytes]:
    rest = stream.read(len(BOM)).removeprefix(BOM)
    while block := stream.read(1 << 24):
        *lines, rest = (rest + block).split(b"\n")
        yield from lines
    yield rest


def _attributes(text: str) -> dict[str, list[str]]:
    """The values of the last column's `ALIASES`, and of `FURTHER`."""
    found: dict[str, list[str]] = {}
    before, *values = text.split('"')
    # In GFF3, which has '=', quotes mean nothing.
    quoted = "=" not in before and any(";" in value for value in values[::2])
    for item in QUOTED.findall(text) if quoted else text.split(";"):
        match = ATTRIBUTE.match(item)
        value = match[3].strip() if match else ""
        if match and value:
            # GFF3 may name several, as the transcripts that share an exon.
            several = value.split(",") if match[2] else [value]
            found.setdefault(match[1], [unquote(one.strip().strip('"')) for one in several])
    return found


def _name(found: dict[str, list[str]], keys: tuple[str, ...] = NAMES) -> str:
    return next((found[key][0] for key in keys if key in found), "")


def _names_and_parents(found: dict[str, list[str]]) -> tuple[frozenset[str], tuple[str, ...]]:
    own = (values for key, values in found.items() if key != FURTHER)
    names = _known_as(tuple(chain.from_iterable(own)))
    if further := found.get(FURTHER):
        names |= {f"{FURTHER}={one}" for one in _known_as(tuple(further))}
    return names, tuple(found.get("Parent", ()))


def _of_gtf(words: list[str]) -> _Row:
    found = _attributes(words[8])
    start, end = int(words[3]) - 1, int(words[4])
    if not 0 <= start < end:
        raise ValueError(words)
    return (
        intern(words[0]),
        start,
        end,
        STRANDS.get(words[6], UNSTRANDED),
        intern(_name(found, OF_GENE)),
        intern(_name(found)),
        *_names_and_parents(found),
    )


def _is_coding(words: list[str]) -> bool:
    """Does a line of BED with 12 columns have a thick part? One with fewer is taken as it is."""
    return len(words) < 12 or int(words[6]) < int(words[7])


def _of_bed(words: list[str]) -> list[_Row]:
    start, end, name = int(words[1]), int(words[2]), words[3]
    strand = STRANDS.get("".join(words[5:6]), UNSTRANDED)
    exons = [Exon(start, end)]
    if len(words) >= 12:
        sizes, starts = ([int(n) for n in words[k].split(",") if n] for k in (10, 11))
        exons = [Exon(start + s, start + s + z) for s, z in zip(starts, sizes, strict=True)]
        if len(exons) != int(words[9]):
            raise ValueError(words)
        thick = int(words[6]), int(words[7])
        if _is_coding(words):
            exons = [Exon(max(one.start, thick[0]), min(one.end, thick[1])) for one in exons]
    if not 0 <= start <= end:
        raise ValueError(words)
    known = _known_as((name,))
    return [
        (words[0], *exon, strand, name, name, known, ()) for exon in exons if exon.start < exon.end
    ]


@lru_cache(1024)
def _known_as(values: tuple[str, ...]) -> frozenset[str]:
    """Names, with and without their versions and Ensembl's prefixes (transcript:ENST...)."""
    found: set[str] = set()
    for value in values:
        for name in (value, value.rpartition(":")[2]):
            head, dot, version = name.rpartition(".")
            found |= {name, head} if dot and version.isdecimal() else {name}
    return frozenset(found)
