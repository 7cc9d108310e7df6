"""Files of parts that a campaign has no longer, since it is cut into other parts now.

They are kept: a config that goes back to them docks nothing again.
"""

import glob
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ligen_py.campaign.workplan import Workplan
from ligen_py.chain import BEST, FILES, SEQUENCES, writer

PART = re.compile(r"(?P<label>.*?)\d+(?P<count>-of-\d+\.h5)")
"""Name of the file of a part."""


class OldParts(NamedTuple):
    """Old files of one folder, of one library file cut into one number of parts."""

    pattern: str
    """As a shell takes it."""
    files: int
    size: int
    """Bytes in all."""


def old_parts(plan: Workplan, results: Path) -> Iterator[OldParts]:
    """Files that are named like parts of the campaign, and are none of them.

    Those of targets and libraries that it has no longer, too.
    """
    now = _part_files(plan, str(results))
    for folder in sorted({path.parent for path in results.rglob("*-of-*.h5")}):
        found: dict[str, list[Path]] = {}
        for path in folder.glob("*.h5"):
            if path not in now and (name := PART.fullmatch(path.name)):
                pattern = f"{glob.escape(name['label'])}[0-9]*{name['count']}"
                found.setdefault(pattern, []).append(path)
        for pattern, files in sorted(found.items()):
            yield from _named(folder, pattern, files)
    for path in _others(plan, results):
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        yield OldParts(glob.escape(str(path)), len(files), _size(files))


def _others(plan: Workplan, results: Path) -> Iterator[Path]:
    """Pockets, controls and comparisons with anti-targets that the campaign has no longer."""
    pockets = plan.every_pocket | plan.controls.variants
    yield from sorted(p for p in (results / "pockets").glob("*.h5") if p.stem not in pockets)
    controls = (results / "controls").glob("*")
    yield from sorted(p for p in controls if p.is_dir() and p.name not in plan.ranked)
    for search in plan.settings.homologs:
        table = Path(SEQUENCES["selectivity"].file(str(results), search=search))
        if search not in plan.searches.selective and table.exists():
            yield table


def _named(folder: Path, pattern: str, files: list[Path]) -> Iterator[OldParts]:
    """One pattern for all, but where it would take other files, too."""
    if set(folder.glob(pattern)) == set(files):
        yield OldParts(str(folder / pattern), len(files), _size(files))
    else:
        yield from (OldParts(str(path), 1, _size([path])) for path in sorted(files))


def _size(files: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in files)


def _part_files(plan: Workplan, results: str) -> set[Path]:
    """The files of all parts: of libraries, of controls, of searches."""
    parts = [*plan.manifest(results).parts]
    for target in plan.ranked:
        parts += [files for *_, files in plan.controls.parts(target)]
    found = {getattr(part, kind) for part in parts for kind in FILES if kind != "pocket"}
    for search in plan.searches.selective:
        place = {"library": f"{BEST}{search}", "chunk": "1-of-1"}
        for anti in plan.searches.antitargets(search).values():
            stages = (writer(kind, plan.settings.search) for kind in FILES if kind != "pocket")
            found |= {Path(stage.file(results, target=anti, **place)) for stage in stages}
    # Files of controls stand in the plan as the rules name them.
    found = {Path(str(path).replace("<results>", results)) for path in found}
    return found | set(map(Path, plan.searches.every_part_file(results)))
