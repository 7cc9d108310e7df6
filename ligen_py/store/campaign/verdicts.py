"""The verdicts that `controls` writes, a JSON file for each target."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ligen_py.errors import InputError
from ligen_py.store.campaign.layout import Verdicts

KEYS = {"target": str, "passed": bool, "sentence": str}


def read_verdict(path: Path) -> dict[str, Any]:
    """A verdict; InputError where the file is none."""
    try:
        verdict = json.loads(path.read_text(encoding="utf-8"))
        fine = all(isinstance(verdict[key], kind) for key, kind in KEYS.items())
    except (ValueError, KeyError, TypeError):
        fine = False
    if not fine:
        cure = "give the controls.json of a target"
        if path.name == "controls.json":  # a damaged one, and nothing of the user's
            cure = "delete it, and 'ligen run CONFIG' makes it again"
        raise InputError(f"{path}: no verdict of `controls`; {cure}")
    return dict(verdict)


def read_verdicts(paths: Sequence[Path]) -> Verdicts:
    """All verdicts, to be stored in a campaign file."""
    found = [read_verdict(path) for path in paths]
    documents = [json.dumps(verdict, ensure_ascii=False) for verdict in found]
    return Verdicts(
        target=np.array([verdict["target"] for verdict in found], object),
        passed=np.array([verdict["passed"] for verdict in found], "u1"),
        sentence=np.array([verdict["sentence"] for verdict in found], object),
        document=np.array(documents, object),
    )
