import re
from dataclasses import fields
from pathlib import Path

import pytest

from ligen_py.chain import FILES
from ligen_py.errors import InputError
from ligen_py.store.campaign import manifest as manifests
from ligen_py.store.campaign.manifest import COLUMNS, Listed, PartFiles, digest_of, read_manifest

ROW = ["t", "lib", "m.smi", "t.h5", "l/1-of-1.h5", "p.h5", "k.h5", "r.h5", "s.h5", "0", "", ""]
CONTROL = [
    "t",
    "control-t",
    "ref.sdf",
    "t.h5",
    "c.h5",
    "cp.h5",
    "ck.h5",
    "cr.h5",
    "cs.h5",
    "1",
    "ref.sdf",
    "",
]


def manifest(path: Path, *rows: list[str], header: tuple[str, ...] = COLUMNS) -> Path:
    path.write_text("".join("\t".join(row) + "\n" for row in (header, *rows)), encoding="utf-8")
    return path


def changed(row: list[str], **columns: str) -> list[str]:
    return [columns.get(name, value) for name, value in zip(COLUMNS, row, strict=True)]


def test_a_part_has_a_field_for_every_file_that_the_stages_write() -> None:
    named = [spec.name for spec in fields(PartFiles) if spec.type is Path]
    assert sorted(named) == sorted(FILES)


def test_parts_keep_their_order_and_controls_are_no_library(tmp_path: Path) -> None:
    second = changed(ROW, ligands="l/2-of-2.h5")
    found = read_manifest(manifest(tmp_path / "m.tsv", second, CONTROL, ROW))
    assert (found.targets, found.libraries) == (["t"], ["lib"])
    chunks = found.chunks("t", "lib")
    assert [part.ligands.stem for (part,) in chunks] == ["2-of-2", "1-of-1"]
    (control,) = found.control("t")
    assert control.crystal == Path("ref.sdf")
    assert found.control("u") == []


def test_conformations_of_a_target_come_together(tmp_path: Path) -> None:
    first = changed(ROW, conformation="open", pocket="o.h5")
    second = changed(ROW, conformation="shut", pocket="s.h5")
    more = [changed(row, ligands="l/2-of-2.h5") for row in (first, second)]
    found = read_manifest(manifest(tmp_path / "m.tsv", first, more[0], second, more[1]))
    assert found.targets == ["t"]
    chunks = found.chunks("t", "lib")
    assert [[part.place for part in chunk] for chunk in chunks] == [["t.open", "t.shut"]] * 2
    assert read_manifest(manifest(tmp_path / "n.tsv", first, second)).text() == (
        (tmp_path / "n.tsv").read_text()
    )


