"""Check what a campaign's config names before its first job: patterns, structures, sites, device.

A stage would find the same faults later, perhaps after hours, and on a cluster in every job.
"""

from collections.abc import Iterator
from pathlib import Path

from ligen_py.campaign import Docked, Workplan
from ligen_py.errors import InputError
from ligen_py.formats import COMPRESSED
from ligen_py.molecules.library.lines import require_complete
from ligen_py.molecules.ligands.filters import check_patterns
from ligen_py.molecules.receptor.preparation import check_site
from ligen_py.opencl.device import select_all
from ligen_py.settings.document import read_document

COMPRESSED_LIMIT = 1 << 28
"""Compressed bytes that are unpacked to see whether files are cut short: some seconds."""


def checked(path: Path) -> Workplan:
    """The campaign of a config file, after a check of all that it names.

    Raises InputError that names the file, the key or the line.
    """
    document = read_document(path)
    plan = Workplan.of(document.values, str(path), path.parent, document.lines)
    check_files(plan, str(path))
    return plan


def check_files(plan: Workplan, source: str) -> None:
    """Raise InputError for a pattern, structure, site or library that no stage could use.

    Compressed libraries are unpacked until `COMPRESSED_LIMIT`; the rest of them `parse` checks.
    """
    try:
        check_patterns(plan.settings.parse.exclude)
    except InputError as error:
        raise InputError(f"{source}: {error}") from error
    for name, docked in plan.every_pocket.items():
        try:
            _check_pocket(plan, docked)
        except InputError as error:
            raise InputError(f"{source}: target '{name}': {error}") from error
    left = COMPRESSED_LIMIT
    for library, path in _compressed(plan):
        left -= path.stat().st_size
        if left < 0:
            break
        try:
            require_complete(path)
        except InputError as error:
            raise InputError(f"{source}: library '{library}': {error}") from error


def check_device(selector: str | None = None) -> None:
    """Raise DeviceError where this machine has no such device."""
    select_all(selector)


def _check_pocket(plan: Workplan, docked: Docked) -> None:
    files = {"ligand": docked.site.ligand, "cavities": docked.site.cavities}
    found = {key: str(plan.resolve(given)) for key, given in files.items() if given is not None}
    asked = docked.site.model_copy(update=found)
    check_site(plan.resolve(docked.receptor), docked.settings, asked, plan.settings.pocket)


def _compressed(plan: Workplan) -> Iterator[tuple[str, Path]]:
    for library, settings in plan.settings.libraries.items():
        if settings.file is not None:
            for file in plan.files(library):
                if file.path.suffix.lower() in COMPRESSED:
                    yield library, file.path
