"""What `export` has written into a folder: the names of its files, and its lists of them."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath

from ligen_py.chain import STAGES
from ligen_py.store.files.text import keep_list, listed_in

WORKFLOW = PurePath(STAGES["export"].path).name
"""List of what the workflow wrote into the folder."""

BY_HAND = f"{WORKFLOW}-by-hand"
"""List of what was written into the folder by hand."""

ALWAYS = r"\.(sdf|csv|parquet|pml|cxc)|-receptor(-[^/]+)?\.pdb|-reference\.[^/]+"
NETWORKS = r"-network\.sdf"
PDBQT = r"-receptor(-[^/]+)?\.pdbqt|-pdbqt/[^/]+"
"""Regular expressions: what follows the target's name in the name of a file."""


def names_of(
    targets: Iterable[str], *, networks: bool = True, pdbqt: bool = True
) -> re.Pattern[str]:
    """Matches the whole name of each file of these targets; group 1 is the target's name.

    Of two targets that have a file of that name, as `a` and `a-network`, it is the longer name.
    """
    kinds = [ALWAYS, *([NETWORKS] if networks else []), *([PDBQT] if pdbqt else [])]
    longest_first = map(re.escape, sorted(targets, key=len, reverse=True))
    return re.compile(f"({'|'.join(longest_first)})(?:{'|'.join(kinds)})")


def keep_lists(listed: Path | None, folder: Path, names: Sequence[str]) -> None:
    """As `keep_list`; also of what was written of these targets with another list, or by hand.

    By hand the workflow's list stays as it is: a run sees by its time that files were replaced.
    """
    by_hand = set(listed_in(folder / BY_HAND))
    before = by_hand.union(listed_in(folder / WORKFLOW))
    targets = _targets(names)
    any_target = names_of(targets | _targets(before))
    found = {name: any_target.fullmatch(name) for name in before}
    earlier = {name for name, match in found.items() if match and match[1] in targets}
    if listed:
        keep_list(listed, folder, names, earlier)
    else:
        keep_list(folder / BY_HAND, folder, by_hand - earlier | set(names), earlier)


def _targets(names: Iterable[str]) -> set[str]:
    """Targets of which these are the files: each has a table."""
    return {name.removesuffix(".csv") for name in names if name.endswith(".csv")}
