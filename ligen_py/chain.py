"""The stages of a campaign in one table: what each writes, where, from what, with which settings.

The rules, the manifest, `verify`, `plan` and the benchmarks read this table; `SEQUENCES` is that of
the searches in sequences. A stage of a campaign is a module of this package, named as its rule and
its section of the config, with

    class Inputs(NamedTuple)
    def run(inputs: Inputs, settings: Section, device: str | None, output: Path) -> None

`inputs` names the files that are read, and which part of them; `device` selects OpenCL devices as
`--device` does, and a stage without kernels ignores it; `output` is the file to write. Further
keywords of a stage change its speed, or where it prints, and no file. The command line of a stage
ends in the same function.

Importing this module loads no stage, so that no stage's digest covers the code of another one.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from ligen_py.settings.section import Section

PART = "{target}/{library}/{chunk}.h5"
"""File of one part: one chunk of a library against one pocket."""


@dataclass(frozen=True)
class Stage:
    """One stage of a campaign."""

    name: str
    """Of the module in `ligen_py`, of the rule, and of the section in the config."""
    kind: str
    """Kind of the file it writes, as in `records.kinds`; the manifest's column for that file."""
    path: str
    """The file it writes, below the folder of results; with the rules' wildcards."""
    model: str
    """Class of its settings, in the module of this name in `ligen_py.settings`."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Flag -> kind of the file that another stage has written."""
    search: str = ""
    """The search whose campaigns alone have this stage; of all campaigns where it is empty."""
    rule: str = ""
    """Of its rule, where a module has two; else the rule has the module's name."""
    section: str = ""
    """Module of its settings in `ligen_py.settings`, where it has not the stage's name."""

    @property
    def settings(self) -> type[Section]:
        """The model of its settings."""
        module = import_module(f"ligen_py.settings.{self.section or self.name}")
        model: type[Section] = getattr(module, self.model)
        return model

    def file(self, results: str, **wildcards: str) -> str:
        """The file that it writes, below a folder of results."""
        return f"{results}/{self.path.format(**wildcards)}"

    def run(
        self,
        inputs: Mapping[str, Any],
        settings: Section,
        device: str | None,
        output: Path,
        **speed: Any,
    ) -> None:
        """Run the stage in this process; its log is limited to warnings.

        `inputs` has a value for each field of the stage's `Inputs`. Raises what the stage raises:
        InputError, DeviceError, OSError.
        """
        with _warnings_only():
            self.run_logged(inputs, settings, device, output, **speed)

    def run_logged(
        self,
        inputs: Mapping[str, Any],
        settings: Section,
        device: str | None,
        output: Path,
        **speed: Any,
    ) -> None:
        """As `run`, with all that the stage logs."""
        stage = import_module(f"ligen_py.{self.name}")
        stage.run(stage.Inputs(**inputs), settings, device, output, **speed)


@contextmanager
def _warnings_only() -> Iterator[None]:
    log = logging.getLogger("ligen_py")
    level = log.level
    log.setLevel(logging.WARNING)
    try:
        yield
    finally:
        log.setLevel(level)


SITE = {"ligands": "ligands", "pocket": "pocket"}

