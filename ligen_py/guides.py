"""Choose guides that knock a gene out, by their off-targets in a genome, and controls.

Reads a genome and the gene: its coding sequence (FASTA), or its name in an annotation (GTF, GFF3 or
BED). Every place with a PAM is a guide. Writes the guides, best first, with their off-targets by
mismatches, MIT specificity and exons; behind them non-targeting controls.

With --part only a part of the genome is searched, into an offtargets file; --sites ranks the guides
by the files of all parts.
"""

import argparse
import json
import logging
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ligen_py import cli
from ligen_py.engine.offtargets.design import Designed, cuts, design, enzyme_of, query_of
from ligen_py.engine.offtargets.results import join, records_of, rows_of
from ligen_py.engine.offtargets.search import search
from ligen_py.errors import InputError
from ligen_py.genome_inputs import add_genome, add_part
from ligen_py.opencl.device import labels, select_all
from ligen_py.pace import Pace
from ligen_py.provenance import Input, Run
from ligen_py.records.column import Record
from ligen_py.records.guides import GUIDES, GuideRole, GuideVerdict
from ligen_py.records.offtargets import OFFTARGETS, Chromosomes, OffTargets
from ligen_py.sequences.genes import Annotation, read_annotation
from ligen_py.sequences.genome import read_genome
from ligen_py.sequences.guides import Query
from ligen_py.sequences.planes import Genome
from ligen_py.sequences.spacers import Spacer, of_gene, of_sequences
from ligen_py.settings.guides import GuidesSettings
from ligen_py.store.files.read import read, run_record
from ligen_py.store.files.text import write_texts
from ligen_py.store.files.write import write
from ligen_py.summary.guides import guides_bed, guides_tsv, offtargets_tsv

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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.guides", __doc__, GuidesSettings)
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
    parser.add_argument("--output", type=Path, help="file to write")
    parser.add_argument("--tables", type=Path, help="folder for guides.tsv, .bed, offtargets.tsv")
    cli.add_device(parser, several=True)
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    settings: GuidesSettings = cli.settings_from(GuidesSettings, options)
    if not (options.output or options.tables):
        raise InputError("command line: give --output, --tables, or both")
    if options.part and (options.sites or not options.output or options.tables):
        raise InputError("command line: --part needs --output, without --sites or --tables")
    part = (options.part.index, options.part.count) if options.part else None
    inputs = Inputs(
        options.genome, options.cache, options.cds, options.annotation, options.gene, part,
        tuple(options.sites), options.tables,
    )  # fmt: skip
    run(inputs, settings, options.device, options.output)


def run(inputs: Inputs, settings: GuidesSettings, device: str | None, output: Path | None) -> None:
    """Search the genome for the guides' sites, and rank the guides, unless `inputs` asks for less.

    Without `output` only the tables are written.
    """
    task = _task(inputs, settings)
    used = ""
    if inputs.sites:
        records = _joined(inputs.sites, settings)
    else:
        records, used = _search(task, inputs.part or (1, 1), device)
    run_of = Run("guides", settings, (*task.files, *inputs.sites), used)
    if inputs.part:
        assert output
        write(output, OFFTARGETS, run_of, records)
        return
    rows, chromosomes = records["rows"], records["chromosomes"]
    assert isinstance(rows, OffTargets)
    assert isinstance(chromosomes, Chromosomes)
    found = design(task.spacers, task.query, rows, chromosomes, settings, task.annotation)
    _report(found, settings)
    if output:
        write(output, GUIDES, run_of, {"guides": found.guides, "chromosomes": chromosomes})
    if inputs.tables:
        window = len(task.query.pattern)
        listed = found.guides, chromosomes
        genes = _genes(found, chromosomes, settings, task.annotation)
        texts = {
            "guides.tsv": guides_tsv(*listed, settings.mismatches),
            "guides.bed": guides_bed(*listed, window),
            "offtargets.tsv": offtargets_tsv(*listed, found.offtargets, found.own, genes),
        }
        write_texts(inputs.tables, texts)


