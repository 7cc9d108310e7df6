"""Records of a campaign that are not scored, as rows of an answer, with the reason."""

import numpy as np

from ligen_py.records.ledger import Status
from ligen_py.store.campaign.layout import Left
from ligen_py.summary.queries.columns import Molecules, blank
from ligen_py.summary.table import readable

UNSCORED = ("name", "library", "file", "line")
"""Columns that such a record has; all others are blank."""


def why_none(left: Left) -> list[str]:
    """Why each record is not scored."""
    return [
        f"{Status(code).name.lower()}: {readable(detail)}"
        for code, detail in zip(left.status, left.detail, strict=True)
    ]


def with_left(
    part: dict[str, np.ndarray], molecules: Molecules, left: Left
) -> dict[str, np.ndarray]:
    """Rows of ranked molecules, and below them records that are not ranked, with the reason."""
    count = len(left.name)
    campaign = molecules.campaign
    texts = {
        "target": [molecules.target.name] * count,
        "name": list(left.name),
        "library": [campaign.libraries[number] for number in left.library],
        "file": [campaign.files[number] for number in left.file],
    }
    result = {}
    for name, values in part.items():
        whole = values.dtype.kind in "iu" and name != "line"
        if values.dtype == object or whole:
            more = np.empty(count, object)
            more[:] = texts.get(name, [None] * count)
        else:
            more = left.line if name == "line" else blank(count, values)
        result[name] = np.concatenate([values, more]) if count else values
    status = ["scored"] * len(next(iter(part.values())))
    status += why_none(left)
    result["status"] = np.empty(len(status), object)
    result["status"][:] = status
    return result
