"""Aggregate by hand: two parts of one library, two targets, a control; then everything broken."""

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from rdkit import Chem

from ligen_py import aggregate, export, report
from ligen_py.engine.geometry import rebuild
from ligen_py.molecules.stored import molecule_of
from ligen_py.records.ledger import Reason, Status
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.records.poses import Poses
from ligen_py.records.refined import REFINED
from ligen_py.store.campaign.manifest import PartFiles, read_manifest
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.store.files.read import read
from ligen_py.summary.dossier import dossier_of
from ligen_py.summary.facts import targets_of
from tests.edited import edited
from tests.placed import placed, started
from tests.stages.factory import POSES, Molecule, copied, prepared, write_manifest, write_part

FIRST = [
    Molecule("ethanol", "CCO", 5.0),
    Molecule("cut", "C(", None),
    Molecule("butane", "CCCC", 6.5),
    Molecule("unscored", "CCCN", None),
]
SECOND = [
    Molecule("ethanol again", "OCC", 9.0),
    Molecule("phenylacetic acid", "c1ccccc1CC(=O)O", 6.5),
    Molecule("ether", "CCOCC", 7.25),
]
REFERENCE = "CC(=O)c1ccc(OCC)cc1"

pytestmark = pytest.mark.usefixtures("one_core")


@dataclass(frozen=True)
class Made:
    """A campaign that could be aggregated."""

    folder: Path
    parts: list[PartFiles]
    manifest: Path

    @property
    def output(self) -> Path:
        return self.folder / "campaign.h5"

    def run(self, *flags: str) -> int:
        return aggregate.main(
            ["--manifest", str(self.manifest), "--output", str(self.output), "--quiet", *flags]
        )


