"""All stages of a chunk in one process: the files of the single stages, bit for bit."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from ligen_py import dock, refine, screen
from ligen_py.chain import BETWEEN, SCREEN
from ligen_py.chain import screen as stages_of
from ligen_py.errors import InputError
from ligen_py.store.files.memory import current, handing_on
from tests.mini import FLAGS, Mini


def words_of(campaign: Mini, folder: Path, *more: str) -> list[str]:
    """A command line that writes the files of a part into another folder."""
    part = campaign.parts()[0]
    words = ["--ligands", str(part.ligands), "--pocket", str(part.pocket), "--quiet"]
    for stage in stages_of(campaign.search):
        flags = " ".join((*FLAGS[stage.name], *campaign.flags.get(stage.name, ())))
        words += [f"--{stage.kind}", str(folder / f"{stage.kind}.h5"), f"--{stage.name}={flags}"]
    return [*words, "--search", campaign.search, *more]


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Mini:
    """A campaign whose stages ran one by one."""
    return Mini(tmp_path_factory.mktemp("apart")).run()


@pytest.fixture
def together(apart: Mini, tmp_path: Path) -> Path:
    """The files of its part, made in one process."""
    assert screen.main(words_of(apart, tmp_path)) == 0
    return tmp_path


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.stem: path.read_bytes() for path in folder.glob("*.h5")}


@pytest.mark.parametrize("search", screen.SEARCHES)
def test_one_process_writes_the_bytes_of_the_single_stages(search: str, tmp_path: Path) -> None:
    """All bytes: no file of a stage has a time or a folder in it."""
    apart = Mini(tmp_path / "apart", search=search).run()
    part = apart.parts()[0]
    expected = {stage.kind: getattr(part, stage.kind).read_bytes() for stage in SCREEN}
    for stage in SCREEN:
        getattr(part, stage.kind).unlink()
    words = words_of(apart, tmp_path)
    for stage in SCREEN:
        words[words.index(f"--{stage.kind}") + 1] = str(getattr(part, stage.kind))
    assert screen.main(words) == 0
    assert {stage.kind: getattr(part, stage.kind).read_bytes() for stage in SCREEN} == expected


Spoil = Callable[[Mini, Path], None]


def none(campaign: Mini, folder: Path) -> None:
    """All is there."""


def lost(kind: str) -> Spoil:
    return lambda campaign, folder: (folder / f"{kind}.h5").unlink()


def damaged(campaign: Mini, folder: Path) -> None:
    path = folder / "kept.h5"
    path.write_bytes(path.read_bytes()[:-100])


def of_other_settings(campaign: Mini, folder: Path) -> None:
    """Poses that another run left."""
    part = campaign.parts()[0]
    words = ["--ligands", str(part.ligands), "--pocket", str(part.pocket), "--quiet"]
    words += ["--output", str(folder / "poses.h5"), *FLAGS["dock"], "--num-restart", "13"]
    assert dock.main(words) == 0


@pytest.mark.parametrize(
    ("spoil", "first"),
    [
        (none, "score"),
        (lost("scores"), "score"),
        (lost("refined"), "refine"),
        (damaged, "filter"),
        (lost("poses"), "dock"),
        (of_other_settings, "dock"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_the_work_starts_with_the_first_stage_whose_file_is_stale(
    apart: Mini, together: Path, spoil: Spoil, first: str
) -> None:
    before = bytes_of(together)
    made = stamps(together)
    spoil(apart, together)
    assert screen.main(words_of(apart, together)) == 0
    assert bytes_of(together) == before
    names = [stage.name for stage in SCREEN]
    now = stamps(together)
    assert [name for name in names if now[name] != made[name]] == names[names.index(first) :]


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """What differs for each stage once its file is written again."""
    found = {stage.name: (folder / f"{stage.kind}.h5").stat() for stage in SCREEN}
    return {name: (status.st_ino, status.st_mtime_ns) for name, status in found.items()}


def written(campaign: Mini, folder: Path, *more: str) -> list[str]:
    """The stages whose files a run writes, or writes again without their rows."""
    before = stamps(folder)
    assert screen.main(words_of(campaign, folder, *more)) == 0
    now = stamps(folder)
    return [name for name in now if now[name] != before[name]]


def test_other_settings_and_requests_start_with_their_stage(apart: Mini, together: Path) -> None:
    ran = partial(written, apart, together)
    assert ran("--refine=--rounds 1 --evaluations 9 --max-num-poses 3") == ["refine", "score"]
    assert ran() == ["refine", "score"]
    mark = together / "filter"
    mark.write_text("1")
    again = "--again", str(mark), str(together / "dock")
    assert ran(*again) == ["filter", "refine", "score"]
    assert ran(*again) == ["score"]
    mark.write_text("2")
    assert ran(*again) == ["filter", "refine", "score"]


def test_a_request_outlives_a_job_that_failed(
    apart: Mini, together: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Snakemake deletes the scores then, and puts the other files back as they were, but newer."""
    mark = together / "filter"
    mark.write_text("1")
    before = bytes_of(together)

    def fails(*_: object, **__: object) -> None:
        raise InputError("no room")

    with monkeypatch.context() as failing:
        failing.setattr(screen, "run", fails)
        assert screen.main(words_of(apart, together, "--again", str(mark))) == 1
    for stage in SCREEN[:-1]:
        (together / f"{stage.kind}.h5").touch()
    ran = written(apart, together, "--again", str(mark))
    assert ran == ["filter", "refine", "score"]
    assert bytes_of(together) == before


