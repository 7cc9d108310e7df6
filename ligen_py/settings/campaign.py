"""The whole config file of a campaign: targets, libraries and every section.

python -m ligen_py.settings.campaign > workflow/config.schema.json
"""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

import pydantic
from pydantic import Field, field_validator, model_validator

from ligen_py.paths import network_folder
from ligen_py.settings.aggregate import AggregateSettings
from ligen_py.settings.controls import Control
from ligen_py.settings.dock import DockSettings
from ligen_py.settings.export import ExportSettings
from ligen_py.settings.filter import FilterSettings
from ligen_py.settings.lga import LgaSettings
from ligen_py.settings.networks import NetworksSettings
from ligen_py.settings.parse import ParseSettings, Reading
from ligen_py.settings.pocket import PocketSettings, Site, Structure
from ligen_py.settings.refine import RefineSettings
from ligen_py.settings.report import Report
from ligen_py.settings.score import ScoreSettings
from ligen_py.settings.searches import GuideDesign, HomologSearch, OfftargetSearch
from ligen_py.settings.section import Name, Section

Effort = Literal["draft", "standard", "thorough", "exhaustive"]

THOROUGH: dict[str, dict[str, Any]] = {
    "dock": {"num_restart": 2048, "max_num_poses": 512},
    "refine": {"rounds": 4, "finalists": 8, "max_num_poses": 50},
    "score": {"functions": ["vina", "ad4", "xscore", "gnina"], "rank_by": "networks"},
}
"""What `thorough` and `exhaustive` have in common."""

PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "draft": {
        "dock": {"num_restart": 128, "max_num_poses": 128},
        "filter": {"max_num_poses": 128},
        "refine": {
            "evaluations": 10,
            "finalists": 8,
            "conformers_compete": True,
            "max_num_poses": 6,
        },
        "score": {"functions": ["vina", "ad4"]},
    },
    "standard": {},
    "thorough": THOROUGH | {"filter": {"cluster_rmsd": 0.5}},
    "exhaustive": THOROUGH | {"lga": {"restarts": 2048, "stop_every": 5}},
}
"""Effort -> section -> what differs from the sections' defaults, which are `standard`."""

SEARCH_OF: dict[str, str] = {"exhaustive": "lga"}
"""Effort -> the search where the config names none; of all others it is `ligen`."""

NETWORKS = "gnina"
"""The function that a preset goes without where its networks are not installed, or judge the poses
of the best molecules alone."""


OF_SEARCH: dict[str, dict[str, dict[str, Any]]] = {
    "ligen": {},
    "lga": {"filter": {"cluster_rmsd": 2.0, "symmetry": True}},
}
"""Search -> section -> what differs from the sections' defaults, whatever the effort: with the
genetic algorithm the filter's clusters are AutoDock's clusters of runs."""


class Method(Section):
    """How ligands are made, docked and scored: an effort, and every key that is set explicitly."""

    effort: Effort = Field(
        "standard",
        description="preset for `search` and the keys of dock, lga, filter, refine and "
        "score that are not set",
    )
    search: Literal["ligen", "lga"] = Field(
        "ligen",
        description="ligen: LiGen's geometric search (section dock); lga: AutoDock's Lamarckian "
        "genetic algorithm (section lga). With the effort exhaustive the default is lga",
    )
    parse: ParseSettings = Field(default_factory=ParseSettings)
    dock: DockSettings = Field(default_factory=DockSettings)
    lga: LgaSettings = Field(default_factory=LgaSettings)
    filter: FilterSettings = Field(default_factory=FilterSettings)
    refine: RefineSettings = Field(default_factory=RefineSettings)
    score: ScoreSettings = Field(default_factory=ScoreSettings)

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        filled: dict[str, Any] = {}
        effort = values.get("effort", "standard")
        if isinstance(effort, str) and effort in SEARCH_OF:
            values = {"search": SEARCH_OF[effort]} | values
        chosen = effort, values.get("search", "ligen")
        for table, name in zip((PRESETS, OF_SEARCH), chosen, strict=True):
            for section, preset in table.get(name, {}).items() if isinstance(name, str) else ():
                filled[section] = filled.get(section, {}) | preset
        functions = filled.get("score", {}).get("functions", [])
        if NETWORKS in functions and (_of_the_best(values) or network_folder() is None):
            filled["score"] |= {"functions": [name for name in functions if name != NETWORKS]}
        for section in list(filled):
            given = values.get(section, {})
            if isinstance(given, dict):
                filled[section] |= given
            else:
                del filled[section]
        _rank_without_networks(filled, values)
        return values | filled if filled else values


