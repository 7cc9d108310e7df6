"""Searches of sequences in a campaign: what they read, their parts, files and flags.

Searches of homologs find anti-targets of a target, those of genomes off-targets and guides.
"""

import re
import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ligen_py.campaign.names import ANTI
from ligen_py.campaign.sections import narrowed
from ligen_py.chain import BEST, SEQUENCES, STAGES
from ligen_py.sequences.genome import files_of
from ligen_py.sequences.guides import found_from, read_cas_offinder
from ligen_py.sequences.substitution import MATRICES
from ligen_py.settings.campaign import SEARCHES
from ligen_py.settings.flags import flags
from ligen_py.settings.offtargets import IN_INPUT
from ligen_py.settings.section import Section

if TYPE_CHECKING:
    from ligen_py.campaign.workplan import Workplan

SEARCH_FILES = ("query", "database", "matrix")
"""Keys of a search of homologs that name files; a matrix may be a name."""

PARTS = {"homologs": "homologs", "offtargets": "offtargets", "guides": "guide_sites"}
"""Section of a search -> rule that makes its parts."""

TABLES = {
    "panel": ("homologs", ("hits.txt", "hits.tsv", "hits.blast.tsv")),
    "sites": (
        "offtargets",
        ("offtargets.tsv", "counts.tsv", "offtargets.bed", "cas-offinder-3.txt", "summary.txt"),
    ),
    "guides": ("guides", ("guides.tsv", "guides.bed", "offtargets.tsv")),
}
"""Rule -> section of its searches, and the tables that it writes beside its file."""

GENOME_FILES = {"offtargets": ("input", "guides"), "guides": ("cds", "annotation")}
"""Keys of a search of a genome that name files, beside the genome itself."""


def names_file(field: str, given: str) -> bool:
    """Is what a key of `SEARCH_FILES` says a file? BLOSUM62 is none, whatever lies beside."""
    return field != "matrix" or given.upper() not in MATRICES


