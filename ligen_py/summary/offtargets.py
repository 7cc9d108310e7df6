"""Off-targets as people and other programs read them: TSV, BED, and the rows of Cas-OFFinder."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from ligen_py import __version__
from ligen_py.records.column import Record
from ligen_py.records.guides import RankedGuides
from ligen_py.records.offtargets import BulgeType, Chromosomes, Guides, OffTargets
from ligen_py.store.files.disk import writing
from ligen_py.store.files.text import harmless, write_texts

COLUMNS = (
    "guide_id",
    "bulge_type",
    "crRNA",
    "DNA",
    "chromosome",
    "position",
    "strand",
    "mismatches",
    "bulge_size",
    "pam",
    "cut_site",
)
"""Of offtargets.tsv."""

COMMENT = f"# ligen_py {__version__}; position: leftmost base on the forward strand, from 0"
"""How the first line of offtargets.tsv begins."""

Named = TypeVar("Named", Guides, RankedGuides, Chromosomes)

WITHOUT_BULGES = "cas-offinder-2.txt"
"""The file of a folder of tables that a search whose sites have bulges lacks."""

CUT = 3
"""Bases between the cut and a PAM behind the guide (Cas9)."""


class Line(NamedTuple):
    """One row as text and numbers."""

    guide: int
    name: str
    bulge: str
    crrna: str
    dna: str
    chromosome: str
    position: int
    strand: str
    mismatches: int
    size: int

    @property
    def length(self) -> int:
        """Bases of the site's window."""
        return len(self.dna.replace("-", ""))


def guarded(records: Named) -> Named:
    """The same records, with names that no spreadsheet evaluates."""
    return replace(records, name=np.array([harmless(name) for name in records.name], object))


def lines(names: np.ndarray, chromosomes: Chromosomes, rows: OffTargets) -> Iterator[Line]:
    """The rows of a file in its order, with their guides' names."""
    crrna, dna = _texts(rows.crrna), _texts(rows.dna)
    columns = (
        rows.guide.tolist(),
        rows.bulge.tolist(),
        rows.chromosome.tolist(),
        rows.position.tolist(),
        rows.strand.tolist(),
        rows.mismatches.tolist(),
        rows.bulge_size.tolist(),
    )
    kinds = [kind.name for kind in BulgeType]
    for (guide, bulge, where, position, strand, mismatches, size), rna, letters in zip(
        zip(*columns, strict=True), crrna, dna, strict=True
    ):
        yield Line(
            guide,
            names[guide],
            kinds[bulge],
            rna,
            letters,
            chromosomes.name[where],
            position,
            "+-"[strand],
            mismatches,
            size,
        )


def _texts(letters: np.ndarray) -> list[str]:
    """Rows of ASCII, 0 behind the end, as text."""
    if not letters.size:
        return [""] * len(letters)
    flat = np.ascontiguousarray(letters).view(f"S{letters.shape[1]}")[:, 0]
    return [text.decode("ascii") for text in flat.tolist()]


def pam_width(sequences: Iterable[str], pam_first: bool | None) -> int:
    """Letters of a search's PAM: the fewest N that a guide has at that end; 0: none has any.

    A guide may end with further N, or be written with its PAM. A pattern of nothing but N has no
    PAM, and `pam_first` is None.
    """
    if pam_first is None:
        return 0
    widths = (
        len(text) - len(text.lstrip("N") if pam_first else text.rstrip("N")) for text in sequences
    )
    return min((width for width in widths if width), default=0)


def tsv(found: Iterable[Line], width: int, pam_first: bool) -> Iterator[str]:
    """offtargets.tsv: a comment, a header, a row a line; `width` is that of the PAM."""
    yield f"{COMMENT}; cut_site: first base behind the cut, from 0, for a PAM behind the guide\n"
    yield "\t".join(COLUMNS) + "\n"
    for line in found:
        pam, cut = pam_and_cut(line, width, pam_first)
        yield (
            f"{line.name}\t{line.bulge}\t{line.crrna}\t{line.dna}\t{line.chromosome}\t"
            f"{line.position}\t{line.strand}\t{line.mismatches}\t{line.size}\t{pam}\t{cut}\n"
        )


def pam_and_cut(line: Line, width: int, pam_first: bool) -> tuple[str, str]:
    """A site's letters at its PAM, of such a width, and where Cas9 cuts it; empty if unknown."""
    if pam_first or not width:
        return line.dna[:width].upper(), ""
    if line.strand == "+":
        cut = line.position + line.length - width - CUT
    else:
        cut = line.position + width + CUT
    return line.dna[-width:].upper(), str(cut)


