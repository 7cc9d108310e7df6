"""gnina's networks: the command for poses of any program, and the choice of poses in a campaign."""

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from rdkit import Chem

from ligen_py import command, rescore
from ligen_py.engine.functions.gnina.atoms import Atoms
from ligen_py.records.scores import SCORES, Scores
from ligen_py.store.files.read import read
from ligen_py.store.files.terms import read_terms
from tests.api.conftest import PROTEIN, REFERENCE
from tests.gnina import DATA, random_tensors
from tests.mini import Mini
from tests.torch_files import saved


def test_poses_of_a_file(weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crystal = Chem.MolFromMolFile(str(REFERENCE))
    poses, out = tmp_path / "poses.sdf", tmp_path / "scores.csv"
    with Chem.SDWriter(str(poses)) as writer:
        for shift in (0.0, 1.5, 0.0):
            mol = Chem.Mol(crystal)
            xyz = mol.GetConformer().GetPositions() + shift
            mol.GetConformer().SetPositions(xyz)
            mol.SetProp("_Name", f"by {shift}")
            writer.write(mol)
    words = ["rescore", str(poses), "--receptor", str(PROTEIN), "--weights", str(weights)]
    assert command.main([*words, "--output", str(out)]) == 0
    with out.open() as file:
        first, moved, again = csv.DictReader(file)
    assert [row["name"] for row in (first, moved)] == ["by 0.0", "by 1.5"]
    assert first | {"number": "3"} == again
    # The same complex as prepared by other programs, in PyTorch.
    known = next(
        one for one in json.loads((DATA / "gnina.json").read_text())["complexes"]
        if one["complex"] == "1ia1"
    )["poses"][0]["scores"]["plain"]  # fmt: skip
    assert float(first["pose"]) == pytest.approx(known[0], abs=0.02)
    assert float(first["affinity"]) == pytest.approx(known[1], abs=0.05)
    assert float(moved["affinity"]) != float(first["affinity"])
    assert command.main(words) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:2] == ["1", first["pose"]]
    packed = tmp_path / "poses.sdf.gz"
    packed.write_bytes(gzip.compress(poses.read_bytes()))
    words[1] = str(packed)
    assert command.main([*words, "--output", str(tmp_path / "packed.csv")]) == 0
    assert (tmp_path / "packed.csv").read_bytes() == out.read_bytes()
    packed.write_bytes(packed.read_bytes()[:-9])
    assert command.main(words) == 1
    assert f"{packed}: the compressed data are damaged or cut short" in capsys.readouterr().err


def test_a_pose_does_not_depend_on_the_others() -> None:
    """Whatever the box of all poses, the atoms that count for one are the same."""
    center = Chem.MolFromMolFile(str(REFERENCE)).GetConformer().GetPositions().mean(axis=0)
    found = []
    for shifts in ((0,), (0, 15, -15)):
        poses = {shift: Atoms.of(center[None] + shift, np.ones(1), np.ones(1)) for shift in shifts}
        xyz = rescore._receptor(PROTEIN, REFERENCE, poses).xyz
        near = (np.abs(xyz - center) <= rescore.REACH).all(axis=1)
        found.append(sorted(map(tuple, xyz[near].tolist())))
    assert found[0] == found[1]


def hetero(name: str, symbol: str, xyz: np.ndarray) -> str:
    """A record of one atom, a residue of its own."""
    x, y, z = xyz
    return (
        f"HETATM 9999 {symbol:>2}   {name:>3}   999    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00"
        f"          {symbol:>2}\n"
    )


@pytest.mark.parametrize(("name", "symbol"), [("HOH", "O"), ("CL", "CL"), ("SO4", "S"), ("", "C")])
def test_all_of_the_receptors_file_counts(name: str, symbol: str, tmp_path: Path) -> None:
    """As in gnina, also what a campaign leaves out."""
    xyz = Chem.MolFromMolFile(str(REFERENCE)).GetConformer().GetPositions()
    pose = Atoms.of(xyz, np.ones(len(xyz)), np.ones(len(xyz)))
    place = (xyz.mean(axis=0) + 5).round(3)
    wet = tmp_path / "wet.pdb"
    wet.write_text(hetero(name, symbol, place) + PROTEIN.read_text())
    dry = {tuple(atom) for atom in rescore._receptor(PROTEIN, REFERENCE, {1: pose}).xyz.tolist()}
    more = {tuple(atom) for atom in rescore._receptor(wet, REFERENCE, {1: pose}).xyz.tolist()}
    assert more - dry == {tuple(place.astype("f4").tolist())}