def test_dropped_poses_change_nothing_else(apart: Mini, together: Path) -> None:
    whole, ran = bytes_of(together), partial(written, apart, together)
    drop = "--drop", "poses", "--drop", "kept"

    def sizes() -> list[bool]:
        return [(together / f"{kind}.h5").stat().st_size < 10_000 for kind in BETWEEN]

    # Score alone runs; the two others are written again without their rows.
    assert ran(*drop) == ["dock", "filter", "score"]
    assert sizes() == [True, True]
    small = bytes_of(together)
    assert {kind: small[kind] for kind in ("refined", "scores")} == {
        kind: whole[kind] for kind in ("refined", "scores")
    }
    assert ran(*drop) == ["score"]
    other = "--refine=--rounds 1 --evaluations 9 --max-num-poses 3"
    assert ran(*drop, other) == ["dock", "filter", "refine", "score"]
    assert sizes() == [True, True]
    assert {kind: bytes_of(together)[kind] for kind in BETWEEN} == {
        kind: small[kind] for kind in BETWEEN
    }
    assert ran() == ["dock", "filter", "refine", "score"]
    assert bytes_of(together) == whole


def test_dropped_poses_cannot_be_refined(
    apart: Mini, together: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert screen.main(words_of(apart, together, "--drop", "poses")) == 0
    part = apart.parts()[0]
    words = ["--ligands", str(part.ligands), "--pocket", str(part.pocket)]
    words += ["--poses", str(together / "poses.h5"), "--kept", str(together / "kept.h5")]
    assert refine.main([*words, "--output", str(together / "again.h5")]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert "poses.h5: its rows were dropped when its chunk was done; set docked_poses" in last


def test_what_is_wrong_with_a_flag_is_said(
    apart: Mini, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert screen.main(words_of(apart, tmp_path, "--filter=--max-num-poses 0")) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("ligen stage screen: error: command line: --max-num-poses")
    assert not bytes_of(tmp_path)


def test_a_failed_stage_leaves_the_files_before_it(
    apart: Mini, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "refined.h5").mkdir()
    assert screen.main(words_of(apart, tmp_path)) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert f"{tmp_path / 'refined.h5'}: cannot be written" in last
    assert sorted(path.stem for path in tmp_path.iterdir() if path.is_file()) == ["kept", "poses"]
    assert current() is None


def test_records_are_kept_within_the_block_alone(tmp_path: Path) -> None:
    with handing_on() as memory:
        assert current() is memory
        with pytest.raises(RuntimeError, match="already"), handing_on():
            pass
        with ThreadPoolExecutor(1) as other:  # which reads and writes as ever
            assert other.submit(current).result() is None
    assert current() is None
    assert _failing_block(lambda: (tmp_path / "written").touch(), fail) == "full"
    assert (tmp_path / "written").exists()
    assert _failing_block(fail, lambda: (tmp_path / "after").touch()) == "full"
    assert not (tmp_path / "after").exists()


def fail() -> None:
    raise OSError("full")


def _failing_block(*tasks: Callable[[], None]) -> str:
    """What a block raises in which files are written by these."""
    try:
        with handing_on() as memory:
            for task in tasks:
                memory.later(task)
    except OSError as error:
        return str(error)
    return ""
