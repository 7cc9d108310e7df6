"""What `export` has written into a folder: the names of its files, and its lists of them."""

import logging
import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath

from ligen_py.chain import STAGES
from ligen_py.store.campaign.listed import lost_crystals
from ligen_py.store.campaign.manifest import Manifest
from ligen_py.store.files.text import keep_list, listed_in

log = logging.getLogger("ligen_py")

WORKFLOW = PurePath(STAGES["export"].path).name
"""List of what the workflow wrote into the folder."""

BY_HAND = f"{WORKFLOW}-by-hand"
"""List of what was written into the folder by hand."""

REFERENCE = r"-reference\.[^/]+"
ALWAYS = rf"\.(sdf|csv|parquet|pml|cxc)|-receptor(-[^/]+)?\.pdb|{REFERENCE}"
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


def warn_of_lost_crystals(manifest: Manifest | None, folder: Path) -> None:
    """Say which reference ligands are not here, and where the folder has copies of them."""
    if manifest is None:
        return
    before = {*listed_in(folder / BY_HAND), *listed_in(folder / WORKFLOW)}
    for crystal in lost_crystals(manifest):
        targets = {part.target for part in manifest.parts if part.crystal == crystal}
        copies = [str(folder / name) for name in sorted(_references(before, folder, targets))]
        where = f" (copy of an earlier export: {', '.join(copies)})" if copies else ""
        log.warning(
            "%s: does not exist; the reference ligand is left out; put it back%s", crystal, where
        )


def keep_lists(
    listed: Path | None, folder: Path, names: Sequence[str], manifest: Manifest | None
) -> None:
    """As `keep_list`; also of what was written of these targets with another list, or by hand.

    By hand the workflow's list stays as it is: a run sees by its time that files were replaced.
    A copy of a reference ligand stays, and stays listed, where its source is not here, or not
    known for lack of a `manifest`: it may be the last one. So do reference ligands themselves.
    """
    by_hand = set(listed_in(folder / BY_HAND))
    before = by_hand.union(listed_in(folder / WORKFLOW), listed_in(listed) if listed else ())
    targets = _targets(names)
    any_target = names_of(targets | _targets(before))
    found = {name: any_target.fullmatch(name) for name in before}
    earlier = {name for name, match in found.items() if match and match[1] in targets}
    kept = {*names, *_references(earlier, folder, _without_source(targets, manifest))}
    crystals = manifest.crystals if manifest else set()
    if listed:
        keep_list(listed, folder, kept, earlier, crystals)
    else:
        keep_list(folder / BY_HAND, folder, by_hand - earlier | kept, earlier, crystals)


def _targets(names: Iterable[str]) -> set[str]:
    """Targets of which these are the files: each has a table."""
    return {name.removesuffix(".csv") for name in names if name.endswith(".csv")}


def _references(names: Iterable[str], folder: Path, targets: set[str]) -> set[str]:
    """The copies of the targets' reference ligands, of these names, that are in the folder."""
    own = re.compile(f"({'|'.join(map(re.escape, targets))}){REFERENCE}")
    return {name for name in names if own.fullmatch(name) and (folder / name).is_file()}


def _without_source(targets: set[str], manifest: Manifest | None) -> set[str]:
    """Targets of which a reference ligand is not here, or not known."""
    if manifest is None:
        return targets
    lost = lost_crystals(manifest)
    return {part.target for part in manifest.parts if part.crystal in lost}
