"""The command `ligen lga`: AutoDock's files in, docking logs out, read by Meeko and Ringtail."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import gemmi
import numpy as np
import pytest

from ligen_py import lga_command, lga_flags
from ligen_py.engine.genetic.effort import most_evaluations
from ligen_py.molecules.dlg import shown
from ligen_py.molecules.pdbqt_input import read_ligand
from ligen_py.pace import Pace
from ligen_py.settings.lga import LgaSettings
from tests.unit.molecules.test_pdbqt_input import meekos
from tests.with_meeko import PDBQTMolecule, RDKitMolCreate

FEW = ["--nrun", "5", "--ngen", "4", "--psize", "12", "--lsit", "12", "--quiet"]
SMILES = "COc1cc(CCN)ccc1O"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ligand, a receptor of some amino acids around it, and their maps."""
    place = tmp_path_factory.mktemp("lga")
    (place / "lig.pdbqt").write_text(meekos(SMILES))
    center = read_ligand(place / "lig.pdbqt").center
    lines = []
    for n, shift in enumerate(((0, 0, 7), (0, 7, 0), (7, 0, 0), (0, -7, 0))):
        for line in meekos("CC(N)C(=O)NCC(=O)O").splitlines():
            if line.startswith("ATOM"):
                xyz = [float(line[k : k + 8]) + s + c for k, s, c in
                       zip((30, 38, 46), shift, center, strict=True)]  # fmt: skip
                words = "".join(f"{v:8.3f}" for v in xyz)
                lines.append(f"{line[:22]}{n + 1:4d}{line[26:30]}{words}{line[54:]}")
    (place / "rec.pdbqt").write_text("\n".join(lines) + "\n")
    words = ["--receptor", str(place / "rec.pdbqt"), "--size", "12", "12", "12", "--lfile",
             str(place / "lig.pdbqt"), "--write-maps", str(place / "rec")]  # fmt: skip
    assert lga_command.main([*words, "--resnam", str(place / "first"), *FEW]) == 0
    return place


def dock(folder: Path, name: str, *more: str, ligand: str = "lig.pdbqt") -> Path:
    words = ["--ffile", str(folder / "rec.maps.fld"), "--lfile", str(folder / ligand)]
    assert lga_command.main([*words, "--resnam", str(folder / name), *FEW, *more]) == 0
    return folder / f"{name}.dlg"


def test_meeko_reads_poses_energies_and_clusters(folder: Path) -> None:
    logged = PDBQTMolecule.from_file(str(folder / "first.dlg"), is_dlg=True, skip_typing=True)
    data = logged._pose_data
    assert data["n_poses"] == 5
    assert len(data["cluster_id"]) == 5
    best = data["cluster_leads_sorted"][0]
    assert data["free_energies"][best] == min(data["free_energies"])
    for mol in RDKitMolCreate.from_pdbqt_mol(logged):
        assert mol.GetNumConformers() == 5
    poses = PDBQTMolecule.from_file(str(folder / "first.pdbqt"), skip_typing=True)
    free = poses._pose_data["free_energies"]
    assert free == sorted(free)
    assert free == pytest.approx(sorted(data["free_energies"]), abs=0.006)
    total = np.add(data["intermolecular_energies"], 5 * 0.2983)
    assert data["free_energies"] == pytest.approx(total.tolist(), abs=0.011)


def test_a_pose_as_ligand_leaves_its_energies_behind(folder: Path) -> None:
    model = (folder / "first.pdbqt").read_text().partition("ENDMDL")[0]
    free = "USER    Estimated Free Energy of Binding    =  -9.99 kcal/mol  [=(1)+(2)+(3)-(4)]"
    (folder / "pose.pdbqt").write_text(f"{model.replace('ROOT', free + chr(10) + 'ROOT', 1)}ENDMDL")
    log = dock(folder, "second", ligand="pose.pdbqt")
    for path in (log, log.with_suffix(".pdbqt")):
        found = PDBQTMolecule.from_file(str(path), is_dlg=path == log, skip_typing=True)
        for key in ("free_energies", "intermolecular_energies", "internal_energies"):
            assert len(found._pose_data[key]) == 5
        assert -9.99 not in found._pose_data["free_energies"]


def test_an_end_in_the_ligands_file_hides_no_pose(folder: Path) -> None:
    (folder / "end.pdbqt").write_text(f"{(folder / 'lig.pdbqt').read_text()}\nTER\nEND\n")
    log = dock(folder, "ended", ligand="end.pdbqt")
    assert len(gemmi.read_pdb(str(log.with_suffix(".pdbqt")))) == 5
    assert "DOCKED: END\n" not in log.read_text()


