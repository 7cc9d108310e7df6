"""Dock with AutoDock's genetic algorithm, from AutoDock's files to AutoDock's files.

Takes AutoGrid's maps or a receptor, ligands as PDBQT, and AutoDock-GPU's main flags. For each
ligand it writes a docking log (.dlg), which Meeko and Ringtail read, and the poses as PDBQT:
a.dlg and a_out.pdbqt beside a.pdbqt, or where --resnam says.

  ligen lga --ffile receptor.maps.fld --lfile ligand.pdbqt --nrun 20 --resnam out
  ligen lga --receptor rec.pdbqt --center 10 36.5 -18 --lfile ligands/*.pdbqt --resnam poses/
  ligen lga --filelist LIST --nrun 20
"""

import argparse
import logging
import math
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ligen_py import cli
from ligen_py.errors import InputError, UsageError
from ligen_py.lga_flags import (
    add_search,
    file_name,
    log_or_none,
    maps_name,
    settings_of,
    two_dashes,
)
from ligen_py.settings.lga import LgaSettings

if TYPE_CHECKING:
    from ligen_py.engine.functions.ad4.field import Ad4Field
    from ligen_py.lga_files import Job
    from ligen_py.molecules.autogrid import Autogrid
    from ligen_py.molecules.pdbqt_input import PdbqtLigand
    from ligen_py.opencl.device import Device
    from ligen_py.pace import Pace
    from ligen_py.records.functions.ad4 import Ad4Ligands

log = logging.getLogger("ligen_py")

PER_CORE, AT_ONCE = 4, 1000
"""Ligands whose files are written together, on a processor and on a GPU: enough to keep it busy,
and few enough that a stop loses minutes."""

ABSURD = 1000.0
"""kcal/mol; a higher energy is that of atoms in one another, or outside the box."""

SIDES = (22.5, 22.5, 22.5)
"""Of a box, Angstrom."""


def main(argv: Sequence[str] | None = None) -> int:
    """Dock from a command line; returns the exit code."""
    return cli.run(_parser(), two_dashes(sys.argv[1:] if argv is None else argv), _dock)


def _parser() -> argparse.ArgumentParser:
    parser = cli.parser("ligen_py.lga_command", __doc__)
    ligands = parser.add_mutually_exclusive_group(required=True)
    ligands.add_argument(
        "--lfile", "-L", metavar="LIGAND", nargs="+", action="extend", type=cli.input_file,
        help="ligands: PDBQT files",
    )  # fmt: skip
    ligands.add_argument(
        "--filelist", "-B", metavar="LIST", type=cli.input_file,
        help="AutoDock-GPU's list, a line each: field files (.fld), the ligands (.pdbqt) docked in "
        "them, and where wanted a name of the results for each ligand",
    )  # fmt: skip
    parser.add_argument(
        "--resnam", "-N", metavar="NAME", type=file_name,
        help="name of the results: NAME.dlg and NAME.pdbqt; of several ligands, or with a / behind "
        "it, a folder (default: beside each ligand, LIGAND.dlg and LIGAND_out.pdbqt)",
    )  # fmt: skip
    box = parser.add_argument_group("the receptor, in one of these ways")
    box.add_argument(
        "--ffile", "-M", metavar="FLD", type=cli.input_file, help="AutoGrid's NAME.maps.fld"
    )
    box.add_argument("--receptor", metavar="PDBQT", type=cli.input_file, help="rigid receptor")
    box.add_argument(
        "--center", type=float, nargs=3, metavar=("X", "Y", "Z"),
        help="of the box for --receptor, in Angstrom (default: the first ligand's)",
    )  # fmt: skip
    box.add_argument(
        "--size", type=float, nargs=3, metavar=("X", "Y", "Z"),
        help=f"of the box for --receptor, in Angstrom, not in points; its maps have one every "
        f"{LgaSettings().spacing} A (default: {' '.join(map(str, SIDES))})",
    )  # fmt: skip
    box.add_argument(
        "--write-maps", metavar="NAME", type=maps_name,
        help="also write the maps as AutoGrid's NAME.maps.fld ...",
    )  # fmt: skip
    add_search(parser)
    parser.add_argument(
        "--rlige", type=int, nargs="?", choices=(0, 1), const=1, default=0, metavar="0|1",
        help="print the energies of the given poses",
    )  # fmt: skip
    parser.add_argument(
        "--dlgoutput", "-d", type=log_or_none, default=1, metavar="0|1",
        help="write the docking log (default: 1)",
    )  # fmt: skip
    cli.add_device(parser)
    return parser


