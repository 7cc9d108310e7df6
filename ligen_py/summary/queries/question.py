"""What `ligen query` asks of a campaign, and the answer."""

import argparse
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ligen_py.errors import InputError, UsageError, close_to
from ligen_py.molecules.library.record import clean_name
from ligen_py.store.campaign.judged import Beside
from ligen_py.store.campaign.layout import Left
from ligen_py.store.campaign.reader import CampaignReader, open_campaign
from ligen_py.summary.queries.answer import write_answer, write_lines
from ligen_py.summary.queries.columns import INPUT, NETWORK, TEXTS, Molecules, is_shown_only, joined
from ligen_py.summary.queries.expression import Columns, Expression, Texts
from ligen_py.summary.queries.forms import LIMIT, format_of
from ligen_py.summary.queries.unscored import UNSCORED, why_none, with_left
from ligen_py.summary.table import counted, readable

FEW = 200
"""Molecules whose structures or poses are looked at first, best first; then twice as many."""

MANY = 1 << 16
"""Molecules whose structures or poses are read together at most."""


def answer(options: argparse.Namespace) -> None:
    """Answer the question of a command line; InputError and UsageError say what is wrong."""
    if options.descending and not options.sort:
        raise UsageError("--descending: needs --sort")
    question = Question.of(options)
    form = format_of(options.format, options.output)
    with open_campaign(options.campaign) as campaign:
        names = [options.target] if options.target else campaign.targets
        networks = Beside(options.campaign, options.networks)
        targets = [Molecules(campaign, campaign.target(name), networks) for name in names]
        if options.sql is not None:
            _sql(options, targets, form)
            return
        if options.unscored:
            _unscored(options, targets, form)
            return
        found = [question.rows(molecules, targets) for molecules in targets]
        _mention_unknown_names(options, targets)
        named = [_named(options, molecules) for molecules in targets]
        if not any(map(len, found)) and not any(len(left.name) for left in named):
            print("no ranked molecule fits", file=sys.stderr)
        if form == "sdf":
            poses = counted(sum(map(len, found)), "pose")
            write_lines(_sdf(options, campaign, targets, found), options.output, poses)
            without = [
                pair for left in named for pair in zip(left.name, why_none(left), strict=True)
            ]
            for name, why in dict.fromkeys(without):
                print(f"{readable(name)} has no pose: {why}", file=sys.stderr)
            return
        parts = []
        for molecules, rows, left in zip(targets, found, named, strict=True):
            columns = _columns(options.columns, molecules, targets, bool(options.name))
            part = molecules.some(columns, rows)
            _mention_lacking_poses(columns, molecules, rows)
            parts.append(with_left(part, molecules, left) if options.name else part)
        every = joined(parts)
        _mention_blank_inputs(every, targets)
        write_answer(every, form, options.output)


def _sql(options: argparse.Namespace, targets: list[Molecules], form: str) -> None:
    from ligen_py.summary.queries.sql import ask_sql

    others = ("columns", "where", "match", "name", "smarts", "not_smarts", "interacts", "sort")
    every = (*others, "limit", "unscored")
    given = [name for name in every if getattr(options, name) not in (None, [], False)]
    if given:
        raise UsageError(f"--sql: write --{given[0].replace('_', '-')} as a part of the statement")
    if form == "sdf":
        raise UsageError("--format sdf: an answer in SQL has no poses; use --where")
    write_answer(ask_sql(targets, options.sql), form, options.output)


