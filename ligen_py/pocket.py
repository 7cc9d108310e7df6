"""Turn a receptor and a site into a pocket: scored atoms, geometric field, anchors, audit.

Reads a structure file (PDB or mmCIF, plain or .gz) and takes the site from a reference ligand or
from a point; writes one pocket file. Its audit accounts for every atom of the structure file.
"""

import argparse
import logging
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ligen_py import cli
from ligen_py.engine.field import Box, cavity_volume, make_field
from ligen_py.molecules.receptor import prepare
from ligen_py.molecules.site import Site, site_at, site_of_ligand
from ligen_py.provenance import Run
from ligen_py.records import Audit, Field, Receptor
from ligen_py.settings import PocketSettings, check
from ligen_py.settings import Site as SiteSettings
from ligen_py.store.write import write

log = logging.getLogger("ligen_py")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.pocket", __doc__, PocketSettings)
    parser.add_argument(
        "--receptor", type=cli.input_file, required=True, help="PDB or mmCIF file, plain or .gz"
    )
    parser.add_argument(
        "--chains",
        nargs="+",
        default=[],
        metavar="C",
        help="chains to keep, with their cofactors and metals, as named in the file (mmCIF: by the "
        "authors; _ for a chain without a name); default: all",
    )
    site = parser.add_mutually_exclusive_group(required=True)
    site.add_argument(
        "--ligand", type=cli.input_file, help="reference ligand: SDF, PDB or MOL2, plain or .gz"
    )
    site.add_argument(
        "--center", type=float, nargs=3, metavar=("X", "Y", "Z"), help="box centre, in Angstrom"
    )
    parser.add_argument(
        "--site-radius",
        type=float,
        metavar="R",
        help="half side of this site's box; default: --radius",
    )
    parser.add_argument("--output", type=Path, required=True, help="pocket file to write")
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    settings: PocketSettings = cli.settings_from(PocketSettings, options)
    site = _site(options, settings)
    prepared = prepare(
        options.receptor, options.chains, site, settings.margin, settings.cofactor_distance
    )
    box = Box(site.center, site.half_side, settings.spacing)
    field = make_field(
        box, prepared.xyz, prepared.element, settings.anchor_separation, settings.max_anchors
    )
    inputs = (options.receptor,) if options.ligand is None else (options.receptor, options.ligand)
    records = {"receptor": prepared.receptor, "charged": prepared.charged, "field": field}
    run = Run("pocket", settings, inputs)
    write(options.output, "pocket", run, records | {"audit": prepared.audit})
    _report(prepared.audit, prepared.receptor, field)


def _site(options: argparse.Namespace, settings: PocketSettings) -> Site:
    """The site that the command line asks for."""
    given = {
        "ligand": options.ligand and str(options.ligand),
        "center": options.center,
        "radius": options.site_radius,
    }
    asked: SiteSettings = check(SiteSettings, given, "command line")
    half_side = settings.radius if asked.radius is None else asked.radius
    if asked.center is not None:
        return site_at(asked.center, half_side)
    return site_of_ligand(options.ligand, half_side)


def _report(audit: Audit, receptor: Receptor, field: Field) -> None:
    """Log what was chosen, kept and dropped, by reason (up to its colon), and the pocket's size."""
    parts: dict[tuple[str, str], list[str]] = {}
    atoms: Counter[tuple[str, str]] = Counter()
    for part, action, count, reason in zip(
        audit.part, audit.action, audit.atoms, audit.reason, strict=True
    ):
        key = (action, reason if action == "chosen" else reason.partition(":")[0])
        parts.setdefault(key, []).append(part)
        atoms[key] += int(count)
    for (action, reason), names in parts.items():
        more = f" and {len(names) - 2} more" if len(names) > 3 else ""
        shown = ", ".join(names[:2] if more else names) + more
        log.info("%-8s %5s  %s: %s", action, atoms[action, reason] or "", shown, reason)
    log.info(
        "%d receptor atoms in %d residues; grid of %d x %d x %d points; %d anchors; "
        "cavity of %.0f cubic Angstrom",
        len(receptor.xyz),
        len(np.unique(receptor.residue)),
        *field.value.shape[1:],
        len(field.anchor),
        cavity_volume(field),
    )


if __name__ == "__main__":
    sys.exit(main())