def _dock(options: argparse.Namespace) -> None:
    named = [given for given in (options.ffile, options.receptor) if given]
    if len(named) != 1 and (named or not options.filelist):
        raise UsageError("give either --ffile with maps, or --receptor with a box")
    if not options.receptor and (options.center or options.size):
        raise UsageError("--center and --size: the box is that of the maps; leave them out")
    if re.search(r"\s", Path(options.write_maps or "").name):
        raise UsageError(
            f"--write-maps: '{Path(options.write_maps).name}' has a blank, at which programs that "
            "read the maps end a name; give another one"
        )
    settings = settings_of(options)
    # What takes a second to import comes after what is wrong with the command line.
    from ligen_py.lga_files import batches, read
    from ligen_py.opencl.device import select
    from ligen_py.pace import Pace
    from ligen_py.summary.table import counted

    given = batches(options)
    if options.write_maps and len(given) > 1:
        raise UsageError("--write-maps: the list names several receptors' maps; leave it out")
    jobs = read(options, given)
    device = select(options.device)
    pace = Pace("ligands docked", sum(map(len, jobs)))
    done = []
    for batch, some in zip(given, jobs, strict=True):
        try:
            prepared = _prepared(options, device, batch.maps, some) if some else None
        except InputError as error:
            if len(given) == 1:
                raise
            log.warning("left out: all ligands of %s: %s", batch.maps, error)
            prepared = None
        if prepared is None or not prepared.jobs:
            pace.add(len(some), failed=len(some))
        else:
            done.append(_dock_batch(options, settings, device, prepared, pace))
    docked, poseless = sum(batch.ligands for batch in done), sum(batch.poseless for batch in done)
    took = f"{sum(batch.seconds for batch in done):.2f} s on {device.label}"
    ligands, runs = counted(docked, "ligand"), counted(settings.runs, "run")
    log.info("docked %s, %s each, in %s", ligands, runs, took)
    asked = sum(len(batch.ligands) for batch in given)
    failed = [f"{asked - docked} of {asked} ligands were left out"] if docked < asked else []
    if poseless:
        failed.append(f"{poseless} of {asked} ligands have no usable pose")
    if failed:
        raise InputError(f"{' and '.join(failed)}, for the reasons above")


class Done(NamedTuple):
    """What became of a batch."""

    ligands: int
    poseless: int
    """Ligands whose best pose is of no use."""
    seconds: float
    """In which the device ran kernels."""


class Prepared(NamedTuple):
    """A receptor, and the ligands that its box can hold."""

    field: "Ad4Field"
    maps: "Autogrid"
    jobs: "list[Job]"


def _prepared(
    options: argparse.Namespace, device: "Device", given_maps: Path | None, jobs: "Sequence[Job]"
) -> Prepared:
    """The receptor of some ligands; InputError where it cannot be used, or the only one is long."""
    from ligen_py.records.rows import concatenated

    together = concatenated([job.ligand.ligands for job in jobs])
    if given_maps is not None:
        field, maps = _given_field(given_maps, device, together)
    else:
        field, maps = _own_field(options, device, together, jobs[0].ligand.center)
    return Prepared(field, maps, _fitting(jobs, together, maps))


