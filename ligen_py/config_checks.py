"""Check what a campaign's config names before its first job: patterns, structures, sites, device.

A stage would find the same faults later, perhaps after hours, and on a cluster in every job.
"""

from collections.abc import Iterator
from pathlib import Path

from ligen_py.campaign.controls import CONTROL_FILES
from ligen_py.campaign.searches import names_file
from ligen_py.campaign.workplan import Workplan
from ligen_py.engine.functions.gnina.constants import NETWORKS as FILES
from ligen_py.engine.functions.gnina.weights import load
from ligen_py.engine.offtargets.design import enzyme_of
from ligen_py.errors import InputError
from ligen_py.formats import COMPRESSED
from ligen_py.molecules.hits.depiction import drawer
from ligen_py.molecules.library.reading import no_molecules, records
from ligen_py.molecules.ligands.filters import check_patterns
from ligen_py.molecules.receptor.choice import check_site
from ligen_py.opencl.device import select_all
from ligen_py.sequences.fasta import read_fasta
from ligen_py.sequences.genes import read_annotation
from ligen_py.sequences.genome import tell_what_is_not_read
from ligen_py.sequences.guides import as_query
from ligen_py.sequences.proteins import read_proteins
from ligen_py.sequences.spacers import of_sequences
from ligen_py.sequences.substitution import read_matrix
from ligen_py.settings.campaign import NETWORKS
from ligen_py.settings.document import read_document
from ligen_py.settings.offtargets import IN_INPUT
from ligen_py.unpacking import require_complete

COMPRESSED_LIMIT = 1 << 28
"""Compressed bytes that are unpacked to see whether files are cut short: some seconds."""

WRITTEN = ("results", "benchmarks", "logs")
"""Folders that a run makes, with files whose endings libraries may have."""

EXPORT = "export"
"""Folder of the exported molecules, in that of the results."""


def checked(path: Path) -> Workplan:
    """The campaign of a config file, after a check of all that it names.

    Raises InputError that names the file, the key or the line.
    """
    document = read_document(path)
    plan = Workplan.of(document.values, document.source, path.parent)
    check_files(plan)
    return plan


def check_files(plan: Workplan) -> None:
    """Raise InputError for a pattern, structure, site or file of molecules that no stage could use.

    Compressed libraries are unpacked until `COMPRESSED_LIMIT`; the rest of them `parse` checks.
    """
    try:
        check_patterns(plan.settings.parse.exclude)
    except InputError as error:
        raise InputError(f"{plan.config.place('parse', 'exclude')}: {error}") from error
    _check_networks(plan)
    for name in plan.every_pocket:
        try:
            receptor, structure = plan.receptor(name), plan.structure(name)
            check_site(receptor, structure, plan.site(name), plan.settings.pocket)
        except InputError as error:
            raise InputError(f"{plan.place(name)}: {error}") from error
    homologs = [("homologs", name) for name in plan.settings.homologs]
    for section, name in [*homologs, *plan.searches.genome_paths]:
        try:
            _check_search(plan, section, name)
        except InputError as error:
            raise InputError(f"{plan.config.place(section, name)}: {error}") from error
    for genome in plan.searches.genomes.values():
        tell_what_is_not_read(genome)  # later only the log of a job would
    _check_sizes(plan)
    _check_known(plan)
    left = COMPRESSED_LIMIT
    for library, path in _compressed(plan):
        left -= path.stat().st_size
        if left < 0:
            break
        try:
            require_complete(path)
        except InputError as error:
            place = plan.config.place("libraries", library)
            raise InputError(f"{place}: {error}") from error