def test_a_ligand_in_the_place_of_the_poses_is_refused(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    xyz = Chem.MolFromMolFile(str(REFERENCE)).GetConformer().GetPositions()
    raw = tmp_path / "raw.pdb"
    raw.write_text(hetero("LIG", "C", xyz[0] + 0.5) + PROTEIN.read_text())
    call = ["rescore", str(REFERENCE), "--receptor", str(raw), "--weights", str(weights)]
    assert command.main(call) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert (
        f"{raw}: poses of {REFERENCE}, the first of them record 1, lie on _/LIG/999; take" in last
    )


def test_poses_of_another_receptor_are_refused(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    poses = tmp_path / "poses.sdf"
    with Chem.SDWriter(str(poses)) as writer:
        for shift in (0.0, 470.0):
            mol = Chem.MolFromMolFile(str(REFERENCE))
            xyz = mol.GetConformer().GetPositions() + np.array([shift, 0, 0])
            mol.GetConformer().SetPositions(xyz)
            writer.write(mol)
    call = ["rescore", str(poses), "--receptor", str(PROTEIN), "--weights", str(weights)]
    assert command.main(call) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert f"{poses}: record 2 lies 4" in last
    assert last.endswith(f"A from {PROTEIN}; give poses in this receptor's coordinates")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "contains no poses"),
        ("nothing\n", "record 1 is no molecule"),
        (
            Chem.MolToMolBlock(Chem.MolFromSmiles("CCO")) + "$$$$\n",
            "record 1 has no 3-D coordinates",
        ),
    ],
)
def test_what_is_wrong_with_poses_is_said(
    content: str, words: str, weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    poses = tmp_path / "poses.sdf"
    poses.write_text(content)
    call = ["rescore", str(poses), "--receptor", str(PROTEIN), "--weights", str(weights)]
    assert command.main(call) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert f"{poses}: {words}" in last


def test_a_record_that_cannot_be_read_does_not_stop_the_others(
    weights: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    good = f"{REFERENCE.read_text().partition('$$$$')[0]}$$$$\n"
    bad = good.replace(" C   0", " C   9").replace("M  END", "M  CHG  1   1   9\nM  END")
    poses, out = tmp_path / "poses.sdf", tmp_path / "scores.csv"
    poses.write_text(good + bad + good)
    words = ["rescore", str(poses), "--receptor", str(PROTEIN), "--weights", str(weights)]
    assert command.main([*words, "--output", str(out), "--quiet"]) == 1
    first, last = capfd.readouterr().err.splitlines()  # and no words of RDKit's
    assert first == (
        f"left out: {poses}: record 2 is no molecule that RDKit reads; write it anew, or take it "
        "out"
    )
    assert last.endswith("1 of 3 records were left out, for the reasons above")
    with out.open() as file:
        assert [row["number"] for row in csv.DictReader(file)] == ["1", "3"]


def test_no_pose_is_taken_for_a_part_of_another(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """RDKit's own reader of SDF passes over what follows `M  END`, and over empty records."""
    good = REFERENCE.read_text().partition("$$$$")[0]
    rows = good.splitlines(keepends=True)
    first_atom, first_bond = 4, 4 + int(rows[3][:3])
    dummy, query = rows[:], rows[:]
    dummy[first_atom] = f"{rows[first_atom][:31]}*  {rows[first_atom][34:]}"
    query[first_bond] = f"{rows[first_bond][:6]}  8{rows[first_bond][9:]}"
    poses = tmp_path / "poses.sdf"
    records = (good, good + good, "", "".join(dummy), "".join(query), good)
    poses.write_text("".join(f"{record}$$$$\n" for record in records))
    out = tmp_path / "scores.csv"
    words = ["rescore", str(poses), "--receptor", str(PROTEIN), "--weights", str(weights)]
    assert command.main([*words, "--output", str(out), "--quiet"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert [line.partition(f"{poses}: ")[2] for line in said[:-1]] == [
        "record 2 cannot be used: another molecule follows; put a line '$$$$' between them",
        "record 3 is no molecule that RDKit reads; write it anew, or take it out",
        "record 4 has a dummy atom; give the whole molecule",
        "record 5 cannot be used: a bond has no order",
    ]
    with out.open() as file:
        assert [row["number"] for row in csv.DictReader(file)] == ["1", "6"]


def test_missing_and_foreign_weights_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIGEN_NETWORKS", str(tmp_path))
    words = ["rescore", str(REFERENCE), "--receptor", str(PROTEIN)]
    assert command.main(words) == 1
    assert (
        "crossdock_default2018.pt: there is no such file; install them"
        in (capsys.readouterr().err.splitlines()[-1])
    )
    saved(tmp_path / "crossdock_default2018.pt", random_tensors("plain"))
    assert command.main(words) == 1
    assert "is another network than gnina's of that name" in capsys.readouterr().err
    other = saved(tmp_path / "other.pt", {"one.weight": np.zeros((2, 2), "f4")})
    assert command.main([*words, "--weights", str(other)]) == 1
    assert capsys.readouterr().err.endswith(
        "other.pt: is none of gnina's networks of the kinds default2018 and dense (it has no "
        "tensor unit1_conv.weight); give one of these\n"
    )


@pytest.mark.usefixtures("installed")
def test_networks_choose_poses_and_rank_no_molecule(tmp_path: Path) -> None:
    """With them the pose is that of lowest E - w logit, and its score is the energy's as before."""
    asked = ("--functions", "vina", "ad4", "gnina")
    chosen = ("--pose-weights", '{"vina": 1, "ad4": 0.5, "gnina": 100}')
    plain = Mini(tmp_path / "plain", flags={"score": ("--functions", "vina", "ad4")})
    columns = Mini(
        tmp_path / "columns", flags={"score": (*asked, "--pose-weights", '{"vina": 1, "ad4": 0.5}')}
    )
    network = Mini(tmp_path / "network", flags={"score": (*asked, *chosen)})
    found = []
    for campaign in (plain, columns, network):
        campaign.run()
        (file,) = (campaign.folder / "results/scores").rglob("*.h5")
        found.append((file, read(file, SCORES, Scores)))
    (_, before), (_, same), (file, after) = found
    for name in ("best", "score", "energy", "restart"):
        assert getattr(before, name).tobytes() == getattr(same, name).tobytes()
    terms = read_terms(file)["gnina"]
    logit, pose = terms["logit"], terms["pose"]
    assert pose == pytest.approx(1 / (1 + np.exp(-logit)), abs=1e-5)
    assert after.energy == pytest.approx(before.energy - 100 * logit, abs=1e-4)
    for ligand, best in enumerate(after.best):
        rows = slice(after.first_pose[ligand], after.first_pose[ligand + 1])
        assert after.energy[best] == after.energy[rows].min()
        if best == before.best[ligand]:
            assert after.score[ligand] == before.score[ligand]
