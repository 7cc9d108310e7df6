"""The watch on a real campaign: a kernel that computes wrongly, and poses thrown out of the box."""

import re
from pathlib import Path

import numpy as np
import pytest

from ligen_py import score
from ligen_py.engine.functions.vina import scorer as vina_scorer
from ligen_py.records.scores import SCORES, Check, Checks
from ligen_py.settings.score import ScoreSettings
from ligen_py.store.files.read import read
from tests.edited import edited
from tests.mini import Mini

CHAINS = "".join(
    f"F{'C' * (i % 6 + 1)}{'NOS'[i // 6 % 3]}{'C' * (i // 18 + 1)} m{i}\n" for i in range(24)
)


@pytest.fixture(scope="module")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Mini:
    return Mini(tmp_path_factory.mktemp("watch"), library=CHAINS).run()


def rescore(mini: Mini, output: Path, *more: str) -> int:
    (part,) = mini.parts()
    files = {"--ligands": part.ligands, "--pocket": part.pocket, "--poses": part.refined}
    words = [word for flag, path in files.items() for word in (flag, str(path))]
    return score.main([*words, "--output", str(output), "--quiet", *more])


def test_a_sound_chunk_raises_no_alarm(mini: Mini) -> None:
    checks = read(mini.parts()[0].scores, SCORES, Checks)
    assert checks.alarm.sum() == 0
    assert checks.seen[checks.check == Check.TWIN] == 20
    assert (checks.suspect == 0).all()


@pytest.mark.parametrize("function", ["vina", "vinardo", "xscore", "ad4"])
def test_every_function_equals_its_twin(mini: Mini, tmp_path: Path, function: str) -> None:
    assert rescore(mini, tmp_path / "s.h5", "--functions", function) == 0
    checks = read(tmp_path / "s.h5", SCORES, Checks)
    assert checks.suspect[Check.TWIN] == 0
    assert checks.seen[Check.TWIN] == 20


@pytest.mark.parametrize(
    ("given", "watched"),
    [
        ({"functions": ("vina", "xscore")}, ["vina"]),
        ({"functions": ("xscore", "ad4")}, ["xscore", "ad4"]),
        ({"functions": ("vina", "gnina")}, ["vina", "gnina"]),
        ({"pose_weights": {"vina": 1.0, "gnina": 0.0}}, ["vina"]),
        ({"pose_weights": {"vina": 1.0}, "rank_by": "networks"}, ["vina", "gnina"]),
    ],
)
def test_what_makes_the_scores_is_watched(given: dict, watched: list[str]) -> None:
    settings = ScoreSettings(**{"functions": ("vina", "gnina"), **given})
    assert score.ranking(settings) == watched


def test_a_wrong_kernel_fails_the_chunk(
    mini: Mini, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = vina_scorer.Vina.score
    monkeypatch.setattr(vina_scorer.Vina, "score", lambda *of: whole(*of) * np.float32(1.05))
    assert rescore(mini, tmp_path / "s.h5") == 1
    said = capsys.readouterr().err
    assert "watch: twin: 20 of 20 scores unlike the twin's" in said
    assert "its scores are not believable" in said
    assert "or raise --max-suspect, in a config score.max_suspect" in said
    assert not (tmp_path / "s.h5").exists()
    assert rescore(mini, tmp_path / "s.h5", "--max-suspect", "1") == 0
    assert read(tmp_path / "s.h5", SCORES, Checks).alarm[Check.TWIN] == 1
    assert rescore(mini, tmp_path / "s.h5", "--check-every", "0") == 0


def test_poses_out_of_the_box_fail_the_chunk(
    mini: Mini, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    away = Mini(tmp_path, library=CHAINS).run()
    (part,) = away.parts()
    with edited(part.refined) as file:
        file["poses/translation"][...] += np.float32(500)
    assert rescore(away, tmp_path / "s.h5") == 1
    said = capsys.readouterr().err
    assert re.search(r"zero: (\d+) of \1 scores of exactly 0", said)
    assert re.search(r"outside: (\d+) of \1 best poses centred outside the box", said)