def _unscored(options: argparse.Namespace, targets: list[Molecules], form: str) -> None:
    others = ("where", "match", "name", "smarts", "not_smarts", "interacts", "sort")
    given = [f"--{name.replace('_', '-')}" for name in others if getattr(options, name)]
    if form == "sdf":
        given.append("--format sdf")
    if given:
        raise UsageError(f"{given[0]}: needs scored molecules; leave out --unscored")
    limit = LIMIT if options.limit is None else options.limit
    parts = []
    for molecules in targets:
        left = molecules.target.left(limit or None)
        if options.limit is None and len(molecules.target.left(limit + 1).name) > limit:
            said = f"{molecules.target.name}: the first {limit} of them; --limit 0 gives all"
            print(said, file=sys.stderr)
        columns = _columns(options.columns or list(UNSCORED), molecules, targets, True)
        if len(targets) > 1 and not options.columns:
            columns.insert(0, "target")
        none = molecules.some(columns, np.empty(0, "i8"))
        parts.append(with_left(none, molecules, left))
    write_answer(joined(parts), form, options.output)


def _named(options: argparse.Namespace, molecules: Molecules) -> Left:
    """The records of the names asked for that are not ranked; none where no name is."""
    return molecules.target.left_named(_wanted(options))


def _wanted(options: argparse.Namespace) -> frozenset[str]:
    """The names asked for, as they are given and as `parse` writes them."""
    given = options.name or ()
    return frozenset(given) | frozenset(map(clean_name, given))


def _mention_unknown_names(options: argparse.Namespace, targets: list[Molecules]) -> None:
    """Say which names no record has; InputError where none is known."""
    wanted = _wanted(options)
    if not wanted:
        return
    met: set[str] = set()
    for molecules in targets:
        met.update(molecules.target.left_named(wanted).name)
        met.update(molecules.target.named(wanted).scored.name)
    each = dict.fromkeys(options.name)
    unknown = [name for name in each if met.isdisjoint((name, clean_name(name)))]
    if unknown:
        names = ", ".join(readable(name) for name in unknown)
        where = f" for the target {options.target}" if options.target else ""
        words = f"{options.campaign}: contains no record{where} named {names}"
        if len(unknown) == len(each):
            raise InputError(words)
        print(words, file=sys.stderr)


def _columns(
    given: list[str] | None,
    molecules: Molecules,
    targets: list[Molecules],
    with_status: bool = False,
) -> list[str]:
    """The columns to show; that of the target only where there are several."""
    words = [word for item in given or () for word in _words(item, targets) if word]
    if with_status and words:  # which every such answer has
        words = [word for word in words if word != "status"] or ["name"]
    if not words:
        shown = molecules.default
        return shown if len(targets) > 1 else [name for name in shown if name != "target"]
    chosen: list[str] = []
    for word in words:
        chosen += molecules.names if word == "all" else [_plain(molecules, word, "--columns")]
    return list(dict.fromkeys(chosen))


def _words(item: str, targets: list[Molecules]) -> list[str]:
    """Names between commas, or the one of a column of the input that has a comma in it."""
    whole = "," in item and item.startswith(INPUT) and item in _inputs(targets)
    return [item] if whole else item.split(",")


def _inputs(targets: list[Molecules]) -> list[str]:
    """Further columns of the input that any stored molecule has."""
    every = (one.target.input_columns(one.target.stored, sys.maxsize) for one in targets)
    return list(dict.fromkeys(f"{INPUT}{name}" for names in every for name in names))


def _mention_blank_inputs(answer: Mapping[str, np.ndarray], targets: list[Molecules]) -> None:
    """Say where a column of the input, which may be misspelt, has no value at all."""
    for name, values in answer.items():
        if name.startswith(INPUT) and len(values) and not any(values.tolist()):
            known = _inputs(targets)
            cure = close_to(name, known) if known and name not in known else ""
            print(f"no molecule shown has a value of {name}{cure}", file=sys.stderr)


def _mention_lacking_poses(columns: list[str], molecules: Molecules, rows: np.ndarray) -> None:
    """Say how many molecules have no pose, and so nothing in the columns that come with one."""
    shown = [name for name in columns if is_shown_only(name)]
    lacking = int((~molecules.target.has_pose(rows)).sum()) if shown else 0
    if lacking:
        print(
            f"{molecules.target.name}: {lacking} of {len(rows)} molecules have no stored pose, "
            f"and so no {', '.join(shown)}; aggregate.top_poses stores more",
            file=sys.stderr,
        )


