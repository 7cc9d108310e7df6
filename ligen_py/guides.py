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

import numpy as np

from ligen_py import cli
from ligen_py.engine.offtargets.alignment import Alignments
from ligen_py.engine.offtargets.design import Designed, cuts, design, enzyme_of
from ligen_py.engine.offtargets.results import join, records_of, rows_of
from ligen_py.engine.offtargets.search import search, words_of
from ligen_py.errors import InputError
from ligen_py.gene_inputs import Inputs, Task, add_inputs, inputs_of, require_searched, task_of
from ligen_py.genome_inputs import read_parts
from ligen_py.opencl.device import labels, select_all
from ligen_py.pace import Pace
from ligen_py.provenance import Run
from ligen_py.records.column import Record
from ligen_py.records.guides import GUIDES, GuideRole, GuideVerdict
from ligen_py.records.offtargets import OFFTARGETS, Chromosomes, OffTargets
from ligen_py.sequences.genes import Annotation
from ligen_py.settings.guides import GuidesSettings
from ligen_py.store.files.text import write_texts
from ligen_py.store.files.write import write
from ligen_py.summary.guides import guides_bed, guides_tsv, offtargets_tsv

log = logging.getLogger("ligen_py")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.guides", __doc__, GuidesSettings)
    add_inputs(parser)
    cli.add_outputs(parser, "file to write", "folder for guides.tsv, .bed, offtargets.tsv")
    cli.add_device(parser, cli.EACH)
    return cli.run(parser, argv, _stage)


def _stage(options: argparse.Namespace) -> None:
    settings: GuidesSettings = cli.settings_from(GuidesSettings, options)
    if not (options.output or options.tables):
        raise InputError("command line: give --output, --tables, or both")
    run(inputs_of(options), settings, options.device, options.output)


def run(inputs: Inputs, settings: GuidesSettings, device: str | None, output: Path | None) -> None:
    """Search the genome for the guides' sites, and rank the guides, unless `inputs` asks for less.

    Without `output` only the tables are written.
    """
    task = task_of(inputs, settings)
    used = ""
    if inputs.sites:
        records = _joined(inputs.sites, settings, task)
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


def _search(task: Task, part: tuple[int, int], device: str | None) -> tuple[dict[str, Record], str]:
    chosen = select_all(device)
    began = time.perf_counter()
    pace = Pace("bases searched", task.genome.bases_in(words_of(task.genome, part)))
    sites, seconds = search(chosen, task.query, task.genome, part, done=pace.add)
    # A candidate for a control must be far from a site in each alignment with it.
    candidate = sites.guide >= len(task.spacers)
    some = [
        rows_of(task.genome, task.query, sites.taken(mine), False, False, nearest)
        for mine, nearest in ((~candidate, False), (candidate, True))
    ]
    rows = Alignments.joined([rows for rows, _ in some], some[0][0].dna.shape[1])
    log.info(
        "%d guides with candidates for controls, %d bases, %d sites; %.2f s (kernels %.3f s)",
        len(task.query.guides), task.genome.bases, len(rows.guide),
        time.perf_counter() - began, sum(seconds.values()),
    )  # fmt: skip
    count = some[0][1] + some[1][1]
    return records_of(task.genome, task.query, rows, count, 0, part), labels(chosen)


def _joined(files: Sequence[Path], settings: GuidesSettings, task: Task) -> dict[str, Record]:
    """The sites of all parts, which must be of these settings, guides and genome."""
    first, parts = read_parts(files, "guides")
    if json.loads(first["settings"]) != settings.model_dump():
        raise InputError(f"{files[0]}: was searched with other settings; search all parts again")
    require_searched(task, files[0], first, parts[0]["guides"])
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
            "only %d of %d controls have no site with %d mismatches or fewer; "
            "give a lower control_mismatches, or try another seed",
            controls,
            settings.controls,
            settings.control_mismatches,
        )
    if (guides.verdict[of_genes] == GuideVerdict.NO_SITE).all():
        log.warning("no guide has its own site in the genome; is it the gene's genome?")


if __name__ == "__main__":
    sys.exit(main())
