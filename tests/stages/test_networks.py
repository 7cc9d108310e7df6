"""Networks judge the kept poses of the best molecules: the stage, and whoever reads its file."""

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from rdkit import Chem
from rdkit.Chem.rdMolAlign import CalcRMS

from ligen_py import aggregate, command, export, networks, pocket, report, verify
from ligen_py.judging import choice, together
from ligen_py.provenance import file_digest
from ligen_py.records.networks import NETWORKS, Judged
from ligen_py.records.scores import SCORES, Scores
from ligen_py.store.campaign.judged import CRYSTAL, ITEMS, read_judgements
from ligen_py.store.campaign.manifest import read_manifest
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.store.files.read import read, run_record
from ligen_py.store.files.terms import read_terms
from ligen_py.verification.judged import judged_faults
from tests.edited import edited
from tests.gnina import in_place_of_gninas
from tests.mini import DHFR, Mini
from tests.stages.factory import write_manifest

BEST = 4
WEIGHT = 20.0
"""The random network's logits differ little: with this weight it moves some poses, not all."""


def judge(mini: Mini, *words: str) -> int:
    output = mini.folder / "results/networks.h5"
    given = ["--campaign", str(mini.campaign), "--output", str(output), "--quiet"]
    return networks.main([*given, "--best", str(BEST), "--weight", str(WEIGHT), *words])


def said(mini: Mini) -> Judged:
    found: Judged = read(mini.folder / "results/networks.h5", NETWORKS, Judged)
    return found


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory, weights: Path) -> Mini:
    mini = Mini(tmp_path_factory.mktemp("sound"), chunks=2, control=True).run()
    with in_place_of_gninas(weights):
        assert judge(mini) == 0
    return mini


@pytest.fixture
def mini(sound: Mini, tmp_path: Path) -> Mini:
    """A copy, in another place, that may be spoilt."""
    shutil.copytree(sound.folder, tmp_path / "copy")
    copy = Mini(tmp_path / "copy", chunks=2, control=True)
    write_manifest(copy.manifest, copy.parts())
    return copy


@pytest.mark.usefixtures("installed")
def test_poses_are_chosen_as_where_networks_judge_all(sound: Mini, tmp_path: Path) -> None:
    """Of the same poses the same one as with gnina among the functions, with the same terms."""
    asked = ("--functions", "vina", "ad4", "xscore", "gnina")
    weights = ("--pose-weights", json.dumps({"vina": 1.0, "ad4": 0.5, "gnina": WEIGHT}))
    flags = {"score": (*asked, *weights)}
    whole = Mini(tmp_path / "whole", chunks=2, control=True, flags=flags).run()
    found, compared = said(sound), 0
    for part in whole.parts():
        scores, terms = read(part.scores, SCORES, Scores), read_terms(part.scores)["gnina"]
        own = np.flatnonzero((found.rank == 0) == part.control)
        for ligand, best in enumerate(scores.best.tolist()):
            rows = slice(scores.first_pose[ligand], scores.first_pose[ligand + 1])
            for number in own:
                poses = slice(found.first_pose[number], found.first_pose[number + 1])
                logit = found.logit[poses]
                if logit.tobytes() != terms["logit"][rows].tobytes():
                    continue
                compared += 1
                assert best - rows.start == found.network[number]
                for name in ("pose", "affinity"):
                    assert getattr(found, name)[poses].tobytes() == terms[name][rows].tobytes()
                assert found.restart[poses].tolist() == scores.restart[rows].tolist()
    assert compared == len(found.rank) == BEST + 1


