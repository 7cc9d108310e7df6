"""Dock some molecules into a protein, in one line: from files to poses, scores and a report.

Ligands are files (SMILES, CSV, Parquet, SDF, MOL2, plain or compressed) and SMILES in quotes, with
a name behind a blank or without. The folder gets the hits (hits.sdf, hits.csv, hits.parquet), the
prepared receptor, scripts for PyMOL (hits.pml) and ChimeraX (hits.cxc), report.html and, in
results/, a campaign that `ligen query`, `ligen export` and `ligen verify` read.

Write protein and ligands first: --residues, --size, --chains, --keep and --drop take all words
behind them, up to the next flag.

  ligen dock protein.pdb ligands.sdf --site reference.sdf -o out
  ligen dock protein.pdb "CCO ethanol" --center 10 36.5 -18 --size 22 20 20 -o out
"""

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ligen_py import cli
from ligen_py.errors import InputError, UsageError
from ligen_py.settings.campaign import PRESETS
from ligen_py.settings.pocket import Structure
from ligen_py.summary.table import cut, readable

if TYPE_CHECKING:
    from ligen_py.api import Hits

WAYS = ("site", "autobox", "center", "residues", "cavity")
"""Flags that say where to dock."""

REASONS = 10
"""Failures that are listed."""


def main(argv: Sequence[str] | None = None) -> int:
    """Dock from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.dock_command", __doc__)
    parser.usage = f"{parser.prog} PROTEIN LIGANDS ... --site LIGAND -o FOLDER [options]"
    parser.add_argument(
        "receptor",
        metavar="PROTEIN",
        type=cli.input_file,
        help="protein: PDB, mmCIF or PDBQT file, plain or .gz",
    )
    parser.add_argument("ligands", metavar="LIGANDS", nargs="+", help="files, and SMILES in quotes")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FOLDER", help="folder to write into"
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace the results that the folder contains"
    )
    _add_site(parser.add_argument_group("where to dock, in one of these ways"))
    _add_box(parser.add_argument_group("the box"))
    cli.add_settings(parser.add_argument_group("the receptor"), Structure)
    _add_method(parser.add_argument_group("how"))
    cli.add_device(parser)
    return cli.run(parser, argv, _dock)


def _add_site(site: argparse._ArgumentGroup) -> None:
    """Flags of which one is given: `WAYS`."""
    site.add_argument(
        "--site",
        metavar="LIGAND",
        help="reference ligand, in whose place others are docked: an SDF, MOL, MOL2, PDB or PDBQT "
        "file, or its name in the structure, such as STI or A/STI/201; the box is a cube of 20 "
        "Angstrom around it",
    )
    site.add_argument(
        "--autobox", metavar="FILE", help="reference ligand; the box is as large as it needs"
    )
    site.add_argument("--center", type=float, nargs=3, metavar=("X", "Y", "Z"), help="in Angstrom")
    site.add_argument(
        "--residues",
        nargs="+",
        action="extend",
        metavar="RESIDUE",
        help="that line the site, such as A/ASP/32",
    )
    site.add_argument(
        "--cavity", type=cli.at_least(1), metavar="N", help="the N-th best cavity of the protein"
    )


def _add_box(box: argparse._ArgumentGroup) -> None:
    box.add_argument(
        "--size",  # whose words become numbers later: one may be a ligand that is missing then
        nargs="+",
        metavar="SIDE",
        help="one side or three, in Angstrom; the cube that contains them is used (default: 20)",
    )
    box.add_argument(
        "--margin",
        type=float,
        metavar="X",
        help="around the ligand of --autobox, in Angstrom (default: 4)",
    )


def _add_method(how: argparse._ArgumentGroup) -> None:
    how.add_argument(
        "--effort", choices=tuple(PRESETS), default="standard",
        help="how thoroughly (default: %(default)s)",
    )  # fmt: skip
    how.add_argument(
        "--poses", type=cli.at_least(1), default=1, metavar="N",
        help="of each molecule in hits.sdf (default: %(default)s)",
    )  # fmt: skip
    # As it was called before; elsewhere --count is that of molecules.
    how.add_argument(
        "--count", dest="poses", type=cli.at_least(1), default=argparse.SUPPRESS,
        help=argparse.SUPPRESS,
    )  # fmt: skip
    how.add_argument(
        "--ph", type=float, default=7.4, metavar="X",
        help="pH of the ligands' protonation states (default: %(default)s)",
    )  # fmt: skip
    how.add_argument(
        "--as-drawn", action="store_true",
        help="dock each ligand as it is given: no salts removed, no other protonation states, "
        "stereoisomers or ring conformers",
    )  # fmt: skip
    how.add_argument(
        "--waters", choices=("none", "near", "all"), default="none",
        help="crystal waters to keep (default: %(default)s)",
    )  # fmt: skip
    how.add_argument(
        "--redock", action="store_true",
        help="dock the reference ligand, too, and report its distance from the crystal pose; it "
        "is an SDF, MOL or MOL2 file, which has bond orders",
    )  # fmt: skip
    how.add_argument(
        "--pdbqt", action="store_true", help="also write PDBQT files, for Vina and Meeko"
    )
    how.add_argument(
        "--seed", type=cli.at_least(0), default=1, metavar="N",
        help="of conformers and refinement (default: %(default)s)",
    )  # fmt: skip
    how.add_argument(
        "--jobs", type=cli.at_least(1), metavar="N",
        help="processes that prepare ligands (default: all cores, for many ligands)",
    )  # fmt: skip


def _dock(options: argparse.Namespace) -> None:
    _require_one_site(options)
    size = _sides(options.size)
    _require_ligands(options.ligands)
    _require_folder(options)
    # What takes a second to import comes after what is wrong with the command line.
    from ligen_py.api import Pocket, dock
    from ligen_py.settings.parse import AS_GIVEN

    progress = _Progress(options.quiet)
    progress("pocket")
    structure: Structure = cli.settings_from(Structure, options)
    pocket = Pocket.from_pdb(
        options.receptor,
        **{way: value for way in WAYS if (value := getattr(options, way)) is not None},
        size=size,
        margin=options.margin,
        waters=options.waters,
        **structure.model_dump(exclude_defaults=True),
    )
    hits = dock(
        pocket,
        options.ligands,
        effort=options.effort,
        poses=options.poses,
        seed=options.seed,
        ph=options.ph,
        device=options.device,
        jobs=options.jobs,
        redock=options.redock,
        pdbqt=options.pdbqt,
        settings={"parse": AS_GIVEN} if options.as_drawn else None,
        folder=options.output,
        overwrite=options.overwrite,
        watch=progress,
    )
    progress.end()
    _show(hits, options.output)


def _require_one_site(options: argparse.Namespace) -> None:
    given = [f"--{way}" for way in WAYS if getattr(options, way) is not None]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} both say where to dock; give one of them")
    if not given:
        raise UsageError(
            "say where to dock: --site with a reference ligand, --center with --size, --residues, "
            f"or --cavity 1; `ligen stage pocket --receptor {options.receptor} --list` lists "
            "cavities"
        )
    if options.margin is not None and not options.autobox:
        raise UsageError(f"--margin: is around the ligand of --autobox, not of {given[0]}")
    if options.size and (options.autobox or len(options.size) not in (1, 3)):
        raise UsageError(
            "--size: --autobox makes its own box, give --margin"
            if options.autobox
            else f"--size: give one side or three, not {len(options.size)}"
        )


def _sides(size: Sequence[str] | None) -> Sequence[float] | float | None:
    """One side or three, Angstrom; UsageError where a word is no number."""
    try:
        sides = [float(side) for side in size or ()]
    except ValueError:
        raise UsageError(f"--size: give numbers, in Angstrom, not {' '.join(size or ())}") from None
    return sides[0] if len(sides) == 1 else sides or None


def _require_ligands(ligands: Sequence[str]) -> None:
    """InputError where a word is neither a library file nor a SMILES."""
    from ligen_py.api.ligands import file_of
    from ligen_py.molecules.given import has_lines, is_smiles

    for word in ligands:
        if file_of(word) is None and not is_smiles(word):
            if has_lines(word):
                first = word.strip().splitlines()[0]
                raise InputError(f"{first}: more lines follow; give each SMILES in its own quotes")
            shown = word if word.strip() else repr(word)
            raise InputError(f"{shown}: no such file, and no SMILES that RDKit can read")


def _require_folder(options: argparse.Namespace) -> None:
    """InputError where files would be overwritten unasked, or are not this command's."""
    folder: Path = options.output
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give a folder to write into")
    from ligen_py.api.docking import written

    there = written(folder)
    if there and not options.overwrite:
        raise InputError(
            f"{folder}: contains {there[0].name} already; name another folder, or give --overwrite "
            "to replace them"
        )
    _require_apart(options, {path.resolve() for path in there})


