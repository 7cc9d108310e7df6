"""The files, parts and flags of a campaign's stages.

A part is one chunk of one library against one target. Beside the config's own libraries every
target whose site names a reference ligand as SDF or MOL2 has the control library
``control-{target}``: that ligand from scratch, docked into its own target only. A target in the
section ``controls`` has the libraries ``actives-of-{target}`` and ``decoys-of-{target}`` beside:
they are docked before all others and are no part of the ranking, nor of the manifest.
"""

import importlib.resources
import importlib.util
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import getitem
from pathlib import Path
from typing import Any, NamedTuple

from ligen_py.campaign.names import (
    ACTIVES,
    ANTI,
    CONTROL,
    DECOYS,
    OURS,
    check_file,
    check_names,
    check_path,
)
from ligen_py.campaign.searches import GENOME_FILES, SEARCH_FILES, Searches, names_file
from ligen_py.chain import BETWEEN, FILES, SEQUENCES, STAGES, Stage, screen
from ligen_py.errors import InputError
from ligen_py.formats import LibraryFile, library_files, parts_of, records_of
from ligen_py.paths import NETWORKS_HINT, PACKAGE, network_folder, slurm_commands
from ligen_py.settings.campaign import NETWORKS, SEARCHES, Campaign, Target, lacks_networks
from ligen_py.settings.check import check
from ligen_py.settings.controls import AcceptSettings, Control, ControlsSettings, DecoysSettings
from ligen_py.settings.dock import DockSettings
from ligen_py.settings.document import to_yaml
from ligen_py.settings.flags import flags
from ligen_py.settings.parse import ParseOptions, ParseSettings, Reading
from ligen_py.settings.pocket import Site, Structure
from ligen_py.settings.report import ReportSettings
from ligen_py.settings.searches import AntiTarget
from ligen_py.settings.section import Section
from ligen_py.settings.source import Source
from ligen_py.store.campaign.layout import CONFIG
from ligen_py.store.campaign.manifest import Listed, Manifest, PartFiles, digest_of, read_manifest
from ligen_py.store.campaign.parsed_library import parsed_chunks
from ligen_py.store.campaign.scored import functions_before
from ligen_py.store.files.fresh import is_old

CONTROL_FILES = ("actives", "decoys")
"""Keys of a control that name files."""

CONTROL_CHUNK = 1000
"""Actives or decoys of one part."""

UNFILTERED = ParseSettings().model_dump(
    include={"max_atoms", "max_torsions", "properties", "alerts", "exclude"}
)
"""How `parse` treats known binders and decoys: no filter removes them."""

SITE_FILES = ("ligand", "cavities")
"""Keys of a site that name files."""

AS_DRAWN: dict[str, Any] = UNFILTERED | {
    "embed": "always", "standardise": False, "protonate": False, "tautomers": 1, "stereoisomers": 1,
    "mixtures": "largest",
}  # fmt: skip
"""How `parse` treats a control."""

INSTALLED = "package:"
"""What a path starts with that lies inside an installed Python package: package:NAME/PATH."""

MOST_CHUNKS = 100_000
"""Parts of a library; Snakemake plans a job of each for every target, 2 ms a job."""

MARK = Path(STAGES["export"].path).name
"""File in the folder `export` that names the others; it is written last."""

MOST_IN_TURN = 1000
"""Parts that can be parsed one after another: each names all before it on its command line."""

PARSED_BYTES = 9000
"""Bytes of a parsed record in its file, about."""

PARSE_MB = 0.025
"""Megabytes of a parsed record while the file of its chunk is written."""

KNOWN_MB = 0.0001
"""Megabytes of a molecule of an earlier part, by which duplicates in the campaign are found."""

SCREEN_MB = 0.1
"""Megabytes of a record in a chunk's job: 2.5 ligands with the poses that `standard` docks."""

REPORT_MB = 0.0002
"""Megabytes of a molecule of one target while the report compares all with each other."""

AGGREGATE_MINUTES = 1e-6
"""Minutes of a record of one target while parts are merged: four times what one process took."""

LINK = 32
"""Every so many parts that are parsed one after another, all later ones await one."""

WITH_BONDS = (".sdf", ".sd", ".sdf.gz", ".sd.gz", ".mol", ".mol.gz", ".mol2", ".mol2.gz")
"""Reference ligands that make a control: of these the bond orders are known."""


class Docked(NamedTuple):
    """A pocket to dock into: one site of a target, in one of its conformations."""

    target: str
    """Name under which it is ranked: that of the target, with the site's where it has several."""
    conformation: str
    """Empty where the target has one."""
    receptor: str
    settings: Target | AntiTarget
    site: Site

    @property
    def name(self) -> str:
        """Name of the pocket."""
        return f"{self.target}.{self.conformation}" if self.conformation else self.target