def test_ringtail_reads_the_log(folder: Path) -> None:
    reader = (
        "import sys, json; from ringtail.parsers import parse_single_dlg as p; r = p(sys.argv[1]);"
        "print(json.dumps([r['scores'], r['ligname'], len(r['pose_coordinates']), r['grid_dim']]))"
    )
    found = subprocess.run(
        [sys.executable, "-c", reader, str(folder / "first.dlg")], capture_output=True, text=True
    )
    assert found.returncode == 0, found.stderr
    scores, name, poses, points = json.loads(found.stdout)
    assert scores == sorted(scores)
    assert (name, poses, points) == ("lig", 5, ["33", "33", "33"])


def test_the_receptor_of_a_log_is_one_word(folder: Path) -> None:
    """Of `/data/my rec/a b` Ringtail would store `/data/my`."""
    text = (folder / "rec.maps.fld").read_text()
    named = text.replace("#MACROMOLECULE rec.pdbqt", "#MACROMOLECULE /data/my rec/1stp a.pdbqt")
    assert named != text
    (folder / "blank.maps.fld").write_text(named)
    words = ["--ffile", str(folder / "blank.maps.fld"), "--lfile", str(folder / "lig.pdbqt"), *FEW]
    place = folder / "a folder"
    assert lga_command.main([*words, "--resnam", f"{place}/"]) == 0
    assert re.search(r"Receptor name: +1stp_a$", (place / "lig.dlg").read_text(), re.MULTILINE)
    receptor = ["--receptor", str(folder / "rec.pdbqt"), "--size", "9", "9", "9", *words[2:]]
    maps = ["--write-maps", str(place / "maps"), "--resnam", f"{place}/"]
    assert lga_command.main([*receptor, *maps]) == 0, "a blank in the folder's name is in no file"
    assert " " not in re.findall("file=(.*) filetype", (place / "maps.maps.fld").read_text())[-1]


def test_ligands_that_ringtail_would_merge_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It calls both mol."""
    (folder / "mol.1.pdbqt").write_text(meekos("NCC(=O)O"))
    (folder / "mol.2.pdbqt").write_text(meekos("CC(=O)O"))
    files = [str(folder / f"{name}.pdbqt") for name in ("mol.1", "lig", "mol.2")]
    words = ["--ffile", str(folder / "rec.maps.fld"), *FEW, "--resnam", str(folder / "merged")]
    assert lga_command.main([*words, "--lfile", *files]) == 0
    said = capsys.readouterr().err
    assert f"{files[0]}, {files[2]}: Ringtail would merge them into one ligand, mol, since" in said
    for more in (files[:2], [files[0], files[2], "--dlgoutput", "0"]):
        assert lga_command.main([*words, "--lfile", *more]) == 0
        assert "Ringtail" not in capsys.readouterr().err


def test_outside_the_box_energies_are_those_that_the_search_sees(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A million kcal/mol an Angstrom, so that no pose in part outside looks like one that binds."""
    words = ["--receptor", str(folder / "rec.pdbqt"), "--lfile", str(folder / "lig.pdbqt"), *FEW]
    small = [*words, "--size", "4", "4", "4", "--rlige", "--resnam", str(folder / "small")]
    assert lga_command.main(small) == 1
    printed = capsys.readouterr()
    free = [
        float(line.split("=")[1].split()[0])
        for line in (printed.out + (folder / "small.dlg").read_text()).splitlines()
        if "Estimated Free Energy" in line
    ]
    assert len(free) == 6
    assert min(free) > 1e5
    assert "lig.pdbqt: the best pose is partly outside the box" in printed.err
    last = printed.err.splitlines()[-1]
    assert last.endswith("1 of 1 ligands have no usable pose, for the reasons above")
    dock(folder, "within")
    assert "outside the box" not in capsys.readouterr().err


