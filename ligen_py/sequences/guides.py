"""What an off-target search looks for: a pattern, guides with their mismatch limits, bulges.

Cas-OFFinder's input files (2.x and 3.x) are read as they are.
"""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ligen_py.errors import InputError
from ligen_py.sequences.fasta import read_fasta
from ligen_py.sequences.iupac import BASES, SETS, fault_of
from ligen_py.unpacking import BOM, opened, refuse_no_text

log = logging.getLogger("ligen_py")

GENOME_LINE, PATTERN_LINE = 1, 2
"""Lines of an input file of Cas-OFFinder."""

LENGTH = 20
"""Letters of a guide of Cas9."""

CAS9 = re.compile("N{20}N[^N]{2}")
"""Patterns of Cas9: such a guide and its PAM, as NRG, which is the default, or NGG."""

LONGEST = 62
"""Longest pattern: with a bulge a site fits two words of 32 bases."""

SHORTEST = 10
"""Letters from which on a word is a guide, and neither a title nor an id, such as tag or cat."""

MOST_BULGE = 2

QUOTED = re.compile(r"""(["'])(.*)\1""")
"""A cell in quotes, as R writes it."""

TITLE = re.compile("[A-Z]{0,3}[RD]NA|CHR|START|STRAND|BATCH|TAG|RANK|BAND")
"""Titles of a column that are IUPAC letters, too."""

LIMITS = re.compile(
    r".*MIS[\s_.-]?MATCH.*|(.*[\s_.-])?((MAX(IMUM)?)?MM(LIMIT)?|LIMITS?)([\s_.-].*)?"
)
"""Titles of a column of mismatch limits."""

QUALIFIER = re.compile(r"MAX(IMUM|IMAL)?\.?|ALLOWED|PERMITTED|TOLERATED")
"""Words beside that: where blanks separate the titles they are no columns of their own."""

ASKED = "give an id and a guide's sequence; an id has neither spaces nor commas"
"""What to do with a line of a table that has no guide."""


class Guide(NamedTuple):
    """One guide as it is searched: N wherever its letter does not count."""

    name: str
    """Empty where the input gives none."""
    sequence: str
    """Upper case, as long as the pattern."""
    limit: int
    """Largest number of mismatches."""


@dataclass(frozen=True)
class Query:
    """A search, checked: see `checked`."""

    pattern: str
    """IUPAC letters; those other than N must be in a site, on either strand."""
    guides: tuple[Guide, ...]
    dna_bulge: int = 0
    """Largest number of bases that a site has more than the guide."""
    rna_bulge: int = 0
    """Largest number of bases that a site has less."""

    @property
    def pam_first(self) -> bool:
        """Does the pattern's fixed part stand before the guide's bases?"""
        return begins_with_pam(self.pattern)


class CasOffinderFile(NamedTuple):
    """An input file of Cas-OFFinder."""

    genome: Path
    query: Query


def begins_with_pam(pattern: str) -> bool:
    """Does a pattern's fixed part stand before the guide's bases? A PAM may begin with N (NGTN)."""
    before = len(pattern) - len(pattern.lstrip("N"))
    return before == 0 or before < len(pattern) - len(pattern.rstrip("N"))


def checked(query: Query, source: str, places: Sequence[str] = ()) -> Query:
    """The query; InputError, which names the source, where it cannot be searched.

    `places` has the place of each guide in the source, such as its line, to be named with it.
    """

    def stop(words: str, number: int | None = None) -> None:
        """Raise InputError with the source, and the place of guide `number` where it has one."""
        place = "" if number is None or not places else f", {places[number]}"
        raise InputError(f"{source}{place}: {words}")

    pattern = query.pattern
    bulges = max(query.dna_bulge, query.rna_bulge)
    check_pattern(pattern, bulges, source)
    if not query.guides:
        stop("no guides; give at least one")
    for number, guide in enumerate(query.guides):
        shown = (
            guide.sequence if len(guide.sequence) <= LONGEST else f"{guide.sequence[:LONGEST]}..."
        )
        fault = fault_of(guide.sequence)
        if fault is not None:
            stop(f"guide {shown}: {fault!r} is no IUPAC letter of DNA", number)
        if len(guide.sequence) != len(pattern):
            stop(
                f"guide {shown} has {len(guide.sequence)} letters, the pattern {pattern} "
                f"{len(pattern)}; write N for letters that do not count",
                number,
            )
        if not guide.sequence.strip("N"):
            stop(f"guide {guide.sequence} has no letter but N", number)
        if not 0 <= guide.limit <= len(pattern):
            stop(f"a limit of {guide.limit} mismatches; give 0 to {len(pattern)}", number)
        if (own := len(guide.sequence) - guide.sequence.count("N")) <= guide.limit:
            stop(
                f"guide {guide.sequence} has {own} letters other than N and may have {guide.limit} "
                "mismatches: every place with the PAM is a site; give the whole guide, or a "
                "smaller limit",
                number,
            )
        if bulges and any(
            p != "N" and g != "N" for p, g in zip(pattern, guide.sequence, strict=True)
        ):
            stop(f"guide {guide.sequence}: with bulges, write N where the pattern has its PAM",
                 number)  # fmt: skip
        if bulges and len(guide.sequence.strip("N")) <= query.rna_bulge + 1:
            stop(f"guide {guide.sequence} is too short for bulges", number)
    _warn_of_contradictions(query, source, places)
    return query


