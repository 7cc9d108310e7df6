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
    """Matches the whole name of each file of these targets, its group 1 the target's name."""
    kinds = [ALWAYS, *([NETWORKS] if networks else []), *([PDBQT] if pdbqt else [])]
    return re.compile(f"({'|'.join(map(re.escape, targets))})(?:{'|'.join(kinds)})")


def keep_lists(listed: Path | None, folder: Path, names: Sequence[str]) -> None:
    """As `keep_list`; also of what was written of these targets with another list, or by hand.

    By hand the workflow's list stays as it is: a run sees by its time that files were replaced.
    """
    own = names_of(name.removesuffix(".csv") for name in names if name.endswith(".csv"))
    by_hand = set(listed_in(folder / BY_HAND))
    before = by_hand.union(listed_in(folder / WORKFLOW))
    earlier = {name for name in before if own.fullmatch(name)}
    if listed:
        keep_list(listed, folder, names, earlier)
    else:
        keep_list(folder / BY_HAND, folder, by_hand - earlier | set(names), earlier)
