"""docs/format.md says what the code does."""

import re
from pathlib import Path

import h5py

from ligen_py import aggregate
from ligen_py.records.kinds import KINDS, SEQUENCE_KINDS
from ligen_py.records.networks import NETWORKS
from ligen_py.store.campaign.layout import CAMPAIGN, ROOT_GROUPS, TARGET_GROUPS
from tests.format.tables import DOCUMENT, rendered
from tests.stages.factory import Molecule, write_manifest, write_part


def document() -> str:
    return DOCUMENT.read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_records() -> None:
    assert rendered(document()) == document(), "run python -m tests.format.tables"


def test_every_kind_has_its_section_and_version() -> None:
    kinds = (*KINDS.values(), *SEQUENCE_KINDS.values(), CAMPAIGN, NETWORKS)
    raised = sorted(f"{kind.version} of {kind.name}" for kind in kinds if kind.version > 1)
    for kind in kinds:
        assert f"\n## {kind.name}\n" in document()
    assert f"Layout versions of files: {', '.join(raised)}; 1 of every other kind." in document()


def test_files_hold_what_the_document_says(tmp_path: Path) -> None:
    part = write_part(tmp_path, "t", "lib", "1-of-1", [Molecule("a", "CCO", 1.0)])
    manifest = write_manifest(tmp_path / "m.tsv", [part])
    path = tmp_path / "c.h5"
    assert aggregate.main(["--manifest", str(manifest), "--output", str(path), "--quiet"]) == 0
    with h5py.File(path) as file:
        assert set(file) == {"targets", "libraries", "files", *ROOT_GROUPS}
        assert set(file["targets/t"]) == {*TARGET_GROUPS, "ranking", "terms"}
        assert set(file["targets/t/terms/xscore"]) == {"half", "total"}
        for name, record in TARGET_GROUPS.items():
            assert set(file[f"targets/t/{name}"]) == set(record.__dataclass_fields__)
        attributes = dict(file.attrs)
    assert attributes.pop("encoding-version") == CAMPAIGN.version
    for name in attributes:
        assert re.search(rf"`{name}`", document()), name
    for kind, file_of in (
        ("ligands", part.ligands),
        ("refined", part.refined),
        ("scores", part.scores),
    ):
        with h5py.File(file_of) as file:
            assert set(file) - {"terms"} == set(KINDS[kind].groups)