class Part(NamedTuple):
    """One chunk of one library against one pocket."""

    target: str
    """Name of the pocket."""
    library: str
    chunk: str


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
        plan._chunk_files  # noqa: B018 (looks at every library)
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
    def searches(self) -> Searches:
        """The searches of sequences."""
        return Searches(self)

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

    @cached_property
    def variants(self) -> dict[str, tuple[str, str]]:
        """Pockets for controls alone: name -> the campaign's pocket, and how waters are treated."""
        result: dict[str, tuple[str, str]] = {}
        for pocket, docked in self.pockets.items():
            control = self.settings.controls.get(docked.target, Control())
            for waters in control.waters:
                if waters != self.settings.pocket.waters:
                    result[f"{docked.target}.waters-{waters}{_dotted(docked.conformation)}"] = (
                        pocket,
                        waters,
                    )
        return result

    def _docked_into(self, pocket: str) -> Docked:
        """What a pocket is, also one for controls alone."""
        return self.every_pocket[self.variants.get(pocket, (pocket,))[0]]

    def receptor(self, pocket: str) -> Path:
        """The structure file of a pocket."""
        return self.resolve(self._docked_into(pocket).receptor)

    def named_files(self, pocket: str) -> list[Path]:
        """The files that a pocket's site and cofactors name."""
        site = self._docked_into(pocket).site
        given = (getattr(site, field) for field in SITE_FILES)
        cofactors = self._docked_into(pocket).settings.cofactor_files.values()
        return [self.resolve(path) for path in (*given, *cofactors) if path is not None]

    def pocket_sources(self, pocket: str) -> list[Path]:
        """The files from outside the campaign that a pocket is made from."""
        return [self.receptor(pocket), *self.named_files(pocket)]

    def sources(self, part: Part, kind: str) -> list[Path]:
        """The files from outside the campaign that a part's file of a kind is made from."""
        if kind == "pocket":
            return self.pocket_sources(part.target)
        if kind == "ligands" and not self.is_drawn(part.library):
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
        ligand = self._docked_into(pocket).site.ligand
        return None if ligand is None else self.resolve(ligand)

    def control(self, pocket: str) -> str | None:
        """The name of a pocket's control library, where its reference ligand is an SDF or MOL2.

        All conformations of a target have the same.
        """
        crystal = self.crystal(pocket)
        if crystal is None or not crystal.name.lower().endswith(WITH_BONDS):
            return None
        return CONTROL + self.pockets[pocket].target

    def chunks(self, library: str) -> list[str]:
        """The chunks of a library, file by file; a control has one.

        "1-of-3" and so on, in a folder or glob with the file's label before: "a.smi.1-of-3". Which
        chunks a file has follows from its own name and size, so that other files that come or go
        leave them, and all that was made from them, as they are.
        """
        return list(self._chunk_files[library])

    def files(self, library: str) -> list[LibraryFile]:
        """The files of a library, in their order."""
        return list(dict.fromkeys(self._chunk_files[library].values()))

    def source(self, library: str, chunk: str) -> Path:
        """The file that a chunk is a part of; of a parsed library the ligands file itself."""
        return self._chunk_files[library][chunk].path

    def parse_memory(self, library: str, chunk: str, threads: int) -> int:
        """Megabytes that parsing a chunk with so many processes needs."""
        known = 0.0
        if self.settings.duplicates == "campaign":
            known = KNOWN_MB * sum(self._records(*part) for part in self.before(library, chunk))
        return round(2000 + 125 * threads + PARSE_MB * self._records(library, chunk) + known)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Kinds of the files whose rows are dropped when a part is scored."""
        return BETWEEN if self.settings.docked_poses == "drop" else ()

    def screen_memory(self, library: str, chunk: str) -> int:
        """Megabytes that the screening of a chunk needs, by the poses that the search keeps."""
        dock, lga, usual = self.settings.dock, self.settings.lga, DockSettings().max_num_poses
        if self.settings.search == "lga":
            poses = lga.runs + min(lga.restarts, usual)  # these are docked by `dock`'s defaults
        else:
            poses = min(dock.max_num_poses or dock.num_restart, dock.num_restart)
        share = max(1.0, poses / usual)
        return max(8000, round(2000 + share * SCREEN_MB * self._records(library, chunk)))

    def report_memory(self) -> int:
        """Megabytes that the report needs."""
        return round(4000 + REPORT_MB * self._ranked_records)

    def aggregate_minutes(self) -> int:
        """Minutes that merging the parts may take."""
        return max(240, round(AGGREGATE_MINUTES * self._ranked_records))

    @cached_property
    def _ranked_records(self) -> float:
        """About how many records of libraries there are, those of each target for themselves."""
        records = (
            self._records(library, chunk)
            for library in self.settings.libraries
            for chunk in self.chunks(library)
        )
        return sum(records) * len(self.ranked)

    def _records(self, library: str, chunk: str) -> float:
        """About how many records a chunk has; 0 where nothing is known of its file."""
        file = self._chunk_files.get(library, {}).get(chunk)
        if file and file.path.suffix == ".h5":
            return file.path.stat().st_size / PARSED_BYTES
        return records_of(file) / int(chunk.rpartition("-")[2]) if file and file.size else 0.0

    @cached_property
    def _chunk_files(self) -> dict[str, dict[str, LibraryFile]]:
        """Library or control -> chunk -> its file."""
        result = {name: self._cut(name) for name in self.settings.libraries}
        for pocket in self.pockets:
            crystal, control = self.crystal(pocket), self.control(pocket)
            if crystal is not None and control is not None:
                result[control] = {"1-of-1": LibraryFile(crystal, crystal.name, "", 0)}
        for target, given in self.settings.controls.items():
            if given.actives is not None:
                result[ACTIVES + target] = self._cut_control(target, "actives", given.actives)
                drawn = Path(f"<results>/controls/{target}/decoys.smi")
                result[DECOYS + target] = (
                    {"1-of-1": LibraryFile(drawn, drawn.name, "", 0)}
                    if given.decoys is None
                    else self._cut_control(target, "decoys", given.decoys)
                )
        return result

    def _cut_control(self, target: str, field: str, given: str) -> dict[str, LibraryFile]:
        keys = ("controls", target, field)
        try:
            (file,) = library_files(self.resolve(given, *keys))
        except InputError as error:
            raise InputError(f"{self.config.place(*keys)}: {error}") from error
        count = parts_of(file, CONTROL_CHUNK)
        return {f"{number}-of-{count}": file for number in range(1, count + 1)}

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
        ours = [name for name in self._chunk_files if name.startswith(OURS)]
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
        control = self.control(target)
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
        reading = _only(self.settings.libraries[library], Reading)
        return ParseOptions(**parse, **reading)

    def parse_flags(self, library: str) -> str:
        """Flags of `parse`. One file of many may be empty; a library of one file may not."""
        many = any(file.label for file in self._chunk_files[library].values())
        return f"{'--allow-empty ' if many else ''}{flags(self.parse_options(library))}"

    def structure(self, pocket: str) -> Structure:
        """What of a pocket's structure file belongs to the receptor."""
        settings = self._docked_into(pocket).settings
        chosen = _only(settings, Structure)
        files = {name: str(self.resolve(path)) for name, path in settings.cofactor_files.items()}
        return Structure(**chosen | {"cofactors": settings.cofactors | files})

    def site(self, pocket: str) -> Site:
        """A pocket's site, whose files lead somewhere from here."""
        site = self._docked_into(pocket).site
        files = {
            field: str(self.resolve(given))
            for field in SITE_FILES
            if (given := getattr(site, field)) is not None
        }
        return site.model_copy(update=files)

    def pocket_flags(self, pocket: str) -> str:
        """Flags of `pocket`: what of the structure, and which site; then settings."""
        waters = self.variants.get(pocket, ("", self.settings.pocket.waters))[1]
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

    def missing(self, results: Path) -> list[Path]:
        """Files that are not there, of those that a run makes on its way, where one has ended.

        Snakemake makes none that is missing before a result that is up to date, unless it is asked.
        """
        if not any((results / end).exists() for end in ("campaign.h5", "report.html")):
            return []
        parts = self.manifest(str(results)).parts
        files = [getattr(part, kind) for part in parts for kind in FILES]
        files += map(Path, self.searches.converted(str(results)))
        files += map(Path, self.searches.every_part_file(str(results)))
        files += self.searches.tables(str(results))
        if parts:
            files += [results / name for name in ("manifest.tsv", "campaign.h5")]
            files += [results / "networks.h5"] if self.settings.networks.best else []
            verdicts = ("controls.json", "controls.txt")
            files += [results / "controls" / name / one for name in self.ranked for one in verdicts]
            files += self.exported(results)
        return [path for path in dict.fromkeys(files) if not path.exists()]

    def lost(self, folder: Path) -> list[tuple[Path, str]]:
        """What of an earlier run in a campaign's folder is no longer as it was, and in words how.

        Files of parts and targets that it had not are not missing. A run makes all of them again.
        Raises InputError where the earlier run's list of parts cannot be read.
        """
        results = folder / "results"
        missing, listed = self.missing(results), results / "manifest.tsv"
        if self.pockets and listed.exists():
            earlier = read_manifest(listed).parts
            known, targets = {part.label for part in earlier}, {part.target for part in earlier}
            new = [part for part in self.manifest(str(results)).parts if part.label not in known]
            files = {getattr(part, kind) for part in new for kind in FILES}
            folders = {results / "controls" / name for name in self.ranked if name not in targets}
            missing = [one for one in missing if one not in files and one.parent not in folders]
        found = [(file, "is missing") for file in missing]
        return found + [
            (file, "has changed since it was written") for file in self.changed(results)
        ]

    def require_networks(self, folder: Path) -> None:
        """Raise InputError where networks scored in a campaign's folder, and now would not."""
        results = folder / "results"
        if self.lacks_networks and NETWORKS in functions_before(results):
            functions = ", ".join(self.settings.score.functions)
            raise InputError(
                f"{results}: was scored with gnina's networks, which are not installed now, so "
                f"that a run would replace all scores by those of energies alone; {NETWORKS_HINT}, "
                f"or write 'score: {{functions: [{functions}]}}' into the config to go without them"
            )

    def targets_before(self, folder: Path) -> list[str]:
        """Targets of an earlier run in a campaign's folder that this one does not have.

        InputError as `lost`.
        """
        listed = folder / "results" / "manifest.tsv"
        if not self.pockets or not listed.exists():
            return []
        found = dict.fromkeys(part.target for part in read_manifest(listed).parts)
        known = {docked.target for docked in self.every_pocket.values()}
        return [target for target in found if target not in known]

    def is_old(self, part: PartFiles) -> bool:
        """Whether a part's files are of other code, settings or inputs than this campaign's."""
        return is_old(*self.screening(part))

    def screening(
        self, part: PartFiles
    ) -> tuple[tuple[Stage, ...], dict[str, Path], dict[str, Section]]:
        """The stages that run for a part, its files by kind, and the settings by stage."""
        stages = screen(self.settings.search)
        files = {kind: getattr(part, kind) for kind in FILES}
        return stages, files, {stage.name: getattr(self.settings, stage.name) for stage in stages}

    def changed(self, results: Path) -> list[Path]:
        """Exported files that are newer than the end of the job that wrote them."""
        mark = results / "export" / MARK
        files = [path for path in self.exported(results) if path.is_file()]
        return [path for path in files if path.stat().st_mtime > mark.stat().st_mtime]

    def exported(self, results: Path) -> list[Path]:
        """What `export` has written of this campaign's targets, by its own list.

        Without what it would not write with this config.
        """
        mark = results / "export" / MARK
        names = mark.read_text("utf-8", "replace").splitlines() if mark.is_file() else []
        kinds = [r"\.(sdf|csv|parquet|pml|cxc)", r"-receptor(-[^/]+)?\.pdb", r"-reference\.[^/]+"]
        kinds += [r"-network\.sdf"] if self.settings.networks.best else []
        kinds += [r"-receptor(-[^/]+)?\.pdbqt", "-pdbqt/.+"] if self.settings.export.pdbqt else []
        own = re.compile(f"({'|'.join(map(re.escape, self.ranked))})({'|'.join(kinds)})")
        return [mark.parent / name for name in names if own.fullmatch(name)]

    def report_flags(self) -> str:
        """Flags of `report`."""
        return flags(ReportSettings(**_only(self.settings.report, ReportSettings)))

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
            for chunk, file in self._chunk_files[library].items()
        )

    def _redocked(self, pocket: str, library: str) -> tuple[bool, Path | None]:
        """Whether a library is a pocket's control, and the reference ligand that its parts name."""
        control = library.startswith(CONTROL)
        # A reference ligand that cannot be docked again is at least shown beside the hits.
        is_listed = control or self.control(pocket) is None
        return control, self.crystal(pocket) if is_listed else None

    def _files_of(self, part: Part, results: str) -> PartFiles:
        control, crystal = self._redocked(part.target, part.library)
        return PartFiles(
            target=self.pockets[part.target].target,
            conformation=self.pockets[part.target].conformation,
            library=part.library,
            file=self._chunk_files[part.library][part.chunk].name,
            **_paths(part, results),
            control=control,
            crystal=crystal,
        )

    @property
    def ranked(self) -> list[str]:
        """Names under which molecules are ranked: targets, and sites of those that have several."""
        return list(dict.fromkeys(docked.target for docked in self.pockets.values()))

    def control_of(self, target: str) -> Control:
        """The controls of a target; one without an entry has the redocking alone."""
        return self.settings.controls.get(target, Control())

    def control_parts(self, target: str) -> list[tuple[str, str, PartFiles]]:
        """Group, form of the pocket, and files of every part of a target's controls."""
        forms = {name: target for name, docked in self.pockets.items() if docked.target == target}
        for name, (pocket, waters) in self.variants.items():
            if self.pockets[pocket].target == target:
                forms[name] = f"waters {waters}"
        result = []
        for pocket, form in forms.items():
            control = self.control(self.variants.get(pocket, (pocket,))[0])
            for group, library in (
                ("crystal", control),
                ("actives", ACTIVES + target),
                ("decoys", DECOYS + target),
            ):
                for chunk in self._chunk_files.get(library or "", ()):
                    files = self._control_files(Part(pocket, str(library), chunk), group)
                    result.append((group, form, files))
        return result

    def is_drawn(self, library: str) -> bool:
        """Whether a library is one of decoys that the campaign draws."""
        target = library.removeprefix(DECOYS)
        return library != target and self.control_of(target).decoys is None

    def _control_files(self, part: Part, group: str) -> PartFiles:
        return PartFiles(
            target=part.target,
            library=part.library,
            **_paths(part, "<results>"),
            control=group == "crystal",
            crystal=self.crystal(part.target) if group == "crystal" else None,
            conformation=self._docked_into(part.target).conformation,
        )

    def control_inputs(self, target: str) -> list[str]:
        """The files that the verdict on a target is made from."""
        return [
            str(path)
            for _, _, files in self.control_parts(target)
            for path in (files.ligands, files.refined, files.scores, files.crystal)
            if path is not None
        ]

    def control_flags(self, target: str) -> str:
        """Flags of `controls`, with the files below the folder `results`."""
        words = ["--target", target, "--origin", self.origin_of_decoys(target)]
        for group, form, files in self.control_parts(target):
            paths = (files.ligands, files.refined, files.scores, files.crystal or "")
            words += ["--part", group, form, files.conformation]
            words += [str(path).replace("<results>", "results") for path in paths]
        return f"{shlex.join(words)} {flags(self.control_limits(target))}"

    def control_limits(self, target: str) -> ControlsSettings:
        """What the controls of a target must show."""
        return ControlsSettings(**_only(self.control_of(target), ControlsSettings))

    def origin_of_decoys(self, target: str) -> str:
        """Where the decoys of a target come from, in words."""
        if self.control_of(target).decoys is not None:
            return "given in a file"
        names = list(self.settings.libraries)
        return f"drawn from the {'library' if len(names) == 1 else 'libraries'} {', '.join(names)}"

    def accept_flags(self, target: str) -> str:
        """Flags of `accept`."""
        return flags(AcceptSettings(below=self.control_of(target).below))

    def decoys_flags(self, target: str) -> str:
        """Flags of `decoys`. Libraries stand as in the config: one that grows changes none."""
        words = [flags(DecoysSettings(**_only(self.control_of(target), DecoysSettings)))]
        for name, library in self.settings.libraries.items():
            key = "parsed" if library.file is None else "file"
            path = self.resolve(str(getattr(library, key)), "libraries", name, key)
            reading = Reading(**_only(library, Reading))
            words.append(shlex.join(["--library", str(path), f"--reading={flags(reading)}"]))
        return " ".join(words)

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


PATHS = {stage.kind: stage.path for stage in STAGES.values() if stage.kind in FILES}


def _paths(part: Part, results: str) -> dict[str, Any]:
    """The files of a part by kind, below a folder."""
    named = part._asdict()
    return {kind: Path(f"{results}/{path.format(**named)}") for kind, path in PATHS.items()}


def _before(variable: str, *folders: Path) -> str:
    first = [str(folder) for folder in folders]
    parts = [part for part in os.environ.get(variable, "").split(os.pathsep) if part]
    return os.pathsep.join([*first, *(part for part in parts if part not in first)])


def _only(section: Section, model: type[Section]) -> dict[str, Any]:
    """The values of a section that another one has, too."""
    return section.model_dump(include=set(model.model_fields))


def _dotted(conformation: str) -> str:
    return f".{conformation}" if conformation else ""


def _receptors(target: Target) -> dict[str, str]:
    """Structure files by conformation, whose name is empty where there is one."""
    return target.receptor if isinstance(target.receptor, dict) else {"": target.receptor}
