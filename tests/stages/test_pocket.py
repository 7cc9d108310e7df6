"""`python -m ligen_py.pocket` from file to file on real complexes, and with bad input."""

import importlib.resources
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from ligen_py import pocket
from ligen_py.molecules.receptor.site import site_of_ligand
from ligen_py.records.functions.xscore import XScoreReceptor
from ligen_py.records.pocket import POCKET, Audit, GeometricField, Receptor
from ligen_py.store.files.read import read, run_record


@pytest.fixture(scope="module")
def complexes() -> Path:
    """The complexes that come inside the posebusters package."""
    if importlib.util.find_spec("posebusters") is None:
        pytest.skip("the posebusters package with its example complexes is not installed")
    return Path(str(importlib.resources.files("posebusters"))) / "datasets" / "pdb"


def run(output: Path, receptor: Path, ligand: Path, *flags: str) -> int:
    arguments = ["--receptor", receptor, "--ligand", ligand, "--output", output, *flags]
    return pocket.main([str(argument) for argument in arguments])


def run_1ia1(output: Path, complexes: Path, *flags: str) -> int:
    folder = complexes / "1ia1"
    return run(
        output, folder / "1ia1_protein_one_lig_removed.pdb", folder / "1ia1_ligand.sdf", *flags
    )


def field_at(field: GeometricField, xyz: np.ndarray) -> np.ndarray:
    cell = np.rint((xyz - field.origin) / field.spacing).astype(int)
    inside = ((cell >= 0) & (cell < field.value.shape[0])).all(axis=1)
    return field.value[tuple(cell[inside].T)]


def test_candida_dhfr_keeps_its_nadph_and_one_chain(complexes: Path, tmp_path: Path) -> None:
    output = tmp_path / "pocket.h5"
    assert run_1ia1(output, complexes, "--chains", "B") == 0
    receptor = read(output, POCKET, XScoreReceptor)
    audit: Audit = read(output, POCKET, Audit)
    assert {label[0] for label in receptor.label} == {"B"}
    assert sum("/NDP/" in label for label in receptor.label) == 48
    assert (audit.atoms[audit.action == "kept"]).sum() == len(receptor.label)
    assert audit.atoms[np.isin(audit.action, ("kept", "dropped"))].sum() == 3243
    assert list(dict.fromkeys(audit.action)) == ["chosen", "added", "noted", "kept", "dropped"]
    assert (receptor.radius > 0).all()
    assert receptor.rooted.all()


def test_the_site_chooses_the_near_cofactor_without_naming_a_chain(
    complexes: Path, tmp_path: Path
) -> None:
    assert run_1ia1(tmp_path / "one.h5", complexes, "--chains", "B") == 0
    assert run_1ia1(tmp_path / "all.h5", complexes) == 0
    one: Receptor = read(tmp_path / "one.h5", POCKET, Receptor)
    every: Receptor = read(tmp_path / "all.h5", POCKET, Receptor)
    assert one.label.tolist() == every.label.tolist()
    audit: Audit = read(tmp_path / "all.h5", POCKET, Audit)
    assert dict(zip(audit.part, audit.reason, strict=True))["A/NDP/193"] == (
        "hetero group farther than 6 A: 28.7 A from the box, 39.1 A from the reference ligand"
    )


def test_human_dhfr_needs_no_choice(complexes: Path, tmp_path: Path) -> None:
    folder, output = complexes / "1s3v", tmp_path / "pocket.h5"
    receptor = folder / "1s3v_protein_one_lig_removed.pdb"
    assert run(output, receptor, folder / "1s3v_ligand.sdf") == 0
    field: GeometricField = read(output, POCKET, GeometricField)
    assert field.value.shape == (41, 41, 41)
    assert 1 <= len(field.anchor) <= 16
    assert (field_at(field, field.anchor.astype(float)) >= 8).all()


