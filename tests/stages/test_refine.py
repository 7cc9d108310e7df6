"""`python -m ligen_py.refine` from file to file, on a real pocket."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from ligen_py import dock, filter, parse, pocket, refine, score
from ligen_py.engine.functions.vina.constants import TERMS as VINA_TERMS
from ligen_py.engine.refinement.given import kept_of
from ligen_py.records.kept import KEPT, Chosen
from ligen_py.records.ligands import LIGANDS, Ligands
from ligen_py.records.poses import POSES, Poses
from ligen_py.records.refined import REFINED, Refinement
from ligen_py.records.scores import SCORES, Scores
from ligen_py.store.files.read import read
from ligen_py.store.files.terms import read_terms

DHFR = Path(str(files("posebusters"))) / "datasets" / "pdb" / "1ia1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ligands docked and filtered: ligands.h5, pocket.h5, kept.h5."""
    folder = tmp_path_factory.mktemp("refine")
    (folder / "two.smi").write_text(
        "COc1cc(Cc2cnc(N)nc2N)cc(OC)c1OC trimethoprim\nCC(N)=O acetamide\n"
    )
    receptor, crystal = DHFR / "1ia1_protein_one_lig_removed.pdb", DHFR / "1ia1_ligand.sdf"
    ligands, target, poses, kept = (
        str(folder / f"{name}.h5") for name in ("ligands", "pocket", "poses", "kept")
    )
    commands = (
        (parse, ["--input", str(folder / "two.smi"), "--output", ligands]),
        (pocket, ["--receptor", str(receptor), "--ligand", str(crystal), "--output", target]),
        (
            dock,
            ["--ligands", ligands, "--pocket", target, "--output", poses, "--num-restart", "24"],
        ),
        (
            filter,
            ["--ligands", ligands, "--poses", poses, "--output", kept, "--max-num-poses", "5"],
        ),
    )
    for module, words in commands:
        assert module.main(["--quiet", *words]) == 0
    return folder


def run(folder: Path, output: str, *more: str) -> int:
    inputs = [
        word
        for flag in ("ligands", "pocket", "poses", "kept")
        for word in (f"--{flag}", str(folder / f"{flag}.h5"))
    ]
    return refine.main(["--quiet", *inputs, "--output", str(folder / output), *more])


def test_no_rounds_is_the_identity(folder: Path) -> None:
    assert run(folder, "same.h5", "--rounds", "0") == 0
    chosen = read(folder / "kept.h5", KEPT, Chosen)
    kept = kept_of(read(folder / "poses.h5", POSES, Poses), chosen)
    same = read(folder / "same.h5", REFINED, Poses)
    for column in (
        "first_pose",
        "first_torsion",
        "restart",
        "translation",
        "quaternion",
        "torsion",
    ):
        assert np.array_equal(getattr(kept, column), getattr(same, column)), column
    energies = read(folder / "same.h5", REFINED, Refinement)
    assert np.array_equal(energies.before, energies.after)


@pytest.mark.parametrize("field", ["vina", "xscore"])
def test_refined_poses_are_lower_and_in_order(folder: Path, field: str) -> None:
    assert run(folder, "refined.h5", "--rounds", "3", "--field", field) == 0
    poses = read(folder / "refined.h5", REFINED, Poses)
    energies = read(folder / "refined.h5", REFINED, Refinement)
    assert (np.diff(poses.first_pose) > 0).all()
    assert (energies.after <= energies.before + 1e-4).all()
    assert energies.after.min() < energies.before.min()
    for first, last in zip(poses.first_pose[:-1], poses.first_pose[1:], strict=True):
        assert (np.diff(energies.after[first:last]) >= 0).all()
    assert np.allclose(np.linalg.norm(poses.quaternion, axis=1), 1, atol=1e-5)


def test_the_exact_score_of_a_refined_pose_is_near_its_energy(folder: Path) -> None:
    assert run(folder, "for_score.h5", "--rounds", "3") == 0
    words = []
    for flag, name in (("ligands", "ligands"), ("pocket", "pocket"), ("poses", "for_score")):
        words += [f"--{flag}", str(folder / f"{name}.h5")]
    output, first = str(folder / "scores.h5"), ("--functions", "vina", "--rank-by", "first")
    assert score.main(["--quiet", *words, "--output", output, *first]) == 0
    scores = read(folder / "scores.h5", SCORES, Scores)
    entry = read(folder / "ligands.h5", LIGANDS, Ligands).entry
    kept = read(folder / "kept.h5", KEPT, Chosen)
    assert len(scores.restart) <= len(kept.number)
    of_trimethoprim, of_others = scores.score[entry == 0].max(), scores.score[entry != 0]
    assert of_trimethoprim > 5  # better than -5 kcal/mol in its own enzyme
    assert of_trimethoprim > of_others.max() > 0