@dataclass(frozen=True)
class Searches:
    """The searches of a campaign, by section of the config and name."""

    plan: "Workplan"

    def sources(self, section: str, search: str) -> list[Path]:
        """The files from outside that a search is made from; those of its genome are the last."""
        settings = getattr(self.plan.settings, section)[search]
        if section in GENOME_FILES:
            given = (getattr(settings, field) for field in GENOME_FILES[section])
            own = [self.plan.resolve(path) for path in given if path is not None]
            return [*own, *files_of(self.genome_paths[section, search])]
        given = ((field, getattr(settings, field)) for field in SEARCH_FILES)
        own = [
            self.plan.resolve(path)
            for field, path in given
            if path is not None and names_file(field, path) and self.plan.resolve(path).is_file()
        ]
        if settings.query is None:
            own.append(Path(self.homolog_files(search, "")["receptor"]))
        return own

    def parts(self, section: str, search: str) -> list[str]:
        """The parts of a search's database or genome."""
        count = getattr(self.plan.settings, section)[search].chunks
        return [f"{number}-of-{count}" for number in range(1, count + 1)]

    def part_files(self, section: str, search: str, results: str) -> list[str]:
        """The files of these parts."""
        stage = SEQUENCES[PARTS[section]]
        parts = self.parts(section, search)
        return [stage.file(results, search=search, chunk=part) for part in parts]

    def every_part_file(self, results: str) -> list[str]:
        """The files of all parts of all searches."""
        return [
            file
            for section in SEARCHES
            for search in getattr(self.plan.settings, section)
            for file in self.part_files(section, search, results)
        ]

    def converted(self, results: str) -> list[str]:
        """What the parts of all searches are made from: databases, and planes of genomes."""
        files = [
            self.homolog_files(search, results)["database"]
            for search in self.plan.settings.homologs
        ]
        return [*files, *(SEQUENCES["genome"].file(results, genome=one) for one in self.genomes)]

    def tables(self, results: str) -> list[Path]:
        """The tables of all searches."""
        return [
            Path(SEQUENCES[rule].file(results, search=search)).with_name(name)
            for rule, (section, names) in TABLES.items()
            for search in getattr(self.plan.settings, section)
            for name in names
        ]

    @cached_property
    def genome_paths(self) -> dict[tuple[str, str], Path]:
        """The genome of each search of one, by section and name."""
        found = {}
        for section in GENOME_FILES:
            for name, search in getattr(self.plan.settings, section).items():
                if search.genome is not None:
                    genome = self.plan.resolve(search.genome, section, name, "genome")
                else:
                    given = self.plan.resolve(search.input)
                    # A campaign's paths start from its config, wherever a command is typed.
                    genome = found_from(given, read_cas_offinder(given).genome, self.plan.folder)
                found[section, name] = genome
        return found

    @cached_property
    def genomes(self) -> dict[str, Path]:
        """Every genome that is searched, under a name for its folder of bit planes."""
        result: dict[str, Path] = {}
        # Searches may name one genome in several ways, as a/genome.fa and b/../a/genome.fa.
        same = {path.resolve(): path for path in reversed(self.genome_paths.values())}
        for genome in dict.fromkeys(same[path.resolve()] for path in self.genome_paths.values()):
            stem = re.sub(r"[^A-Za-z0-9_-]+", "_", genome.name.split(".")[0]).strip("_") or "genome"
            name, number = stem, 1
            while name in result:
                number += 1
                name = f"{stem}_{number}"
            result[name] = genome
        return result

    def genome_folder(self, section: str, search: str, results: str) -> str:
        """The folder of bit planes that a search reads."""
        wanted = self.genome_paths[section, search].resolve()
        name = next(name for name, genome in self.genomes.items() if genome.resolve() == wanted)
        return SEQUENCES["genome"].file(results, genome=name)

    def genome_files(self, section: str, search: str, results: str) -> dict[str, str]:
        """What a search of a genome reads, by the flags of its stage; `cache` are its planes."""
        settings = getattr(self.plan.settings, section)[search]
        files = {
            field: str(self.plan.resolve(given))
            for field in GENOME_FILES[section]
            if (given := getattr(settings, field)) is not None
        }
        files["genome"] = str(self.genome_paths[section, search])
        return files | {"cache": self.genome_folder(section, search, results)}

    def genome_words(self, section: str, search: str, results: str) -> str:
        """These files, and the gene, as words of a command line."""
        files = self.genome_files(section, search, results)
        words = [word for name, path in files.items() for word in (f"--{name}", path)]
        gene = getattr(getattr(self.plan.settings, section)[search], "gene", None)
        return shlex.join([*words, *(["--gene", gene] if gene else [])])

    def offtarget_flags(self, search: str) -> str:
        """Settings of `offtargets` for a search, but for those that stand in its input file."""
        settings = self.plan.settings.offtargets[search]
        own = self._own("offtargets", settings)
        return flags(own, leave=IN_INPUT if settings.input else ())

    def guide_flags(self, search: str) -> str:
        """Settings of `guides` for a design."""
        return flags(self._own("guides", self.plan.settings.guides[search]))

    def homolog_files(self, search: str, results: str) -> dict[str, str]:
        """What a search reads, by the flags of `homologs`; a matrix only where it is a file."""
        settings = self.plan.settings.homologs[search]
        database = self.plan.resolve(settings.database)
        converted = database.suffix in (".h5", ".hdf5")
        found = {
            "database": str(
                database if converted else SEQUENCES["database"].file(results, search=search)
            )
        }
        if settings.query is not None:
            found["query"] = str(self.plan.resolve(settings.query))
        else:
            sites = [
                n
                for n, docked in self.plan.pockets.items()
                if self.plan.keys(docked)[1] == settings.target
            ]
            found["receptor"] = str(self.plan.receptor(sites[0]))
            found["pocket"] = f"{results}/pockets/{sites[0]}.h5"
        if names_file("matrix", settings.matrix):
            found["matrix"] = str(self.plan.resolve(settings.matrix))
        return found

    def homolog_flags(self, search: str) -> str:
        """Settings of `homologs` for a search, without the files."""
        settings = self.plan.settings.homologs[search]
        given = (
            {"matrix": str(self.plan.resolve(settings.matrix))}
            if names_file("matrix", settings.matrix)
            else {}
        )
        return flags(self._own("homologs", settings, **given))

    @cached_property
    def selective(self) -> list[str]:
        """Searches of homologs with structures of anti-targets."""
        return [name for name, search in self.plan.settings.homologs.items() if search.structures]

    def any_selective(self) -> str:
        """A pattern of these names; it may match none."""
        return "|".join(map(re.escape, self.selective)) or "(?!)"

    def ranked_targets(self, search: str) -> list[str]:
        """The names under which the target of a search is ranked: one for each of its sites."""
        target = self.plan.settings.homologs[search].target
        of = (one.target for one in self.plan.pockets.values() if self.plan.keys(one)[1] == target)
        return list(dict.fromkeys(of))

    def best_flags(self, search: str) -> str:
        """Settings of `best` for a search."""
        return flags(self._own("best", self.plan.settings.homologs[search]))

    def antitargets(self, search: str) -> dict[str, str]:
        """The pockets of a search's anti-targets, by accession."""
        structures = self.plan.settings.homologs[search].structures
        return {accession: f"{ANTI}{search}.{accession}" for accession in structures}

    def antitarget_scores(self, search: str, results: str) -> dict[str, str]:
        """Scores files of the best ligands in each anti-target, by accession."""
        return {
            accession: STAGES["score"].file(
                results, target=pocket, library=f"{BEST}{search}", chunk="1-of-1"
            )
            for accession, pocket in self.antitargets(search).items()
        }

    def panel_flags(self, search: str) -> str:
        """Settings of `panel` for a search."""
        return flags(self._own("panel", self.plan.settings.homologs[search]))

    @staticmethod
    def _own(rule: str, settings: Section, **other: Any) -> Section:
        """Of a search's settings those of one stage, some with other values."""
        return narrowed(settings, SEQUENCES[rule].settings, **other)

    def reported(self, results: str) -> list[str]:
        """The files of searches that the report shows."""
        made = {
            "panel": self.plan.settings.homologs,
            "selectivity": self.selective,
            "sites": self.plan.settings.offtargets,
            "guides": self.plan.settings.guides,
        }
        return [
            SEQUENCES[rule].file(results, search=name)
            for rule, searches in made.items()
            for name in searches
        ]