def _plain(molecules: Molecules, name: str, flag: str) -> str:
    try:
        return molecules.plain(name)
    except KeyError:
        raise UsageError(f"{flag}: no column '{name}'{_cure(name, molecules)}") from None


def _cure(name: str, molecules: Molecules) -> str:
    """What to do about a column that is not there."""
    if name.startswith(NETWORK):
        return "; networks.best in the config has gnina's networks judge the best molecules"
    return close_to(name, molecules.names)


@dataclass(frozen=True)
class Question:
    """What molecules are asked for, and in which order."""

    where: tuple[Expression, ...]
    sort: Expression | None
    options: argparse.Namespace

    @classmethod
    def of(cls, options: argparse.Namespace) -> "Question":
        """The question of a command line; UsageError names the flag that is wrong."""
        where = tuple(Expression.parse(text, "--where") for text in options.where)
        sort = Expression.parse(options.sort, "--sort") if options.sort else None
        return cls(where, sort, options)

    def rows(self, molecules: Molecules, asked: Sequence[Molecules]) -> np.ndarray:
        """Scored rows of a target, one of those asked, that are the answer, in its order."""
        target, options = molecules.target, self.options
        limit = options.limit if options.limit is not None else (0 if options.name else LIMIT)
        filters = options.name, options.match, options.smarts, options.not_smarts, options.interacts
        if limit and not (self.where or self.sort or any(filters)):
            rows = target.order(limit + 1)
        else:
            rows = self._fitting(molecules)
        found, is_all = rows[: limit or len(rows)], limit == 0 or len(rows) <= limit
        if options.smarts or options.not_smarts or options.interacts:
            found, is_all = self._looked_at(molecules, asked, rows, limit or len(rows))
        if not is_all and self._is_cut_unasked:
            print(
                f"{target.name}: the first {limit} of those that fit; --limit 0 gives all",
                file=sys.stderr,
            )
        return found

    def _fitting(self, molecules: Molecules) -> np.ndarray:
        """All rows that fit by their columns, in the order of the answer."""
        target, options = molecules.target, self.options
        chosen = molecules.rank > 0
        for condition in self.where:
            chosen &= condition.condition(_reading(molecules, condition))
        if options.name:
            named = np.zeros(len(chosen), bool)
            named[target.named(_wanted(options)).row] = True
            chosen &= named
        for text in options.match:
            chosen &= self._matching(molecules, text, chosen)
        order = target.order()
        rows = order[chosen[order]]
        if self.sort is not None:
            values = self.sort.numbers(_reading(molecules, self.sort))[rows]
            # Without a value last, whichever the direction; equal values in the order of ranks.
            rows = rows[np.argsort(-values if options.descending else values, kind="stable")]
        return rows

    @property
    def _is_cut_unasked(self) -> bool:
        """Whether all molecules were asked for, as it seems, and no number."""
        given = self.options
        filters = given.where, given.match, given.smarts, given.not_smarts, given.interacts
        return given.limit is None and (any(filters) or given.output is not None)

    def _matching(self, molecules: Molecules, text: str, chosen: np.ndarray) -> np.ndarray:
        column, equals, pattern = text.partition("=")
        if equals and column.isidentifier() and column not in TEXTS:
            raise UsageError(
                f"--match '{text}': no text is called '{column}'{close_to(column, TEXTS)}; names "
                f"with this in them are found by 'name={text}'"
            )
        if not equals or column not in TEXTS:
            column, pattern = "name", text
        try:
            search = re.compile(pattern, re.IGNORECASE).search
        except re.error as error:
            raise UsageError(f"--match '{text}': no regular expression: {error}") from error
        rows = np.flatnonzero(chosen)
        texts = molecules.some([column], rows)[column].tolist()
        result = np.zeros(len(chosen), bool)
        result[rows] = [found is not None for found in map(search, texts)]
        return result

    def _looked_at(
        self, molecules: Molecules, asked: Sequence[Molecules], rows: np.ndarray, limit: int
    ) -> tuple[np.ndarray, bool]:
        """The first rows whose structures and poses fit, and whether these are all."""
        from ligen_py.molecules.patterns import Pattern
        from ligen_py.summary.queries.interacting import Interacting

        with_it = [Pattern(text, "--smarts") for text in self.options.smarts]
        without = [Pattern(text, "--not-smarts") for text in self.options.not_smarts]
        given = self.options.interacts
        readers = [one.target for one in asked]
        contacts = Interacting(given, molecules.target, readers) if given else None
        found: list[np.ndarray] = []
        count = 0
        start, size = 0, FEW
        while start < len(rows) and count < limit:
            piece = rows[start : start + size]
            start, size = start + size, min(2 * size, MANY)
            if with_it or without:
                smiles = molecules.target.column("smiles", piece)
                keep = np.ones(len(piece), bool)
                for pattern in with_it:
                    keep &= pattern.matches(smiles)
                for pattern in without:
                    keep &= ~pattern.matches(smiles)
                piece = piece[keep]
            if contacts:
                piece = contacts.fitting(piece)
            found.append(piece)
            count += len(piece)
        if contacts and contacts.without:
            print(
                f"{molecules.target.name}: {contacts.without} molecules that fit otherwise have no "
                "stored pose and were left out; aggregate.top_poses stores more",
                file=sys.stderr,
            )
        for word in contacts.lacking if contacts else ():
            print(f"{molecules.target.name}: its pocket has no residue {word}", file=sys.stderr)
        is_all = start >= len(rows) and count <= limit
        return np.concatenate([np.empty(0, "i8"), *found])[:limit], is_all