def test_a_manifest_of_other_parts_than_the_config_describes_is_refused(
    made: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    described = read_manifest(made.manifest).digest()
    assert made.run("--parts", described, "--effort", "draft") == 0
    with h5py.File(made.output) as file:
        assert file.attrs["effort"] == "draft"
    before = made.output.read_bytes()
    write_manifest(made.manifest, made.parts[:-1])
    assert made.run("--parts", described) == 1
    assert "is stale, it lists other parts than the config describes" in capsys.readouterr().err
    assert made.output.read_bytes() == before


def test_without_the_digest_a_line_says_that_nothing_was_compared(
    made: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--manifest", str(made.manifest), "--output", str(made.output)]
    assert aggregate.main(words) == 0
    assert f"{made.manifest}: not compared with a config" in capsys.readouterr().err
    with h5py.File(made.output) as file:
        assert file.attrs["effort"] == ""


def crystal(folder: Path) -> Path:
    path = folder / "crystal.sdf"
    mol = started(prepared(REFERENCE).states[0].shape)
    path.write_text(Chem.MolToMolBlock(mol) + "$$$$\n")
    return path


def make(folder: Path, first: list[Molecule] = FIRST, second: list[Molecule] = SECOND) -> Made:
    parts = [
        write_part(folder, target, "lib", f"{number}-of-2", molecules, first_line=10 * number)
        for target in ("human", "yeast")
        for number, molecules in ((1, first), (2, second))
    ]
    reference = [Molecule("REF", REFERENCE, 8.5)]
    parts.append(
        write_part(folder, "human", "control-human", "1-of-1", reference, crystal=crystal(folder))
    )
    return Made(folder, parts, write_manifest(folder / "manifest.tsv", parts))


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """What a test gets is a copy, which it may change."""
    return make(tmp_path_factory.mktemp("made"))


@pytest.fixture
def made(made_once: Made, tmp_path: Path) -> Made:
    parts = copied(made_once.parts, made_once.folder, tmp_path)
    return Made(tmp_path, parts, write_manifest(tmp_path / "manifest.tsv", parts))


@pytest.fixture(scope="module")
def aggregated(made_once: Made, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A campaign that has been aggregated, to be read only."""
    folder = tmp_path_factory.mktemp("aggregated")
    parts = copied(made_once.parts, made_once.folder, folder)
    made = Made(folder, parts, write_manifest(folder / "manifest.tsv", parts))
    assert made.run() == 0
    return made


def test_the_ranking_by_hand(aggregated: Made) -> None:
    with open_campaign(aggregated.output) as campaign:
        assert (campaign.targets, campaign.libraries) == (["human", "yeast"], ["lib"])
        for name in campaign.targets:
            best = campaign.target(name).best(10)
            names = ["ether", "butane", "phenylacetic acid", "ethanol"]
            assert best.scored.name.tolist() == names
            assert best.scored.score.tolist() == [7.25, 6.5, 6.5, 5.0]
            assert best.scored.line.tolist() == [22, 12, 21, 10]
            assert best.rank.tolist() == [1, 2, 3, 4]
            assert best.scored.restart.tolist() == [20] * 4
            assert best.scored.poses.tolist() == [POSES] * 4
            assert best.terms["xscore/total"].tolist() == best.scored.score.tolist()
            assert best.terms["xscore/half"].tolist() == [3.625, 3.25, 3.25, 2.5]
            keys = [prepared(s).key for s in ("CCOCC", "CCCC", "c1ccccc1CC(=O)O", "CCO")]
            assert best.scored.key.tolist() == keys


def test_a_campaign_of_some_molecules_is_a_small_file(aggregated: Made) -> None:
    assert aggregated.output.stat().st_size < 1_000_000


def test_a_ligand_counts_in_the_conformation_where_it_scores_best(tmp_path: Path) -> None:
    scores = {
        "open": {"ethanol": 5.0, "butane": 6.0, "ether": None},
        "closed": {"ethanol": 7.0, "butane": 6.0, "ether": None},
        "apo": {"ethanol": 4.0, "butane": 2.0, "ether": 1.5},
    }
    smiles = {"ethanol": "CCO", "butane": "CCCC", "ether": "CCOCC"}
    parts = []
    for seed, (name, of) in enumerate(scores.items(), start=1):
        molecules = [Molecule(key, smiles[key], value) for key, value in of.items()]
        reference = [Molecule("REF", REFERENCE, 8.0 + seed)]
        for library, held in (("lib", molecules), ("control-t", reference)):
            pose = crystal(tmp_path) if library != "lib" else None
            part = write_part(tmp_path, f"t.{name}", library, "1-of-1", held, seed, pose)
            parts.append(replace(part, target="t", conformation=name))
            # One library for all: its lines must not depend on the conformation.
            parts[-1] = replace(parts[-1], ligands=parts[0 if library == "lib" else 1].ligands)
    made = Made(tmp_path, parts, write_manifest(tmp_path / "manifest.tsv", parts))
    assert made.run() == 0
    with open_campaign(made.output) as campaign:
        assert campaign.targets == ["t"]
        target = campaign.target("t")
        best = target.best(10)
        assert best.scored.name.tolist() == ["ethanol", "butane", "ether"]
        assert best.scored.score.tolist() == [7.0, 6.0, 1.5]
        assert best.terms["xscore/total"].tolist() == [7.0, 6.0, 1.5]
        poses = list(target.poses(3))
        assert [pose.conformation for pose in poses] == ["closed", "open", "apo"]
        for pose, name, row in zip(poses, ("closed", "open", "apo"), (0, 1, 2), strict=True):
            part = next(p for p in parts if p.conformation == name and p.library == "lib")
            kept: Poses = read(part.refined, REFINED, Poses)
            ligands: Ligands = read(part.ligands, LIGANDS, Ligands)
            pick = int(kept.first_pose[row]) + 1
            a, b = ligands.first_atom[row : row + 2]
            center = pose.xyz.mean(axis=0) - kept.translation[pick]
            assert np.linalg.norm(center) < np.linalg.norm(ligands.xyz[a:b], axis=1).max() + 0.1
        assert target.control().score.tolist() == [11.0]
        assert target.control().rmsd_kept[0] <= target.control().rmsd[0]
        assert set(campaign.parts().target) == {"t.open", "t.closed", "t.apo"}
    exported = made.folder / "export"
    assert export.main(["--campaign", str(made.output), "--output", str(exported)]) == 0
    header, first, *_ = (exported / "t.csv").read_text().splitlines()
    assert first.split(",")[header.split(",").index("conformation")] == "closed"


def test_consensus_of_two_functions_ranks_and_is_reported(
    made: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    # By xscore: ether 1, butane and phenylacetic acid 2, ethanol 4.
    second = {"1-of-2": [9, 1, 0], "2-of-2": [9, 5, 2]}
    for part in made.parts:
        values = np.repeat(np.array(second.get(part.ligands.stem, [0]), "f4"), POSES)
        with edited(part.scores) as file:
            file["terms/second/total"] = values
    assert made.run("--rank-by", "consensus") == 0
    with open_campaign(made.output) as campaign:
        best = campaign.target("human").best(10)
        names = ["phenylacetic acid", "ether", "ethanol", "butane"]
        assert best.scored.name.tolist() == names
        assert best.scored.score.tolist() == [-2, -2, -2.5, -3]
        assert best.terms["xscore/total"].tolist() == [6.5, 7.25, 5.0, 6.5]
        assert best.terms["second/total"].tolist() == [5, 2, 9, 1]
        (about,) = [one for one in targets_of(campaign, 1, {}) if one.name == "human"]
        crystal = dossier_of(campaign, about, 10, {}, 1).reference
    # The crystal ligand would be the first by xscore, and the last of five by the other function.
    assert crystal is not None
    assert (crystal.score, crystal.rank) == (-3, 4)
    page = made.folder / "report.html"
    assert report.main(["--campaign", str(made.output), "--output", str(page)]) == 0
    words = "minus the mean of the ranks by xscore, second"
    assert words in capsys.readouterr().out
    assert words in page.read_text()
    # What the pointer is told at the column, too.
    assert 'title="minus the mean of the ranks by X-Score, second">score<' in page.read_text()
    exported = made.folder / "export"
    assert export.main(["--campaign", str(made.output), "--output", str(exported)]) == 0
    table = (exported / "human.csv").read_text().splitlines()
    assert table[1].startswith("1,phenylacetic acid,-2.0,5.0,")


def test_the_ledger_by_hand(aggregated: Made) -> None:
    with open_campaign(aggregated.output) as campaign:
        target = campaign.target("human")
        counts = target.counts()
        rows = zip(
            *(counts.status, counts.stage, counts.reason, counts.records),
            strict=True,
        )
        assert [tuple(row) for row in rows] == [
            (Status.SCORED, "", Reason.NONE, 4),
            (Status.FAILED, "parse", Reason.UNPARSABLE, 1),
            (Status.FAILED, "score", Reason.NO_FINITE_SCORE, 1),
            (Status.DUPLICATE, "aggregate", Reason.DUPLICATE_OF, 1),
        ]
        left = target.left_named(frozenset(["cut", "unscored", "ethanol again", "ether"]))
        assert dict(zip(left.name, left.line.tolist(), strict=True)) == {
            "cut": 11, "unscored": 13, "ethanol again": 20
        }  # fmt: skip
        assert (
            left.detail[left.name == "ethanol again"] == "the same molecule as ethanol in line 10"
        )
        assert "SMILES Parse Error" in left.detail[left.name == "cut"][0]


def test_the_first_of_equal_molecules_is_first_in_the_file_not_in_the_manifest(
    tmp_path: Path,
) -> None:
    parts = [
        write_part(tmp_path, "t", "lib", "2-of-2", [Molecule("late", "CCO", 9)], first_line=50),
        write_part(tmp_path, "t", "lib", "1-of-2", [Molecule("early", "CCO", 1)], first_line=2),
        write_part(tmp_path, "t", "other", "1-of-1", [Molecule("elsewhere", "CCO", 5)]),
    ]
    made = Made(tmp_path, parts, write_manifest(tmp_path / "m.tsv", parts))
    assert made.run() == 0
    with open_campaign(made.output) as campaign:
        best = campaign.target("t").best(9)
        assert best.scored.name.tolist() == ["early"]
        assert campaign.target("t").scores().tolist() == [1]
        assert campaign.target("t").others(best.row) == {int(best.row[0]): ["late", "elsewhere"]}
        left = campaign.target("t").left_named(frozenset(["elsewhere"]))
        assert left.detail.tolist() == [
            "the same molecule as early in line 2 of lib.smi of library lib"
        ]
        counts = campaign.target("t").counts()
        assert counts.library.tolist() == [0, 0, 1]
        assert counts.records.tolist() == [1, 1, 1]


def test_a_record_has_one_row_with_its_best_state(tmp_path: Path) -> None:
    """A racemate, a zwitterion and a record that lost a state, each several ligands of a part."""
    zwitterion, other_hand = "C[C@H]([NH3+])C(=O)[O-]", "C[C@@H](O)CC"
    parts = [
        write_part(tmp_path, "t", "lib", "1-of-2", [
            Molecule("butanol", "C[C@H](O)CC", 5.0, states=((other_hand, 7.5), (other_hand, 7.5))),
            Molecule("lost", "CCCN", None, states=(("CCC[NH3+]", None),)),
            Molecule("alanine", "C[C@H](N)C(=O)O", 6.0, states=((zwitterion, 4.0),)),
        ]),
        write_part(tmp_path, "t", "lib", "2-of-2", [
            Molecule("half lost", "CCN", None, states=(("CC[NH3+]", 1.0),)),
            Molecule("ALA", "C[C@H](N)C(=O)O", 9.0),
        ], first_line=10),
    ]  # fmt: skip
    made = Made(tmp_path, parts, write_manifest(tmp_path / "m.tsv", parts))
    assert made.run() == 0
    with open_campaign(made.output) as campaign:
        target = campaign.target("t")
        best = target.best(9)
        assert best.scored.name.tolist() == ["butanol", "alanine", "half lost"]
        assert best.scored.score.tolist() == [7.5, 6.0, 1.0]
        assert best.scored.states.tolist() == [3, 2, 2]
        assert best.terms["xscore/total"].tolist() == [7.5, 6.0, 1.0]
        poses = list(target.poses(3))
        states = [Chem.CanonSmiles(other_hand), prepared("C[C@H](N)C(=O)O").smiles, "CC[NH3+]"]
        assert [pose.state for pose in poses] == states
        assert [pose.smiles for pose in poses][::2] == [Chem.CanonSmiles("C[C@H](O)CC"), "CCN"]
        for pose in poses:
            docked = Chem.RemoveHs(molecule_of(pose.molecule))
            assert Chem.MolToSmiles(docked) == pose.state
        counts = target.counts()
        assert dict(zip(counts.status.tolist(), counts.records.tolist(), strict=True)) == {
            Status.SCORED: 3, Status.FAILED: 1, Status.DUPLICATE: 1
        }  # fmt: skip
        assert target.others(best.row) == {int(best.row[1]): ["ALA"]}
        # Whoever asks for a duplicate's name gets the rank of the molecule.
        assert target.named(frozenset(["ALA"])).rank.tolist() == [2]


def test_a_duplicate_of_a_duplicate_is_a_name_of_the_first(tmp_path: Path) -> None:
    twice = [Molecule("second", "OCC", 2.0), Molecule("third", "C(C)O", 3.0)]
    parts = [
        write_part(tmp_path, "t", "lib", "1-of-2", [Molecule("first", "CCO", 1.0)]),
        write_part(tmp_path, "t", "lib", "2-of-2", twice, first_line=2),
    ]
    made = Made(tmp_path, parts, write_manifest(tmp_path / "m.tsv", parts))
    assert made.run() == 0
    with open_campaign(made.output) as campaign:
        assert campaign.target("t").others(np.array([0])) == {0: ["third", "second"]}


@pytest.mark.parametrize(("length", "repeated"), [(80, "n" * 80), (81, "n" * 77 + "...")])
def test_a_long_name_is_repeated_in_part(tmp_path: Path, length: int, repeated: str) -> None:
    parts = [
        write_part(tmp_path, "t", "lib", "1-of-2", [Molecule("n" * length, "CCO", 1.0)]),
        write_part(tmp_path, "t", "lib", "2-of-2", [Molecule("again", "OCC", 2.0)], first_line=2),
    ]
    made = Made(tmp_path, parts, write_manifest(tmp_path / "m.tsv", parts))
    assert made.run() == 0
    with open_campaign(made.output) as campaign:
        left = campaign.target("t").left_named(frozenset(["again"]))
        assert left.detail.tolist() == [f"the same molecule as {repeated} in line 1"]


def test_a_duplicate_that_was_not_docked_is_a_name_of_another_part(tmp_path: Path) -> None:
    parts = [
        write_part(tmp_path, "t", "lib", "1-of-2", [
            Molecule("propane", "CCC", 4.0), Molecule("first", "CCO", 1.0)
        ]),
        write_part(tmp_path, "t", "lib", "2-of-2", [
            Molecule("second", "OCC", None), Molecule("butane", "CCCC", 2.0)
        ], first_line=3, known=["CCC", "CCO"]),
    ]  # fmt: skip
    made = Made(tmp_path, parts, write_manifest(tmp_path / "m.tsv", parts))
    assert made.run() == 0
    with open_campaign(made.output) as campaign:
        target = campaign.target("t")
        assert target.best(9).scored.name.tolist() == ["propane", "butane", "first"]
        assert target.others(np.arange(3)) == {1: ["second"]}
        assert target.named(frozenset(["second"])).rank.tolist() == [3]


def test_the_result_does_not_depend_on_the_chunks(tmp_path: Path) -> None:
    whole = [write_part(tmp_path / "w", "t", "lib", "1-of-1", [*FIRST, *SECOND])]
    cut = [
        write_part(tmp_path / "c", "t", "lib", f"{i}-of-3", molecules, first_line)
        for i, molecules, first_line in ((1, FIRST[:1], 1), (2, FIRST[1:], 2), (3, SECOND, 5))
    ]
    found = []
    for parts in (whole, cut):
        folder = parts[0].pocket.parents[1]
        made = Made(folder, parts, write_manifest(folder / "m.tsv", parts))
        assert made.run() == 0
        with open_campaign(made.output) as campaign:
            target = campaign.target("t")
            best = target.best(9)
            counts = target.counts()
            by_status = {int(s): 0 for s in counts.status}
            for status, records in zip(counts.status, counts.records, strict=True):
                by_status[int(status)] += int(records)
            found.append(
                (best.scored.name.tolist(), best.scored.score.tolist(),
                 best.scored.line.tolist(), by_status)
            )  # fmt: skip
    assert found[0] == found[1]


def test_the_stored_poses_are_the_best_poses_of_the_best_ligands(made: Made) -> None:
    assert made.run("--top-poses", "3") == 0
    part = made.parts[1]
    ligands: Ligands = read(part.ligands, LIGANDS, Ligands)
    kept: Poses = read(part.refined, REFINED, Poses)
    with open_campaign(made.output) as campaign:
        target = campaign.target("human")
        assert (target.stored, target.size) == (3, 4)
        ether, butane, acid = target.poses(3)
        with pytest.raises(ValueError, match="not stored"):
            list(target.poses(4))
    for pose, smiles, atoms in ((ether, "CCOCC", 15), (butane, "CCCC", 14), (acid, None, 18)):
        mol = molecule_of(pose.molecule)
        assert len(pose.xyz) == mol.GetNumAtoms() == atoms
        assert smiles is None or pose.smiles == smiles
    row = 2  # of the second part: ethanol again, phenylacetic acid, ether
    atoms = slice(*ligands.first_atom[row : row + 2])
    torsions = slice(*ligands.first_torsion[row : row + 2])
    best = POSES * row + 1
    expected = rebuild(
        ligands.xyz[atoms],
        ligands.torsion_axis[torsions],
        ligands.torsion_range[torsions],
        kept.torsion[slice(*kept.first_torsion[best : best + 2])],
        kept.quaternion[best],
        kept.translation[best],
    )
    assert (ether.xyz == expected).all()


def test_the_control_is_measured_and_kept_out_of_the_ranking(aggregated: Made) -> None:
    part = aggregated.parts[-1]
    ligands: Ligands = read(part.ligands, LIGANDS, Ligands)
    kept: Poses = read(part.refined, REFINED, Poses)
    mol = placed(ligands.molecule, ligands.xyz)
    heavy = int(ligands.heavy[0])
    xyz = rebuild(
        ligands.xyz,
        ligands.torsion_axis,
        ligands.torsion_range,
        kept.torsion.reshape(POSES, -1),
        kept.quaternion,
        kept.translation,
    )[:, :heavy]
    start = mol.GetConformer().GetPositions()[:heavy]
    hydrogenless = Chem.RemoveAllHs(mol)
    maps = hydrogenless.GetSubstructMatches(hydrogenless, uniquify=False)
    assert len(maps) == 2  # the ring flips
    rmsd = [
        min(np.sqrt(((pose[list(m)] - start) ** 2).sum(axis=1).mean()) for m in maps)
        for pose in xyz
    ]
    with open_campaign(aggregated.output) as campaign:
        control = campaign.target("human").control()
        assert control.name.tolist() == ["REF"]
        assert control.score.tolist() == [8.5]
        assert control.poses.tolist() == [POSES]
        assert control.rmsd == pytest.approx([rmsd[1]], abs=1e-3)
        assert control.rmsd_kept == pytest.approx([min(rmsd)], abs=1e-3)
        assert "REF" not in campaign.target("human").best(10).scored.name
        assert not len(campaign.target("yeast").control().name)


def test_a_failed_control_says_why(made: Made) -> None:
    part = made.parts[-1]
    shutil.rmtree(part.scores.parent)
    shutil.rmtree(part.ligands.parent)
    shutil.rmtree(part.refined.parent)
    for reference, status, words in (
        (Molecule("REF", REFERENCE, None), Status.FAILED, "no pose has a finite score"),
        (Molecule("REF", "CCO", 3.0), Status.SCORED, "crystal.sdf contains another molecule"),
    ):
        part.ligands.unlink(missing_ok=True)
        write_part(
            made.folder, "human", "control-human", "1-of-1", [reference], crystal=part.crystal
        )
        assert made.run() == 0
        with open_campaign(made.output) as campaign:
            control = campaign.target("human").control()
        assert (control.status[0], control.detail[0]) == (status, words)
        assert len(control.score) == (status == Status.SCORED)
        assert not len(control.rmsd)


def test_the_provenance_of_every_part_is_kept_once(aggregated: Made) -> None:
    with open_campaign(aggregated.output) as campaign:
        parts, runs = campaign.parts(), campaign.runs()
    assert len(parts.run) == 4 * len(aggregated.parts)
    assert runs.kind.tolist() == ["ligands", "pocket", "refined", "scores"]
    assert runs.device.tolist() == ["", "", "", "a device"]
    assert '"max_num_poses": 30' in runs.settings[2]
    assert parts.chunk.tolist()[:5] == ["1-of-2"] * 4 + ["2-of-2"]
    assert parts.records.tolist()[:8] == [4] * 4 + [3] * 4
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in parts.sha256)


def test_equal_runs_write_equal_bytes(made: Made) -> None:
    assert made.run() == 0
    first = made.output.read_bytes()
    assert made.run() == 0
    assert made.output.read_bytes() == first


@pytest.mark.parametrize("jobs", ["2", "3"])
def test_the_bytes_do_not_depend_on_the_number_of_processes(
    made: Made, aggregated: Made, jobs: str
) -> None:
    assert made.run("--jobs", jobs) == 0
    assert made.output.read_bytes() == aggregated.output.read_bytes()


def test_the_bytes_do_not_depend_on_the_folder(tmp_path: Path, aggregated: Made) -> None:
    folder = tmp_path / "elsewhere/deep"
    folder.mkdir(parents=True)
    made = make(folder)
    assert made.run() == 0
    assert made.output.read_bytes() == aggregated.output.read_bytes()


def test_a_part_without_ligands_is_no_harm(tmp_path: Path) -> None:
    made = make(tmp_path, first=[Molecule("cut", "C(", None)])
    assert made.run() == 0
    with open_campaign(made.output) as campaign:
        assert campaign.target("yeast").best(1).scored.name.tolist() == ["ethanol again"]
    parts = [write_part(tmp_path / "x", "t", "lib", "1-of-1", [Molecule("cut", "C(", None)])]
    made = Made(tmp_path / "x", parts, write_manifest(tmp_path / "x/m.tsv", parts))
    assert made.run() == 0
    with open_campaign(made.output) as campaign:
        assert campaign.target("t").size == 0
        assert list(campaign.target("t").poses(5)) == []


# What can be wrong, as a change to the files of the second part of `human`, and the sentence.


def edit(dataset: str, row: int, value: object) -> Callable[[PartFiles], None]:
    def change(part: PartFiles) -> None:
        with edited(part.scores) as file:
            file[dataset][row] = value

    return change


def cut_short(part: PartFiles) -> None:
    os.truncate(part.scores, part.scores.stat().st_size // 2)


def newer(part: PartFiles) -> None:
    with edited(part.scores) as file:
        file.attrs["encoding-version"] = 99


def other_kind(part: PartFiles) -> None:
    shutil.copy(part.refined, part.scores)


def missing(part: PartFiles) -> None:
    part.scores.unlink()


def folder(part: PartFiles) -> None:
    part.scores.unlink()
    part.scores.mkdir()


def other_library(part: PartFiles) -> None:
    shutil.copy(part.scores.with_name("1-of-2.h5"), part.scores)


def other_target(part: PartFiles) -> None:
    shutil.copy(Path(str(part.scores).replace("human", "yeast")), part.scores)


def parsed_again(part: PartFiles) -> None:
    with edited(part.ligands) as file:
        file["entries/name"][0] = "renamed"


def other_settings(part: PartFiles) -> None:
    with edited(part.scores) as file:
        file.attrs["settings"] = '{"functions": ["other"]}'


def other_state_of_the_library(part: PartFiles) -> None:
    with edited(part.ligands) as file:
        file.attrs["inputs"] = '[{"name": "lib.smi", "sha256": "ab"}]'
    for path in (part.refined, part.scores):
        with edited(path) as file:
            file.attrs["inputs"] = "[]"


def other_code(part: PartFiles) -> None:
    with edited(part.refined) as file:
        file.attrs["stage-digest"] = "0" * 16
    with edited(part.scores) as file:
        file.attrs["inputs"] = "[]"


def other_terms(part: PartFiles) -> None:
    with edited(part.scores) as file:
        del file["terms/xscore/half"]


def short_term(part: PartFiles) -> None:
    with edited(part.scores) as file:
        del file["terms/xscore/half"]
        file["terms/xscore/half"] = np.zeros(2, "f4")


def unreadable_record(part: PartFiles) -> None:
    with edited(part.scores) as file:
        file.attrs["inputs"] = "not JSON"


BROKEN = [
    (
        edit("ledger/status", 1, Status.READY),
        "1 of 3 input records are still READY (1 ready, 2 scored)",
    ),
    (edit("ledger/status", 1, Status.FAILED), "are excluded without a reason"),
    (edit("ledger/reason", 1, Reason.TIMED_OUT), "are excluded without a reason, or are scored"),
    (edit("ledger/status", 1, 77), "status contains 77, which has no meaning"),
    (edit("scores/score", 2, np.nan), "a best pose has no finite score"),
    (edit("scores/best", 2, -1), "scored without a pose and a finite score"),
    (edit("scores/best", 2, 0), "a best pose is not one of its ligand's"),
    (edit("scores/restart", 2, 99), "its poses are not those of"),
    (cut_short, "else with the stage that writes scores files"),
    (newer, "layout version 99, this ligen_py reads version 1; update ligen_py"),
    (other_kind, "contains ligen_py.refined, not ligen_py.scores"),
    (missing, "does not exist; give a scores file"),
    (folder, "is a folder; give a scores file"),
    (other_library, "this scores file was made from another ligands file"),
    (other_target, "was not made from"),
    (parsed_again, "was not made from"),
    (other_settings, "was made with other settings of the stage than"),
    (other_settings, "again, with 'ligen run CONFIG' where it is of a campaign"),
    (other_code, "was made with another version of the stage than"),
    (other_state_of_the_library, "was made from lib.smi as it was before or after a change"),
    (
        other_terms,
        "part human/lib/2-of-2 contains the score terms xscore/total, the parts before it",
    ),
    (short_term, "term xscore/half has type float32 and shape (2,)"),
    (unreadable_record, "its run record cannot be read"),
]


@pytest.mark.parametrize(
    ("change", "sentence", "jobs"),
    # One that a process finds, and one that the process which merges does.
    [(*one, "1") for one in BROKEN] + [(*BROKEN[0], "2"), (*BROKEN[-3], "2")],
)
def test_what_does_not_add_up_is_a_sentence_and_no_campaign(
    made: Made,
    change: Callable[[PartFiles], None],
    sentence: str,
    jobs: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    part = made.parts[1]
    change(part)
    before = sorted(made.folder.iterdir())
    assert made.run("--jobs", jobs) == 1
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
    assert "2-of-2" in said
    assert sorted(made.folder.iterdir()) == before


def test_a_record_that_was_lost_and_came_back_breaks_the_law(
    made: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    part = made.parts[0]
    with edited(part.scores) as file:
        file["ledger/status"][1] = Status.REJECTED
    assert made.run() == 1
    said = capsys.readouterr().err
    assert "changed their status after they were excluded" in said
    assert "part human/lib/1-of-2 does not add up: 1 of 4 input records" in said
    assert not made.output.exists()


def test_a_missing_crystal_is_a_sentence(made: Made, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [*made.parts[:-1], replace(made.parts[-1], crystal=made.folder / "gone.sdf")]
    write_manifest(made.manifest, parts)
    assert made.run() == 1
    assert "gone.sdf: does not exist" in capsys.readouterr().err
    assert not made.output.exists()


def test_help_is_a_usable_page(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        aggregate.main(["--help"])
    assert caught.value.code == 0
    page = capsys.readouterr().out
    assert "--manifest" in page
    assert "--top-poses N" in page
    assert "(default: 1000)" in " ".join(page.split())