def _rank_without_networks(filled: dict[str, dict[str, Any]], values: dict[str, Any]) -> None:
    """Take a preset's `rank_by` out where networks make the score and the functions have none."""
    score = filled.get("score")
    if score is None or "rank_by" in values.get("score", {}):
        return
    functions = score.get("functions")
    if not isinstance(functions, list | tuple) or NETWORKS not in functions:
        score.pop("rank_by", None)


def has_networks(effort: str) -> bool:
    """Whether an effort lets networks choose poses and rank, where they are installed."""
    return NETWORKS in PRESETS.get(effort, {}).get("score", {}).get("functions", [])


def lacks_networks(values: Mapping[str, Any]) -> bool:
    """Whether the effort of a config has networks, but they are not installed.

    Not where the config, which must be sound, names functions, or networks for the best alone.
    """
    named = "functions" in values.get("score", {}) or _of_the_best(values)
    return has_networks(values.get("effort", "")) and not named and network_folder() is None


def _of_the_best(values: Mapping[str, Any]) -> bool:
    """Whether a config has networks judge the poses of the best molecules."""
    networks = values.get("networks")
    return isinstance(networks, dict) and bool(networks.get("best"))


class Target(Structure):
    """A receptor and one site or several."""

    receptor: str | Annotated[dict[Name, str], Field(min_length=1)] = Field(
        description=(
            "structure file: PDB, mmCIF or PDBQT, plain or .gz; or several conformations by name"
        )
    )
    site: Site | None = Field(None, description="where to dock")
    sites: dict[Name, Site] = Field(
        default_factory=dict, description="several sites by name, each ranked as a separate target"
    )

    @model_validator(mode="after")
    def _some_site(self) -> Self:
        if (self.site is None) == (not self.sites):
            raise ValueError("give either 'site' or 'sites'")
        return self


class Library(Reading):
    """Molecules: one file, a folder or a glob; or the ligands of a library parsed before."""

    file: str | None = Field(
        None,
        description="file, folder or glob: SMILES, CSV, Parquet, SDF or MOL2, plain or compressed",
    )
    parsed: str | None = Field(
        None, description="folder results/ligands/LIBRARY of another campaign, instead of a file"
    )
    chunk_size: int = Field(
        20_000,
        ge=1,
        le=100_000_000,
        description="approximate number of molecules of one part; files are cut by their size",
    )
    chunks: int | None = Field(
        None, ge=1, le=10_000, description="parts of each file, instead of chunk_size"
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.file is None) == (self.parsed is None):
            raise ValueError("give either 'file' or 'parsed'")
        unused = self.model_fields_set - {"file", "parsed"}
        if self.parsed is not None and unused:
            raise ValueError(f"'{min(unused)}' was decided when the library was parsed; leave out")
        # A config that a run has kept names the default beside 'chunks'.
        if (
            self.chunks is not None
            and self.chunk_size != type(self).model_fields["chunk_size"].default
        ):
            raise ValueError("'chunks' is given, so that 'chunk_size' has no effect; leave out one")
        return self


NOT_EMPTY: dict[str, Any] = {"json_schema_extra": {"minProperties": 1}}
"""Of a key that is left out or names something; a campaign in memory may have it empty."""


SEARCHES = ("homologs", "offtargets", "guides")
"""Keys of searches of sequences, which a campaign may have beside targets and libraries."""


ANY_SEARCH: list[Any] = [{"required": [search]} for search in SEARCHES]