def _warn_of_contradictions(query: Query, source: str, places: Sequence[str]) -> None:
    """Name the guides that no site matches wholly: their letters are none of the pattern's."""
    letters = "".join((query.pattern, *(guide.sequence for guide in query.guides))).encode()
    sets = SETS[np.frombuffer(letters, np.uint8)].reshape(-1, len(query.pattern))
    count = ((sets[1:] & sets[0]) == 0).sum(axis=1)
    if count.any():
        first = int(np.flatnonzero(count)[0])
        log.warning(
            "%s%s: guide %s contradicts the pattern %s in %d of its letters, as %d of %d "
            "guides do: every site has mismatches there; correct the pattern, or write N in them",
            source,
            f", {places[first]}" if places else "",
            *(query.guides[first].sequence, query.pattern, count[first]),
            *(np.count_nonzero(count), len(count)),
        )


def check_pattern(pattern: str, bulges: int, place: str) -> None:
    """InputError, which names the place of the pattern, where it cannot be searched.

    `bulges` is the most bases of a bulge.
    """
    if bulges > MOST_BULGE:
        raise InputError(f"{place}: a bulge of {bulges}; bulges may have 0 to {MOST_BULGE} bases")
    if not pattern or (fault := fault_of(pattern)):
        raise InputError(
            f"{place}: the pattern {pattern!r} must be IUPAC letters of DNA"
            + (f", and {fault!r} is none" if pattern else "")
        )
    if len(pattern) > LONGEST:
        raise InputError(
            f"{place}: the pattern has {len(pattern)} letters; at most {LONGEST} can be searched"
        )
    if bulges and pattern[0] != "N" and pattern[-1] != "N":
        raise InputError(
            f"{place}: the pattern {pattern} begins and ends with a PAM; bulges need one side "
            "without"
        )


