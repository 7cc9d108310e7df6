"""The stages of controls, by hand: parts made by hand, figures worked out, sentences."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from rdkit import Chem
from rdkit.Chem import AllChem

from ligen_py import accept, controls, decoys
from ligen_py.settings.controls import ControlsSettings
from ligen_py.store.campaign.manifest import PartFiles
from tests.stages.factory import POSES, Molecule, write_part

ACTIVES = [
    Molecule("first", "CCO", 9.0),
    Molecule("second", "CCN", 5.0),
    Molecule("lost", "CCCN", None),
    Molecule("first again", "OCC", 1.0),
]
DECOYS = [
    Molecule("d1", "CCC", 6.0),
    Molecule("d2", "CCCC", 4.0),
    Molecule("d3", "CCCCC", 3.0),
    Molecule("d4", "CCCCCC", 2.0),
    Molecule("an active", "CCO", 99.0),
]


def part_words(group: str, files: PartFiles, pocket: str = "t") -> list[str]:
    paths = (files.ligands, files.refined, files.scores, files.crystal or "")
    return ["--part", group, pocket, "", *map(str, paths)]


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    actives = write_part(tmp_path, "t", "actives-of-t", "1-of-1", ACTIVES)
    others = write_part(tmp_path, "t", "decoys-of-t", "1-of-1", DECOYS)
    return ["--target", "t", *part_words("actives", actives), *part_words("decoys", others)]


def test_actives_among_decoys(words: list[str], tmp_path: Path) -> None:
    output = tmp_path / "controls.json"
    assert controls.main([*words, "--origin", "made up", "--output", str(output)]) == 0
    found = json.loads(output.read_text())
    # Three actives (a duplicate is none) at 9, 5 and nowhere; four decoys at 6, 4, 3, 2: of the
    # twelve pairs 4 + 3 + 0 are right.
    assert (found["actives"], found["decoys"], found["origin"]) == (3, 4, "made up")
    by = {row["by"]: row["figures"] for row in found["rankings"]}
    nulls = ("few heavy atoms", "low logP", "many docked states")
    assert set(by) == {"score", "xscore", *nulls}
    # Each was docked in one state, so this ranking is chance.
    assert by["many docked states"]["ROC AUC"]["value"] == pytest.approx(0.5, abs=0.02)
    for name in ("score", "xscore"):
        assert by[name]["ROC AUC"]["value"] == pytest.approx(7 / 12)
    assert found["passed"] is False
    assert "ROC AUC by score 0.58" in found["sentence"]
    assert found["notes"][:3] == [
        "Actives that could not be docked, and rank last: 1.",
        "Actives that were given before, and are left out: 1.",
        "Decoys that were given before, and are left out: 1.",
    ]
    assert any("3 actives" in note for note in found["notes"])
    text = output.with_suffix(".txt").read_text()
    assert text.startswith("Controls of t: FAILED\n")
    assert controls.main([*words, "--min-auc", "0.5", "--output", str(output)]) == 0
    assert json.loads(output.read_text())["passed"] is True


def test_pockets_with_the_same_atoms_are_named(words: list[str], tmp_path: Path) -> None:
    """Where `near` keeps no water, its rows repeated those of the pocket without."""
    output = tmp_path / "controls.json"
    said = "All results in the pockets t and waters near are equal"
    moved = [replace(ACTIVES[0], score=8.9), *ACTIVES[1:]]
    groups = {"actives": [ACTIVES, moved], "decoys": [DECOYS, DECOYS]}
    for number, expected in enumerate((1, 0)):
        more = [
            word
            for group, some in groups.items()
            for part in [write_part(tmp_path, "t", f"{group}-{number}", "1-of-1", some[number])]
            for word in part_words(group, part, "waters near")
        ]
        assert controls.main([*words, *more, "--output", str(output)]) == 0
        notes = json.loads(output.read_text())["notes"]
        assert len([note for note in notes if said in note]) == expected


def test_redocking(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crystal = tmp_path / "x.sdf"
    mol = Chem.MolFromSmiles("CCO")
    AllChem.EmbedMolecule(mol, randomSeed=1)
    crystal.write_text(Chem.MolToMolBlock(mol) + "$$$$\n")
    lig = [Molecule("LIG", "CCO", 4.0, (("CCO", 2.0),))]  # as a ring with two shapes
    files = write_part(tmp_path, "t", "control-t", "1-of-1", lig, crystal=crystal)
    output = tmp_path / "controls.json"
    words = ["--target", "t", *part_words("crystal", files), "--output", str(output)]
    assert controls.main(words) == 0
    found = json.loads(output.read_text())
    (one,) = found["redocking"]
    assert one["nearest"] <= one["rmsd"]
    assert one["poses"] == 2 * POSES  # the nearest one is of both
    assert found["passed"] == (one["rmsd"] <= ControlsSettings().max_rmsd)
    assert controls.main([*words, "--max-rmsd", "20"]) == 0
    assert json.loads(output.read_text())["passed"] is True
    lost = write_part(tmp_path, "t", "control-u", "1-of-1", [Molecule("LIG", "CCO", None)],
                      crystal=crystal)  # fmt: skip
    assert controls.main(["--target", "t", *part_words("crystal", lost), *words[-2:]]) == 0
    assert "not measured, no pose has a finite score" in json.loads(output.read_text())["sentence"]


def test_a_target_without_controls_passes(tmp_path: Path) -> None:
    output = tmp_path / "controls.json"
    assert controls.main(["--target", "t", "--output", str(output)]) == 0
    assert json.loads(output.read_text())["sentence"] == "t has no control"


def test_actives_that_are_all_unusable_are_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some = write_part(tmp_path, "t", "actives-of-t", "1-of-1", DECOYS[:2])
    same = write_part(tmp_path, "t", "decoys-of-t", "1-of-1", DECOYS[:2])
    words = [*part_words("actives", some), *part_words("decoys", same)]
    assert controls.main(["--target", "t", *words, "--output", str(tmp_path / "x.json")]) == 1
    assert (
        "2 actives and 0 decoys can be compared (decoys that were given before, and are left out: "
        "2); both are needed"
    ) in capsys.readouterr().err
    words[1] = "friends"
    assert controls.main(["--target", "t", *words, "--output", str(tmp_path / "x.json")]) == 2
    assert "--part friends: give one of crystal, actives, decoys" in capsys.readouterr().err


def test_a_failed_control_warns_or_stops(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict, output = tmp_path / "controls.json", tmp_path / "accepted.txt"
    verdict.write_text('{"target": "t", "passed": false, "sentence": "controls of t failed: x"}')
    words = ["--verdict", str(verdict), "--output", str(output)]
    assert accept.main([*words, "--below", "stop"]) == 1
    said = capsys.readouterr().err
    assert "accept: error: controls of t failed: x; see" in said
    assert "set 'below: warn' in the config at 'controls', 't'" in said
    assert not output.exists()
    assert accept.main(words) == 0
    assert "controls of t failed: x" in capsys.readouterr().err
    assert output.exists()
    verdict.write_text("{}")
    assert accept.main(words) == 1
    assert "controls.json: no verdict of `controls`; delete it" in capsys.readouterr().err
    mine = verdict.rename(tmp_path / "config.yaml")
    assert accept.main(["--verdict", str(mine), "--output", str(output)]) == 1
    said = "config.yaml: no verdict of `controls`; give the controls.json of a target\n"
    assert capsys.readouterr().err.endswith(said)


@pytest.mark.parametrize(("group", "other"), [("actives", "decoys"), ("decoys", "actives")])
def test_actives_and_decoys_belong_together(
    group: str, other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--target", "t", "--part", group, "p", "", *("x.h5",) * 3, "", "--output", "c.json"]
    assert controls.main(words) == 2
    assert f"--part {group} p: give its {other}, too" in capsys.readouterr().err


def test_decoys_are_drawn_from_a_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    actives, library, output = (tmp_path / name for name in ("a.smi", "lib.smi", "d.smi"))
    actives.write_text("CCO one\nc1ccccc1O two\n")
    library.write_text("".join(f"{'C' * n}N{'C' * n}Cl m{n}\n" for n in range(1, 40)))
    words = ["--actives", str(actives), "--library", str(library), "--output", str(output)]
    assert decoys.main([*words, "--per-active", "8"]) == 0
    lines = output.read_text().splitlines()
    assert len(lines) == len(set(lines)) == 16
    assert {line.split()[1] for line in lines} <= {f"m{n}" for n in range(1, 40)}
    first = output.read_bytes()
    assert decoys.main([*words, "--per-active", "8"]) == 0
    assert output.read_bytes() == first
    library.write_text("CCCCCC few\n")
    assert decoys.main(words) == 1
    assert "has 1 molecules that can be decoys, fewer than 10" in capsys.readouterr().err
    actives.write_text("C( broken\n")
    assert decoys.main(words) == 1
    assert "contains no molecule; give a file of known binders" in capsys.readouterr().err


def test_decoys_come_from_all_files_of_all_libraries(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoys, "LOOKED", 60)
    (tmp_path / "a.smi").write_text("CCO one\nc1ccccc1O two\n")
    folder = tmp_path / "vendor"
    folder.mkdir()
    for file, end in {"x": "Cl", "y": "Br", "z": "I"}.items():
        chains = [("C" * (1 + n % 20), "C" * (1 + n // 20)) for n in range(200)]
        rows = (f"{one}N{two}{end} {file}{n}\n" for n, (one, two) in enumerate(chains))
        (folder / f"{file}.smi").write_text("".join(rows))
    table = ["id,structure,more", *(f"t{n},{'C' * (1 + n % 20)}F,{'C' * n}" for n in range(20))]
    (tmp_path / "t.csv").write_text("\n".join(table))
    output = tmp_path / "d.smi"
    words = ["--actives", str(tmp_path / "a.smi"), "--output", str(output), "--per-active", "200"]
    words += ["--library", str(folder), "--library", str(tmp_path / "t.csv")]
    reading = ["--reading=", "--reading=--smiles-column structure --name-column id"]
    assert decoys.main([*words, *reading]) == 0
    names = [line.split()[1] for line in output.read_text().splitlines()]
    assert {name[0] for name in names} == {"x", "y", "z", "t"}
    assert 20 < len(names) < 300  # of 620
    first = output.read_bytes()
    assert decoys.main([*words, *reading]) == 0
    assert output.read_bytes() == first
    assert decoys.main([*words, "--reading="]) == 2
    assert "--reading: given 1 times; give it once for each --library" in capsys.readouterr().err
    for wrong, sentence in (
        ("--smiles-colum 2", "unknown --smiles-colum; did you mean '--smiles-column'?"),
        ("--smiles-column", "expected one argument"),
        ("'", "No closing quotation"),
    ):
        assert decoys.main([*words, "--reading=", f"--reading={wrong}"]) == 2
        said = capsys.readouterr().err
        assert f"error: --reading='{wrong}': " in said
        assert sentence in said


def test_decoys_are_drawn_from_parsed_ligands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = write_part(tmp_path, "t", "lib", "1-of-1", [
        Molecule(f"m{n}", f"{'C' * n}NCl", 1.0) for n in range(1, 20)
    ])  # fmt: skip
    actives, output = tmp_path / "a.smi", tmp_path / "d.smi"
    actives.write_text("CCO one\n")
    words = ["--actives", str(actives), "--library", str(files.ligands), "--output", str(output)]
    assert decoys.main([*words, "--per-active", "12"]) == 0
    assert len(output.read_text().splitlines()) == 12
    # A glob of such files, as of molecules; a file that is not there is named.
    words[3] = str(tmp_path / "ligands" / "*" / "*.h5")
    first = output.read_bytes()
    assert decoys.main([*words, "--per-active", "12"]) == 0
    assert output.read_bytes() == first
    words[3] = str(tmp_path / "none.h5")
    assert decoys.main(words) == 1
    assert "none.h5 does not exist; correct the path" in capsys.readouterr().err
