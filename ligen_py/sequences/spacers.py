"""Guides that a gene offers: every place with a PAM, on both strands."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ligen_py.errors import InputError
from ligen_py.sequences.fasta import read_fasta
from ligen_py.sequences.genes import Gene
from ligen_py.sequences.iupac import SETS, fault_of, reverse_complement
from ligen_py.sequences.planes import Genome

log = logging.getLogger("ligen_py")

CUT_BEFORE = 3
"""Bases between the cut and a PAM behind the guide (Cas9)."""

CUT_BEHIND = 18
"""Bases between a PAM in front of the guide and the cut on the strand of the guide (Cas12a)."""


class Enzyme(NamedTuple):
    """What a guide looks like."""

    pam: str
    """IUPAC letters."""
    pam_first: bool
    """Does the PAM stand in front of the guide?"""
    length: int
    """Bases of a guide."""

    @property
    def pattern(self) -> str:
        """The pattern of a search: N for the guide's bases."""
        guide = "N" * self.length
        return self.pam + guide if self.pam_first else guide + self.pam

    @property
    def cut(self) -> int:
        """Bases of a window in front of the cut, in the guide's direction."""
        if self.pam_first:
            return len(self.pam) + min(CUT_BEHIND, self.length)
        return self.length - min(CUT_BEFORE, self.length)


class Spacer(NamedTuple):
    """A guide of a gene."""

    gene: str
    letters: str
    pam: str
    exon: int
    """From 1; 0 where it is not known."""
    place: int
    """Coding bases in front of the cut."""
    strand: int
    """0 where it reads as the coding sequence, 1 as the other strand."""
    site: tuple[str, int, int] | None
    """Its own site where it is known: chromosome, leftmost base of the window, strand."""


def of_sequences(path: Path, enzyme: Enzyme) -> list[Spacer]:
    """The guides of the records of a FASTA file, such as the coding sequence of a gene.

    InputError, which names the file, where a letter is none of DNA, two records have one name, or
    there is no guide.
    """
    found: list[Spacer] = []
    names: dict[str, None] = {}
    for record in read_fasta(path):
        if record.name in names:
            raise InputError(
                f"{path}: two records are called {record.name!r} (the first word of the header), "
                "and each is a gene of its own; rename one"
            )
        names[record.name] = None
        text = record.sequence.decode("latin-1").upper().replace("U", "T")
        fault = fault_of(text)
        if fault is not None:
            raise InputError(
                f"{path}: {record.name}: {fault!r} is no letter of DNA; give the coding sequence "
                "as DNA"
            )
        letters = np.frombuffer(text.encode(), np.uint8)
        for start, strand, spacer, pam in windows(letters, enzyme):
            place = _cut(start, strand, enzyme)
            found.append(Spacer(record.name, spacer, pam, 0, place, strand, None))
    listed = _some(distinct(found), path, enzyme)
    none = names.keys() - {one.gene for one in listed}
    if none:
        log.warning(
            "%s: no guide of %d records is listed, such as %s: none fits, or a record before has "
            "the same",
            path,
            len(none),
            next(name for name in names if name in none),
        )
    return listed


def of_gene(genome: Genome, gene: Gene, source: Path, enzyme: Enzyme) -> list[Spacer]:
    """The guides that cut within the exons of a gene.

    InputError, which names `source` (the annotation), where the genome lacks the chromosome or
    ends before an exon, or where there is no guide.
    """
    if gene.chromosome not in genome.names:
        some = ", ".join(genome.names[:5])
        raise InputError(
            f"{source}: {gene.name} is on {gene.chromosome}, which the genome does not have; "
            f"it has {some}"
        )
    record = genome.names.index(gene.chromosome)
    length, first = int(genome.lengths[record]), int(genome.starts[record])
    found: list[Spacer] = []
    for number, exon in enumerate(gene.exons, start=1):
        if exon.end > length:
            raise InputError(
                f"{source}: {gene.name} has an exon up to base {exon.end} of {gene.chromosome}, "
                f"which has {length} in the genome; give the annotation of this genome, without "
                "genes across the origin of a circular record"
            )
        flank = len(enzyme.pattern)
        start, end = max(0, exon.start - flank), min(length, exon.end + flank)
        letters = genome.letters(np.array([first + start]), end - start)[0]
        for place, strand, spacer, pam in windows(letters, enzyme):
            cut = start + _cut(place, strand, enzyme)
            # The cut is between two bases: both are in the exon.
            if not exon.start < cut < exon.end:
                continue
            base = cut - 1 if gene.strand else cut
            site = (gene.chromosome, start + place, strand)
            coding = gene.coding_place(base)
            found.append(Spacer(gene.name, spacer, pam, number, coding, strand ^ gene.strand, site))
    return _some(distinct(found), source, enzyme)