def test_files_are_those_beside_the_manifest_also_from_another_campaigns_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All campaigns have the same names of files."""
    for name in ("mine", "theirs"):
        (tmp_path / name / "results" / "l").mkdir(parents=True)
        (tmp_path / name / "results/l/1-of-1.h5").touch()
    row = changed(ROW, ligands="results/l/1-of-1.h5")
    table = manifest(tmp_path / "theirs/results/manifest.tsv", row)
    monkeypatch.chdir(tmp_path / "mine")
    (part,) = read_manifest(table).found_from(Path("../theirs/results/manifest.tsv")).parts
    assert part.ligands.samefile(tmp_path / "theirs/results/l/1-of-1.h5")
    monkeypatch.chdir(tmp_path / "theirs")
    (part,) = read_manifest(table).found_from(Path("results/manifest.tsv")).parts
    assert part.ligands == Path("results/l/1-of-1.h5")  # as one types it
    lonely = manifest(tmp_path / "elsewhere.tsv", row)
    (part,) = read_manifest(lonely).found_from(lonely).parts
    assert part.ligands == Path("results/l/1-of-1.h5")


def test_a_renamed_folder_of_results_has_its_own_files(tmp_path: Path) -> None:
    """Those under its old name are of another campaign; what is not in it stays where it is."""
    row = changed(ROW, ligands="results/l/1-of-1.h5", crystal="data/ref.sdf")
    for name in ("results", "results_old"):
        (tmp_path / name / "l").mkdir(parents=True)
        (tmp_path / name / "l/1-of-1.h5").touch()
    table = manifest(tmp_path / "results_old/manifest.tsv", row)
    (part,) = read_manifest(table).found_from(table).parts
    assert part.ligands == tmp_path / "results_old/l/1-of-1.h5"
    assert part.crystal == tmp_path / "data/ref.sdf"


def test_a_copy_of_the_results_alone_has_the_reference_ligands_of_the_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = changed(ROW, ligands="results/l/1-of-1.h5", crystal="data/ref.sdf")
    copy, campaign = tmp_path / "copy" / "backup", tmp_path / "campaign"
    (copy / "l").mkdir(parents=True)
    (copy / "l/1-of-1.h5").touch()
    (campaign / "data").mkdir(parents=True)
    (campaign / "data/ref.sdf").touch()
    monkeypatch.chdir(campaign)
    table = manifest(copy / "manifest.tsv", row)
    (part,) = read_manifest(table).found_from(table).parts
    assert part.ligands == copy / "l/1-of-1.h5"
    assert part.crystal == Path("data/ref.sdf")
    (copy.parent / "data").mkdir()
    (copy.parent / "data/ref.sdf").touch()
    (part,) = read_manifest(table).found_from(table).parts
    assert part.crystal == copy.parent / "data/ref.sdf"


def test_windows_line_ends_and_a_byte_order_mark_do_no_harm(tmp_path: Path) -> None:
    path = manifest(tmp_path / "m.tsv", ROW)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert len(read_manifest(path).parts) == 1


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([], "lists no part of any library"),
        ([CONTROL], "lists no part of any library"),
        ([ROW[:-1]], "line 2 has 11 columns, not 12"),
        ([changed(ROW, target="../t")], "line 2: '../t' is no name"),
        ([changed(ROW, library="a/b")], "line 2: 'a/b' is no name"),
        ([changed(ROW, control="yes")], "line 2: control is 'yes'"),
        ([changed(CONTROL, crystal="")], "needs its reference ligand"),
        ([changed(ROW, scores="")], "the column 'scores' is empty"),
        ([ROW, ROW], "t/lib/1-of-1 is listed twice"),
        ([ROW, changed(ROW, pocket="u.h5", ligands="x.h5")], "target t has two pockets"),
        ([ROW, CONTROL, changed(CONTROL, ligands="d.h5")], "target t has two controls"),
        (
            [ROW, changed(ROW, target="u", pocket="u.h5", ligands="other.h5")],
            "library lib has other parts for target u than for t",
        ),
        (
            [
                changed(ROW, conformation="a"),
                changed(ROW, conformation="b", pocket="u.h5", ligands="other.h5"),
            ],
            "library lib has other parts for target t.b than for t.a",
        ),
    ],
)
def test_a_bad_manifest_is_a_sentence(tmp_path: Path, rows: list[list[str]], sentence: str) -> None:
    path = manifest(tmp_path / "m.tsv", *rows)
    with pytest.raises(InputError, match=re.escape(sentence)) as caught:
        read_manifest(path)
    assert str(path) in str(caught.value)


def test_other_files_are_no_manifest(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"\x89HDF\xff\xfe")
    (tmp_path / "e").write_text("")
    for name, sentence in (("b", "not text in UTF-8"), ("e", "the first line must contain")):
        with pytest.raises(InputError, match=sentence):
            read_manifest(tmp_path / name)
    with pytest.raises(InputError, match="the first line must contain"):
        read_manifest(manifest(tmp_path / "m.tsv", ROW, header=COLUMNS[:-1]))


def test_the_digest_knows_the_parts_and_the_crystal_not_the_folder(tmp_path: Path) -> None:
    digests = []
    for folder, content in (("a", "C"), ("b", "C"), ("b", "CC")):
        (tmp_path / folder).mkdir(exist_ok=True)
        crystal = tmp_path / folder / "ref.sdf"
        crystal.write_text(content)
        files = {name: f"{folder}/{name}/1-of-1.h5" for name in FILES[1:]}
        rows = [changed(ROW, **files), changed(CONTROL, crystal=str(crystal))]
        digests.append(read_manifest(manifest(tmp_path / "m.tsv", *rows)).digest())
    assert digests[0] == digests[1]
    assert digests[1] != digests[2]
    other = manifest(tmp_path / "m.tsv", changed(ROW, library="other"))
    assert read_manifest(other).digest() != read_manifest(manifest(other, ROW)).digest()
    with pytest.raises(InputError, match=r"ref\.sdf: does not exist"):
        read_manifest(manifest(other, ROW, CONTROL)).digest()


def test_a_crystal_of_many_parts_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crystal = tmp_path / "ref.pdb"
    crystal.write_text("C")
    read: list[Path] = []

    def digest(path: Path) -> str:
        read.append(path)
        return "d"

    monkeypatch.setattr(manifests, "file_digest", digest)
    parts = [Listed(f"t/lib/{chunk}", "lib.smi", False, crystal) for chunk in range(3)]
    digest_of(parts)
    assert read == [crystal]
