"""Which records each kind of file holds, and the version of each layout (docs/format.md)."""

from ligen_py.records import (
    Audit,
    ChargedReceptor,
    Checks,
    Entries,
    Field,
    Ledger,
    Ligands,
    Poses,
    Receptor,
    Record,
    Refinement,
    Scores,
    Verdicts,
)

VERSIONS = {
    "ligands": 1,
    "pocket": 1,
    "poses": 1,
    "kept": 1,
    "refined": 1,
    "scores": 1,
    "campaign": 1,
}
"""Layout version of each kind; raise it when a reader of the old one would misread."""

GROUPS: dict[str, dict[str, type[Record]]] = {
    "ligands": {"entries": Entries, "ledger": Ledger, "ligands": Ligands},
    "pocket": {
        "receptor": Receptor,
        "charged": ChargedReceptor,
        "field": Field,
        "audit": Audit,
    },
    "poses": {"ledger": Ledger, "poses": Poses},
    "kept": {"ledger": Ledger, "poses": Poses, "verdicts": Verdicts},
    "refined": {
        "ledger": Ledger,
        "poses": Poses,
        "verdicts": Verdicts,
        "refinement": Refinement,
    },
    "scores": {"ledger": Ledger, "scores": Scores, "checks": Checks},
}
"""Group name -> record, for every kind that is a plain set of records."""
