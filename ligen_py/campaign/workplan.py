"""The files, parts and flags of a campaign's stages.

A part is one chunk of one library against one target. What belongs to controls, to searches of
sequences, and to memory and time, is in modules of their own.
"""

import importlib.resources
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import getitem
from pathlib import Path
from typing import Any

from ligen_py.campaign.controls import AS_DRAWN, CONTROL_FILES, UNFILTERED, Controls
from ligen_py.campaign.names import ANTI, CONTROL, OURS, check_file, check_names, check_path
from ligen_py.campaign.parts import Docked, Part
from ligen_py.campaign.resources import Resources
from ligen_py.campaign.searches import GENOME_FILES, SEARCH_FILES, Searches, names_file
from ligen_py.campaign.sections import narrowed
from ligen_py.chain import BETWEEN, FILES, SEQUENCES, STAGES, Stage, screen
from ligen_py.errors import InputError
from ligen_py.formats import LibraryFile, library_files, parts_of
from ligen_py.paths import NETWORKS_HINT, PACKAGE, network_folder, slurm_commands
from ligen_py.settings.campaign import NETWORKS, SEARCHES, Campaign, Target, lacks_networks
from ligen_py.settings.check import check
from ligen_py.settings.document import to_yaml
from ligen_py.settings.flags import flags
from ligen_py.settings.offtargets import IN_INPUT
from ligen_py.settings.parse import ParseOptions, Reading
from ligen_py.settings.pocket import Site, Structure
from ligen_py.settings.report import ReportSettings
from ligen_py.settings.section import Section
from ligen_py.settings.source import Source
from ligen_py.store.campaign.layout import CONFIG
from ligen_py.store.campaign.manifest import Listed, Manifest, PartFiles, digest_of
from ligen_py.store.campaign.parsed_library import parsed_chunks

SITE_FILES = ("ligand", "cavities")
"""Keys of a site that name files."""

INSTALLED = "package:"
"""What a path starts with that lies inside an installed Python package: package:NAME/PATH."""

MOST_CHUNKS = 100_000
"""Parts of a library; Snakemake plans a job of each for every target, 2 ms a job."""

MOST_IN_TURN = 1000
"""Parts that can be parsed one after another: each names all before it on its command line."""

LINK = 32
"""Every so many parts that are parsed one after another, all later ones await one."""