def _dock_batch(
    options: argparse.Namespace,
    settings: LgaSettings,
    device: "Device",
    prepared: Prepared,
    pace: "Pace",
) -> Done:
    """Dock ligands into one receptor, and write their files as they come."""
    from ligen_py.engine.genetic.batched import Lga
    from ligen_py.engine.genetic.poses import map_values
    from ligen_py.records.rows import concatenated

    field, maps, fitting = prepared
    values = map_values(device, field)
    if options.write_maps:
        _write_maps(Path(options.write_maps), maps, values, field)
    if options.rlige:
        for job in fitting:
            _print_given(job, field, values)
    search, poseless = Lga(device, field), 0
    for first in range(0, len(fitting), AT_ONCE):
        some = fitting[first : first + AT_ONCE]
        together = concatenated([job.ligand.ligands for job in some])
        for rows, found in search.search(together, settings, per_core=PER_CORE):
            turn = 0
            for place, row in enumerate(rows.tolist()):
                poses = range(place * settings.runs, (place + 1) * settings.runs)
                runs, turn = _runs(some[row].ligand, field, values, found, poses, turn)
                poseless += not _write(options, settings, some[row], runs, maps)
            pace.add(len(rows))
    return Done(len(fitting), poseless, search.kernel_seconds)


def _fitting(jobs: "Sequence[Job]", together: "Ad4Ligands", maps: "Autogrid") -> "list[Job]":
    """The ligands that the box can hold; what is wrong with the others is said.

    InputError where the only ligand is too long.
    """
    from ligen_py.engine.docking.oversized import longer_than

    diagonal = float(np.linalg.norm(maps.spacing * (np.array(maps.shape) - 1)))
    extents = longer_than(together, diagonal)
    for number, extent in extents.items():
        words = (
            f"{jobs[number].ligand.path}: a rigid part is {extent:.1f} A long, the box's diagonal "
            f"{diagonal:.1f} A; give a larger box"
        )
        if len(jobs) == 1:
            raise InputError(words)
        log.warning("left out: %s", words)
    return [job for number, job in enumerate(jobs) if number not in extents]


def _given_field(
    path: Path, device: "Device", together: "Ad4Ligands"
) -> "tuple[Ad4Field, Autogrid]":
    """The field of AutoGrid's maps for all ligands, and these maps."""
    from ligen_py.engine.genetic.given_field import GivenField
    from ligen_py.engine.refinement.maps import Grid
    from ligen_py.molecules.autogrid import CHARGE, SOLVATION, folded, read_maps
    from ligen_py.molecules.pdbqt import type_name
    from ligen_py.records.functions.ad4 import Ad4Type

    types = [Ad4Type(kind) for kind in np.unique(together.type)]
    maps = read_maps(path, [type_name(kind) for kind in types])
    by_name = {folded(name): value for name, value in maps.values.items()}
    grid = Grid(maps.origin.astype(np.float32), maps.spacing, maps.shape)
    given = {kind: by_name[kind.name] for kind in types}
    common = by_name[folded(CHARGE)], by_name[folded(SOLVATION)]
    return GivenField(device, grid, *common, given), maps