def _some(spacers: list[Spacer], source: Path, enzyme: Enzyme) -> list[Spacer]:
    """The guides; InputError where there are none."""
    if not spacers:
        raise InputError(
            f"{source}: no guide of {enzyme.length} bases with PAM {enzyme.pam} fits the coding "
            "sequence; give another pam (command line: --pam)"
        )
    return spacers


def windows(letters: np.ndarray, enzyme: Enzyme) -> Iterator[tuple[int, int, str, str]]:
    """Leftmost base, strand, guide and PAM of each place with the PAM, in order of both.

    `letters` is uint8, upper case. A guide has no letter but A, C, G, T.
    """
    pattern = np.frombuffer(enzyme.pattern.encode(), np.uint8)
    if len(letters) < len(pattern):
        return
    sets, size = SETS[pattern], len(letters) - len(pattern) + 1
    single = np.isin(letters, np.frombuffer(b"ACGT", np.uint8))
    hits = []
    for strand in (0, 1):
        oriented = reverse_complement(letters) if strand else letters
        base = single[::-1] if strand else single
        fits = np.ones(size, bool)
        for place, allowed in enumerate(sets):
            column = slice(place, place + size)
            fits &= base[column] & ((SETS[oriented[column]] & allowed) > 0)
        for at in np.flatnonzero(fits):
            text = oriented[at : at + len(pattern)].tobytes().decode()
            hits.append((int(size - 1 - at if strand else at), strand, text))
    pam = len(enzyme.pam)
    for start, strand, text in sorted(hits):
        if enzyme.pam_first:
            yield start, strand, text[pam:], text[:pam]
        else:
            yield start, strand, text[: enzyme.length], text[enzyme.length :]


def distinct(spacers: list[Spacer]) -> list[Spacer]:
    """Each guide once, where it cuts first in its gene; genes stay in their order."""
    order = {gene: n for n, gene in enumerate(dict.fromkeys(one.gene for one in spacers))}
    spacers = sorted(spacers, key=lambda one: (order[one.gene], one.place, one.strand))
    seen: dict[str, Spacer] = {}
    for one in spacers:
        seen.setdefault(one.letters, one)
    return list(seen.values())


def gc(spacer: str) -> float:
    """Share of G and C."""
    return (spacer.count("G") + spacer.count("C")) / len(spacer)


def longest_t(spacer: str) -> int:
    """Length of the longest run of T; four end the transcription by RNA polymerase III."""
    run = longest = 0
    for letter in spacer:
        run = run + 1 if letter == "T" else 0
        longest = max(longest, run)
    return longest


def random_spacers(count: int, length: int, seed: int, avoided: set[str]) -> list[str]:
    """Guides of random bases: 40 to 60 % G and C, no run of four T, none of `avoided`."""
    rng = np.random.default_rng(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        spacer = "".join("ACGT"[code] for code in rng.integers(0, 4, length))
        if 0.4 <= gc(spacer) <= 0.6 and longest_t(spacer) < 4 and spacer not in avoided:
            found[spacer] = None
    return list(found)


def _cut(start: int, strand: int, enzyme: Enzyme) -> int:
    """Bases in front of the cut of a window, on the strand that it was found in."""
    return start + (len(enzyme.pattern) - enzyme.cut if strand else enzyme.cut)