def test_a_file_without_charges_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As those that were prepared for Vina, which needs none."""
    for name in ("lig", "rec"):
        lines = (folder / f"{name}.pdbqt").read_text().splitlines(keepends=True)
        bare = [f"{line[:66]}{0.0:10.3f}{line[76:]}" if line.startswith("ATOM") else line
                for line in lines]  # fmt: skip
        (folder / f"bare-{name}.pdbqt").write_text("".join(bare))
    words = ["--receptor", str(folder / "bare-rec.pdbqt"), "--resnam", str(folder / "bare"), *FEW]
    assert lga_command.main([*words, "--lfile", str(folder / "bare-lig.pdbqt")]) == 0
    said = capsys.readouterr().err
    for name in ("lig", "rec"):
        assert f"bare-{name}.pdbqt: all partial charges are 0" in said


def test_equal_calls_write_equal_files(folder: Path) -> None:
    one, two = dock(folder, "one"), dock(folder, "two")
    assert one.read_bytes() == two.read_bytes()
    other = dock(folder, "other", "--seed", "2")
    assert other.read_bytes() != one.read_bytes()
    wets = dock(folder, "wets", "--lsmet", "sw")
    assert "solis_wets" in wets.read_text()


def test_the_tolerance_changes_the_clusters_of_the_log_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So it is no setting of the search, whose change would dock a campaign again."""
    near, wide = dock(folder, "near", "--rmstol", "0.001"), dock(folder, "wide", "--rmstol", "100")
    assert "5 clusters" in capsys.readouterr().out
    assert "RMSD tolerance: 100.000000A" in " ".join(wide.read_text().split())
    poses = [log.with_suffix(".pdbqt").read_bytes() for log in (near, wide)]
    assert poses[0] == poses[1]
    assert "cluster_rmsd" not in LgaSettings.model_fields
    for text, words in (("0", "0: give a number above 0, in Angstrom"), ("far", "'far'")):
        with pytest.raises(SystemExit):
            lga_command.main(["--lfile", str(folder / "lig.pdbqt"), "--rmstol", text])
        assert words in capsys.readouterr().err


