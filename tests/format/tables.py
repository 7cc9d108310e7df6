"""The generated parts of docs/format.md; run `python -m tests.format.tables` to write them anew."""

import re
from collections.abc import Mapping
from dataclasses import fields
from enum import IntEnum
from pathlib import Path

from ligen_py.records.column import STRING, Record, own_columns
from ligen_py.records.kinds import KINDS, SEQUENCE_KINDS
from ligen_py.records.ledger import Reason, Status
from ligen_py.records.networks import NETWORKS
from ligen_py.store.campaign.layout import ROOT_GROUPS, TARGET_GROUPS
from ligen_py.store.campaign.manifest import COLUMNS

EVERY_KIND = KINDS | SEQUENCE_KINDS
DOCUMENT = Path(__file__).parents[2] / "docs" / "format.md"
BLOCK = r"(<!-- generated: {} -->\n).*?(<!-- end -->)"


def table(record: type[Record]) -> str:
    """The columns of a record as a Markdown table."""
    lines = ["| column | type | dimensions | unit | meaning |", "| --- | --- | --- | --- | --- |"]
    for spec in own_columns(record):
        meta = spec.metadata
        kind = "text" if meta["dtype"] == STRING else meta["dtype"].str.lstrip("<|")
        kind = meta["enum"].__name__ if meta["enum"] else kind
        dims = ", ".join(str(dim) for dim in meta["dims"])
        doc = meta["doc"] + (f"; offsets into {meta['into']}" if meta["into"] else "")
        lines.append(f"| `{spec.name}` | {kind} | {dims} | {meta['units']} | {doc} |")
    return "\n".join(lines) + "\n"


def groups(prefix: str, records: Mapping[str, type[Record]]) -> str:
    """Each group with what it is and its columns."""
    parts = []
    for name, record in records.items():
        meaning = (record.__doc__ or "").split("\n\n")[0].replace("\n    ", " ")
        parts.append(f"\n`{prefix}{name}`: {meaning}\n\n{table(record)}")
    return "".join(parts)


def enumeration(enum: type[IntEnum]) -> str:
    values = ", ".join(f"`{item.name}` {item.value}" for item in enum)
    return f"- {enum.__name__}: {values}.\n"


def enumerations() -> list[type[IntEnum]]:
    """Every enumeration that a column uses."""
    records = [record for kind in EVERY_KIND.values() for record in kind.groups.values()]
    used = [spec.metadata["enum"] for record in records for spec in fields(record)]  # type: ignore[arg-type]
    return list(dict.fromkeys([Status, Reason, *(enum for enum in used if enum)]))


def blocks() -> dict[str, str]:
    """Generated text by the name of its block."""
    kinds = "".join(f"\n## {name}\n{groups('', kind.groups)}" for name, kind in EVERY_KIND.items())
    return {
        "enumerations": "\n" + "".join(map(enumeration, enumerations())) + "\n",
        "kinds": f"{kinds}\n",
        "campaign": f"{groups('targets/{target}/', TARGET_GROUPS)}{groups('', ROOT_GROUPS)}\n",
        "networks": f"{groups('', NETWORKS.groups)}\n",
        "manifest": f"\n    {'  '.join(COLUMNS)}\n\n",
    }


def rendered(text: str) -> str:
    """The document with its generated parts made anew."""
    for name, content in blocks().items():
        pattern = re.compile(BLOCK.format(name), re.DOTALL)
        if len(pattern.findall(text)) != 1:
            raise ValueError(f"{DOCUMENT} must have one block 'generated: {name}'")
        text = pattern.sub(lambda found, content=content: f"{found[1]}{content}{found[2]}", text)
    return text


if __name__ == "__main__":
    DOCUMENT.write_text(rendered(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
