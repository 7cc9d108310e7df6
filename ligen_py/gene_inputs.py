"""What a design of guides is given: a gene, a genome, and perhaps sites that were found before."""

import argparse
import logging
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ligen_py import cli
from ligen_py.engine.offtargets.design import enzyme_of, query_of
from ligen_py.errors import InputError
from ligen_py.genome_inputs import add_genome, add_part
from ligen_py.provenance import Input
from ligen_py.records.column import Record
from ligen_py.records.offtargets import Guides
from ligen_py.sequences.genes import SOME, Annotation, read_annotation
from ligen_py.sequences.genome import read_genome
from ligen_py.sequences.guides import Query
from ligen_py.sequences.planes import Genome
from ligen_py.sequences.spacers import Spacer, of_gene, of_sequences
from ligen_py.settings.guides import GuidesSettings
from ligen_py.store.files.inputs import input_digests

log = logging.getLogger("ligen_py")


class Inputs(NamedTuple):
    """What the stage reads."""

    genome: Path
    cache: Path | None = None
    cds: Path | None = None
    annotation: Path | None = None
    gene: str | None = None
    part: tuple[int, int] | None = None
    """Number, and of so many: search this part of the genome, and rank nothing."""
    sites: tuple[Path, ...] = ()
    """Offtargets files of all parts, in place of a search."""
    tables: Path | None = None
    """Folder for text files."""


class Task(NamedTuple):
    """A checked design."""

    genome: Genome
    spacers: list[Spacer]
    query: Query
    annotation: Annotation | None
    files: tuple[Path | Input, ...]


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the gene, the genome and its part."""
    gene = parser.add_mutually_exclusive_group(required=True)
    gene.add_argument("--cds", type=cli.input_file, help="FASTA file of the coding sequence")
    gene.add_argument("--gene", help="gene or transcript of the annotation")
    parser.add_argument(
        "--annotation",
        type=cli.input_file,
        help="GTF, GFF3 or BED file: exons, and off-targets within coding sequence",
    )
    add_genome(parser, required=True)
    add_part(parser, None, "search only this part of the genome, into an offtargets file")
    parser.add_argument(
        "--sites", type=cli.input_file, nargs="+", metavar="FILE", default=(),
        help="offtargets files of all parts, in place of a search",
    )  # fmt: skip


def inputs_of(options: argparse.Namespace) -> Inputs:
    """The files that a command line names; InputError where they do not fit together."""
    if options.part and (options.sites or not options.output or options.tables):
        raise InputError("command line: --part needs --output, without --sites or --tables")
    part = (options.part.index, options.part.count) if options.part else None
    return Inputs(
        options.genome, options.cache, options.cds, options.annotation, options.gene, part,
        tuple(options.sites), options.tables,
    )  # fmt: skip


def task_of(inputs: Inputs, settings: GuidesSettings) -> Task:
    """Read the gene and the genome; InputError where there is no guide to search."""
    if inputs.gene is not None and inputs.annotation is None:
        raise InputError("command line: --gene needs --annotation; or give --cds")
    annotation = read_annotation(inputs.annotation) if inputs.annotation else None
    genome = read_genome(inputs.genome, inputs.cache)
    if annotation:
        _require_shared_names(annotation, genome, inputs.genome)
    enzyme = enzyme_of(settings)
    if inputs.cds:
        source, spacers = inputs.cds, of_sequences(inputs.cds, enzyme)
    else:
        assert annotation
        assert inputs.gene
        source = annotation.path
        spacers = of_gene(genome, annotation.gene(inputs.gene), source, enzyme)
    query = query_of(spacers, settings, str(source))
    genes = list(dict.fromkeys(one.gene for one in spacers))
    more = f" and {len(genes) - SOME} more" if len(genes) > SOME else ""
    log.info("%d guides of %s%s", len(spacers), ", ".join(genes[:SOME]), more)
    files = [path for path in (inputs.cds, inputs.annotation) if path]
    known = Input(inputs.genome.name, genome.digest())
    return Task(genome, spacers, query, annotation, (*files, known))


def _require_shared_names(annotation: Annotation, genome: Genome, path: Path) -> None:
    """InputError where no chromosome of the annotation is one of the genome: 1 is not chr1.

    Without this no off-target would be in coding sequence, and nothing would say why. Where the
    genome lacks some of the chromosomes a warning says how much is on them.
    """
    stretches = Counter(annotation.chromosome.tolist())
    known = set(genome.names)
    absent = [name for name in stretches if name not in known]
    if len(absent) == len(stretches):
        raise InputError(
            f"{annotation.path}: is of chromosomes such as {', '.join(absent[:SOME])}, but {path} "
            f"has {', '.join(genome.names[:SOME])}; give the annotation of this genome, with its "
            "names"
        )
    if absent:
        log.warning(
            "%s: %d of %d coding stretches are on chromosomes that %s lacks, such as %s, and do "
            "not count; if it has them under other names, give an annotation with its names",
            annotation.path,
            sum(stretches[name] for name in absent),
            stretches.total(),
            path,
            ", ".join(absent[:SOME]),
        )


def require_searched(task: Task, file: Path, run: Mapping[str, str], guides: Record) -> None:
    """InputError where a file of sites is not of a design's guides in its genome."""
    assert isinstance(guides, Guides)
    asked = [guide.sequence for guide in task.query.guides]
    if task.genome.digest() not in input_digests(file, run) or asked != guides.sequence.tolist():
        raise InputError(
            f"{file}: was searched for other guides, or in another genome; search all parts again"
        )