def _own_field(
    options: argparse.Namespace, device: "Device", together: "Ad4Ligands", middle: np.ndarray
) -> "tuple[Ad4Field, Autogrid]":
    """The field of the receptor for all ligands, and the box and types of its maps.

    The box is around the `middle` of the first ligand where none is given.
    """
    from ligen_py.engine.functions.ad4.constants import CUTOFF
    from ligen_py.engine.functions.ad4.field import Ad4Field
    from ligen_py.engine.refinement.maps import MOST_POINTS, Grid
    from ligen_py.lga_files import warn_uncharged
    from ligen_py.molecules.autogrid import CHARGE, SOLVATION, Autogrid
    from ligen_py.molecules.dlg import shown
    from ligen_py.molecules.pdbqt import type_name
    from ligen_py.molecules.pdbqt_input import read_receptor
    from ligen_py.records.functions.ad4 import Ad4Type

    types = [Ad4Type(kind) for kind in np.unique(together.type)]
    receptor = read_receptor(options.receptor)
    warn_uncharged(options.receptor, receptor.partial_charge, polar=True)
    center = np.array(options.center if options.center else middle)
    spacing = LgaSettings().spacing
    sides = np.array(options.size or SIDES)
    # Two cells: the centre is a point of the maps, and a kernel reads both ends of a cell.
    if not ((2 * spacing <= sides) & np.isfinite(sides)).all():
        raise UsageError(f"--size: give three sides of {2 * spacing} A or more")
    beyond = np.maximum(np.abs(receptor.xyz - center) - sides / 2, 0)
    # Also where the centre is no number. All energies would be 0, and so would those of a crash.
    if not (np.linalg.norm(beyond, axis=1) < CUTOFF).any():
        raise InputError(
            f"{options.receptor}: no atom within {CUTOFF:g} A of the box around "
            f"{' '.join(f'{value:g}' for value in center)}; give the site by --center"
        )
    shape = tuple(2 * round(side / spacing / 2) + 1 for side in sides)
    if math.prod(shape) * (2 + len(types)) > MOST_POINTS:
        raise UsageError(
            f"--size: {2 + len(types)} maps of {' x '.join(map(str, shape))} points are too large; "
            "give smaller sides, in Angstrom"
        )
    box = Autogrid(shown(options.receptor.name), center, spacing, shape, {})
    grid = Grid(box.origin.astype(np.float32), spacing, shape)
    field = Ad4Field(device, receptor, grid, together)
    return field, Autogrid(box.receptor, center, spacing, box.shape, dict.fromkeys(
        [CHARGE, SOLVATION, *map(type_name, types)], np.zeros(0)
    ))  # fmt: skip


def _write_maps(name: Path, maps: "Autogrid", values: np.ndarray, field: "Ad4Field") -> None:
    from ligen_py.molecules.autogrid import CHARGE, SOLVATION, Autogrid, map_files
    from ligen_py.molecules.pdbqt import type_name
    from ligen_py.store.files.text import write_texts

    types = np.flatnonzero(field.slot >= 0)
    named = {CHARGE: values[0], SOLVATION: values[1]}
    named |= {type_name(int(kind)): values[field.slot[kind]] for kind in types}
    whole = Autogrid(maps.receptor, maps.center, maps.spacing, maps.shape, named)
    write_texts(name.parent, map_files(name.name, whole))


def _runs(
    ligand: "PdbqtLigand",
    field: "Ad4Field",
    values: np.ndarray,
    found: Any,
    poses: range,
    turn: int,
) -> tuple[list[Any], int]:
    """The runs of one ligand with coordinates and energies; and the next torsion's row."""
    from ligen_py.engine.genetic.poses import Poser
    from ligen_py.engine.refinement.reference import Genotype
    from ligen_py.molecules.dlg import DockedRun

    torsions = len(ligand.ligands.torsion_axis)
    poser = Poser(field, values, ligand.ligands, 0)
    runs = []
    for pose in poses:
        genotype = Genotype(
            found.translation[pose].astype(float),
            found.quaternion[pose].astype(float),
            found.torsion[turn : turn + torsions].astype(float),
        )
        turn += torsions
        terms = poser.terms(genotype)
        runs.append(
            DockedRun(
                poser.places(genotype), terms.vdw, terms.electrostatic, terms.internal,
                terms.torsional, int(found.evaluations[pose]), int(found.generations[pose]),
            )
        )  # fmt: skip
    return runs, turn