def read_cas_offinder(path: Path) -> CasOffinderFile:
    """An input file of Cas-OFFinder 2.x or 3.x; a genome's relative path is as it stands.

    Line 1: genome. Line 2: pattern, and in 3.x the largest DNA and RNA bulge. Then a guide a line:
    sequence, mismatch limit, and perhaps an id; the file ends with its end or a blank line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is no text file; give an input file of Cas-OFFinder") from error
    lines = [line.strip() for line in text.split("\n")]
    if len(lines) < 3 or not lines[0] or not lines[1]:
        raise InputError(f"{path}: needs a genome, a pattern and guides, a line each")
    words = lines[1].split()
    if len(words) not in (1, 3):
        raise InputError(
            f"{path}, line 2: give the pattern, or the pattern and the largest DNA and RNA bulge"
        )
    bulges = [_whole(path, 2, word, "bulge size") for word in words[1:]] or [0, 0]
    guides, places = [], []
    for number, line in enumerate(lines[2:], start=3):
        if not line:
            if any(lines[number:]):
                raise InputError(
                    f"{path}, line {number}: is blank, and guides follow; remove the blank line"
                )
            break
        parts = line.split()
        if len(parts) not in (2, 3):
            raise InputError(
                f"{path}, line {number}: give a guide, its mismatch limit, and perhaps an id"
            )
        limit = _whole(path, number, parts[1], "mismatch limit")
        guides.append(Guide(parts[2] if len(parts) == 3 else "", _upper(parts[0]), limit))
        places.append(f"line {number}")
    query = Query(_upper(words[0]), tuple(guides), *bulges)
    check_pattern(query.pattern, max(bulges), f"{path}, line {PATTERN_LINE}")
    return CasOffinderFile(Path(lines[0]), checked(query, str(path), places))


def found_from(source: Path, genome: Path, folder: Path = Path()) -> Path:
    """The genome that an input file names: as it stands in a folder, or beside the file.

    InputError, which names the file and the line, where it is in neither.
    """
    places = (folder / genome, source.parent / genome)
    found = next((place for place in places if place.exists()), None)
    if found is None:
        raise InputError(
            f"{source}, line {GENOME_LINE}: the genome {genome} does not exist; correct the line, "
            "or name the genome on the command line or in the config"
        )
    return found


class Listed(NamedTuple):
    """A guide as a file lists it."""

    name: str
    sequence: str
    """Upper case, with or without its PAM."""
    limit: int | None
    """None where none is given."""
    place: str
    """Its line or record in the file."""


def read_guides(path: Path) -> list[Listed]:
    """The guides of a file, plain or compressed.

    FASTA, or a table of id, sequence and perhaps mismatch limit, separated by tabs, commas or
    spaces, with or without a line of titles, which may begin with #. Cells may have quotes. Ids may
    repeat; order is kept.
    Of further columns with a title, one is read: that of limits, by its title. InputError names
    the line of a fault, or the columns where several may be limits.
    """
    with opened(path) as stream:
        head = stream.read(1 << 10).removeprefix(BOM).lstrip()
    refuse_no_text(path, head)
    if head.startswith(b">"):
        return [
            Listed(name, _upper(sequence.decode("latin-1")), None, f"record {name}")
            for name, _, sequence in read_fasta(path)
        ]
    try:
        with opened(path) as stream:
            text = "".join(TextIOWrapper(stream, "utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is no text file; give FASTA or a table of guides") from error
    return _from_table(path, text)


def _from_table(path: Path, text: str) -> list[Listed]:
    """The guides of a table; see `read_guides`."""
    found: list[Listed] = []
    titles: list[str] = []
    titled = ""
    column: int | None = 2
    third: set[str] = set()
    comments: list[tuple[str, str]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        place = f"{path}, line {number}"
        words = [word for word in map(_unquoted, line.replace(",", " ").split()) if word]
        if line.startswith("#") and not found:
            comments.append((place, line))
        if not words or line.startswith("#"):
            continue
        _require_no_semicolons(line, words, place)
        # An empty cell of what would be the first guide must not make it a line of titles.
        cells = re.split("[\t,]", line.strip("\t, \r"))
        if not (found or titles) and len(cells) > 1 and not _unquoted(cells[1]):
            words = words[:1]
        are_titles = _are_titles(words, bool(found), bool(titles), place)
        lines = [(place, line)] if are_titles else []
        if not (are_titles or found or titles):
            lines = [(where, one) for where, one in comments if _are_commented_titles(one, line)]
        for titled, one in lines[-1:]:
            log.info("%s: taken for titles: %s", titled, one.strip())
            titles = _titles(one.removeprefix("#"))
            column = _column_of_limits(titles, titled) if len(titles) > 2 else column
        if are_titles:
            continue
        cells = _cells(line)
        if column is not None and 2 < len(cells) <= column:
            raise InputError(
                f"{place}: has {len(cells)} columns, and limits are column {column + 1}; leave "
                "their cell empty where the guide has none; put tabs or commas between cells that "
                "are empty and titles of several words"
            )
        third.update(cells[2:3])
        given = "" if column is None else "".join(cells[column : column + 1])
        if given and not given.isdecimal():
            raise InputError(
                f"{place}: {given!r} is no mismatch limit; give a whole number, or leave the cell "
                "empty"
            )
        limit = int(given) if given else None
        found.append(Listed(words[0], _upper(words[1]), limit, f"line {number}"))
    if unread := [repr(title) for place, title in enumerate(titles) if place not in (0, 1, column)]:
        # Limits that nobody reads change what is found.
        like_limits = column is None and set() < third - {""} <= set("0123456789")
        log.log(
            logging.WARNING if like_limits else logging.INFO,
            "%s: not read: the columns %s (one of limits has a title such as limit or mismatches)",
            titled,
            ", ".join(unread),
        )
    return found


def _are_titles(words: Sequence[str], after_guides: bool, after_titles: bool, place: str) -> bool:
    """Whether a line's words are titles; InputError where they are neither that nor a guide."""
    fault = fault_of(_upper(words[1])) if len(words) > 1 else None
    if len(words) > 1 and (fault or len(words[1]) < SHORTEST):
        _require_no_other(words, place)
    is_first = not (after_guides or after_titles)
    named = is_first and TITLE.fullmatch("".join(words[1:2]).upper())
    if len(words) > 1 and not named and (after_guides or fault is None):
        return False
    # What is nearly a guide is one with a slip of the pen, and no title.
    if fault and (after_titles or _nearly_a_guide(words[1])):
        raise InputError(f"{place}: guide {words[1]}: {fault!r} is no IUPAC letter of DNA")
    if after_titles or len(words) < 2:
        raise InputError(f"{place}: {ASKED}")
    return True