def check_apart(plan: Workplan, folder: Path) -> None:
    """Raise InputError for a library that is, or contains, what a run writes into the folder.

    The next run would dock its own results, also where the first one did not find any.
    """
    written = [folder.resolve() / name for name in WRITTEN]
    for library, settings in plan.settings.libraries.items():
        key = "parsed" if settings.file is None else "file"
        named = str(getattr(settings, key))
        given, every = plan.resolve(named), plan.files(library)
        where = f"{plan.config.place('libraries', library, key)}: {named}"
        if settings.file is None:
            if given.resolve().is_relative_to(written[0]):
                raise InputError(
                    f"{where}: is a folder of this campaign itself; name that of another "
                    "campaign, or give a 'file'"
                )
            continue
        if not every[0].label and given.resolve().is_relative_to(written[0] / EXPORT):
            raise InputError(
                f"{where}: is written by this campaign itself; copy it to another folder"
            )
        found = (file.path.resolve() for file in every if file.label)
        places = [given.resolve()] if given.is_dir() else []
        if any(own.is_relative_to(place) for own in written for place in places) or any(
            path.is_relative_to(own) for path in found for own in written
        ):
            raise InputError(
                f"{where}: contains {written[0]} and what else a run writes; put the library into "
                "a folder of its own"
            )


def check_machine(plan: Workplan) -> None:
    """Raise DeviceError where this machine has no device, or not the one of LIGEN_DEVICE.

    UsageError where RDKit cannot draw the report's molecules.
    """
    select_all(None)
    if plan.pockets:
        drawer()


def _check_networks(plan: Workplan) -> None:
    """Read the networks that a campaign uses."""
    if plan.settings.networks.best:
        place = plan.config.place("networks", "best")
    elif NETWORKS in plan.settings.score.functions:
        place = plan.config.place("score", "functions")
    else:
        return
    try:
        load(FILES)
    except InputError as error:
        raise InputError(f"{place}: {error}") from error


def _check_search(plan: Workplan, section: str, name: str) -> None:
    """Read queries, matrix and how a database begins, guides, or a design's gene; no genome."""
    if section == "homologs":
        asked_for = plan.settings.homologs[name]
        if asked_for.query is not None:
            read_proteins(plan.resolve(asked_for.query))
        matrix = asked_for.matrix
        read_matrix(str(plan.resolve(matrix)) if names_file("matrix", matrix) else matrix)
        database = plan.resolve(asked_for.database)
        if database.suffix not in (".h5", ".hdf5"):
            next(read_fasta(database))
        return
    if section == "offtargets":
        search = plan.settings.offtargets[name]
        if search.guides is not None:
            asked = search.model_dump(include=set(IN_INPUT))
            as_query(plan.resolve(search.guides), **asked, setting="key '{}'")
        return
    design = plan.settings.guides[name]
    if design.annotation is not None:
        annotation = read_annotation(plan.resolve(design.annotation))
        if design.gene is not None:
            annotation.gene(design.gene)
    if design.cds is not None:
        of_sequences(plan.resolve(design.cds), enzyme_of(design))


def _check_sizes(plan: Workplan) -> None:
    """A library that is one file has something in it; of several files some may be empty."""
    for library, settings in plan.settings.libraries.items():
        if settings.file is None:
            continue
        for file in plan.files(library):
            if not file.size:
                raise InputError(
                    f"{plan.config.place('libraries', library, 'file')}: {file.path}: contains no "
                    "molecules; give a file with one or more records"
                )


def _check_known(plan: Workplan) -> None:
    """A file of known binders, decoys or references has a record: the jobs need one."""
    given: list[tuple[tuple[str, ...], str | None]] = [
        (("controls", target, key), getattr(control, key))
        for target, control in plan.settings.controls.items()
        for key in CONTROL_FILES
    ]
    for keys, file in [*given, (("report", "references"), plan.settings.report.references)]:
        if file is None:
            continue
        path = plan.resolve(file, *keys)
        try:
            if next(records(path), None) is None:
                raise InputError(f"{path}: {no_molecules(path)}")
        except InputError as error:
            raise InputError(f"{plan.config.place(*keys)}: {error}") from error


def _compressed(plan: Workplan) -> Iterator[tuple[str, Path]]:
    for library, settings in plan.settings.libraries.items():
        if settings.file is not None:
            for file in plan.files(library):
                if file.path.suffix.lower() in COMPRESSED:
                    yield library, file.path