class Campaign(Method):
    """The whole config file: targets and libraries, or searches of sequences, or both."""

    model_config = pydantic.ConfigDict(
        json_schema_extra={
            "anyOf": [{"required": ["targets", "libraries"]}, *ANY_SEARCH],
        }
    )

    targets: dict[Name, Target] = Field({}, description="receptors by name", **NOT_EMPTY)
    libraries: dict[Name, Library] = Field({}, description="libraries by name", **NOT_EMPTY)
    homologs: dict[Name, HomologSearch] = Field(
        {}, description="searches for homologs of proteins, by name", **NOT_EMPTY
    )
    offtargets: dict[Name, OfftargetSearch] = Field(
        {}, description="searches for off-targets of CRISPR guides, by name", **NOT_EMPTY
    )
    guides: dict[Name, GuideDesign] = Field(
        {}, description="designs of CRISPR guides for a gene, by name", **NOT_EMPTY
    )
    controls: dict[Name, Control] = Field(
        {}, description="known binders and decoys that are docked before the libraries, by target"
    )
    duplicates: Literal["chunk", "campaign"] = Field(
        "chunk",
        description="dock a molecule that occurs several times once in each part, or once in the "
        "campaign, for which parts are parsed one after the other",
    )
    docked_poses: Literal["keep", "drop"] = Field(
        "keep",
        description="what becomes of docked poses when their part is scored; refined ones stay. "
        "'drop' needs a fraction of the disk, but a part whose refinement changes is docked again",
    )
    pocket: PocketSettings = Field(default_factory=PocketSettings)
    aggregate: AggregateSettings = Field(default_factory=AggregateSettings)
    networks: NetworksSettings = Field(default_factory=NetworksSettings)
    export: ExportSettings = Field(default_factory=ExportSettings)
    report: Report = Field(default_factory=Report)

    @model_validator(mode="before")
    @classmethod
    def _fit_poses(cls, values: Any) -> Any:
        """Where one of the two is given, as many poses are stored as molecules are exported."""
        if not isinstance(values, dict):
            return values
        aggregate, export = values.get("aggregate", {}), values.get("export", {})
        if not isinstance(aggregate, dict) or not isinstance(export, dict):
            return values  # and the section says what is wrong
        stored, exported = aggregate.get("top_poses"), export.get("count")
        if exported is None and isinstance(stored, int) and 0 < stored < ExportSettings().count:
            return values | {"export": export | {"count": stored}}
        if (
            stored is None
            and isinstance(exported, int)
            and exported > AggregateSettings().top_poses
        ):
            return values | {"aggregate": aggregate | {"top_poses": exported}}
        return values

    @field_validator("docked_poses")
    @classmethod
    def _runs_are_kept(cls, value: str, known: pydantic.ValidationInfo) -> str:
        if value == "drop" and known.data.get("search") == "lga":
            effort = known.data.get("effort")
            chosen = f", which effort {effort} chooses," if effort in SEARCH_OF else ""
            raise ValueError(
                f"take it out, as it would leave out the runs that 'search: lga'{chosen} shows in "
                "clusters"
            )
        return value

    @model_validator(mode="after")
    def _something_to_do(self) -> Self:
        if bool(self.targets) != bool(self.libraries):
            missing = "libraries" if self.targets else "targets"
            none = "names none" if missing in self.model_fields_set else "is missing"
            raise ValueError(f"key '{missing}' {none}; libraries are docked into targets")
        if not self.targets and not any(getattr(self, search) for search in SEARCHES):
            raise ValueError(
                "give 'targets' and 'libraries', or 'homologs', 'offtargets' or 'guides'"
            )
        for name, search in self.homologs.items():
            if search.target is not None and search.target not in self.targets:
                raise ValueError(
                    f"key 'homologs.{name}.target': '{search.target}' is none of the targets "
                    f"({', '.join(self.targets) or 'there are none'})"
                )
            if search.structures and self.aggregate.rank_by != "score":
                raise ValueError(
                    f"'homologs.{name}.structures' needs 'aggregate.rank_by: score': mean ranks of "
                    "two targets cannot be compared"
                )
        if self.networks.best and not self.targets:
            raise ValueError(
                "'networks.best' has networks judge docked poses, but nothing is docked without "
                "'targets'; take it out"
            )
        if self.networks.best and NETWORKS in self.score.functions:
            raise ValueError(
                f"'networks.best' has networks judge the poses of the best {self.networks.best} "
                f"molecules, but '{NETWORKS}' in 'score.functions' judges all poses; take one out"
            )
        stored, exported = self.aggregate.top_poses, self.export.count
        if stored < exported:
            raise ValueError(
                f"'export.count' is {exported}, but 'aggregate.top_poses' has {stored} poses of a "
                "target stored; raise it, or export fewer"
            )
        return self


def schema() -> str:
    """The JSON schema of the config file, as stored in workflow/config.schema.json."""
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(document | Campaign.model_json_schema(), indent=2) + "\n"


if __name__ == "__main__":
    print(schema(), end="")