FIRST_TITLE = re.compile("(guide|(s?g|cr)rna)?[ _-]?(id|name) |(guide|(s?g|cr)rna) ", re.IGNORECASE)
"""What the column of the ids is called."""


def _are_commented_titles(comment: str, guide: str) -> bool:
    """Whether a line with # in front of the first guide has its titles.

    It has as many cells as the guide's line, but for empty ones at its end, separated as there, and
    is no guide that is left out.
    """
    text = comment[1:]
    titles = _titles(text)
    separator = next((one for one in "\t," if one in guide), "")
    # Where blanks separate the cells, only a known word is not prose.
    is_prose = separator not in text if separator else not FIRST_TITLE.match(text)
    filled = len(_cells(guide.rstrip("\t, \r")))
    if is_prose or not max(2, filled) <= len(titles) <= len(_cells(guide)):
        return False
    second = titles[1]
    return len(second) < SHORTEST or not (
        _nearly_a_guide(second) or fault_of(_upper(second)) is None
    )


def _cells(line: str) -> list[str]:
    """The cells of a line, the empty ones included; its words where blanks separate them."""
    cells = [_unquoted(cell) for cell in re.split("[\t,]", line.lstrip("\t, "))]
    if len(cells) > 2 and cells[1]:
        return cells
    return [word for word in map(_unquoted, line.replace(",", " ").split()) if word]


def _titles(line: str) -> list[str]:
    """The cells of a line of titles; where blanks separate them, words for limits are one title."""
    cells = _cells(line)
    if re.search("[\t,]", line.strip("\t, \r")):
        return cells
    titles: list[str] = []
    is_open = False
    for word in cells[2:]:
        is_part = any(one.fullmatch(word.upper()) for one in (LIMITS, QUALIFIER))
        if is_part and is_open:
            titles[-1] += f" {word}"
        else:
            titles.append(word)
        is_open = is_part
    return cells[:2] + titles


def _column_of_limits(titles: Sequence[str], place: str) -> int | None:
    """The column behind id and sequence that is called limits; InputError where several are."""
    found = [n for n, title in enumerate(titles) if n > 1 and LIMITS.fullmatch(title.upper())]
    if len(found) > 1:
        raise InputError(
            f"{place}: the columns {', '.join(repr(titles[n]) for n in found)} may all be mismatch "
            "limits; remove or rename those that are none"
        )
    return found[0] if found else None


def _unquoted(cell: str) -> str:
    match = QUOTED.fullmatch(cell.strip())
    return (match[2] if match else cell).strip()


def _require_no_semicolons(line: str, words: Sequence[str], place: str) -> None:
    """InputError where semicolons separate the cells of a line."""
    cells = [_upper(_unquoted(cell)) for cell in line.split(";")[1:]]
    if cells and (
        len(words) < 2
        or (
            fault_of(_upper(words[1])) is not None
            and any(len(one) >= SHORTEST and fault_of(one) is None for one in cells)
        )
    ):
        raise InputError(
            f"{place}: semicolons separate the cells; put tabs, commas or blanks in their place"
        )


def _require_no_other(words: Sequence[str], place: str) -> None:
    """InputError where the second word of a line is no guide, but another word is."""
    like = [n for n, one in enumerate(words) if len(one) >= SHORTEST and _nearly_a_guide(one)]
    if not like or 1 in like:
        return
    # A word without a letter is rather a limit, and the id is missing.
    if like[0] == 0 and any(map(str.isalpha, words[1])):
        raise InputError(
            f"{place}: column 2 has {words[1]!r}, and column 1 a sequence; the columns look "
            "swapped: the id comes first"
        )
    raise InputError(f"{place}: {ASKED}; column 2 has no sequences, but {words[1]!r}")


def _nearly_a_guide(word: str) -> bool:
    return sum(map(_upper(word).count, BASES)) > 0.8 * len(word)


