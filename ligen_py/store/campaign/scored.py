"""How an earlier run scored."""

import json
from contextlib import suppress
from pathlib import Path

from ligen_py.chain import STAGES
from ligen_py.errors import InputError
from ligen_py.records.scores import SCORES
from ligen_py.store.files.read import run_record


def functions_before(results: Path) -> list[str]:
    """The scoring functions of the scores that were written last; none where there are none.

    Files that cannot be read do not count: a run makes them again.
    """
    found: list[tuple[int, Path]] = []
    # By its name a hidden one is what a killed job left behind.
    for path in (results / STAGES["score"].path.split("/")[0]).rglob("[!.]*.h5"):
        with suppress(FileNotFoundError):  # another run works here
            found.append((path.stat().st_mtime_ns, path))
    for _, path in sorted(found, reverse=True):
        with suppress(InputError, FileNotFoundError, KeyError, ValueError):
            return list(json.loads(run_record(path, SCORES)["settings"])["functions"])
    return []