def _reading(molecules: Molecules, expression: Expression) -> Columns:
    """Columns by name; UsageError names the flag where there is none."""

    def column(name: str) -> np.ndarray | Texts:
        """A column's values; UsageError that names those of a like name where there is none."""
        try:
            return molecules.column(name)
        except KeyError:
            if is_shown_only(name):
                cure = "; it is shown by --columns, but cannot be compared"
            else:
                cure = _cure(name, molecules)
                cure += " Texts stand in quotes." if cure[-1] == "?" else "; texts stand in quotes"
            raise UsageError(f"{expression.flag}: no column '{name}'{cure}") from None

    return column


def _sdf(
    options: argparse.Namespace,
    campaign: CampaignReader,
    targets: list[Molecules],
    found: list[np.ndarray],
) -> Iterator[str]:
    from ligen_py.molecules.export import sdf_record
    from ligen_py.summary.molecule import facts

    for molecules, every in zip(targets, found, strict=True):
        target = molecules.target
        lacking = int((~target.has_pose(every)).sum())
        if lacking:
            cure = "give a smaller --limit"
            if options.name or lacking == len(every):
                first = every[~target.has_pose(every)][:1]
                name, restart = (str(target.column(one, first)[0]) for one in ("name", "restart"))
                name = f" {name}" if name.startswith("-") else name  # as the parser takes it
                words = [str(options.campaign), "--output", ".", "--pose", target.name, name]
                cure = f"write one by: ligen export {shlex.join([*words, restart])}"
            raise InputError(
                f"--format sdf: {lacking} of {len(every)} molecules of target {target.name} have "
                f"no stored pose; make aggregate.top_poses larger, or {cure}"
            )
        for start in range(0, len(every), MANY):
            rows = every[start : start + MANY]
            best, others = target.chosen(rows, molecules.rank[rows]), target.others(rows)
            for i, pose in enumerate(target.poses_of(rows)):
                names = others.get(int(rows[i]), [])
                row = facts(target.name, campaign, best, i, pose, names, molecules.judgements)
                yield sdf_record(pose.molecule, pose.xyz, row["name"], row)