def _task(inputs: Inputs, settings: GuidesSettings) -> Task:
    if inputs.gene is not None and inputs.annotation is None:
        raise InputError("command line: --gene needs --annotation; or give --cds")
    annotation = read_annotation(inputs.annotation) if inputs.annotation else None
    genome = read_genome(inputs.genome, inputs.cache)
    enzyme = enzyme_of(settings)
    if inputs.cds:
        source, spacers = inputs.cds, of_sequences(inputs.cds, enzyme)
    else:
        assert annotation
        assert inputs.gene
        source = annotation.path
        spacers = of_gene(genome, annotation.gene(inputs.gene), source, enzyme)
    if not spacers:
        raise InputError(
            f"{source}: no guide of {enzyme.length} bases with PAM {enzyme.pam} fits the coding "
            "sequence; give another PAM"
        )
    query = query_of(spacers, settings, str(source))
    log.info("%d guides of %s", len(spacers), ", ".join(dict.fromkeys(s.gene for s in spacers)))
    files = [path for path in (inputs.cds, inputs.annotation) if path]
    known = Input(inputs.genome.name, genome.digest())
    return Task(genome, spacers, query, annotation, (*files, known))


def _search(task: Task, part: tuple[int, int], device: str | None) -> tuple[dict[str, Record], str]:
    chosen = select_all(device)
    began = time.perf_counter()
    pace = Pace("bases searched", task.genome.bases // part[1])
    sites, seconds = search(chosen, task.query, task.genome, part, tell=pace.add)
    rows = rows_of(task.genome, task.query, sites, every=False, skip_n=False)
    log.info(
        "%d guides with candidates for controls, %d bases, %d sites; %.2f s (kernels %.3f s)",
        *(len(task.query.guides), task.genome.bases, len(rows.guide)),
        *(time.perf_counter() - began, sum(seconds.values())),
    )
    return records_of(task.genome, task.query, rows, 0, part), labels(chosen)


def _joined(files: Sequence[Path], settings: GuidesSettings) -> dict[str, Record]:
    """The sites of all parts, which must be of these settings and one another."""
    records = [run_record(file, OFFTARGETS) for file in files]
    for file, one in zip(files, records, strict=True):
        if one["stage"] != "guides" or json.loads(one["settings"]) != settings.model_dump():
            raise InputError(f"{file}: was searched with other settings; search all parts again")
        if one["inputs"] != records[0]["inputs"]:
            raise InputError(f"{file}: was made from other files than {files[0]}; search it again")
    parts = [
        {name: read(file, OFFTARGETS, kind) for name, kind in OFFTARGETS.groups.items()}
        for file in files
    ]
    return join(parts, 0)


def _genes(
    found: Designed,
    chromosomes: Chromosomes,
    settings: GuidesSettings,
    annotation: Annotation | None,
) -> list[str]:
    """The gene whose coding sequence each site's cut is in; empty for none."""
    rows = found.offtargets
    if annotation is None:
        return [""] * len(rows.guide)
    places = cuts(rows, enzyme_of(settings))
    stretches = annotation.coding(chromosomes.name[rows.chromosome], places)
    return [str(annotation.name[one]) if one >= 0 else "" for one in stretches]


def _report(found: Designed, settings: GuidesSettings) -> None:
    guides = found.guides
    of_genes = guides.role == GuideRole.GENE
    good = of_genes & (guides.verdict == GuideVerdict.GOOD)
    controls = int(np.count_nonzero(~of_genes))
    log.info("%d of %d guides are good; %d controls", good.sum(), of_genes.sum(), controls)
    if controls < settings.controls:
        log.warning(
            "only %d of %d controls have no site with %d mismatches or fewer; try another seed",
            *(controls, settings.controls, settings.control_mismatches),
        )
    if (guides.verdict[of_genes] == GuideVerdict.NO_SITE).all():
        log.warning("no guide has its own site in the genome; is it the gene's genome?")


if __name__ == "__main__":
    sys.exit(main())