def in_pattern(sequence: str, pattern: str, pam_first: bool) -> str:
    """A guide as long as the pattern: N is put for its PAM where it is given without one."""
    missing = "N" * max(0, len(pattern) - len(sequence))
    return missing + sequence if pam_first else sequence + missing


def spacer(guide: Guide) -> tuple[int, int]:
    """First and last place of a guide's letters that are not N."""
    letters = guide.sequence
    return len(letters) - len(letters.lstrip("N")), len(letters.rstrip("N")) - 1


def _upper(text: str) -> str:
    return text.upper().replace("U", "T")


def _whole(path: Path, line: int, word: str, what: str) -> int:
    if not word.isdecimal():
        raise InputError(f"{path}, line {line}: {word!r} is no {what}; give a whole number")
    return int(word)


def as_query(
    path: Path,
    pattern: str,
    mismatches: int,
    dna_bulge: int = 0,
    rna_bulge: int = 0,
    setting: str = "command line: --{}",
) -> Query:
    """The query for a file of guides (`read_guides`), which may leave out the PAM.

    `setting` is what a message calls a setting, here the pattern and the mismatches.
    """
    pattern = _upper(pattern)
    check_pattern(pattern, max(dna_bulge, rna_bulge), setting.format("pattern"))
    found = read_guides(path)
    limits = [one.limit for one in found if one.limit is not None]
    most = setting.format("mismatches")
    if mismatches > len(pattern) and len(limits) < len(found):
        raise InputError(
            f"{most}: {mismatches} is more than the {len(pattern)} letters of the pattern "
            f"{pattern}; give 0 to {len(pattern)}"
        )
    if limits:
        own = f"{len(limits)} guides have limits of their own"
        span = f"{min(limits)} to {max(limits)}"
        log.info(
            "%s: %s, %s, in place of %s %d",
            path,
            own if len(limits) > 1 else "1 guide has a limit of its own",
            span if min(limits) < max(limits) else min(limits),
            *(most.rpartition(": ")[2], mismatches),
        )
    for one in found:
        if not one.sequence:
            raise InputError(f"{path}, {one.place}: has no letters; give the guide's sequence")
    guides = tuple(
        Guide(one.name, letters, mismatches if one.limit is None else one.limit)
        for one, letters in zip(found, _padded(found, pattern, path), strict=True)
    )
    query = Query(pattern, guides, dna_bulge, rna_bulge)
    return checked(query, str(path), [one.place for one in found])


def _padded(found: Sequence[Listed], pattern: str, path: Path) -> list[str]:
    """The guides as long as the pattern: those without their PAM get N there.

    Of a pattern of Cas9 it is known where the guide ends, so one that is shorter than 20 letters
    gets N in front, and stays beside its PAM.
    """
    pam_first = begins_with_pam(pattern)
    bare = sorted((one for one in found if len(one.sequence) < len(pattern)),
                  key=lambda one: len(one.sequence))  # fmt: skip
    if not (bare and pattern.strip("N")):
        return [in_pattern(one.sequence, pattern, pam_first) for one in found]
    shortest, longest = (len(one.sequence) for one in (bare[0], bare[-1]))
    is_cas9 = CAS9.fullmatch(pattern) is not None
    size = LENGTH if is_cas9 and longest <= LENGTH else shortest
    if shortest < longest != size:
        raise InputError(
            f"{path}, {bare[0].place}: guide {bare[0].sequence} has {shortest} letters, "
            f"{bare[-1].sequence} {longest}: not both stand beside the PAM of {pattern}; write N "
            "for letters that do not count"
        )
    pam = pattern[:-size] if pam_first else pattern[size:]
    lengths = str(longest) if shortest == longest else f"{shortest} to {longest}"
    log.info("%s: guides of %s letters, beside the PAM %s", path, lengths, pam)
    between = len(pam) - len(pam.rstrip("N") if pam_first else pam.lstrip("N"))
    is_short = between > 1 and (pam_first or size < LENGTH)
    if is_short or (is_cas9 and size > LENGTH):
        log.warning(
            "%s: guides of %d letters are searched beside %s, the rest of the pattern %s; if this "
            "is not their PAM, give another pattern, or write N %s short guides",
            path,
            size,
            pam,
            pattern,
            "behind" if pam_first else "in front of",
        )
    width = len(pattern)
    letters = (one.sequence for one in found)
    whole = (one.rjust(size, "N") if len(one) < width else one for one in letters)
    return [in_pattern(one, pattern, pam_first) for one in whole]
