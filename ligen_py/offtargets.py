"""Find the off-target sites of CRISPR guides in a genome, with mismatches and bulges.

Reads an input file of Cas-OFFinder (2.x or 3.x), or a genome and guides; the genome is FASTA, plain
or compressed, .2bit, or a folder of these, and is kept as bit planes under a name that its content
gives. Writes an offtargets file, which accounts for every guide, and tables; --join makes one file
of the parts of a genome.
"""

import argparse
import logging
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from ligen_py import cli
from ligen_py.engine.offtargets.results import join, records_of, rows_of
from ligen_py.engine.offtargets.search import search, words_of
from ligen_py.errors import InputError
from ligen_py.genome_inputs import add_genome, add_part, read_parts, require_nothing_else
from ligen_py.molecules.library.record import WHOLE, Part
from ligen_py.opencl.device import labels, select_all
from ligen_py.pace import Pace
from ligen_py.provenance import Input, Run
from ligen_py.records.column import Record
from ligen_py.records.offtargets import OFFTARGETS
from ligen_py.sequences.genome import read_genome
from ligen_py.sequences.guides import (
    Query,
    as_query,
    begins_with_pam,
    found_from,
    read_cas_offinder,
)
from ligen_py.settings.offtargets import IN_INPUT, OfftargetsSettings
from ligen_py.store.files.write import write
from ligen_py.summary.offtargets import write_tables

log = logging.getLogger("ligen_py")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the stage from a command line; returns the exit code."""
    parser = cli.parser("ligen_py.offtargets", __doc__, OfftargetsSettings)
    parser.add_argument("--input", type=cli.input_file, help="input file of Cas-OFFinder")
    add_genome(parser, required=False)
    parser.add_argument(
        "--guides", type=cli.input_file, help="FASTA, or a table of id, sequence, mismatch limit"
    )
    add_part(parser, WHOLE, "part of the genome to search (default: 1-of-1)")
    parser.add_argument(
        "--join", type=cli.input_file, nargs="+", metavar="FILE", help="files of all parts, alone"
    )
    cli.add_outputs(parser, "offtargets file to write", "folder for TSV, BED, Cas-OFFinder's rows")
    cli.add_device(parser, cli.EACH)
    return cli.run(parser, argv, _stage)


class Inputs(NamedTuple):
    """What a search reads, and where it keeps genomes and writes tables."""

    input: Path | None
    """Input file of Cas-OFFinder; else genome and guides are given."""
    genome: Path | None
    guides: Path | None
    cache: Path
    part: Part
    join: Sequence[Path] | None
    """Files of all parts of a search, which is not done again."""
    tables: Path | None


def _stage(options: argparse.Namespace) -> None:
    settings: OfftargetsSettings = cli.settings_from(OfftargetsSettings, options)
    if options.join:
        require_nothing_else(options, ("input", "genome", "guides"), settings)
    inputs = (getattr(options, name) for name in Inputs._fields)
    run(Inputs(*inputs), settings, options.device, options.output)


def run(
    inputs: Inputs, settings: OfftargetsSettings, device: str | None, output: Path | None
) -> None:
    """Search a part of a genome, or join the parts of a search, and write the sites.

    Without `output` nothing but tables is written.
    """
    if not (output or inputs.tables):
        raise InputError("command line: give --output, --tables, or both")
    if inputs.join:
        made_by, records = _joined(inputs.join)
    else:
        made_by, records = _search(inputs, settings, device, output)
    if output:
        write(output, OFFTARGETS, made_by, records)
    if inputs.tables:
        pattern = made_by.settings.model_dump()["pattern"].upper()
        # All N, as for TALEN: no PAM.
        pam_first = begins_with_pam(pattern) if pattern.strip("N") else None
        write_tables(inputs.tables, records, pam_first)


def _joined(files: Sequence[Path]) -> tuple[Run, dict[str, Record]]:
    """The parts of one search as a whole, with the settings of the first."""
    first, parts = read_parts(files, "offtargets")
    settings = OfftargetsSettings.model_validate_json(first["settings"])
    records = join(parts, settings.max_rows_per_guide)
    return Run("offtargets", settings, tuple(files), first["device"]), records


def _search(
    inputs: Inputs, settings: OfftargetsSettings, device: str | None, output: Path | None
) -> tuple[Run, dict[str, Record]]:
    query, genome_path, settings, file = _asked(inputs, settings)
    cli.keep_input(output, genome_path, genome=True)  # which only the file of --input may name
    began = time.perf_counter()
    with ThreadPoolExecutor(1) as thread:
        reading = thread.submit(read_genome, genome_path, inputs.cache)
        chosen, genome = select_all(device), reading.result()
    read = time.perf_counter()
    part = inputs.part.index, inputs.part.count
    pace = Pace("bases searched", genome.bases_in(words_of(genome, part)))
    sites, seconds = search(chosen, query, genome, part, done=pace.add)
    most = settings.max_rows_per_guide
    rows, count = rows_of(genome, query, sites, settings.rows == "all", settings.skip_n, most=most)
    log.info(
        "%d guides, %d bases, %d rows; device and genome %.2f s, search %.2f s (kernels %.3f s)",
        len(query.guides), genome.bases, count.sum(), read - began,
        time.perf_counter() - read, sum(seconds.values()),
    )  # fmt: skip
    read_from = file, Input(genome_path.name, genome.digest())
    made_by = Run("offtargets", settings, read_from, labels(chosen))
    return made_by, records_of(genome, query, rows, count, most, part)


def _asked(
    inputs: Inputs, settings: OfftargetsSettings
) -> tuple[Query, Path, OfftargetsSettings, Path]:
    """The query, the genome, the settings that hold, and the file of the guides."""
    if inputs.input:
        told = set(IN_INPUT) & settings.model_fields_set
        if inputs.guides or told:
            given = "--guides" if inputs.guides else f"--{min(told).replace('_', '-')}"
            raise InputError(f"command line: {given} stands in the file of --input; leave it out")
        genome, query = read_cas_offinder(inputs.input)
        genome = inputs.genome or found_from(inputs.input, genome)
        told_by_file = {"pattern": query.pattern, "dna_bulge": query.dna_bulge}
        told_by_file |= {"rna_bulge": query.rna_bulge}
        return query, genome, settings.model_copy(update=told_by_file), inputs.input
    if not (inputs.genome and inputs.guides):
        raise InputError("command line: give --input, or --genome and --guides, or --join")
    query = as_query(inputs.guides, **settings.model_dump(include=set(IN_INPUT)))
    return query, inputs.genome, settings, inputs.guides


if __name__ == "__main__":
    sys.exit(main())