def _require_apart(options: argparse.Namespace, removed: set[Path]) -> None:
    """InputError where an input, as hits to be docked once more, is among what will be removed."""
    given = [options.receptor, *options.ligands, options.site, options.autobox]
    for word in filter(None, given):
        path = Path(word).resolve()
        if removed.intersection((path, *path.parents)):
            raise InputError(
                f"{word}: --overwrite would delete it; name another folder than {options.output}"
            )


class _Progress:
    """The stage that runs, on a line of the terminal that the next one overwrites."""

    def __init__(self, quiet: bool) -> None:
        self._on = sys.stderr.isatty() and not quiet

    def __call__(self, stage: str) -> None:
        if self._on:
            print(f"\r\033[K{stage} ...", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Clear the line, so that what is printed next begins at its start."""
        if self._on:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _show(hits: "Hits", folder: Path) -> None:
    """Print the best hits, what failed and where the files are; InputError without any hit."""
    if len(hits):
        print(hits.table(width=shutil.get_terminal_size((100, 24)).columns))
    for line in _failures(hits):
        print(line, file=sys.stdout if len(hits) else sys.stderr)
    if not len(hits):
        raise InputError("no ligand could be docked; the reasons are above")
    if hits.redocking:
        found = hits.redocking
        words = found.problem
        if found.rmsd is not None and found.rmsd_kept is not None:
            words = f"best-scored pose {found.rmsd:.1f} Å from the crystal's, "
            words += f"nearest of the kept ones {found.rmsd_kept:.1f} Å"
        print(f"\nReference ligand {readable(found.name)} redocked: {words}")
    print(f"\nPoses {folder / 'hits.sdf'}, report {folder / 'report.html'},")
    print(f"in PyMOL {folder / 'hits.pml'}, in ChimeraX {folder / 'hits.cxc'}")


def _failures(hits: "Hits") -> list[str]:
    """What was not docked, a line each, but for duplicates, which are counted."""
    lost = [one for one in hits.failures if one.status != "duplicate"]
    same = len(hits.failures) - len(lost)
    lines = [
        f"  {cut(readable(one.name))} ({one.source}): {one.status}, {readable(one.reason)}"
        for one in lost[:REASONS]
    ]
    if len(lost) > REASONS:
        lines.append(f"  and {len(lost) - REASONS} more; results/campaign.h5 has all")
    if lost:
        lines = ["", f"Not docked: {len(lost)}", *lines]
    if same:
        lines += ["", f"Given more than once: {same}; each is docked once"]
    return lines


if __name__ == "__main__":
    sys.exit(main())