def test_maps_that_were_written_give_the_energies_of_the_receptor(folder: Path) -> None:
    """Up to the three decimal places of the files."""

    def given(words: list[str]) -> list[float]:
        text = subprocess.run(
            [sys.executable, "-m", "ligen_py.lga_command", *words, "--rlige", *FEW,
             "--lfile", str(folder / "lig.pdbqt"), "--resnam", str(folder / "again")],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        return [float(line.split("=")[1].split()[0]) for line in text.splitlines() if "=" in line]

    maps = given(["--ffile", str(folder / "rec.maps.fld")])
    ours = given(["--receptor", str(folder / "rec.pdbqt"), "--size", "12", "12", "12"])
    assert len(maps) == 9
    assert maps == pytest.approx(ours, rel=1e-3, abs=0.021)


def test_several_ligands_are_docked_as_alone(folder: Path) -> None:
    shutil.copy(folder / "lig.pdbqt", folder / "same.pdbqt")
    (folder / "acid.pdbqt").write_text(meekos("CC(=O)O"))
    words = ["--ffile", str(folder / "rec.maps.fld"), "--resnam", str(folder / "many"), *FEW]
    files = [str(folder / f"{name}.pdbqt") for name in ("same", "acid")]
    assert lga_command.main([*words, "--lfile", files[0], "--lfile", files[1]]) == 0
    alone = dock(folder, "alone")
    poses = [line for line in alone.read_text().splitlines() if line.startswith("DOCKED: ATOM")]
    many = (folder / "many" / "same.dlg").read_text().splitlines()
    assert poses == [line for line in many if line.startswith("DOCKED: ATOM")]
    assert (folder / "many" / "acid.pdbqt").is_file()


def test_ligands_that_cannot_be_docked_do_not_stop_the_others(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.pdbqt").write_text("nothing")
    (folder / "fluor.pdbqt").write_text(meekos("FCCO"))
    files = [str(folder / f"{name}.pdbqt") for name in ("bad", "lig", "fluor")]
    maps = ["--ffile", str(folder / "rec.maps.fld"), *FEW, "--resnam"]
    assert lga_command.main([*maps, str(folder / "rest"), "--lfile", *files]) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith(f"left out: {files[0]}: no ROOT")
    assert said[1].startswith(f"left out: {files[2]}: ")
    assert "no map for atom type F" in said[1]
    assert said[-1].endswith("2 of 3 ligands were left out, for the reasons above")
    assert sorted(path.name for path in (folder / "rest").iterdir()) == ["lig.dlg", "lig.pdbqt"]
    assert lga_command.main([*maps, str(folder / "none"), "--lfile", files[0], files[2]]) == 1
    assert "no ligand can be docked" in capsys.readouterr().err.splitlines()[-1]
    # Without a centre the box is around the first ligand, not around whichever can be read.
    receptor = ["--receptor", str(folder / "rec.pdbqt"), *FEW, "--resnam", str(folder / "none")]
    assert lga_command.main([*receptor, "--lfile", *files]) == 1
    assert "bad.pdbqt: no ROOT" in capsys.readouterr().err.splitlines()[-1]
    assert not (folder / "none").exists()


def listed(folder: Path, *lines: str) -> list[str]:
    """The words that dock a list of these files."""
    place = folder / "files.list"
    place.write_text("\ufeff" + "\r\n".join(lines) + "\r\n\r\n", encoding="utf-8")
    return ["--filelist", str(place), *FEW]


def test_a_list_of_files_gives_what_its_ligands_give(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in folder.glob("rec.*"):
        shutil.copy(name, folder / name.name.replace("rec.", "again."))
    field = (folder / "rec.maps.fld").read_text()
    field = field.replace("file=rec.", "file=again.").replace(
        "MACROMOLECULE rec", "MACROMOLECULE again"
    )
    (folder / "again.maps.fld").write_text(field)
    (folder / "list").mkdir()
    (folder / "list" / "acid.pdbqt").write_text(meekos("CC(=O)O"))
    (folder / "fluor.pdbqt").write_text(meekos("FCCO"))
    monkeypatch.chdir(folder)
    alone = dock(folder, "one")
    lines = ["rec.maps.fld", "./lig.pdbqt", "list/Ligand 1", "list/acid.pdbqt", "list/acid_1",
             "again.maps.fld", "lig.pdbqt", "list/Ligand 2"]  # fmt: skip
    assert lga_command.main([*listed(folder, *lines), "--rlige"]) == 0
    printed = capsys.readouterr().out
    for name in ("list/Ligand 1", "acid", "list/Ligand 2"):
        assert re.search(rf"^{name}: .* kcal/mol in run", printed, re.MULTILINE)
        assert f"Input ligand energies of {name}:\n" in printed
    assert (folder / "list/Ligand 1.pdbqt").read_bytes() == alone.with_suffix(".pdbqt").read_bytes()
    assert (folder / "list/Ligand 2.pdbqt").read_bytes() == alone.with_suffix(".pdbqt").read_bytes()
    log = (folder / "list/Ligand 2.dlg").read_text()
    assert re.search(r"Receptor name: +again$", log, re.MULTILINE)
    assert sorted(path.name for path in (folder / "list").iterdir()) == [
        "Ligand 1.dlg", "Ligand 1.pdbqt", "Ligand 2.dlg", "Ligand 2.pdbqt",
        "acid.pdbqt", "acid_1.dlg", "acid_1.pdbqt",
    ]  # fmt: skip
    # Without names results are beside each ligand, and what cannot be docked does not stop others.
    lines = ["rec.maps.fld", "list/acid.pdbqt", "gone.pdbqt", "fluor.pdbqt", "again.maps.fld"]
    capsys.readouterr()
    assert lga_command.main(listed(folder, *lines)) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[0].endswith("files.list, line 5: again.maps.fld: no ligand is docked in these maps")
    assert said[1] == "left out: gone.pdbqt: is no file"
    assert said[2].startswith("left out: fluor.pdbqt: rec.maps.fld: no map for atom type F")
    assert said[-1].endswith("2 of 3 ligands were left out, for the reasons above")
    assert (folder / "list" / "acid_out.pdbqt").is_file()
    (folder / "list" / "acid.dlg").unlink()
    # A list of ligands alone is docked into the receptor of the command line.
    maps = ["--ffile", "rec.maps.fld", "--resnam", "into"]
    assert lga_command.main([*listed(folder, "lig.pdbqt", "list/acid.pdbqt"), *maps]) == 0
    assert (folder / "into/lig.pdbqt").read_bytes() == alone.with_suffix(".pdbqt").read_bytes()


def test_a_receptor_of_a_list_that_cannot_be_used_does_not_stop_the_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    field = (folder / "rec.maps.fld").read_text()
    (folder / "bad.maps.fld").write_text(field.replace("file=rec.", "file=bad."))
    for path in folder.glob("rec.*.map"):
        shutil.copy(path, folder / path.name.replace("rec.", "bad."))
    short = folder / "bad.C.map"
    short.write_text("\n".join(short.read_text().splitlines()[:-20]) + "\n")
    (folder / "one.pdbqt").write_text(meekos("CO"))
    tiny = ["--receptor", "rec.pdbqt", "--size", "1.5", "1.5", "1.5", "--write-maps", "tiny"]
    lga_command.main([*tiny, "--center", "0", "0", "6", "--lfile", "one.pdbqt", "lig.pdbqt", *FEW])
    capsys.readouterr()
    lines = ["bad.maps.fld", "lig.pdbqt", "a", "tiny.maps.fld", "lig.pdbqt", "b",
             "rec.maps.fld", "lig.pdbqt", "c"]  # fmt: skip
    assert lga_command.main(listed(folder, *lines)) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("left out: all ligands of bad.maps.fld: bad.C.map")
    assert said[1].startswith("left out: all ligands of tiny.maps.fld: lig.pdbqt: a rigid part is")
    assert said[-1].endswith("2 of 3 ligands were left out, for the reasons above")
    assert [name for name in "abc" if (folder / f"{name}.dlg").is_file()] == ["c"]


def test_endings_in_a_list_may_be_in_capitals_and_names_have_that_of_a_result(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    shutil.copy("rec.maps.fld", "UP.MAPS.FLD")
    shutil.copy("lig.pdbqt", "UP.PDBQT")
    assert lga_command.main(listed(folder, "UP.MAPS.FLD", "UP.PDBQT", "up-one.dlg")) == 0
    dock(folder, "up-two.dlg")
    dock(folder, "up-three.pdbqt")
    for name in ("up-one", "up-two", "up-three"):
        assert sorted(path.suffix for path in folder.glob(f"{name}*")) == [".dlg", ".pdbqt"]
        assert Path(f"{name}.dlg").is_file()


def test_what_is_wrong_in_a_list_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    fields = ["rec.maps.fld", "lig.pdbqt"]
    cases = [
        (fields[1:], [], 1, "files.list, line 1: no maps are named above lig.pdbqt"),
        (fields[:1], [], 1, "files.list: no line names a ligand"),
        (["no.fld", "lig.pdbqt"], [], 1, "files.list, line 1: no.fld is no file"),
        (["# 1stp", *fields], [], 1, "files.list, line 1: a list has no comments; remove the line"),
        ([*fields, *fields[1:], "a"], [], 1, "1 name of results, such as 'a', and 2 of ligands"),
        ([*fields, "a", "b"], [], 1, "2 names of results, such as 'a', and 1 of ligands"),
        ([*fields, "lig.pdbqt"], [], 1, "lig.dlg: two ligands would have this log"),
        ([*fields, "lig.pdbqt", "a", "a"], [], 1, "a.dlg: two ligands would have this log"),
        (fields, ["--ffile", "rec.maps.fld"], 1, "line 1: names maps, as the command line does"),
        ([*fields, "a"], ["--resnam", "b"], 2, "files.list names the results"),
        ([*fields, "rec"], [], 1, "rec.pdbqt: is a prepared molecule, and would be replaced"),
    ]
    for lines, more, status, sentence in cases:
        assert lga_command.main([*listed(folder, *lines), *more]) == status
        assert sentence in capsys.readouterr().err.splitlines()[-1]


def test_names_of_files_may_be_in_any_encoding(folder: Path) -> None:
    lig, rec = (Path(os.fsdecode(bytes(folder) + name)) for name in (b"/l\xe9", b"/r\xe9.pdbqt"))
    shutil.copy(folder / "lig.pdbqt", lig)
    shutil.copy(folder / "rec.pdbqt", rec)
    words = [sys.executable, "-m", "ligen_py.lga_command", "--receptor", str(rec), "--lfile"]
    more = ["--rlige", "--resnam", f"{folder / 'latin'}/", "--write-maps", str(folder / "latin/r")]
    done = subprocess.run([*words, str(lig), *more, *FEW], capture_output=True)
    assert done.returncode == 0, done.stderr
    assert b"Ligand name:                               l?\n" in (
        Path(os.fsdecode(bytes(folder) + b"/latin/l\xe9.dlg")).read_bytes()
    )


def test_of_one_run_words_are_singular(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--ffile", str(folder / "rec.maps.fld"), "--lfile", str(folder / "lig.pdbqt")]
    one = ["--nrun", "1", "--ngen", "1", "--resnam", str(folder / "single")]
    assert lga_command.main([*words, *one]) == 0
    said = capsys.readouterr()
    assert "1 of 1 run in its cluster, 1 cluster\n" in said.out
    assert "docked 1 ligand, 1 run each, in" in said.err


def test_a_name_of_two_lines_is_written_in_one() -> None:
    assert shown("two\nlines\x0c") == "two lines"


def test_a_name_with_a_slash_behind_it_is_a_folder(folder: Path) -> None:
    """As for several ligands: the number of files that a pattern finds decides nothing."""
    dock(folder, "unused", "--resnam", f"{folder / 'slash'}/")
    found = sorted(path.name for path in (folder / "slash").iterdir())
    assert found == ["lig.dlg", "lig.pdbqt"]


def test_maps_of_charge_and_desolvation_may_be_in_capitals(folder: Path) -> None:
    """As atom types may."""
    for path in folder.glob("rec.*.map"):
        kind = path.name.split(".")[1]
        shutil.copy(path, folder / f"up.{kind.upper()}.map")
    text = (folder / "rec.maps.fld").read_text()
    up = re.sub(r"file=rec\.(\w+)\.map", lambda found: f"file=up.{found[1].upper()}.map", text)
    (folder / "up.maps.fld").write_text(up)
    words = ["--ffile", str(folder / "up.maps.fld"), "--lfile", str(folder / "lig.pdbqt"), *FEW]
    assert lga_command.main([*words, "--resnam", str(folder / "capitals")]) == 0


def test_wrong_words_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ligand = ["--lfile", str(folder / "lig.pdbqt"), "--resnam", str(folder / "wrong")]
    maps = [*ligand, "--ffile", str(folder / "rec.maps.fld")]
    receptor = [*ligand, "--receptor", str(folder / "rec.pdbqt")]
    cases = [
        (ligand, 2, "give either --ffile with maps, or --receptor"),
        ([*ligand, "--ffile", str(folder / "rec.pdbqt")], 1, "no field file of AutoGrid"),
        ([*maps, "--nrun", "0"], 1, "--nrun"),
        ([*maps, "--nev", "3000000000"], 1, "--nev: give 2000000000 or less"),
        ([*maps, "--size", "9", "9", "9"], 2, "the box is that of the maps"),
        ([*receptor, "--size", "9", "nan", "9"], 2, "--size: give three sides of 0.75 A or more"),
        ([*receptor, "--size", "9", "9", "inf"], 2, "--size: give three sides of 0.75 A or more"),
        ([*receptor, "--size", "9", "0.375", "9"], 2, "three sides of 0.75 A or more"),
        ([*receptor, "--size", *["2000"] * 3], 2, "points are too large; give smaller sides"),
        ([*receptor, "--center", "nan", "0", "0"], 1, "no atom within 8 A of the box around nan"),
        ([*receptor, "--center", "1e30", "0", "0"], 1, "give the site by --center"),
        ([*receptor, "--write-maps", "my maps"], 2, "--write-maps: 'my maps' has a blank"),
    ]
    for words, status, sentence in cases:
        assert lga_command.main(words) == status
        assert sentence in capsys.readouterr().err.splitlines()[-1]
    for flag, sentence in (
        ("--flexres", "flexible-residue docking is not supported"),
        ("--derivtype", "reactive docking is not supported"),
        ("--import_dpf", "parameter files"),
        ("--xraylfile", "the pose in --lfile"),
        ("-R", "the pose in --lfile"),
        ("--gfpop", "populations are not written"),
        ("-C", "dock with --resnam FOLDER/, where no other .pdbqt is"),
        ("--gbest", "the best one first"),
        ("--dlg2stdout", "goes into a file"),
        ("--devnum", "counts devices from 1; its second is --device gpu:1 here"),
    ):
        with pytest.raises(SystemExit) as stopped:
            lga_command.main([*ligand, flag, "x"])
        assert stopped.value.code == 2
        last = capsys.readouterr().err.splitlines()[-1]
        assert f"{flag} is not taken: " in last
        assert sentence in last
    for more, sentence in (
        (["--resnam", ""], "--resnam/-N: is empty; give a name, or leave the flag out"),
        (["--write-maps="], "--write-maps: is empty"),
        (["--autostop", "2"], "invalid choice: 2"),
        (["--autostop", "-3"], "invalid choice: -3"),
    ):
        with pytest.raises(SystemExit):
            lga_command.main([*maps, *more])
        assert sentence in capsys.readouterr().err.splitlines()[-1]
    (folder / "fluor.pdbqt").write_text(meekos("FCCO"))
    words = ["--lfile", str(folder / "fluor.pdbqt"), "--ffile", str(folder / "rec.maps.fld")]
    assert lga_command.main(words) == 1
    assert "no map for atom type F" in capsys.readouterr().err.splitlines()[-1]


def test_values_that_change_nothing_are_taken(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--lfile", str(folder / "lig.pdbqt"), "--ffile", str(folder / "rec.maps.fld"), *FEW]
    same = [word for flag, value in lga_flags.SAME.items() for word in (flag, str(value))]
    for name, more in (("plain", []), ("equal", [*same, "-2", "0", "--hsym", "1.0"])):
        assert lga_command.main([*words, "--resnam", str(folder / name), *more]) == 0
    assert (folder / "equal.pdbqt").read_bytes() == (folder / "plain.pdbqt").read_bytes()
    assert set(lga_flags.SAME) < set(lga_flags.NOT_TAKEN)
    few = (["--hsym", "0"], ["--hsym"], ["--hsym", "1", "1"], ["--elecmindist", "0.01"])
    for wrong in (*few, ["-D", "2"], ["-D", "0"]):
        with pytest.raises(SystemExit):
            lga_command.main([*words, *wrong])
        assert f"{wrong[0]} is not taken: " in capsys.readouterr().err.splitlines()[-1]


def test_flags_have_one_dash_or_two_and_a_centre_may_be_negative(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    center = ["-center", "-2", "-2.", "-.85E1", "--size", "6", "6", "6", "-nrun=3", "-rlige", "1"]
    words = ["-lfile", str(folder / "lig.pdbqt"), "-receptor", str(folder / "rec.pdbqt"), *center]
    assert lga_command.main([*words, "-resnam", str(folder / "dashes"), "-ngen", "1"]) == 0
    log = (folder / "dashes.dlg").read_text()
    assert log.count("FINAL DOCKED STATE") == 3
    assert "-2.000000, -2.000000, -8.500000\n" in log
    assert "Input ligand energies" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        lga_command.main([*words, "-2", "1"])
    assert "goes into a file" in capsys.readouterr().err.splitlines()[-1]


def test_no_input_is_replaced_and_nothing_is_searched_for_what_cannot_be_written(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    inputs = [Path("lig.pdbqt"), Path("rec.maps.fld"), *sorted(Path().glob("rec.*.map"))]
    given = [path.read_bytes() for path in inputs]
    Path("acid.pdbqt").write_text(meekos("CC(=O)O"))
    words = ["--ffile", "rec.maps.fld", *FEW, "--lfile", "lig.pdbqt"]
    taken = ["--receptor", "rec.pdbqt", "--lfile", "lig.pdbqt", "--resnam", "rec"]
    Path("own.maps.fld").write_bytes(given[1])  # it names the files rec.*.map
    other = ["--ffile", "own.maps.fld", "--lfile", "lig.pdbqt", "--resnam", "x"]
    Path("prepared.pdbqt").write_bytes(inputs[0].read_bytes())
    Path("taken.dlg").mkdir(exist_ok=True)
    for line, sentence in (
        ([*words, "--resnam", "lig"], "lig.pdbqt: is an input, and would be replaced; name anothe"),
        ([*words, "acid.pdbqt", "--resnam", "."], "lig.pdbqt: is an input"),
        ([*words, "lig.pdbqt"], "lig.dlg: two ligands would have this log; rename one"),
        ([*words, "--resnam", "taken"], "taken.dlg: is no regular file; name another by --resnam"),
        (
            [*words, "--resnam", "prepared"],
            "prepared.pdbqt: is a prepared molecule, and would be replaced; name another by --res",
        ),
        (taken, "rec.pdbqt: is an input"),
        ([*words, "--resnam", "lig.pdbqt"], "lig.pdbqt: is an input, and would be replaced; name"),
        ([*words, "--resnam", "x", "--write-maps", "rec"], "another by --write-maps"),
        ([*words, "--resnam", "x", "--write-maps", "rec.maps.fld"], "another by --write-maps"),
        (
            [*other, "--write-maps", "rec"],
            "map: is an input, and would be replaced; name another by --write-maps",
        ),
        ([*words, "--resnam", "lig.pdbqt/x"], "lig.pdbqt/x.pdbqt: cannot be written"),
    ):
        assert lga_command.main(line) == 1
        captured = capsys.readouterr()
        assert sentence in captured.err.splitlines()[-1]
        assert not captured.out
    assert [path.read_bytes() for path in inputs] == given


def test_results_are_beside_the_ligand_and_replace_none(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As AutoDock-GPU's: the log has the ligand's name, in its folder."""
    monkeypatch.chdir(tmp_path)
    for place in ("one", "two"):
        Path(place).mkdir()
        shutil.copy(folder / "lig.pdbqt", Path(place, "a.pdbqt"))
    Path("a.pdbqt").write_text("a user's own")
    given = Path("one/a.pdbqt").read_bytes()
    words = ["--ffile", str(folder / "rec.maps.fld"), *FEW, "--lfile", "one/a.pdbqt", "two/a.pdbqt"]
    for _ in range(2):  # once more over its own results
        assert lga_command.main(words) == 0
    for place in ("one", "two"):
        found = sorted(path.name for path in Path(place).iterdir())
        assert found == ["a.dlg", "a.pdbqt", "a_out.pdbqt"]
        assert Path(place, "a.pdbqt").read_bytes() == given
    assert sorted(path.name for path in Path().iterdir()) == ["a.pdbqt", "one", "two"]


def test_files_come_as_ligands_are_docked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """So that a stop does not lose all; and they are those of one search of all ligands."""
    for name in "abc":
        shutil.copy(folder / "lig.pdbqt", folder / f"part-{name}.pdbqt")
    (folder / "part-b.pdbqt").write_text(meekos("CC(=O)O"))
    files = [str(folder / f"part-{name}.pdbqt") for name in "abc"]
    words = ["--ffile", str(folder / "rec.maps.fld"), *FEW, "--lfile", *files, "--resnam"]
    assert lga_command.main([*words, str(folder / "together")]) == 0
    whole = capsys.readouterr().out
    monkeypatch.setattr(lga_command, "AT_ONCE", 1)
    there: list[int] = []

    def noted(_: Pace, count: int) -> None:
        there.append(count)
        assert len(list((folder / "parts").glob("*.dlg"))) == sum(there)

    monkeypatch.setattr(Pace, "add", noted)
    assert lga_command.main([*words, str(folder / "parts")]) == 0
    assert there == [1, 1, 1]
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(whole.splitlines())
    for path in (folder / "together").iterdir():
        assert path.read_bytes() == (folder / "parts" / path.name).read_bytes()


def test_a_ligand_that_no_box_can_hold_is_left_out(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "acid.pdbqt").write_text(meekos("CC(=O)O"))
    files = [str(folder / f"{name}.pdbqt") for name in ("lig", "acid")]
    small = ["--receptor", str(folder / "rec.pdbqt"), "--size", *["1.5"] * 3, *FEW]
    words = [*small, "--resnam", str(folder / "held"), "--lfile"]
    assert lga_command.main([*words, files[0]]) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    sentence = (
        r"lig\.pdbqt: a rigid part is \d\.\d A long, the box's diagonal 2\.6 A; give a larger"
    )
    assert re.search(sentence, said)
    lga_command.main([*words, *files])
    said = capsys.readouterr().err
    assert re.search("left out: .*" + sentence, said)
    assert "1 of 2 ligands were left out" in said.splitlines()[-1]
    assert sorted(path.name for path in (folder / "held").iterdir()) == ["acid.dlg", "acid.pdbqt"]


def test_energies_of_clashes_are_no_result(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in folder.glob("rec.*.map"):
        lines = path.read_text().splitlines()
        if path.name.split(".")[1] not in ("e", "d"):
            lines[6:] = ["9000.0"] * (len(lines) - 6)
        (folder / path.name.replace("rec.", "full.")).write_text("\n".join(lines))
    text = (folder / "rec.maps.fld").read_text()
    (folder / "full.maps.fld").write_text(text.replace("file=rec.", "file=full."))
    words = ["--ffile", str(folder / "full.maps.fld"), "--lfile", str(folder / "lig.pdbqt")]
    assert lga_command.main([*words, "--resnam", str(folder / "full"), *FEW]) == 1
    said = capsys.readouterr().err.splitlines()
    assert "kcal/mol, so atoms lie in one another in each run; give another box" in said[-2]
    assert said[-1].endswith("1 of 1 ligands have no usable pose, for the reasons above")


def test_a_number_of_a_device_is_no_choice_of_the_log(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--lfile", str(folder / "lig.pdbqt"), "--ffile", str(folder / "rec.maps.fld")]
    with pytest.raises(SystemExit) as stopped:
        lga_command.main([*words, "-d", "2"])
    assert stopped.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert "'2' is neither 0 (no docking log) nor 1; a device is chosen by --device" in last
    assert not dock(folder, "no-log", "-d", "0").exists()
    assert (folder / "no-log.pdbqt").exists()


@pytest.mark.parametrize(
    ("flags", "evaluations", "limit"),
    [
        ([], 0, 12_000_000),
        (["--nev", "1000"], 1000, 12_000_000),
        (["--heuristics", "0"], 2_500_000, 12_000_000),
        (["--heuristics", "0", "--nev", "7000"], 7000, 12_000_000),
        (["--heurmax", "50000"], 0, 50_000),
    ],
)
def test_evaluations_are_those_of_autodock_gpus_flags(
    folder: Path, flags: list[str], evaluations: int, limit: int
) -> None:
    options = lga_command._parser().parse_args(["--lfile", str(folder / "lig.pdbqt"), *flags])
    settings = lga_flags.settings_of(options)
    assert (settings.evaluations, settings.heuristic_limit) == (evaluations, limit)
    if not evaluations:
        assert 0.7 * min(limit, 1e6) < most_evaluations(settings, 6) < limit


def test_of_the_seeds_of_autodock_gpu_one_is_taken(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--lfile", str(folder / "lig.pdbqt"), "--seed", "5,6,7"]
    with pytest.raises(SystemExit):
        lga_command.main(words)
    assert capsys.readouterr().err.endswith(
        "'5,6,7' is not one whole number; one seeds all runs here, so give one, such as --seed 5\n"
    )
