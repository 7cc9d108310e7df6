"""Draw decoys for known actives from a library: alike in properties, not in structure.

Looks at about 20,000 molecules, spread over all files of all libraries, and writes the decoys as
SMILES. The same files give the same decoys. A drawn decoy is presumed not to bind; one of them may.
"""

import argparse
import glob
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ligen_py import cli
from ligen_py.errors import InputError, UsageError
from ligen_py.formats import LibraryFile, library_files, parts_of
from ligen_py.molecules.decoys import candidates_of, draw, means
from ligen_py.molecules.library.reading import Columns, Record, records
from ligen_py.molecules.library.sampling import any_below, some_records
from ligen_py.records.ligands import LIGANDS
from ligen_py.settings.controls import DecoysSettings
from ligen_py.settings.parse import Reading
from ligen_py.store.files.read import read_columns
from ligen_py.store.files.text import write_texts
from ligen_py.summary.table import readable

log = logging.getLogger("ligen_py")

LOOKED = 20_000
"""Molecules that are looked at, about, shared by all files as they are large."""

FILES = 1000
"""Files that are looked at, at most, spread evenly over those of all libraries."""

PARSED = 4000
"""Bytes of a molecule in a ligands file, about."""

LEAST = 10
"""Fewer decoys show nothing."""


class Inputs(NamedTuple):
    """What the stage reads."""

    actives: Path
    libraries: Sequence[tuple[Path, Columns]]
    """Each a file, folder or glob of molecules, or ligands files of `parse`, and what is read."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.decoys", __doc__, DecoysSettings)
    parser.add_argument("--actives", type=cli.input_file, required=True, help="known binders")
    parser.add_argument(
        "--library",
        type=Path,
        action="append",
        required=True,
        help="library to draw from: a file, folder or glob of molecules, or of ligands files of "
        "`parse`; once for each library",
    )
    parser.add_argument(
        "--reading",
        action="append",
        default=[],
        metavar="FLAGS",
        help="columns of each library in turn, in one word: --reading='--smiles-column 2'",
    )
    parser.add_argument("--output", type=Path, required=True, help="SMILES file to write")
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    words = options.reading or [""] * len(options.library)
    if len(words) != len(options.library):
        raise UsageError(f"--reading: given {len(words)} times; give it once for each --library")
    read = (
        cli.section_from(Reading, one, "--reading").model_dump(include=set(Columns._fields))
        for one in words
    )
    libraries = [(path, Columns(**one)) for path, one in zip(options.library, read, strict=True)]
    inputs = Inputs(options.actives, libraries)
    run(inputs, cli.settings_from(DecoysSettings, options), None, options.output)


def run(inputs: Inputs, settings: DecoysSettings, device: str | None, output: Path) -> None:
    """Draw the decoys and write them."""
    actives = candidates_of(records(inputs.actives))
    if not actives.name:
        raise InputError(f"{inputs.actives}: contains no molecule; give a file of known binders")
    library = candidates_of(_sample(inputs))
    rows = draw(actives, library, settings.per_active, settings.max_similarity)
    if len(rows) < LEAST:
        where = ", ".join(str(path) for path, _ in inputs.libraries)
        raise InputError(
            f"{where}: has {len(rows)} molecules that can be decoys, fewer than {LEAST}; "
            "give a file of decoys in the section 'controls'"
        )
    lines = (f"{library.drawn[row]} {readable(library.name[row])}\n" for row in rows)
    write_texts(output.parent, {output.name: lines})
    wanted, looked_at = len(actives.name) * settings.per_active, len(library.name)
    log.info("drew %d decoys (of %d wanted) among %d molecules", len(rows), wanted, looked_at)
    log.info("means of actives and decoys: %s", means(actives, library, rows))


def _sample(inputs: Inputs) -> Iterator[Record | tuple[str, str]]:
    """Molecules of some places of every file, which depend on the files' names and sizes alone."""
    files = [(file, columns) for path, columns in inputs.libraries for file in _files(path)]
    count = min(FILES, len(files))
    files = [files[number * len(files) // count] for number in range(count)]
    sizes = [_size(file) for file, _ in files]
    for (file, columns), size in zip(files, sizes, strict=True):
        share = max(1, LOOKED * size // sum(sizes))
        if file.path.suffix == ".h5":
            found = read_columns(file.path, LIGANDS, ("entries/name", "entries/smiles"))
            step = max(1, len(found["entries/name"]) // share)
            yield from zip(
                *(values[any_below(step, file) :: step] for values in found.values()), strict=True
            )
        else:
            yield from some_records(file, columns, size, share)


def _files(library: Path) -> Sequence[LibraryFile]:
    if library.suffix == ".h5" and not library.is_dir():
        found = glob.glob(str(library), recursive=True)  # noqa: PTH207 (it may be absolute)
        parsed = [library] if library.is_file() else sorted(map(Path, found))
    else:
        parsed = sorted(library.glob("[!.]*.h5"))
    if parsed:
        return [LibraryFile(path, path.name, "", path.stat().st_size) for path in parsed]
    return library_files(library)


def _size(file: LibraryFile) -> int:
    """About how many molecules a file has; never none."""
    return max(1, file.size // PARSED) if file.path.suffix == ".h5" else parts_of(file, 1)


if __name__ == "__main__":
    sys.exit(main())