def bed(found: Iterable[Line]) -> Iterator[str]:
    """BED6: the site's window; the score is 1000, less 100 for each mismatch and bulged base."""
    for line in found:
        score = max(0, 1000 - 100 * (line.mismatches + line.size))
        yield (
            f"{line.chromosome}\t{line.position}\t{line.position + line.length}\t{line.name}\t"
            f"{score}\t{line.strand}\n"
        )


def cas_offinder_2(found: Iterable[Line], named: bool) -> Iterator[str]:
    """Rows of Cas-OFFinder 2.4.1, which has no bulges; with an id where the input gives ids."""
    for line in found:
        name = f"\t{line.name}" if named else ""
        yield (
            f"{line.crrna}\t{line.chromosome}\t{line.position}\t{line.dna}\t{line.strand}\t"
            f"{line.mismatches}{name}\n"
        )


def cas_offinder_3(found: Iterable[Line]) -> Iterator[str]:
    """Header and rows of Cas-OFFinder 3; the first line names this program."""
    yield f"##Generated by ligen_py {__version__}\n"
    yield "#Id\tBulge Type\tcrRNA\tDNA\tChromosome\tLocation\tDirection\tMismatches\tBulge Size\n"
    for line in found:
        yield (
            f"{line.name}\t{line.bulge}\t{line.crrna}\t{line.dna}\t{line.chromosome}\t"
            f"{line.position}\t{line.strand}\t{line.mismatches}\t{line.size}\n"
        )


def summary(guides: Guides) -> Iterator[str]:
    """The summary of Cas-OFFinder 3: found targets of each guide, kind and number of mismatches."""
    kinds = (("X", 0), ("DNA", 1), ("DNA", 2), ("RNA", 1), ("RNA", 2))
    for name, count in zip(guides.name, guides.count, strict=True):
        for kind, mismatches in np.argwhere(count):
            bulge, size = kinds[kind]
            yield (
                f"##Id={name};Bulge Type={bulge};Bulge Size={size};Mismatches={mismatches};"
                f"Number of Found Targets={count[kind, mismatches]}\n"
            )


def counts(guides: Guides) -> Iterator[str]:
    """counts.tsv: a line a guide with its sites by mismatches, without and with a bulge."""
    most = int(guides.limit.max(initial=0))
    plain = [f"mm{number}" for number in range(most + 1)]
    bulged = [f"{kind}_mm{number}" for kind in ("dna", "rna") for number in range(most + 1)]
    yield "\t".join(["guide_id", "sequence", "limit", "status", "detail", *plain, *bulged]) + "\n"
    for row in range(len(guides.name)):
        count = guides.count[row, :, : most + 1]
        numbers = [count[0], count[1] + count[2], count[3] + count[4]]
        words = [
            guides.name[row],
            guides.sequence[row],
            str(guides.limit[row]),
            ("searched", "truncated")[guides.status[row]],
            guides.detail[row],
            *(str(number) for kind in numbers for number in kind),
        ]
        yield "\t".join(words) + "\n"


def write_tables(folder: Path, records: Mapping[str, Record], pam_first: bool | None) -> None:
    """Write the tables into a folder, from the records of a file.

    `pam_first`: whether the PAM stands in front of the guide; None where there is none.
    """
    made = texts(records, pam_first)
    write_texts(folder, made)
    if WITHOUT_BULGES not in made:  # that of an earlier search would stay beside the others
        with writing(folder):
            (folder / WITHOUT_BULGES).unlink(missing_ok=True)


def texts(records: Mapping[str, Record], pam_first: bool | None) -> dict[str, Iterator[str]]:
    """The files of a folder of tables, from the records of a file: name -> lines.

    A guide has the same id in all of them, which no spreadsheet evaluates.
    """
    guides, chromosomes, rows = (records[name] for name in ("guides", "chromosomes", "rows"))
    if not (
        isinstance(guides, Guides)
        and isinstance(chromosomes, Chromosomes)
        and isinstance(rows, OffTargets)
    ):
        raise TypeError("these are no records of an offtargets file")
    named = any(name != str(row) for row, name in enumerate(guides.name))
    guides = guarded(guides)

    def found(where: Chromosomes = chromosomes) -> Iterator[Line]:
        """The rows as lines, made anew at each call: there may be millions."""
        return lines(guides.name, where, rows)

    width = pam_width(guides.sequence, pam_first)
    made = {
        "offtargets.tsv": tsv(found(guarded(chromosomes)), width, bool(pam_first)),
        "offtargets.bed": bed(found()),
        "counts.tsv": counts(guides),
        "cas-offinder-3.txt": cas_offinder_3(found()),
        "summary.txt": summary(guides),
    }
    if not (rows.bulge_size > 0).any():
        made[WITHOUT_BULGES] = cas_offinder_2(found(), named)
    return made