STAGES: dict[str, Stage] = {
    stage.name: stage
    for stage in (
        Stage("pocket", "pocket", "pockets/{target}.h5", "PocketSettings"),
        Stage("parse", "ligands", "ligands/{library}/{chunk}.h5", "ParseOptions"),
        Stage("dock", "poses", f"poses/{PART}", "DockSettings", SITE, "ligen"),
        Stage("lga", "poses", f"poses/{PART}", "LgaSettings", SITE, "lga"),
        Stage(
            "filter",
            "kept",
            f"kept/{PART}",
            "FilterSettings",
            {"ligands": "ligands", "poses": "poses"},
        ),
        Stage(
            "refine",
            "refined",
            f"refined/{PART}",
            "RefineSettings",
            SITE | {"poses": "poses", "kept": "kept"},
        ),
        Stage("score", "scores", f"scores/{PART}", "ScoreSettings", SITE | {"poses": "refined"}),
        Stage(
            "aggregate",
            "campaign",
            "campaign.h5",
            "AggregateSettings",
            {kind: kind for kind in ("ligands", "pocket", "refined", "scores")},
        ),
        Stage("networks", "networks", "networks.h5", "NetworksSettings", {"campaign": "campaign"}),
        Stage("export", "export", "export/.exported", "ExportSettings", {"campaign": "campaign"}),
        Stage("report", "report", "report.html", "ReportSettings", {"campaign": "campaign"}),
    )
}
"""Every stage by name, in the order in which they run."""


BEST = "best-"
"""What the name of a library of the best ligands starts with; the search's name follows."""

FOUND = "{search}/found"
"""Folder of what the parts of a search give together; tables lie beside the file."""

SEQUENCES: dict[str, Stage] = {
    stage.rule or stage.name: stage
    for stage in (
        Stage("database", "database", "homologs/{search}/database.h5", ""),
        Stage(
            "homologs",
            "homologs",
            "homologs/{search}/{chunk}.h5",
            "HomologsSettings",
            {"database": "database", "pocket": "pocket"},
        ),
        Stage(
            "panel",
            "homologs",
            f"homologs/{FOUND}/homologs.h5",
            "PanelSettings",
            {"hits": "homologs"},
            section="homologs",
        ),
        Stage(
            "best",
            "ligands",
            f"ligands/{BEST}{{search}}/1-of-1.h5",
            "BestSettings",
            {"campaign": "campaign"},
        ),
        Stage(
            "selectivity",
            "selectivity",
            "homologs/{search}/selectivity.tsv",
            "BestSettings",
            {"campaign": "campaign", "ligands": "ligands", "scores": "scores"},
            section="best",
        ),
        Stage("genome", "genome", "genomes/{genome}", ""),
        Stage(
            "offtargets",
            "offtargets",
            "offtargets/{search}/{chunk}.h5",
            "OfftargetsSettings",
            {"cache": "genome"},
        ),
        Stage(
            "offtargets",
            "offtargets",
            f"offtargets/{FOUND}/offtargets.h5",
            "",
            {"join": "offtargets"},
            rule="sites",
        ),
        Stage(
            "guides",
            "offtargets",
            "guides/{search}/{chunk}.h5",
            "GuidesSettings",
            {"cache": "genome"},
            rule="guide_sites",
        ),
        Stage(
            "guides",
            "guides",
            f"guides/{FOUND}/guides.h5",
            "GuidesSettings",
            {"cache": "genome", "sites": "offtargets"},
        ),
    )
}
"""Every stage of the searches in sequences by rule, in the order in which they run.

They write one file each, with tables beside. Where `model` is empty a stage has no settings.
"""


def screen(search: str) -> tuple[Stage, ...]:
    """The stages that run once for each part, on a device, in campaigns of a search."""
    parts = (stage for stage in STAGES.values() if stage.path.endswith(PART))
    return tuple(stage for stage in parts if stage.search in ("", search))


SCREEN = screen("ligen")
"""Those of LiGen's search."""

TOGETHER = "screen"
"""The module and rule that run all of these in one process."""

FILES = tuple(dict.fromkeys(stage.kind for stage in STAGES.values() if "{" in stage.path))
"""Kinds of the files of a part, in the order in which the stages write them."""


BETWEEN = ("poses", "kept")
"""Kinds of files that nothing reads once a part is scored; a campaign may drop their rows."""


def writer(kind: str, search: str = "ligen") -> Stage:
    """The stage that writes files of a kind in campaigns of a search."""
    stages = (stage for stage in STAGES.values() if stage.search in ("", search))
    return next(stage for stage in stages if stage.kind == kind)