def test_the_file_has_the_best_molecules_and_the_crystal_ligand(sound: Mini) -> None:
    found = said(sound)
    with open_campaign(sound.campaign) as campaign:
        target = campaign.target("dhfr")
        best = target.best(BEST)
        stored = [pose.xyz for pose in target.poses(BEST)]
        reference = target.reference()
    assert found.rank.tolist() == [*range(1, BEST + 1), 0]
    assert found.row.tolist() == [*best.row.tolist(), CRYSTAL]
    assert found.name.tolist()[:BEST] == best.scored.name.tolist()
    first = found.first_pose[:-1]
    assert found.restart[first + found.physics][:BEST].tolist() == best.scored.restart.tolist()
    assert np.diff(found.first_pose)[:BEST].tolist() == best.scored.poses.tolist()
    same = found.network == found.physics
    assert 0 < same.sum() < len(same), "the test needs both"
    assert (found.moved[same] == 0).all()
    assert (found.moved[~same] > 0.1).all()
    for number, xyz in enumerate(stored):
        own = found.xyz[slice(*found.first_atom[number : number + 2])]
        assert (own.tobytes() == xyz.tobytes()) == same[number]
    assert np.isnan(found.crystal[:BEST]).all()
    assert np.isfinite(found.crystal[BEST])
    docked = list(reference.origin).index("docked")
    atoms = slice(*reference.first_atom[docked : docked + 2])
    assert (found.xyz[found.first_atom[BEST] :].tobytes() == reference.xyz[atoms].tobytes()) == (
        same[BEST]
    )


def test_the_run_record_names_campaign_manifest_and_networks(sound: Mini, weights: Path) -> None:
    record = run_record(sound.folder / "results/networks.h5", NETWORKS)
    assert json.loads(record["settings"]) == {"best": BEST, "weight": WEIGHT}
    digests = [one["sha256"] for one in json.loads(record["inputs"])]
    assert digests[0] == file_digest(sound.campaign)
    assert digests[2:] == [file_digest(weights)]


def test_the_choice() -> None:
    """Lowest energy - weight * logit; what is not known does not count; ties go to the first."""
    nan = np.nan
    first = np.array([0, 3, 5, 7, 9])
    energy = np.array([-5, -4, -3, -1, -1, nan, -2, nan, nan], "f4")
    logit = np.array([0, 1, 3, 2, 2, 9, -9, 1, 2], "f4")
    rest = np.array([0, 1, 0, 1], "i4")
    assert choice(first, energy, logit, 2.0, rest).tolist() == [2, 0, 1, 1]
    assert choice(first, energy, logit, 0.0, rest).tolist() == [0, 0, 1, 1]
    logit[2] = nan
    assert choice(first, energy, logit, 2.0, rest).tolist() == [1, 0, 1, 1]


def exported(mini: Mini, folder: Path, *words: str) -> Path:
    given = ["--campaign", str(mini.campaign), "--output", str(folder), "--count", "5", "--quiet"]
    assert export.main([*given, *words]) == 0
    return folder


def poses_of(path: Path) -> list[Chem.Mol]:
    return list(Chem.SDMolSupplier(str(path)))


