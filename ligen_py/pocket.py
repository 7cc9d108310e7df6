"""Turn a receptor and a site into a pocket: scored atoms, geometric field, anchors, audit.

Reads a structure file (PDB, mmCIF or PDBQT, plain or .gz); the site is a reference ligand,
residues, a point or a cavity. Writes one pocket file, whose audit accounts for every atom of the
structure.

--list shows the cavities of a receptor, --audit what was kept, dropped and chosen for a pocket
file, or what differs between two.
"""

import argparse
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ligen_py import cli
from ligen_py.engine.pocket.cavity import find_cavities
from ligen_py.engine.pocket.geometric_field import Box, cavity_volume, make_field
from ligen_py.errors import InputError
from ligen_py.molecules.receptor.opening import open_structure
from ligen_py.molecules.receptor.preparation import Prepared, prepare
from ligen_py.molecules.receptor.selection import Selection
from ligen_py.molecules.receptor.site import cavities, locate, nearby
from ligen_py.provenance import Run
from ligen_py.records.pocket import POCKET, Audit, GeometricField
from ligen_py.settings.pocket import PocketSettings, Structure
from ligen_py.settings.pocket import Site as SiteSettings
from ligen_py.store.files.read import read
from ligen_py.store.files.write import write
from ligen_py.summary import audit as audits

log = logging.getLogger("ligen_py")


class Inputs(NamedTuple):
    """What the stage reads: which atoms of a structure, and which site of them."""

    receptor: Path
    structure: Structure
    site: SiteSettings


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.pocket", __doc__, Structure, SiteSettings, PocketSettings)
    parser.add_argument(
        "--receptor", type=cli.input_file, help="PDB, mmCIF or PDBQT file, plain or .gz"
    )
    parser.add_argument("--output", type=Path, help="pocket file to write")
    parser.add_argument("--list", action="store_true", help="list the receptor's cavities and end")
    parser.add_argument(
        "--audit",
        type=cli.input_file,
        nargs="+",
        metavar="FILE",
        help="print the audit of a pocket file, or what differs between two, and end",
    )
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    if options.audit:
        return _print_audit(options.audit)
    settings: PocketSettings = cli.settings_from(PocketSettings, options)
    structure: Structure = cli.settings_from(Structure, options)
    if options.receptor is None or not (options.output or options.list):
        raise InputError("command line: give --receptor and --output, or --list, or --audit")
    if options.list:
        selection = open_structure(options.receptor, structure)
        return _print_cavities(selection, structure, getattr(options, "Site.cavities", None))
    site = cli.settings_from(SiteSettings, options)
    return run(Inputs(options.receptor, structure, site), settings, None, options.output)


def run(inputs: Inputs, settings: PocketSettings, device: str | None, output: Path) -> None:
    """Prepare a receptor around its site and write the pocket file."""
    structure, asked = inputs.structure, inputs.site
    with _collected() as warnings:
        selection = open_structure(inputs.receptor, structure)
        site = locate(selection, asked, structure.keep, settings.radius, find_cavities)
        prepared = prepare(selection, site, structure, settings)
    audit = prepared.audit.warned(warnings)
    box = Box(site.center, site.half_side, settings.spacing)
    field = make_field(
        box, prepared.xyz, prepared.element, settings.anchor_separation, settings.max_anchors
    )
    named = (asked.ligand, asked.cavities, *structure.cofactor_files.values())
    files = (Path(file) for file in named if file)
    made_by = Run("pocket", settings, (inputs.receptor, *files))
    records = {"receptor": prepared.receptor, "whole": prepared.whole, "field": field}
    write(output, POCKET, made_by, {**records, "audit": audit, **prepared.typed})
    _report(prepared, field)


@contextmanager
def _collected() -> Iterator[list[str]]:
    """The warnings of a block, which are logged as well: a campaign shows no log of a job."""
    found: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: found.append(record.getMessage())  # type: ignore[method-assign]
    log.addHandler(handler)
    try:
        yield found
    finally:
        log.removeHandler(handler)


def _print_cavities(selection: Selection, structure: Structure, file: str | None) -> None:
    found = cavities(selection, structure.keep, file, find_cavities)
    if not found:
        raise InputError(f"{selection.source}: no cavities were found")
    print(audits.cavity_table([(one, nearby(selection, one.center)) for one in found]))


def _print_audit(files: Sequence[Path]) -> None:
    """The audit of one pocket file, or the difference of two."""
    if len(files) > 2:
        raise InputError("command line: --audit takes one pocket file or two")
    found: list[Audit] = [read(file, POCKET, Audit) for file in files]
    print(audits.table(*found) if len(found) == 1 else audits.difference(*found))


def _report(prepared: Prepared, field: GeometricField) -> None:
    """Log the audit in short, and the pocket's size."""
    for line in audits.log_lines(prepared.audit):
        log.info("%s", line)
    log.info(
        "%d receptor atoms in %d residues; grid of %d x %d x %d points; %d anchors; "
        "cavity of %.0f cubic Angstrom",
        len(prepared.receptor.xyz),
        len(np.unique(prepared.receptor.residue)),
        *field.value.shape,
        len(field.anchor),
        cavity_volume(field),
    )


if __name__ == "__main__":
    sys.exit(main())