def _print_given(job: "Job", field: "Ad4Field", values: np.ndarray) -> None:
    from ligen_py.engine.genetic.poses import Poser
    from ligen_py.engine.refinement.reference import Genotype
    from ligen_py.molecules.dlg import DockedRun, energy_lines

    ligand = job.ligand
    still = np.zeros(len(ligand.ligands.torsion_axis))
    genotype = Genotype(ligand.center, np.array([1.0, 0, 0, 0]), still)
    poser = Poser(field, values, ligand.ligands, 0)
    terms = poser.terms(genotype)
    run = DockedRun(
        poser.places(genotype), terms.vdw, terms.electrostatic, terms.internal, terms.torsional,
        0, 0,
    )  # fmt: skip
    print(f"Input ligand energies of {job.title}:")
    for line in energy_lines(run):
        print(f"    {line}")


def _write(
    options: argparse.Namespace,
    settings: LgaSettings,
    job: "Job",
    runs: list[Any],
    maps: "Autogrid",
) -> bool:
    """Write poses and log of one ligand, and print its best pose; whether this one is of use."""
    from ligen_py.molecules import clusters as grouping
    from ligen_py.molecules.dlg import dlg, poses_pdbqt, shown
    from ligen_py.store.files.text import write_texts
    from ligen_py.summary.table import counted

    ligand = job.ligand
    one = ligand.ligands
    heavy = int(one.heavy[0])
    ways = grouping.symmetries(one.element, ligand.bond)
    places = [run.xyz[:heavy] for run in runs]
    energies = np.array([run.binding for run in runs])
    groups = grouping.clusters(places, energies, options.rmstol, ways)
    given = one.xyz[:heavy].astype(float) + ligand.center
    reference = [grouping.rmsd(given, place, ways) for place in places]
    texts = {job.poses.name: poses_pdbqt(ligand, runs)}
    if options.dlgoutput:
        # Ringtail reads up to the first blank.
        name = "_".join(Path(maps.receptor).name.removesuffix(".pdbqt").split())
        grid = (name or "receptor", maps.shape, maps.spacing, maps.center)
        words = _words(settings, options.rmstol)
        texts[job.log.name] = dlg(ligand, runs, groups, reference, grid, words)
    write_texts(job.poses.parent, texts)
    best = groups[0][0].pose
    beyond = np.abs(runs[best].xyz - maps.center) - maps.spacing * (np.array(maps.shape) - 1) / 2
    outside = bool((beyond > 0.01).any())  # 10,000 kcal/mol: no rounding at a wall
    absurd = not energies[best] <= ABSURD  # nor a number
    if outside:
        log.warning(
            "%s: the best pose is partly outside the box, where an energy has no meaning; give a "
            "larger box", shown(ligand.path),
        )  # fmt: skip
    elif absurd:
        log.warning(
            "%s: the best energy is %.4g kcal/mol, so atoms lie in one another in each run; give "
            "another box, or a larger one", shown(ligand.path), energies[best],
        )  # fmt: skip
    print(
        f"{job.title}: {energies[best]:.2f} kcal/mol in run {best + 1}, {len(groups[0])} of "
        f"{counted(len(runs), 'run')} in its cluster, {counted(len(groups), 'cluster')}"
    )
    return not (outside or absurd)


def _words(settings: LgaSettings, tolerance: float) -> Mapping[str, object]:
    return {
        "Number of runs": settings.runs,
        "Number of energy evaluations": settings.evaluations or "by torsions",
        "Number of generations": settings.generations,
        "Size of population": settings.population,
        "Rate of crossover": f"{settings.crossover:f}%",
        "Tournament selection probability limit": f"{settings.tournament:f}%",
        "Rate of mutation": f"{settings.mutation:f}%",
        "Rate of local search": f"{settings.searched:f}%",
        "Local search": settings.local_search,
        "Maximal number of local search iterations": settings.iterations,
        "Automatic stop": "on" if settings.stop else "off",
        "Handle symmetry during clustering": "YES",
        "RMSD tolerance": f"{tolerance:f}A",
        "Random seed": settings.seed,
    }


if __name__ == "__main__":
    sys.exit(main())
