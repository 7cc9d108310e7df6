"""Names of libraries, targets and files: which are allowed, and which are the campaign's own."""

import os
import re
import shlex
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from ligen_py.chain import BEST
from ligen_py.errors import InputError

if TYPE_CHECKING:
    from ligen_py.campaign.workplan import Workplan

CONTROL = "control-"
"""What the name of a redocking control's library starts with."""

ACTIVES, DECOYS = "actives-of-", "decoys-of-"
"""What the names of the libraries of known binders and of decoys start with."""

OURS = (CONTROL, ACTIVES, DECOYS)
"""How no library of a config may start."""

ANTI = "anti-"
"""What the name of an anti-target's pocket starts with; search and accession follow."""

LONGEST_NAME = 64
"""Characters of a library's name, controls included."""

CLOCKS = 60
"""Seconds by which clocks of a network may differ."""


def check_names(plan: "Workplan") -> None:
    """InputError where a name of the config is taken, given twice, too long or of no target."""
    _check_libraries(plan)
    _check_pockets(plan)
    _check_controls(plan)


def _check_libraries(plan: "Workplan") -> None:
    for name in plan.settings.libraries:
        for first in OURS:
            if name.startswith(first):
                raise InputError(
                    f"{plan.config.place('libraries', name)}: names that start with '{first}' are "
                    "kept for the controls; give the library another name"
                )
        if name.startswith(BEST) and name.removeprefix(BEST) in plan.searches.selective:
            raise InputError(
                f"{plan.config.place('libraries', name)}: is the name of the best ligands that are "
                "docked into anti-targets; give the library another name"
            )


def _check_pockets(plan: "Workplan") -> None:
    every = [*plan.docked(), *plan.antitargets.values()]
    names = [docked.name for docked in every]
    # Conformations of one target rank under one name, those of two targets must not.
    owners = {docked.target: docked.settings for docked in reversed(every)}
    for docked in every:
        name, target = docked.name, plan.config.place(*plan.keys(docked))
        if len(CONTROL + name) > LONGEST_NAME:
            raise InputError(
                f"{target}: '{name}' is too long; give names of "
                f"{LONGEST_NAME - len(CONTROL)} characters at most in all, with those of sites "
                "and conformations"
            )
        is_shared = owners[docked.target] is not docked.settings
        if names.count(name) > 1 or is_shared:
            name = docked.target if is_shared else name
            raise InputError(
                f"{target}: '{name}' is the name of two targets, sites or conformations; rename one"
            )
    variants = plan.controls.variants
    for name in names:
        if name in variants:
            raise InputError(
                f"{plan.config.place('targets')}: '{name}' is also what '{variants[name][0]}' "
                "is called where controls try other waters; rename one"
            )
    _check_exported(plan)


def _check_exported(plan: "Workplan") -> None:
    """InputError where two targets would have one file in the folder `export`."""
    receptors: dict[str, str] = {}
    for docked in plan.pockets.values():
        stem = "-".join(filter(None, (docked.target, "receptor", docked.conformation)))
        other = receptors.setdefault(stem, docked.target)
        if other != docked.target:
            raise InputError(
                f"{plan.config.place('targets')}: '{stem}' is the file of a receptor of '{other}' "
                f"and of '{docked.target}'; rename one"
            )
    exported = {"reference": "the reference ligand of '{}'"}
    if plan.settings.networks.best:
        exported["network"] = "the poses of '{}' that networks choose"
    for name, (ending, what) in product(plan.ranked, exported.items()):
        if f"{name}-{ending}" in plan.ranked:
            raise InputError(
                f"{plan.config.place('targets')}: '{name}-{ending}' is the name of a target, and "
                f"of the file of {what.format(name)}; rename one"
            )


def _check_controls(plan: "Workplan") -> None:
    for name in plan.settings.controls:
        if name not in plan.ranked:
            raise InputError(
                f"{plan.config.place('controls', name)}: no target is ranked under this name; "
                f"there are: {', '.join(plan.ranked)}"
            )
        if len(ACTIVES + name) > LONGEST_NAME:
            raise InputError(
                f"{plan.config.place('controls', name)}: a target with controls has a name of "
                f"{LONGEST_NAME - len(ACTIVES)} characters at most"
            )


def check_path(path: Path, where: str) -> None:
    """InputError for a file that Snakemake takes for another one, or for newer, or cannot read."""
    if not str(path).isprintable():
        raise InputError(f"{where}: {str(path)!r}: the name cannot be shown; rename it")
    if {"{", "}"} & set(str(path)):
        raise InputError(f"{where}: {path}: Snakemake takes braces for wildcards; rename it")
    if re.search("<[a-z][a-z0-9_]*>", str(path)):
        raise InputError(f"{where}: {path}: Snakemake takes <...> for another path; rename it")
    # It throws away what is older than its source, after the job. A file server's clock may differ.
    if path.exists() and path.stat().st_mtime > time.time() + CLOCKS:
        raise InputError(
            f"{where}: {path}: the time of its last change lies in the future; type "
            f"'touch {shlex.quote(str(path))}' or copy the file, or correct this computer's clock"
        )
    if path.exists() and not os.access(path, os.R_OK):
        raise InputError(f"{where}: {path}: cannot be read (Permission denied)")


def check_file(path: Path, where: str) -> None:
    """InputError, which names the `where`, if the path leads to no file."""
    check_path(path, where)
    if path.is_dir():
        raise InputError(f"{where}: {path} is a folder; give a file")
    if path.exists() and not path.is_file():
        raise InputError(f"{where}: {path} is a pipe or a device; give a file")
    if not path.is_file():
        raise InputError(f"{where}: {path} does not exist; correct the path")