@dataclass(frozen=True)
class Workplan:
    """A checked campaign and the folder that its paths are relative to."""

    settings: Campaign
    folder: Path
    config: Source
    lacks_networks: bool = False
    """Whether energies alone choose and rank since gnina's networks are not installed."""

    @classmethod
    def of(cls, config: Mapping[str, Any], source: Source | str, folder: Path) -> "Workplan":
        """Check a config and the files it names.

        InputError names the source, the key, and the key's line where the source has it.
        """
        source = Source(source) if isinstance(source, str) else source
        settings = check(Campaign, config, source)
        plan = cls(settings, folder, source, bool(settings.targets) and lacks_networks(config))
        if NETWORKS in plan.settings.score.functions and network_folder() is None:
            raise InputError(
                f"{source.place('score', 'functions')}: the networks of 'gnina' are not installed; "
                f"{NETWORKS_HINT}, or take it out"
            )
        if plan.settings.networks.best and network_folder() is None:
            raise InputError(
                f"{source.place('networks', 'best')}: gnina's networks are not installed; "
                f"{NETWORKS_HINT}, or take it out"
            )
        check_names(plan)
        for keys, given in plan._files():
            check_file(plan.resolve(given, *keys), source.place(*keys))
        for (section, search), genome in plan.searches.genome_paths.items():
            where = source.place(section, search, "genome")
            check_path(genome, where)
            if not genome.exists():
                raise InputError(f"{where}: {genome} does not exist; correct the path")
        plan.chunk_files  # noqa: B018 (looks at every library)
        return plan

    @property
    def without_networks(self) -> str:
        """What to say where the effort lacks its networks; empty where it does not."""
        if not self.lacks_networks:
            return ""
        return (
            "gnina's networks, which choose poses and rank at this effort, are not installed, so "
            f"energies alone do; {NETWORKS_HINT}"
        )

    @cached_property
    def controls(self) -> Controls:
        """The controls of the targets."""
        return Controls(self)

    @cached_property
    def searches(self) -> Searches:
        """The searches of sequences."""
        return Searches(self)

    @cached_property
    def resources(self) -> Resources:
        """Memory and time that jobs request."""
        return Resources(self)

    def _files(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """The files that the config names, each with the keys to it."""
        for name, target in self.settings.targets.items():
            for conformation, file in _receptors(target).items():
                below = (conformation,) if conformation else ()
                yield ("targets", name, "receptor", *below), file
            sites: dict[tuple[str, ...], Site] = {("site",): target.site} if target.site else {}
            sites |= {("sites", key): site for key, site in target.sites.items()}
            for keys, site in sites.items():
                for field in SITE_FILES:
                    given = getattr(site, field)
                    if given is not None:
                        yield ("targets", name, *keys, field), given
            for residue, file in target.cofactor_files.items():
                yield ("targets", name, "cofactors", residue), file

        for name, control in self.settings.controls.items():
            for field in CONTROL_FILES:
                given = getattr(control, field)
                if given is not None:
                    yield ("controls", name, field), given
        if self.settings.report.references is not None:
            yield ("report", "references"), self.settings.report.references
        for name, search in self.settings.homologs.items():
            for accession, anti in search.structures.items():
                above = "homologs", name, "structures", accession
                yield (*above, "receptor"), anti.receptor
                for field in SITE_FILES:
                    given = getattr(anti.site, field)
                    if given is not None:
                        yield (*above, "site", field), given
                for residue, file in anti.cofactor_files.items():
                    yield (*above, "cofactors", residue), file
            for field in SEARCH_FILES:
                given = getattr(search, field)
                if given is not None and names_file(field, given):
                    yield ("homologs", name, field), given

        for section, fields in GENOME_FILES.items():
            for name, search in getattr(self.settings, section).items():
                for field in fields:
                    given = getattr(search, field)
                    if given is not None:
                        yield (section, name, field), given

    def resolve(self, given: str, *keys: str) -> Path:
        """A path of the config: in an installed package, absolute, or relative to the config.

        InputError names the keys that lead to it.
        """
        if not given.strip():
            raise InputError(f"{self.config.place(*keys)}: is empty; name a file or a folder")
        if not given.startswith(INSTALLED):
            try:
                return self.folder / Path(given).expanduser()
            except RuntimeError as error:
                raise InputError(
                    f"{self.config.place(*keys)}: {given}: there is no such home folder; correct "
                    "the path"
                ) from error
        package, _, inside = given.removeprefix(INSTALLED).partition("/")
        spec = importlib.util.find_spec(package) if package.isidentifier() else None
        if spec is None or spec.submodule_search_locations is None:  # a module has no files
            raise InputError(
                f"{self.config.place(*keys)}: the Python package '{package}' is not installed; "
                f"install it ('pip install {package}') or give a path"
            )
        return Path(str(importlib.resources.files(package))) / inside

    def docked(self) -> Iterator[Docked]:
        """Every site of every target in each conformation; names may repeat until checked."""
        for name, target in self.settings.targets.items():
            sites = {name: target.site} if target.site else {}
            sites |= {f"{name}.{key}": site for key, site in target.sites.items()}
            for ranked, site in sites.items():
                for conformation, receptor in _receptors(target).items():
                    yield Docked(ranked, conformation, receptor, target, site)

    @cached_property
    def pockets(self) -> dict[str, Docked]:
        """Every pocket of the campaign by name, in the config's order."""
        return {docked.name: docked for docked in self.docked()}

    @cached_property
    def antitargets(self) -> dict[str, Docked]:
        """Pockets of the anti-targets, by name; they are no part of the ranking."""
        found = {}
        for search, settings in self.settings.homologs.items():
            for accession, anti in settings.structures.items():
                name = f"{ANTI}{search}.{accession}"
                found[name] = Docked(name, "", anti.receptor, anti, anti.site)
        return found

    @cached_property
    def every_pocket(self) -> dict[str, Docked]:
        """The pockets of targets and anti-targets."""
        return self.pockets | self.antitargets

    def place(self, pocket: str) -> str:
        """File, line and key of a pocket in the config, and its name where that is another one."""
        keys = self.keys(self.every_pocket[pocket])
        return self.config.place(*keys) + ("" if pocket == keys[-1] else f": '{pocket}'")

    def keys(self, docked: Docked) -> tuple[str, ...]:
        """The keys of a pocket's target or anti-target in the config."""
        for name, target in self.settings.targets.items():
            if target is docked.settings:
                return "targets", name
        return next(
            ("homologs", search, "structures", accession)
            for search, settings in self.settings.homologs.items()
            for accession, anti in settings.structures.items()
            if anti is docked.settings
        )

    def docked_into(self, pocket: str) -> Docked:
        """What a pocket is, also one for controls alone."""
        return self.every_pocket[self.controls.variants.get(pocket, (pocket,))[0]]

    def receptor(self, pocket: str) -> Path:
        """The structure file of a pocket."""
        return self.resolve(self.docked_into(pocket).receptor)

    def named_files(self, pocket: str) -> list[Path]:
        """The files that a pocket's site and cofactors name."""
        site = self.docked_into(pocket).site
        given = (getattr(site, field) for field in SITE_FILES)
        cofactors = self.docked_into(pocket).settings.cofactor_files.values()
        return [self.resolve(path) for path in (*given, *cofactors) if path is not None]

    def pocket_sources(self, pocket: str) -> list[Path]:
        """The files from outside the campaign that a pocket is made from."""
        return [self.receptor(pocket), *self.named_files(pocket)]

    def sources(self, part: Part, kind: str) -> list[Path]:
        """The files from outside the campaign that a part's file of a kind is made from."""
        if kind == "pocket":
            return self.pocket_sources(part.target)
        if kind == "ligands" and not self.controls.is_drawn(part.library):
            return [self.source(part.library, part.chunk)]
        return []

    def every_source(self) -> list[Path]:
        """The files from outside that pockets, ligands and searches are made from."""
        libraries = [name for pocket in self.pockets for name in self._libraries_of(pocket)]
        found = [self.pocket_sources(pocket) for pocket in self.pockets]
        found += [[file.path for file in self.files(name)] for name in dict.fromkeys(libraries)]
        for section in SEARCHES:
            for search in getattr(self.settings, section):
                found.append(self.searches.sources(section, search))
        return list(dict.fromkeys(path for paths in found for path in paths))

    def crystal(self, pocket: str) -> Path | None:
        """The reference ligand of a pocket's site, where it has one."""
        ligand = self.docked_into(pocket).site.ligand
        return None if ligand is None else self.resolve(ligand)

    def chunks(self, library: str) -> list[str]:
        """The chunks of a library, file by file; a control has one.

        "1-of-3" and so on, in a folder or glob with the file's label before: "a.smi.1-of-3". Which
        chunks a file has follows from its own name and size, so that other files that come or go
        leave them, and all that was made from them, as they are.
        """
        return list(self.chunk_files[library])

    def files(self, library: str) -> list[LibraryFile]:
        """The files of a library, in their order."""
        return list(dict.fromkeys(self.chunk_files[library].values()))

    def source(self, library: str, chunk: str) -> Path:
        """The file that a chunk is a part of; of a parsed library the ligands file itself."""
        return self.chunk_files[library][chunk].path

    @property
    def dropped(self) -> tuple[str, ...]:
        """Kinds of the files whose rows are dropped when a part is scored."""
        return BETWEEN if self.settings.docked_poses == "drop" else ()

    @cached_property
    def chunk_files(self) -> dict[str, dict[str, LibraryFile]]:
        """Library or control -> chunk -> its file."""
        result = {name: self._cut(name) for name in self.settings.libraries}
        return result | self.controls.chunk_files()

    def _cut(self, library: str) -> dict[str, LibraryFile]:
        settings = self.settings.libraries[library]
        if settings.file is None:
            return self._parsed(library, str(settings.parsed))
        keys = ("libraries", library, "file")
        where, given = self.config.place(*keys), self.resolve(settings.file, *keys)
        try:
            files = library_files(given)
        except InputError as error:
            raise InputError(f"{where}: {error}") from error
        result = {}
        for file in files:
            check_path(file.path, where)
            count = settings.chunks or parts_of(file, settings.chunk_size)
            for number in range(1, count + 1):
                result[f"{file.label}{'.' if file.label else ''}{number}-of-{count}"] = file
        if len(result) > MOST_CHUNKS:
            raise InputError(
                f"{self.config.place('libraries', library)}: {len(result)} parts, at most "
                f"{MOST_CHUNKS}; give a larger chunk_size, or a smaller number of chunks"
            )
        return result

    def _parsed(self, library: str, given: str) -> dict[str, LibraryFile]:
        keys = ("libraries", library, "parsed")
        folder = self.resolve(given, *keys)
        try:
            chunks = parsed_chunks(folder)
        except InputError as error:
            raise InputError(f"{self.config.place(*keys)}: {error}") from error
        return {name: LibraryFile(*chunk, "", 0) for name, chunk in chunks.items()}

    def before(self, library: str, chunk: str) -> list[tuple[str, str]]:
        """Libraries and chunks whose molecules are duplicates in a chunk; controls have none.

        InputError where the campaign has too many to be parsed one after another.
        """
        if self.settings.duplicates == "chunk" or library.startswith(OURS):
            return []
        return list(self._turns)[: self._turns[library, chunk]]

    def awaited(self, library: str, chunk: str) -> list[tuple[str, str]]:
        """Those of `before` that must be there for all to be: a part that is parsed awaits others.

        So the jobs are a chain: if each awaited all, 1,000 parts would be half a million links.
        Some further ones come first, because Snakemake cannot follow a chain of hundreds of links.
        """
        earlier = self.before(library, chunk)
        parsed = (n for n in reversed(range(len(earlier))) if not self.is_reused(earlier[n][0]))
        return list(dict.fromkeys([*earlier[::LINK], *earlier[next(parsed, 0) :]]))

    def parsed_last(self, results: str) -> list[str]:
        """Ligands files that no other part awaits: where they are made, all parts are parsed."""
        libraries = [part for part in self._turns if not self.is_reused(part[0])]
        ours = [name for name in self.chunk_files if name.startswith(OURS)]
        last = [*libraries[-1:], *((name, part) for name in ours for part in self.chunks(name))]
        parse = STAGES["parse"]
        return [parse.file(results, library=library, chunk=chunk) for library, chunk in last]

    @cached_property
    def _turns(self) -> dict[tuple[str, str], int]:
        """The number of each part of the libraries, from 0, in the order of parsing."""
        every = [(name, part) for name in self.settings.libraries for part in self.chunks(name)]
        if len(every) > MOST_IN_TURN:
            raise InputError(
                f"{self.config.place('duplicates')}: campaign parses {len(every)} parts one after "
                f"another, at most {MOST_IN_TURN}; give a larger chunk_size, or 'duplicates: chunk'"
            )
        return {part: number for number, part in enumerate(every)}

    def is_reused(self, library: str) -> bool:
        """Whether another campaign has parsed a library."""
        return library in self.settings.libraries and bool(self.settings.libraries[library].parsed)

    def reused(self) -> str:
        """A pattern of the libraries that are not parsed here; it may match none."""
        names = (re.escape(name) for name in self.settings.libraries if self.is_reused(name))
        return "|".join(names) or "(?!)"

    def parts(self) -> list[Part]:
        """Every part of the campaign: targets and libraries in the config's order, control last."""
        return [
            Part(target, library, chunk)
            for target in self.pockets
            for library in self._libraries_of(target)
            for chunk in self.chunks(library)
        ]

    def _libraries_of(self, target: str) -> list[str]:
        control = self.controls.library(target)
        return [*self.settings.libraries, *([control] if control else [])]

    def paths(self, template: str) -> list[str]:
        """A path template with {target}, {library} and {chunk} for every part, without repeats."""
        return list(
            dict.fromkeys(
                template.format(target=target, library=library, chunk=chunk)
                for target, library, chunk in self.parts()
            )
        )

    def parse_options(self, library: str) -> ParseOptions:
        """Settings of `parse`; a control stays as drawn, without its crystal coordinates."""
        parse = self.settings.parse.model_dump()
        if library.startswith(CONTROL):
            return ParseOptions(**parse | AS_DRAWN)
        if library.startswith(OURS):
            return ParseOptions(**parse | UNFILTERED)
        reading = narrowed(self.settings.libraries[library], Reading)
        return ParseOptions(**parse, **reading.model_dump())

    def parse_flags(self, library: str) -> str:
        """Flags of `parse`. One file of many may be empty; a library of one file may not."""
        many = any(file.label for file in self.chunk_files[library].values())
        return f"{'--allow-empty ' if many else ''}{flags(self.parse_options(library))}"

    def structure(self, pocket: str) -> Structure:
        """What of a pocket's structure file belongs to the receptor."""
        settings = self.docked_into(pocket).settings
        files = {name: str(self.resolve(path)) for name, path in settings.cofactor_files.items()}
        return narrowed(settings, Structure, cofactors=settings.cofactors | files)

    def site(self, pocket: str) -> Site:
        """A pocket's site, whose files lead somewhere from here."""
        site = self.docked_into(pocket).site
        files = {
            field: str(self.resolve(given))
            for field in SITE_FILES
            if (given := getattr(site, field)) is not None
        }
        return site.model_copy(update=files)

    def pocket_inputs(self, pocket: str) -> dict[str, Any]:
        """What the stage `pocket` makes a pocket from, by the names of its inputs."""
        return {
            "receptor": self.receptor(pocket),
            "structure": self.structure(pocket),
            "site": self.site(pocket),
        }

    def pocket_flags(self, pocket: str) -> str:
        """Flags of `pocket`: what of the structure, and which site; then settings."""
        waters = self.controls.variants.get(pocket, ("", self.settings.pocket.waters))[1]
        settings = self.settings.pocket.model_copy(update={"waters": waters})
        sections = (self.structure(pocket), self.site(pocket), settings)
        return " ".join(filter(None, map(flags, sections)))

    def final(self, results: str) -> list[str]:
        """The files that a run makes in the end."""
        docked = (STAGES["export"].path,) if self.pockets else ()
        return [
            f"{results}/{CONFIG}",
            *(f"{results}/{name}" for name in (*docked, "report.html", "report.txt")),
            *(
                str(Path(SEQUENCES["panel"].file(results, search=name)).with_name("panel.tsv"))
                for name in self.settings.homologs
            ),
            *self.searches.reported(results),
        ]

    def screening(
        self, part: PartFiles
    ) -> tuple[tuple[Stage, ...], dict[str, Path], dict[str, Section]]:
        """The stages that run for a part, its files by kind, and the settings by stage."""
        stages = screen(self.settings.search)
        files = {kind: getattr(part, kind) for kind in FILES}
        return stages, files, {stage.name: getattr(self.settings, stage.name) for stage in stages}

    def report_flags(self) -> str:
        """Flags of `report`."""
        return flags(narrowed(self.settings.report, ReportSettings))

    def references(self) -> list[Path]:
        """Files of known molecules: the report's own, and the actives of all controls."""
        given = [control.actives for control in self.settings.controls.values()]
        files = (self.settings.report.references, *given)
        return list(dict.fromkeys(self.resolve(file) for file in files if file is not None))

    def described(self, folder: Path) -> str:
        """The config as YAML: all settings written out, files as seen from another folder."""
        values = self.settings.model_dump(mode="json")
        given = list(self._files())
        for name, library in self.settings.libraries.items():
            for key in ("file", "parsed"):
                if (path := getattr(library, key)) is not None:
                    given.append((("libraries", name, key), path))
        for section, name in self.searches.genome_paths:
            if (path := getattr(self.settings, section)[name].genome) is not None:
                given.append(((section, name, "genome"), path))
        for search in values["offtargets"].values():
            if search["input"] is not None:  # which these stand in
                for key in IN_INPUT:
                    del search[key]
        for keys, path in given:
            if not path.startswith(INSTALLED):
                *above, last = keys
                below = reduce(getitem, above, values)
                # From the folder's real place, as `..` behind a link leads there.
                below[last] = os.path.relpath(self.resolve(path, *keys), folder.resolve())
        return to_yaml(values)

    def manifest(self, results: str = "results") -> Manifest:
        """All parts, with their files below the folder `results`."""
        return Manifest(tuple(self._files_of(part, results) for part in self.parts()))

    @cached_property
    def digest(self) -> str:
        """Digest of all parts: a manifest with another one is not of this campaign.

        Every job on a cluster makes it again. It names no files: those take most of the time.
        """
        return digest_of(
            Listed(f"{pocket}/{library}/{chunk}", file.name, control, crystal)
            for pocket in self.pockets
            for library in self._libraries_of(pocket)
            for control, crystal in (self._redocked(pocket, library),)
            for chunk, file in self.chunk_files[library].items()
        )

    def _redocked(self, pocket: str, library: str) -> tuple[bool, Path | None]:
        """Whether a library is a pocket's control, and the reference ligand that its parts name."""
        control = library.startswith(CONTROL)
        # A reference ligand that cannot be docked again is at least shown beside the hits.
        is_listed = control or self.controls.library(pocket) is None
        return control, self.crystal(pocket) if is_listed else None

    def _files_of(self, part: Part, results: str) -> PartFiles:
        control, crystal = self._redocked(part.target, part.library)
        return PartFiles(
            target=self.pockets[part.target].target,
            conformation=self.pockets[part.target].conformation,
            library=part.library,
            file=self.chunk_files[part.library][part.chunk].name,
            **part.paths(results),
            control=control,
            crystal=crystal,
        )

    @property
    def ranked(self) -> list[str]:
        """Names under which molecules are ranked: targets, and sites of those that have several."""
        return list(dict.fromkeys(docked.target for docked in self.pockets.values()))

    def crystals(self) -> list[Path]:
        """The reference ligands of all sites."""
        found = (self.crystal(pocket) for pocket in self.pockets)
        return list(dict.fromkeys(path for path in found if path is not None))


def stage_environment() -> dict[str, str]:
    """What makes `python -m ligen_py.<stage>` run this package with this interpreter anywhere.

    A conda environment comes before both: its activation puts its own interpreter first. Before
    Slurm's own commands come those of the workflow, which outlast faults of a cluster.
    """
    return {
        "PATH": _before("PATH", slurm_commands(), Path(sys.executable).parent),
        "PYTHONPATH": _before("PYTHONPATH", PACKAGE.parent),
    }


def _before(variable: str, *folders: Path) -> str:
    first = [str(folder) for folder in folders]
    parts = [part for part in os.environ.get(variable, "").split(os.pathsep) if part]
    return os.pathsep.join([*first, *(part for part in parts if part not in first)])


def _receptors(target: Target) -> dict[str, str]:
    """Structure files by conformation, whose name is empty where there is one."""
    return target.receptor if isinstance(target.receptor, dict) else {"": target.receptor}