@pytest.mark.parametrize("field", ["vina", "vinardo", "ad4"])
def test_a_fields_energy_is_that_of_its_function(folder: Path, field: str) -> None:
    # Apart from what interpolation between the maps' points takes, most of it near the minimum.
    assert run(folder, "field.h5", "--rounds", "3", "--field", field) == 0
    inputs = [
        f"--{flag}={folder / name}.h5"
        for flag, name in (("ligands", "ligands"), ("pocket", "pocket"), ("poses", "field"))
    ]
    output = folder / "exact.h5"
    assert score.main(["--quiet", *inputs, "--output", str(output), "--functions", field]) == 0
    exact = read_terms(output)[field]
    ad4 = ("vdw", "hbond", "estat", "desolv", "intra")
    names = ad4 if field == "ad4" else VINA_TERMS[:6]
    total = np.sum([exact[name] for name in names], axis=0)
    after = read(folder / "field.h5", REFINED, Refinement).after
    assert np.abs(total - after).max() < 0.5
    assert np.median(np.abs(total - after)) < 0.2


def test_only_the_best_poses_go_on_to_longer_chains(folder: Path) -> None:
    alone = ("--rounds", "2", "--cluster-rmsd", "0")
    assert run(folder, "all.h5", *alone, "--finalists", "0") == 0
    assert run(folder, "two.h5", *alone, "--finalists", "2") == 0
    once, poses = (read(folder / name, REFINED, Poses) for name in ("all.h5", "two.h5"))
    first, last = (read(folder / name, REFINED, Refinement) for name in ("all.h5", "two.h5"))
    lowered = 0
    for ligand in range(2):
        rows = slice(*once.first_pose[ligand : ligand + 2])
        assert once.first_pose[ligand + 1] == poses.first_pose[ligand + 1]  # none is lost
        was = dict(zip(once.restart[rows], first.after[rows], strict=True))
        now = dict(zip(poses.restart[rows], last.after[rows], strict=True))
        best = set(once.restart[rows][:2])  # lowest energy first
        assert {restart for restart in was if now[restart] != was[restart]} <= best
        assert all(now[restart] <= was[restart] for restart in was)
        lowered += sum(now[restart] < was[restart] for restart in best)
    assert lowered


def test_equal_runs_write_equal_bytes(folder: Path) -> None:
    assert run(folder, "one.h5", "--rounds", "2") == 0
    assert run(folder, "two.h5", "--rounds", "2") == 0
    assert (folder / "one.h5").read_bytes() == (folder / "two.h5").read_bytes()
    assert run(folder, "other.h5", "--rounds", "2", "--seed", "7") == 0
    assert (folder / "one.h5").read_bytes() != (folder / "other.h5").read_bytes()


def test_another_kind_of_file_is_a_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {"ligands": "ligands", "pocket": "pocket", "poses": "poses", "kept": "poses"}
    words = [f"--{flag}={folder / name}.h5" for flag, name in names.items()]
    assert refine.main([*words, "--output", str(folder / "no.h5")]) == 1
    assert "contains ligen_py.poses, not ligen_py.kept" in capsys.readouterr().err
    assert not (folder / "no.h5").exists()


def test_kept_poses_of_other_docked_ones_are_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the run record, or, in files without one, where a pose is none of its ligand's."""
    other = tmp_path / "poses.h5"
    inputs = [f"--{name}={folder / name}.h5" for name in ("ligands", "pocket")]
    few = [*inputs, "--output", str(other), "--num-restart", "3"]
    assert dock.main(["--quiet", *few]) == 0
    words = [*inputs, f"--poses={other}", f"--output={tmp_path / 'no.h5'}", "--quiet"]
    assert refine.main([*words, f"--kept={folder / 'kept.h5'}"]) == 1
    assert "its poses are not those of" in capsys.readouterr().err
    assert run(folder, str(tmp_path / "some.h5"), f"--poses={other}", "--rounds", "0") == 1
    again = tmp_path / "kept.h5"
    chosen = [f"--poses={other}", f"--output={again}", "--max-num-poses", "3", "--quiet"]
    assert filter.main([inputs[0], *chosen]) == 0
    assert refine.main([*words, f"--kept={again}", "--rounds", "0"]) == 0
    words[2] = f"--poses={folder / 'poses.h5'}"
    capsys.readouterr()
    assert refine.main([*words, f"--kept={again}"]) == 1
    assert f"{again}: was not made from {folder / 'poses.h5'}" in capsys.readouterr().err