def test_equal_runs_write_equal_bytes_and_say_what_made_them(
    complexes: Path, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        assert run_1ia1(tmp_path / name / "pocket.h5", complexes, "--spacing", "0.75") == 0
    first, second = (tmp_path / name / "pocket.h5" for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()
    record = run_record(first, POCKET)
    assert json.loads(record["settings"])["spacing"] == 0.75
    assert [item["name"] for item in json.loads(record["inputs"])] == [
        "1ia1_protein_one_lig_removed.pdb",
        "1ia1_ligand.sdf",
    ]


def test_a_summary_names_reasons_and_sizes(
    complexes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_1ia1(tmp_path / "pocket.h5", complexes, "--chains", "B") == 0
    log = capsys.readouterr().err
    assert "dropped   1631  chain A: not a chosen chain" in log
    assert (
        "kept        48  B/NDP/195: hetero group in the box, 3.5 A from the reference ligand" in log
    )
    assert "1453 receptor atoms in 173 residues; grid of 41 x 41 x 41 points" in log


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--chains", "Z"), "has no chain Z; its chains are A, B"),
        (("--chains", "A"), "no receptor atom lies in the box around (10.26, 36.34, 18.56)"),
        (("--spacing", "5"), "--spacing: give 1 or less"),
        (("--site-radius", "1"), "--site-radius: give 4 or more"),
    ],
)
def test_what_cannot_be_used_is_one_sentence_and_leaves_no_file(
    complexes: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    flags: tuple[str, ...],
    message: str,
) -> None:
    assert run_1ia1(tmp_path / "out" / "pocket.h5", complexes, *flags) == 1
    lines = capsys.readouterr().err.strip().splitlines()
    assert message in lines[-1]
    assert lines[-1].startswith("ligen stage pocket: error: ")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("what", ["missing", "folder"])
def test_a_missing_receptor_and_a_folder_are_wrong_usage(
    complexes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    receptor = tmp_path / "none.pdb" if what == "missing" else tmp_path
    with pytest.raises(SystemExit) as caught:
        run(tmp_path / "pocket.h5", receptor, complexes / "1ia1" / "1ia1_ligand.sdf")
    assert caught.value.code == 2
    assert str(receptor) in capsys.readouterr().err


def test_a_point_in_a_protein_s_outside_has_no_cavity(
    complexes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lonely = tmp_path / "one.pdb"
    lonely.write_text(
        "ATOM      1  CA  ALA A   1       0.000   0.000   0.000  1.00  0.00           C\nEND\n"
    )
    arguments = ["--receptor", str(lonely), "--center", "-1", "0", "0.5"]
    assert pocket.main([*arguments, "--output", str(tmp_path / "pocket.h5")]) == 1
    assert "no cavity in the box around (-1.00, 0.00, 0.50)" in capsys.readouterr().err
    assert not (tmp_path / "pocket.h5").exists()


def test_cavities_are_listed_and_one_becomes_the_site(
    complexes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = complexes / "1s3v"
    receptor = ["--receptor", str(folder / "1s3v_protein_one_lig_removed.pdb"), "--quiet"]
    assert pocket.main([*receptor, "--list"]) == 0
    first = capsys.readouterr().out.splitlines()[1].split()
    center = np.array([float(word) for word in first[2:5]])
    crystal = np.array(site_of_ligand(folder / "1s3v_ligand.sdf", 10.0).center)
    assert np.linalg.norm(center - crystal) < 5
    output = ["--output", str(tmp_path / "pocket.h5")]
    assert pocket.main([*receptor, "--cavity", "1", *output]) == 0
    field: GeometricField = read(tmp_path / "pocket.h5", POCKET, GeometricField)
    assert field.origin == pytest.approx(center - 10, abs=0.01)
    assert pocket.main([*receptor, "--cavity", "99", *output]) == 1
    assert "has no cavity of rank 99; there are" in capsys.readouterr().err


def test_cavities_of_another_program_become_sites(
    complexes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x, y, z = site_of_ligand(complexes / "1ia1" / "1ia1_ligand.sdf", 10.0).center
    table = tmp_path / "r_predictions.csv"
    table.write_text(
        "name     ,  rank,   score, probability, sas_points, surf_atoms,   center_x,   center_y,"
        "   center_z, residue_ids, surf_atom_ids\n"
        "pocket1  ,     1,   20.50,       0.800,         90,         40,     0.0000,     0.0000,"
        "     0.0000, A_1 A_2, 1 2\n"
        "pocket2  ,     2,    5.25,       0.200,         40,         20, "
        f"{x:.4f}, {y:.4f}, {z:.4f}, A_9, 3\n"
    )
    receptor = ["--receptor", str(complexes / "1ia1" / "1ia1_protein_one_lig_removed.pdb")]
    assert pocket.main([*receptor, "--list", "--cavities", str(table)]) == 0
    listed = capsys.readouterr().out
    assert "probability 0.800" in listed
    assert "B/NDP/195" in listed.splitlines()[2]
    output = ["--output", str(tmp_path / "p.h5")]
    assert pocket.main([*receptor, "--cavities", str(table), "--cavity", "2", *output]) == 0
    assert "cavity 2 of 2 by r_predictions.csv: score 5.25" in capsys.readouterr().err
    field: GeometricField = read(tmp_path / "p.h5", POCKET, GeometricField)
    assert field.origin == pytest.approx(np.array([x, y, z]) - 10, abs=1e-3)


def test_audits_are_printed_and_compared(
    complexes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(tmp_path / name) for name in ("one.h5", "two.h5")]
    assert run_1ia1(Path(files[0]), complexes, "--quiet", "--chains", "B") == 0
    dropping = ("--quiet", "--chains", "B", "--drop", "NDP", "--site-size", "18", "20", "16")
    assert run_1ia1(Path(files[1]), complexes, *dropping) == 0
    assert pocket.main(["--audit", files[1]]) == 0
    blocks = capsys.readouterr().out.split("\n\n")
    assert [block.splitlines()[0] for block in blocks] == [
        "chosen", "added: 315 atoms", "noted", "kept: 1405 atoms", "removed: 1838 atoms"
    ]  # fmt: skip
    assert "B/NDP/195    48  not wanted, as asked" in blocks[-1]
    assert "18 x 20 x 16 A asked for; docking uses the cube that contains it" in blocks[0]
    assert pocket.main(["--audit", *files]) == 0
    signs = [line.split()[:3] for line in capsys.readouterr().out.splitlines()]
    assert ["-", "B/NDP/195", "kept"] in signs
    assert ["+", "B/NDP/195", "removed"] in signs
    assert ["+", "box", "chosen"] in signs
    assert {(sign, part) for sign, part, _ in signs if part == "chain"} == {
        ("-", "chain"), ("+", "chain")
    }, "the cofactor's polar hydrogens are counted with its chain's"  # fmt: skip
    assert len(signs) == 6
    assert pocket.main(["--audit", files[0], files[0]]) == 0
    assert capsys.readouterr().out == "no difference\n"


def test_pdb2pqr_protonates_at_a_ph_and_says_what_it_turned(
    complexes: Path, tmp_path: Path
) -> None:
    given, at_7, at_3 = (tmp_path / f"{name}.h5" for name in ("given", "at_7", "at_3"))
    assert run_1ia1(given, complexes, "--chains", "B", "--quiet") == 0
    flags = ("--chains", "B", "--quiet", "--protonation", "propka", "--ph")
    assert run_1ia1(at_7, complexes, *flags, "7.4") == 0
    assert run_1ia1(at_3, complexes, *flags, "3") == 0
    audit: Audit = read(at_7, POCKET, Audit)
    turned = [p for p, a in zip(audit.part, audit.action, strict=True) if a == "changed"]
    before, after = (
        dict(zip(receptor.label, receptor.xyz, strict=True))
        for receptor in (read(file, POCKET, Receptor) for file in (given, at_7))
    )
    moved = {label.rpartition("/")[0] for label in after if (before[label] != after[label]).any()}
    assert moved == {part for part in turned if f"{part}/CA" in after}
    assert all(part.split("/")[1] in ("ASN", "GLN", "HIS") for part in turned)
    swapped = np.linalg.norm(before["B/ASN/124/OD1"] - after["B/ASN/124/ND2"])
    assert swapped < 0.5
    states = dict(zip(audit.part, audit.reason, strict=True))
    assert states["B/HIS/129"] == "state HID: by its hydrogens"
    acid: Audit = read(at_3, POCKET, Audit)
    protonated = [reason for reason in acid.reason if reason.startswith(("state HIP", "state ASH"))]
    assert len(protonated) >= 3
    assert sum(label.startswith("B/NDP") for label in after) == 48  # what PDB2PQR does not know


RAW = {
    "1STP": "1STP.pdb",
    "3CE3": "3CE3.pdb",
    "6XG5": "6xg5.cif.gz",
    "7CL8": "7cl8.cif.gz",
    "7LT0": "7lt0.cif.gz",
    "7N4N": "7n4n.cif.gz",
}


@pytest.mark.parametrize("name", sorted(RAW))
def test_an_unprepared_entry_gives_the_prepared_receptor(
    shared_data: Path, tmp_path: Path, name: str
) -> None:
    folder = shared_data / "redock" / name
    assert run(tmp_path / "raw.h5", shared_data / "raw" / RAW[name], folder / "ligand.sdf") == 0
    assert run(tmp_path / "prepared.h5", folder / "protein.pdb", folder / "ligand.sdf") == 0
    raw = read(tmp_path / "raw.h5", POCKET, XScoreReceptor)
    prepared = read(tmp_path / "prepared.h5", POCKET, XScoreReceptor)
    assert raw.label.tolist() == prepared.label.tolist()
    assert raw.radius.tolist() == prepared.radius.tolist()
    audit: Audit = read(tmp_path / "raw.h5", POCKET, Audit)
    assert "the reference ligand itself" in audit.reason


def test_crystal_ligands_lie_in_cavities_and_near_anchors(
    shared_data: Path, tmp_path: Path
) -> None:
    folders = sorted((shared_data / "redock").iterdir())[::5]
    assert len(folders) > 4
    for folder in folders:
        output = tmp_path / f"{folder.name}.h5"
        assert run(output, folder / "protein.pdb", folder / "ligand.sdf", "--quiet") == 0
        field: GeometricField = read(output, POCKET, GeometricField)
        ligand = site_of_ligand(folder / "ligand.sdf", 10.0)
        value = field_at(field, ligand.ligand)
        assert (value > 0).mean() > 0.7, folder.name
        assert (value == -12).sum() <= 1, folder.name
        assert np.linalg.norm(field.anchor - np.array(ligand.center), axis=1).min() < 4


def test_warnings_stand_in_the_audit_and_in_the_log_once(
    complexes: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A campaign shows no log of a job, but the report shows what the audit has."""
    output = tmp_path / "pocket.h5"
    receptor = complexes / "1ia1" / "1ia1_protein_one_lig_removed.pdb"
    flags = ["--receptor", str(receptor), "--output", str(output)]
    assert pocket.main([*flags, "--center", "10.3", "36.3", "18.6", "--site-radius", "10"]) == 0
    audit: Audit = read(output, POCKET, Audit)
    log = capfd.readouterr().err
    assert audit.warnings
    for words in audit.warnings:
        assert log.count(words) == 1
    assert audit.action[: len(audit.warnings)].tolist() == ["warned"] * len(audit.warnings)