def test_export_writes_columns_and_the_networks_poses(sound: Mini, tmp_path: Path) -> None:
    file = sound.folder / "results/networks.h5"
    plain = exported(sound, tmp_path / "plain")
    out = exported(sound, tmp_path / "out", "--networks", str(file))
    assert {path.name for path in out.iterdir()} - {path.name for path in plain.iterdir()} == {
        "dhfr-network.sdf"
    }
    with (out / "dhfr.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    with (plain / "dhfr.csv").open() as stream:
        before = list(csv.DictReader(stream))
    assert [{k: v for k, v in row.items() if k not in ITEMS} for row in rows] == before
    found = read_judgements(file, sound.campaign)["dhfr"]
    with open_campaign(sound.campaign) as campaign:
        order = campaign.target("dhfr").order().tolist()
    table = pyarrow.parquet.read_table(out / "dhfr.parquet").to_pylist()
    for place, row in enumerate(rows):
        one = found.get(order[place])
        if one is None:
            assert place >= BEST
            assert {row[name] for name in ITEMS} == {""}
            assert {table[place][name] for name in ITEMS} == {None}
            continue
        assert row["network.restart"] == str(one.restart) == str(table[place]["network.restart"])
        assert float(row["network.pose"]) == pytest.approx(one.pose)
        assert table[place]["network.moved"] == pytest.approx(one.moved)
    # The poses of the energies stay where they were.
    for one, other in zip(poses_of(plain / "dhfr.sdf"), poses_of(out / "dhfr.sdf"), strict=True):
        assert (one.GetConformer().GetPositions() == other.GetConformer().GetPositions()).all()
        judged = other.HasProp("network.pose")
        same = judged and float(other.GetProp("network.moved")) == 0
        assert other.GetProp("chosen_by") == ("physics, network" if same else "physics")
    theirs = poses_of(out / "dhfr-network.sdf")
    assert len(theirs) == BEST
    for one, other in zip(poses_of(out / "dhfr.sdf"), theirs, strict=False):
        # RDKit numbers equal atoms as they fit best.
        assert CalcRMS(one, other) == pytest.approx(float(other.GetProp("network.moved")), abs=2e-3)
    for place, mol in enumerate(theirs):
        one = found[order[place]]
        assert mol.GetProp("chosen_by") == ("physics, network" if one.is_same else "network")
        heavy = one.xyz[: mol.GetNumAtoms()]  # they come first
        assert mol.GetConformer().GetPositions() == pytest.approx(heavy, abs=1e-3)
        assert not mol.HasProp("vina.total")  # which is that of another pose
    several = exported(sound, tmp_path / "several", "--networks", str(file), "--poses", "3")
    chosen = [
        (mol.GetProp("rank"), mol.GetProp("chosen_by"))
        for mol in poses_of(several / "dhfr.sdf")
        if mol.HasProp("network.pose")
    ]
    for rank in {rank for rank, _ in chosen}:
        words = ", ".join(by for own, by in chosen if own == rank).split(", ")
        assert (words.count("physics"), words.count("network")) == (1, 1)


def test_the_report_tells_physics_from_networks(
    sound: Mini, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--campaign", str(sound.campaign), "--jobs", "1", "--output"]
    file = sound.folder / "results/networks.h5"
    assert report.main([*words, str(tmp_path / "plain.html")]) == 0
    plain = capsys.readouterr().out
    assert report.main([*words, str(tmp_path / "r.html"), "--networks", str(file)]) == 0
    text, page = capsys.readouterr().out, (tmp_path / "r.html").read_text()
    assert "CNN pK" in text
    assert "network: the pose that networks choose is" in text
    assert "trained on PDBbind and CrossDocked2020" in text
    assert not {"CNN", "network:"} & set(plain.split())
    before = (tmp_path / "plain.html").read_text()
    assert 'data-l="CNN"' not in before
    assert page.count('<td data-l="CNN pK">') == 6
    # "physics: all else" must not call a column physics that networks have a share of.
    assert "network: Score+CNN, CNN, CNN pK: gnina" in page
    assert page.count("the networks choose a pose") >= 1
    assert "McNutt" in page
    assert "McNutt" not in before
    blocks = page.split('<script type="application/json">')[1]
    hits = json.loads(blocks.partition("</script>")[0])["hits"]
    moved = {hit["n"] for hit in hits if "network" in hit}
    found = said(sound)
    ranked = found.rank > 0
    assert moved == set(found.name[ranked & (found.network != found.physics)])
    for hit in hits:
        if "network" in hit:
            assert hit["network"]["e"] == hit["e"]
            assert hit["network"]["x"] != hit["x"]


@pytest.mark.usefixtures("installed")
def test_networks_without_a_weight_choose_nothing(
    mini: Mini, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judge(mini, "--weight", "0") == 0
    file, out = mini.folder / "results/networks.h5", mini.folder / "r.html"
    words = ["--campaign", str(mini.campaign), "--jobs", "1", "--output", str(out)]
    assert report.main([*words, "--networks", str(file)]) == 0
    text, page = capsys.readouterr().out, out.read_text()
    for shown in (text, page):
        assert "They choose nothing: networks.weight is 0." in shown
        assert "network: the pose that energies choose is " in shown
        assert "0 logit" not in shown
        assert "of 0 " not in shown
        assert "redocked ligand they choose" not in shown


def query(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = command.main(["query", *words])
    answer = capsys.readouterr()
    return status, answer.out, answer.err


def test_questions_about_what_networks_say(mini: Mini, capsys: pytest.CaptureFixture[str]) -> None:
    file, path = mini.folder / "results/networks.h5", str(mini.campaign)
    columns = ["--columns", "rank", "network.pose", "network.moved", "--format", "jsonl"]
    status, out, _ = query(capsys, path, *columns)
    rows = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert [row["network.pose"] is None for row in rows] == [False] * BEST + [True]
    status, out, _ = query(capsys, path, "--where", "network.moved > 0", *columns)
    found = said(mini)
    wanted = found.rank[(found.network != found.physics) & (found.rank > 0)]
    assert [json.loads(line)["rank"] for line in out.splitlines()] == wanted.tolist()
    assert "network.affinity" in query(capsys, path, "--columns", "all", "--limit", "1")[1]
    moved = mini.folder / "elsewhere.h5"
    file.rename(moved)
    status, _, err = query(capsys, path, *columns)
    assert status == 2
    assert "no column 'network.pose'" in err
    assert query(capsys, path, "--networks", str(moved), *columns)[0] == 0
    # Those of another campaign file are not those of this one.
    moved.rename(file)
    aggregated = ["--manifest", str(mini.manifest), "--output", path, "--top-poses", "2"]
    assert aggregate.main([*aggregated, "--quiet"]) == 0
    status, _, err = query(capsys, path, *columns)
    assert status == 2
    assert "networks.h5: was not made from" in err
    status, _, err = query(capsys, path, "--networks", str(file), *columns)
    assert (status, "run the networks stage again" in err) == (1, True)
    words = ["--campaign", path, "--networks", str(file), "--output", str(mini.folder / "out")]
    assert export.main([*words, "--count", "2", "--quiet"]) == 1


def checked(mini: Mini, *words: str) -> int:
    given = [str(mini.campaign), "--quiet", "--hits", "0", "--sample", "0"]
    return verify.main([*given, *words])


FORGERIES = [
    ("logit", 0, np.float32(1e-4), "judged again: not equal"),
    ("affinity", -1, np.float32(1e-4), "judged again: not equal"),
    ("pose", 2, np.float32(0.01), "networks/pose does not follow from logit"),
    ("energy", 0, np.float32(-1), "networks/energy is not what"),
    ("restart", 0, np.int32(1), "networks/restart is not what"),
    ("moved", 0, np.float32(0.5), "networks/moved is not what"),
    ("crystal", BEST, np.float32(-5), "networks/crystal is not what"),
    ("xyz", (0, 0), np.float32(0.01), "networks/xyz is not what"),
    ("row", 0, np.int64(1), "networks/row is not what"),
    ("rank", 1, np.int64(1), "networks/rank is not what"),
]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("column", "where", "by", "words"), FORGERIES, ids=[one[0] for one in FORGERIES]
)
def test_a_forged_value_is_found(
    mini: Mini,
    column: str,
    where: object,
    by: np.generic,
    words: str,
) -> None:
    path = mini.folder / "results/networks.h5"
    with edited(path) as file:
        values = file[f"networks/{column}"][...]
        values[where] += by
        file[f"networks/{column}"][...] = values
    manifest = read_manifest(mini.manifest)
    faults = list(judged_faults(path, mini.campaign, manifest, None, 1, None))
    assert any(words in fault for fault in faults), faults


@pytest.mark.usefixtures("installed")
def test_verify_looks_at_what_networks_say(mini: Mini, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(mini) == 0, capsys.readouterr().out
    aggregated = ["--manifest", str(mini.manifest), "--output", str(mini.campaign), "--quiet"]
    assert aggregate.main([*aggregated, "--top-poses", "2"]) == 0
    assert checked(mini) == 1
    assert "networks.h5: was not made from" in capsys.readouterr().out


@pytest.mark.usefixtures("installed")
def test_what_is_wrong_with_the_file_is_said(
    mini: Mini, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, manifest = mini.folder / "results/networks.h5", read_manifest(mini.manifest)

    def faults() -> str:
        return "; ".join(judged_faults(path, mini.campaign, manifest, None, 1, None))

    assert faults() == ""
    with monkeypatch.context() as patch:
        patch.setenv("LIGEN_NETWORKS", str(mini.folder))
        assert faults() == ""
        assert "no pose is judged again" in "".join(capsys.readouterr())
    # Another pose than theirs is chosen; both are the molecule's.
    kept = path.read_bytes()
    with edited(path) as file:
        file["networks/network"][0] = (file["networks/network"][0] + 1) % 3
    assert "networks/network is not what" in faults()
    # Fewer or more molecules than the run record says.
    for best in (BEST - 1, BEST + 1):
        path.write_bytes(kept)
        with edited(path) as file:
            file.attrs["settings"] = json.dumps({"best": best, "weight": WEIGHT})
        assert "to judge" in faults() or "networks/first_pose is not what" in faults()
    path.write_bytes(kept[:-100])
    assert "networks.h5: " in faults()


@pytest.mark.usefixtures("installed")
def test_what_the_stage_cannot_use_is_named(
    mini: Mini, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def error() -> str:
        return capsys.readouterr().err.splitlines()[-1]

    given = ["--campaign", str(mini.campaign), "--output", str(mini.folder / "n.h5")]
    assert networks.main(given) == 1
    assert "give --best" in error()
    with monkeypatch.context() as patch:
        patch.setenv("LIGEN_NETWORKS", str(mini.folder))
        assert judge(mini) == 1
        assert "plain.pt: there is no such file; install them" in error()
    table = mini.manifest.read_text()
    mini.manifest.unlink()
    assert judge(mini) == 1
    assert "name the campaign's manifest by --manifest" in error()
    mini.manifest.write_text("\n".join(table.splitlines()[:2]) + "\n")
    assert judge(mini) == 1
    assert "was not made from" in error()
    mini.manifest.write_text(table)
    other = mini.parts()[0].scores
    with edited(other) as file:
        file["scores/energy"][0] -= np.float32(1)
    assert judge(mini) == 1
    assert f"{other}: is not the file that the campaign was made from" in error()


@pytest.mark.usefixtures("installed")
def test_conformations_of_a_target(sound: Mini, tmp_path: Path) -> None:
    """Each molecule is judged in the structure in which it was docked best."""
    other = Mini(tmp_path / "other", chunks=2, control=True)
    structure, place = other.folder / "moved.pdb", other.parts()[0].pocket
    place.parent.mkdir(parents=True)
    lines = (DHFR / "1ia1_protein_one_lig_removed.pdb").read_text().splitlines()
    shifted = [
        f"{line[:30]}{float(line[30:38]) + 1:8.3f}{line[38:]}" if line[:4] == "ATOM" else line
        for line in lines
        if not line.startswith("HETATM")
    ]
    structure.write_text("\n".join(shifted))
    words = ["--receptor", str(structure), "--chains", "B", "--ligand", str(other.crystal)]
    assert pocket.main([*words, "--radius", "8", "--output", str(place), "--quiet"]) == 0
    other.run()
    parts = []
    for one, two in zip(sound.parts(), other.parts(), strict=True):
        parts += [
            replace(one, conformation="one"),
            replace(two, conformation="two", ligands=one.ligands),
        ]
    order = sorted(range(len(parts)), key=lambda number: parts[number].control)
    both = Mini(tmp_path / "both")
    both.campaign.parent.mkdir(parents=True)
    write_manifest(both.manifest, [parts[number] for number in order])
    words = ["--manifest", str(both.manifest), "--output", str(both.campaign), "--quiet"]
    assert aggregate.main(words) == 0
    assert judge(both) == 0
    found = said(both)
    with open_campaign(both.campaign) as campaign:
        stored = list(campaign.target("dhfr").poses(BEST))
    assert {pose.conformation for pose in stored} == {"one", "two"}
    assert found.rank.tolist() == [*range(1, BEST + 1), 0]
    same = found.network == found.physics
    for number, pose in enumerate(stored):
        own = found.xyz[slice(*found.first_atom[number : number + 2])]
        assert (own.tobytes() == pose.xyz.tobytes()) == same[number]
    assert checked(both) == 0


def test_nobody_to_judge() -> None:
    found = together([], np.empty(0, "i8"))
    assert (len(found.rank), found.first_pose.tolist()) == (0, [0])
