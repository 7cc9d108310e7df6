"""What a search of homologs is given: queries with their binding sites, and a database."""

import argparse
import logging
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ligen_py import cli
from ligen_py.database import convert
from ligen_py.errors import InputError, OutputError
from ligen_py.molecules.library.record import WHOLE, Part
from ligen_py.molecules.receptor.chains import lining, protein_chains
from ligen_py.paths import cache_folder
from ligen_py.provenance import Input
from ligen_py.records.pocket import POCKET, GeometricField, Receptor
from ligen_py.sequences.digests import Known
from ligen_py.sequences.fasta import FastaRecord
from ligen_py.sequences.proteins import Proteins, collect, read_proteins, residue_numbers
from ligen_py.store.files.read import read
from ligen_py.store.sequences.database import is_database, open_database

log = logging.getLogger("ligen_py")


class Inputs(NamedTuple):
    """What a search reads, and where it keeps converted databases and writes tables."""

    query: Path | None
    receptor: Path | None
    pocket: Path | None
    site: tuple[int, ...] | None
    """Residues, from 1, of the one query's binding site."""
    database: Path
    cache: Path
    part: Part
    tables: Path | None


class Queries(NamedTuple):
    """Proteins, the residues (from 0) of each one's binding site, and the files they come from."""

    proteins: Proteins
    sites: list[list[int]]
    files: tuple[Path, ...]


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Add the flags of queries and database, and of its part."""
    query = parser.add_mutually_exclusive_group(required=True)
    query.add_argument("--query", type=cli.input_file, help="FASTA file, plain or compressed")
    query.add_argument(
        "--receptor", type=cli.input_file, help="PDB or mmCIF file: its protein chains, as shown"
    )
    parser.add_argument(
        "--pocket",
        type=cli.input_file,
        help="pocket file of the receptor: identity over the residues that line it, too",
    )
    parser.add_argument(
        "--site",
        type=cli.parsed(residue_numbers),
        metavar="RESIDUES",
        help="residues of the one query's binding site, such as 12,34-40, in place of a pocket",
    )
    parser.add_argument(
        "--database", type=cli.input_file, required=True, help="FASTA file, or file of `database`"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=cache_folder("databases"),
        help="folder of converted databases (default: %(default)s)",
    )
    parser.add_argument(
        "--part",
        type=cli.parsed(Part.parse),
        default=WHOLE,
        metavar="K-of-N",
        help="part of the database to search (default: 1-of-1)",
    )


def inputs_of(options: argparse.Namespace) -> Inputs:
    """The inputs that a command line names."""
    return Inputs(*(getattr(options, name) for name in Inputs._fields))


def queries_of(inputs: Inputs) -> Queries:
    """Read the queries; InputError where they do not fit together."""
    if inputs.pocket and not inputs.receptor:
        raise InputError("command line: --pocket belongs to --receptor; give --site for a --query")
    if inputs.receptor:
        if inputs.site:
            raise InputError("command line: --site belongs to --query; give --pocket")
        return _chains(inputs.receptor, inputs.pocket)
    if not inputs.query:
        raise InputError("command line: give --query or --receptor")
    found = read_proteins(inputs.query)
    if found.unknown:
        log.info("queries: %d letters U, O or J are read as X", found.unknown)
    empty = [
        name for name, letters in zip(found.name, found.letters, strict=True) if not len(letters)
    ]
    if empty:
        log.warning(
            "%s: queries without residues, which have no hits: %d, such as %s",
            inputs.query,
            len(empty),
            empty[0],
        )
    site = [number - 1 for number in inputs.site or ()]
    if site and (len(found) != 1 or site[-1] >= found.residues):
        has = f"residues 1 to {found.residues}" if len(found) == 1 else f"{len(found)} queries"
        cure = "give residues of the query" if len(found) == 1 else "give a file of one query"
        raise InputError(
            f"{inputs.query}: --site names residues up to {site[-1] + 1} of one query, but the "
            f"file has {has}; {cure}"
        )
    return Queries(found, [site] * len(found), (inputs.query,))


def _chains(receptor: Path, pocket: Path | None) -> Queries:
    """A receptor's chains, each sequence once."""
    lines: set[str] = set()
    if pocket:
        atoms, field = read(pocket, POCKET, Receptor), read(pocket, POCKET, GeometricField)
        lines = lining(atoms.label, atoms.xyz, field.anchor)
    chains = {chain.sequence: chain for chain in reversed(protein_chains(receptor))}
    # Of equal chains the one with most of the site.
    for chain in protein_chains(receptor):
        held = len(lines & set(chains[chain.sequence].residues))
        if len(lines & set(chain.residues)) > held:
            chains[chain.sequence] = chain
    chosen = sorted(chains.values(), key=lambda chain: chain.name)
    stem = receptor.name.split(".")[0]
    records = [
        FastaRecord(f"{stem}_{one.name}", f"{stem}_{one.name}", one.sequence.encode())
        for one in chosen
    ]
    sites = [[n for n, place in enumerate(one.residues) if place in lines] for one in chosen]
    if lines and not any(sites):
        raise InputError(f"{pocket}: none of its residues is in {receptor}; give its own receptor")
    files = (receptor, *([pocket] if pocket else []))
    return Queries(collect(records, receptor), sites, files)


def database_of(given: Path, cache: Path, ending: ExitStack) -> tuple[Path, Path | Input]:
    """The database file of a database file or FASTA file, and what a run read it from.

    That of a FASTA file is in the cache under its content, converted now where it is not there yet.
    A FASTA file whose path, size and times are as they were is not read for that. Where the cache
    cannot be written, the database is in a temporary folder until `ending` closes.
    """
    if is_database(given):
        return given, given
    known = Known(cache)
    source = Input(given.name, known.digest(given) or known.hash(given))
    kept = cache / f"{source.sha256}.h5"
    if not (kept.exists() and _is_whole(kept)):
        try:
            convert(given, kept)
        except OutputError as error:
            log.warning("%s; the database is not kept", str(error).partition(";")[0])
            folder = ending.enter_context(TemporaryDirectory(prefix="ligen-"))
            kept = Path(folder) / kept.name
            convert(given, kept)
    return kept, source


def _is_whole(kept: Path) -> bool:
    """Whether a converted database can be read; one that cannot is made again, with a warning."""
    try:
        with open_database(kept):
            return True
    except InputError as error:
        log.warning("%s; it is converted again", str(error).partition(";")[0])
        return False
