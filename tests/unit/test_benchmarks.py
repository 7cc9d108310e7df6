"""The figures that the benchmarks print: against RDKit's and worked by hand."""

import fcntl
import importlib
import json
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import reduce
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import AllChem

from benchmarks import (
    aggregate,
    autodock,
    conformers,
    crossdock,
    determinism,
    enrich,
    growth,
    homologs,
    native,
    networks,
    order,
    parsing,
    portability,
    pose_weights,
    reading,
    redock,
    screen,
    search_steps,
    stages,
    states,
    terms,
)
from benchmarks.docking import (
    Clock,
    LigandsInMemory,
    Settings,
    Target,
    device_for,
    parsed,
    pinned,
    pocket_of,
)
from benchmarks.figures import append, lines, resumed, save, writable
from benchmarks.intervals import wilson
from benchmarks.leaving import in_words
from benchmarks.query import invent
from benchmarks.steady import steady_rate
from ligen_py.errors import DeviceError, InputError
from ligen_py.molecules.library.reading import Part, Record, records
from ligen_py.molecules.stored import molecule_of
from ligen_py.settings.parse import ParseSettings
from ligen_py.store.campaign.reader import open_campaign


def test_every_program_runs_from_a_checkout_as_it_is() -> None:
    """Where a user clones the package is not installed, and Python looks beside the program."""
    for path in Path(enrich.__file__).parent.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "__main__" in text and "from ligen_py" in text:
            assert re.search(r"^ *sys\.path\.insert\(0, ", text, re.M), path
        if '__name__ == "__main__"' in text:
            assert re.search(r"^    with in_words\(\)", text, re.M), f"{path}: errors as tracebacks"
        assert not re.search(r'"--json",\s+type=(?!writable)', text), (
            f"{path}: found after the work"
        )
        # `cores_for` looks at --jobs.
        assert not re.search(r'"--(?!jobs")[\w-]+",\s+type=int\b', text), f"{path}: may be below 1"


@pytest.mark.parametrize(
    ("error", "sentence", "status"),
    [
        (InputError("a.smi: is empty; give another"), "error: a.smi: is empty; give another", 1),
        (DeviceError("no device"), "error: no device", 1),
        (FileNotFoundError(2, "No such file", "a.smi"), "error: a.smi: No such file", 1),
        (FileNotFoundError("none of a, b in c"), "error: none of a, b in c", 1),
        (KeyboardInterrupt(), "stopped as asked", 130),
    ],
)
def test_a_benchmark_ends_with_a_sentence(
    error: BaseException, sentence: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left, in_words():
        raise error
    assert left.value.code == status
    assert capsys.readouterr().err.strip().endswith(f": {sentence}")


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (parsing, ["library.smi", "--count", "0"]),
        (parsing, ["library.smi", "--jobs", "0"]),
        (stages, ["--count", "-3"]),
        (stages, ["--count", "0"]),
        (autodock, ["folder", "complexes", "--seeds", "0"]),
        (autodock, ["folder", "screen", "--ligands", "0"]),
        (screen, ["--parts", "0"]),
    ],
)
def test_numbers_below_1_are_refused(
    program: ModuleType,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """They ended in a traceback, in silence, or counted as not given."""
    monkeypatch.setattr(program, "measure", pytest.fail, raising=False)
    monkeypatch.setattr("sys.argv", ["program", *words])
    with pytest.raises(SystemExit):
        program.main()
    said = f"argument {words[-2]}: {words[-1]}: give a whole number, 1 or more"
    assert said in capsys.readouterr().err


def test_a_device_that_is_missing_is_missed_before_the_stages_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stages, "measure", pytest.fail)
    monkeypatch.setattr("sys.argv", ["stages.py", "--device", "banana"])
    with pytest.raises(SystemExit, match="no OpenCL device matches 'banana'"):
        stages.main()


def test_after_ctrl_c_nothing_more_begins() -> None:
    with pytest.raises(KeyboardInterrupt), pinned(1) as pool:  # noqa: PT012
        tasks = [pool.submit(time.sleep, 0.3) for _ in range(9)]
        tasks[0].result()
        raise KeyboardInterrupt
    assert sum(task.cancelled() for task in tasks) >= 5


def test_files_of_other_programs_are_refused(tmp_path: Path) -> None:
    other, docked = tmp_path / "other.json", tmp_path / "redock.json"
    other.write_text("[1, 2]\n")
    for read in (pose_weights.complexes, lambda path: portability.combine([path])):
        with pytest.raises(InputError, match=r"other\.json: is no file (that|of figures)"):
            read(other)
    settings = {"settings": {"score": {"pose_weights": {"vina": 1.0}}}}
    ours = {"status": "ok", "poses": {"rmsd": [1.0], "choice": [-9.0]}}
    docked.write_text(f"{json.dumps(settings)}\n{json.dumps({'id': 'x', 'ours': ours})}\n")
    with pytest.raises(InputError, match="without networks"):
        pose_weights.complexes(docked)
    with pytest.raises(InputError, match="is no archive"):
        order.opened(other)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("FABP4/actives-1.npz", b"")
    with (
        zipfile.ZipFile(tmp_path / "a.zip") as archive,
        pytest.raises(InputError, match="no actives and decoys of CDK2; it has FABP4"),
    ):
        order.Screen.of(archive, "CDK2")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--jobs", "0"], "--jobs 0: from 1 to "),
        (["--jobs", "9999"], "--jobs 9999: from 1 to "),
        (["--peer-sample", "1", "2"], "--peer-sample, --peer-states and --peer-scores need --peer"),
        (["--peer", "vina", "--peer-sample", "0", "1"], "--peer-sample: 0: give a whole number, 1"),
        (["--full"], "none of actives_full.smi in "),
        ([], "none of decoys.smi in "),
    ],
)
def test_what_screening_needs_is_missed_before_the_work(
    words: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        for name in ("protein.pdb", "crystal_ligand.sdf", "actives.smi", "decoys.smi"):
            (tmp_path / folder / name).touch()
    if not words:
        (tmp_path / "b" / "decoys.smi").unlink()
    monkeypatch.setattr(enrich, "device_for", pytest.fail)
    monkeypatch.setattr("sys.argv", ["enrich.py", str(tmp_path), *words])
    with pytest.raises(SystemExit) as left, in_words():
        enrich.main()
    assert sentence in f"{left.value.code}{capsys.readouterr().err}"


def test_what_a_target_lacks_is_missed_before_others_are_screened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Hours later, or never: a library without molecules gave a table of nan."""
    needed = ("protein.pdb", "crystal_ligand.sdf", "actives_full.smi", "decoys_full.smi")
    for folder in "ab":
        (tmp_path / folder).mkdir()
        for name in needed:
            (tmp_path / folder / name).write_text("CCO one\n")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "activs.smi").touch()
    monkeypatch.setattr(enrich, "device_for", lambda _: sys.exit("all is there"))
    monkeypatch.setattr("sys.argv", ["enrich.py", str(tmp_path), "--full"])

    def left_with() -> str:
        with pytest.raises(SystemExit) as left, in_words():
            enrich.main()
        return f"{left.value.code}{capsys.readouterr()}"

    words = left_with()
    assert "all is there" in words
    assert "left out, without actives.smi or actives_full.smi: c" in words
    for name in needed[2:]:
        (tmp_path / "b" / name).write_text("# no molecule\n")
        assert f"b/{name}: has no molecule; give some" in left_with()
        (tmp_path / "b" / name).write_text("CCO one\n")
    for name in needed:
        (tmp_path / "b" / name).rename(tmp_path / "b" / "else")
        assert re.search(f"none of .*{name}|left out, .*: b, c", left_with())
        (tmp_path / "b" / "else").rename(tmp_path / "b" / name)


def test_figures_that_cannot_be_written_are_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for there in (tmp_path / "no" / "such.json", tmp_path):
        monkeypatch.setattr("sys.argv", ["networks.py", "--json", str(there)])
        with pytest.raises(SystemExit):
            networks.main()
        assert f"argument --json: {there} cannot be written" in capsys.readouterr().err
    file = tmp_path / "figures.json"
    assert writable(str(file)) == file
    assert not file.exists()
    for rows in ([1], [1, 2]):
        save(file, rows)
        assert json.loads(file.read_text()) == rows
    assert writable(str(file)) == file
    save(None, rows)


@pytest.mark.parametrize(
    ("program", "flag", "given", "sentence"),
    [
        (redock, "--peer", "vina", "--peer vina: import of benchmarks.vina_peer halted"),
        (enrich, "--peer", "vina", "--peer vina: import of benchmarks.vina_peer halted"),
        (homologs, "--parasail", "/no/python", "/no/python: is no interpreter that has parasail"),
        (homologs, "--parasail", shutil.which("false"), "is no interpreter that has parasail"),
    ],
)
def test_a_peer_that_is_missing_is_missed_before_the_work(
    program: ModuleType,
    flag: str,
    given: str,
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "a").mkdir()
    for name in ("protein.pdb", "ligand.sdf", "ligand.smi", "actives.smi", "decoys.smi"):
        (tmp_path / "a" / name).touch()
    monkeypatch.setitem(sys.modules, "benchmarks.vina_peer", None)
    folder = [] if program is homologs else [str(tmp_path)]
    monkeypatch.setattr("sys.argv", ["program", *folder, flag, given])
    with pytest.raises(SystemExit) as left:
        program.main()
    assert left.value.code == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("program", [redock, crossdock, enrich])
def test_networks_that_are_missing_are_missed_before_the_work(
    program: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each complex was a miss, also in later runs with this file."""
    words = ["program", str(tmp_path), "--set", "score.functions=[vina, gnina]"]
    monkeypatch.setattr("sys.argv", words)
    monkeypatch.setenv("LIGEN_NETWORKS", str(tmp_path))
    with pytest.raises(SystemExit, match=r"\.pt: there is no such file"):
        program.main()


def test_lines_that_were_cut_short_are_left_out_and_other_files_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    about = {"settings": [1]}
    assert resumed(file, about) == []
    append(file, {"id": "a"})
    with file.open("a") as stream:
        stream.write('{"id": "b", "rm')
    assert resumed(file, about) == [{"id": "a"}]
    append(file, {"id": "b"})
    assert resumed(file, about) == [{"id": "a"}, {"id": "b"}]
    text = file.read_text()
    with pytest.raises(InputError, match="other settings"):
        resumed(file, {"settings": [2]})
    for other in ("[1, 2]\n", '{\n "device": "x"\n}\n', "Dear all"):
        file.write_text(other)
        with pytest.raises(InputError, match=r"a\.json: is no file of figures"):
            lines(file)
        assert file.read_text() == other
    assert text.count("settings") == 1
    assert resumed(None, about) == []


def test_a_file_that_another_run_writes_is_refused(tmp_path: Path) -> None:
    """Complexes that both docked counted twice."""
    file = tmp_path / "a.json"
    with file.open("ab") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with pytest.raises(InputError, match=r"a\.json: another run writes it"):
            resumed(file, {"settings": [1]})
    assert file.read_text() == ""
    assert resumed(file, {"settings": [1]}) == []


def test_redocking_goes_on_where_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It emptied the file, and hours of Vina with it."""
    asked: list[list[str]] = []

    def run(tasks: list[redock.Task], jobs: int) -> Iterator[dict[str, Any]]:
        asked.append([task.folder.name for task in tasks])
        yield from ({"id": name, "ours": {"status": "failed: no"}} for name in asked[-1])

    for name in "ab":
        (tmp_path / "c" / name).mkdir(parents=True)
        for part in ("protein.pdb", "ligand.sdf", "ligand.smi"):
            (tmp_path / "c" / name / part).touch()
    monkeypatch.setattr(redock, "run", run)
    monkeypatch.setattr(redock, "device_for", lambda _: SimpleNamespace(label="device"))
    file = tmp_path / "redock.json"

    def redocked(*words: str) -> str:
        given = ["redock.py", str(tmp_path / "c"), "--json", str(file), *words]
        monkeypatch.setattr("sys.argv", given)
        assert redock.main() == 0
        return capsys.readouterr().out

    redocked("--only", "a")
    assert "ours 0/2 = 0.0 %" in redocked()
    (tmp_path / "c" / "a" / "ligand.smi").write_text("CCO\n")
    assert "ours 0/2 = 0.0 %" in redocked()
    assert asked == [["a"], ["b"], ["a"]]
    with file.open("a") as stream:
        stream.write(file.read_text().splitlines()[-2] + "\n")
    assert "ours 0/2 = 0.0 %" in redocked()  # one that stands there twice counts once
    with pytest.raises(InputError, match="other settings"):
        redocked("--effort", "draft")
    with pytest.raises(SystemExit):
        redocked("--only", "a", "XXXX")
    assert "has no XXXX" in capsys.readouterr().err


def test_terms_of_other_settings_are_not_taken_for_these(tmp_path: Path) -> None:
    """An archive of `draft` was completed with `standard`, or not at all."""
    draft, standard = Settings(effort="draft"), Settings(effort="standard")
    output = str(tmp_path / "terms")
    assert terms.present(output, "cross", draft) == {}
    with zipfile.ZipFile(f"{output}.cross.zip", "a") as archive:
        archive.comment = terms.mark(draft)
        archive.writestr("a/ligands.npz", b"")
    assert set(terms.present(output, "cross", draft)) == {"a/ligands.npz"}
    with pytest.raises(InputError, match=r"cross\.zip: was made with other settings"):
        terms.present(output, "cross", standard)


def test_terms_of_other_molecules_are_not_taken_for_these(tmp_path: Path) -> None:
    """A complex that was added was docked into the new pockets alone."""
    folder, library = tmp_path / "a", tmp_path / "ligands.smi"
    folder.mkdir()
    for name in ("protein.pdb", "ligand.sdf"):
        (folder / name).write_text(name)
    library.write_text("CCO one\n")
    settings, output = Settings(effort="draft"), str(tmp_path / "terms")
    first, other = (
        terms.Task("cross", "a", folder, "ligands", library, digest)
        for text in ("CCO one\n", "CCO one\nCCN two\n")
        if library.write_text(text) and (digest := terms.given(folder, library))
    )
    assert terms.missing([first], output, settings) == [first]
    with zipfile.ZipFile(f"{output}.cross.zip", "a") as archive:
        archive.comment = terms.mark(settings)
        member = zipfile.ZipInfo(first.member)
        member.comment = first.given
        archive.writestr(member, b"")
    assert terms.missing([first], output, settings) == []
    with pytest.raises(InputError, match=r"a/ligands\.npz was made of another library, protein"):
        terms.missing([other], output, settings)


def test_pockets_that_failed_are_named() -> None:
    """The means were of fewer pockets, without a word."""
    table = order.Table({"name": np.array(["1STP", "6XG5", "BAD1"])})
    assert order.without_pocket({"1STP": table, "6XG5": table}) == ["BAD1"]
    assert order.without_pocket(dict.fromkeys(["1STP", "6XG5", "BAD1"], table)) == []
    assert order.without_pocket({}) == []


def test_a_library_of_few_blocks_ends_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """There was no end to the search for a molecule that had not been made yet."""
    monkeypatch.setattr(growth, "MISSES", 100)
    with pytest.raises(InputError, match="no blocks to join"):
        next(growth.recombined([], []))
    benzyl, link = (Chem.MolFromSmiles(s) for s in ("[8*]Cc1ccccc1", "[5*]N(C)[5*]"))
    with pytest.raises(InputError, match=r"the blocks make \d molecules; ask for fewer"):
        list(growth.recombined([benzyl], [link]))


def test_the_ligands_that_are_made_without_a_library_exist() -> None:
    """Of the smallest size there are 352: ten thousand different ligands cannot be made."""
    assert -(-screen.parser().parse_args([]).make // len(screen.SIZES)) <= 352


def test_devices_are_compared_by_files_of_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files of an earlier run, with other ligands or other code, were taken for new ones."""
    (tmp_path / "ligands.h5").touch()
    monkeypatch.setattr("sys.argv", ["determinism.py", str(tmp_path)])
    with pytest.raises(SystemExit):
        determinism.main()
    assert "is not empty; give a new folder" in capsys.readouterr().err


def test_every_step_that_is_timed_exists() -> None:
    for _, module, function in parsing.STEPS:
        assert callable(getattr(module, function))
    for step in (step for steps in search_steps.STEPS.values() for step in steps):
        module, _, path = step.partition(":")
        owner = importlib.import_module(f"ligen_py.{module}")
        assert callable(reduce(getattr, path.split("."), owner))


def test_commands_are_measured_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    aggregate.measure("query", "--help")
    assert re.match(r" +[\d.]+ s +\d+ MB  query --help\n", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("drawn", "other"),
    [
        ("C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O"),
        ("F/C=C/Cl", "F/C=C\\Cl"),
        ("C/C(N)=N/O", "C/C(N)=N\\O"),
    ],
)
def test_other_stereochemistry_than_drawn_is_seen(drawn: str, other: str) -> None:
    made, wrong = (Chem.AddHs(Chem.MolFromSmiles(smiles)) for smiles in (drawn, other))
    AllChem.EmbedMolecule(made, randomSeed=1)
    assert conformers.as_drawn(made)
    wrong.AddConformer(made.GetConformer())
    assert not conformers.as_drawn(wrong)


def test_a_curve_has_the_area_of_the_table() -> None:
    """Actives stand first, and did so in the curve where scores are equal."""
    labels = np.arange(50) < 10
    assert [list(of) for of in enrich.curve(np.full(50, -np.inf), labels)] == [[0, 1], [0, 1]]
    scores = np.random.default_rng(0).integers(0, 6, 50).astype(float)
    scores[scores == 0] = -np.inf
    false, true = enrich.curve(scores, labels)
    above, equal = (
        operator(scores[labels][:, None], scores[~labels]).mean()
        for operator in (np.greater, np.equal)
    )
    assert np.trapezoid(true, false) == pytest.approx(above + equal / 2)
    assert 0.3 < above + equal / 2 < 0.7


def test_what_more_draws_win_among_decoys() -> None:
    rng = np.random.default_rng(0)
    group = np.repeat(enrich.GROUPS, [50, 400])
    rows = np.where(group == "actives", 8, rng.integers(1, 5, 450))
    one = rng.normal(size=450)
    best = np.array([rng.normal(size=count).max() for count in rows])
    failed = np.where(np.arange(450) == 449, -np.inf, best)
    logp = np.where(np.arange(450) < 50, 3.0, np.nan)
    found = enrich.Molecules(group, group, rows, rows, logp, rows, rows, one, {"score": failed})
    result = enrich.draws(found)
    assert result["rows a molecule, actives"] == 8
    assert result["rows a molecule, decoys"] == pytest.approx(2.5, abs=0.3)
    assert result["r of score and rows, decoys"] > 0.25
    assert abs(result["r of one row and rows, decoys"]) < 0.15
    figures = enrich.table(found, None)
    assert set(figures) == {"score", "one row", "heavy atoms", "logP", "rings", "rows"}
    assert figures["logP"]["ROC AUC"]["value"] == 1
    assert figures["score"]["ROC AUC"]["value"] > 0.6
    assert figures["one row"]["ROC AUC"]["value"] == pytest.approx(0.5, abs=0.1)


def _work(folder: Path, actives: str, decoys: str) -> enrich.Work:
    """A target with these molecules."""
    target = folder / "target"
    target.mkdir()
    receptor, ligand = screen.packaged_complex()
    (target / "protein.pdb").symlink_to(receptor)
    (target / "crystal_ligand.sdf").symlink_to(ligand)
    (target / "actives.smi").write_text(actives)
    (target / "decoys.smi").write_text(decoys)
    settings = Settings(effort="draft", dock={"num_restart": 8})
    return enrich.Work(target, folder, settings, is_full=False)


def test_a_molecule_that_is_drawn_twice_is_screened_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only the first drawing is docked; the second was a miss."""
    work = _work(tmp_path, "OCc1ccccc1 one\nC(O)c1ccccc1 again\n", "CCO other\n")
    found = enrich.screen(device_for(None), work, Clock())
    assert found.name.tolist() == ["one", "other"]
    assert np.isfinite(found.score["score"]).all()
    assert "target: duplicates left out: 1" in capsys.readouterr().out
    (work.folder / "decoys.smi").write_text("C(O)c1ccccc1 again\n")
    with pytest.raises(InputError, match="target: each decoy is one of the actives"):
        enrich.screen(device_for(None), work, Clock())


def test_a_complex_of_two_ligands_is_refused(tmp_path: Path) -> None:
    """It failed with an index that was out of bounds."""
    for name in ("protein.pdb", "ligand.sdf"):
        (tmp_path / name).touch()
    (tmp_path / "ligand.smi").write_text("CCO one\nxyz two\n")
    task = redock.Task(tmp_path, tmp_path, Settings(), None, peer=False, cores=1)
    with pytest.raises(InputError, match=r"ligand\.smi: has 2 records; leave the ligand's alone"):
        redock.prepare(task, tmp_path)


def test_what_a_ranking_has_over_the_peer_is_of_the_same_molecules() -> None:
    rng = np.random.default_rng(0)
    group = np.repeat(enrich.GROUPS, [30, 200])
    name = np.array([f"m{row}" for row in range(230)])
    rows = np.ones(230, np.int64)
    ours = rng.normal(size=230) + np.where(group == "actives", 1.5, 0.0)
    found = enrich.Molecules(group, name, rows, rows, rows, rows, rows, -ours, {"score": ours})
    assert all(not gain.any() for gain in enrich.over_peer(found, -ours)["score"].values())
    peer = rng.normal(size=230)
    better, worse = (enrich.over_peer(found, peer)[row]["ROC AUC"] for row in ("score", "one row"))
    assert better[0] == pytest.approx(0.35, abs=0.1)
    assert 0.04 < np.std(better[1:]) < 0.1
    assert np.percentile(better[1:], 2.5) > 0
    assert np.percentile(worse[1:], 97.5) < 0


def test_a_complex_that_failed_is_a_miss_of_every_measure() -> None:
    good = {"status": "ok", "rmsd_best_scored": 1.5, "rmsd_best_of_nine": 1.2, "failed_checks": []}
    good["rmsd_best_of_kept"] = 0.5
    rows = [
        {"id": "a", "ours": good},
        {"id": "b", "ours": {"status": "failed: no"}},
        {"id": "c", "ours": good | {"rmsd_best_scored": 2.1, "failed_checks": ["Bond angles"]}},
    ]
    total = redock.summary(rows, ["ours"])["ours"]
    counts = {name: part["count"] for name, part in total.items()}
    assert counts == {
        "best-scored within 2 A": 1,
        "best-scored within 1 A": 0,
        "best of nine within 2 A": 2,
        "best of nine within 1 A": 0,
        "best of kept within 2 A": 2,
        "best of kept within 1 A": 2,
        "best-scored valid": 1,
        "best-scored within 2 A and valid": 1,
    }
    low, high = total["best-scored within 2 A"]["interval_95"]
    assert (low, high) == (6.1, 79.2)


def test_a_share_of_all_or_none_has_an_interval_and_a_difference_of_none_has_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Intervals by hand, of Wilson's formula with z = 1.96."""
    assert wilson(30, 30) == pytest.approx((0.8865, 1.0), abs=1e-4)
    assert wilson(0, 30) == pytest.approx((0.0, 0.1135), abs=1e-4)
    assert wilson(29, 30) == pytest.approx((0.8333, 0.9941), abs=1e-4)
    good = {"status": "ok", "rmsd_best_scored": 1.5, "rmsd_best_of_nine": 1.2, "failed_checks": []}
    rows = [{"id": "a", "ours": good, "vina": good | {"rmsd_best_of_nine": 0.5}}] * 3
    programs = ["ours", "vina"]
    total = redock.summary(rows, programs)
    assert total["difference"]["best-scored within 2 A"]["interval_95"] is None
    assert total["difference"]["best of nine within 1 A"]["interval_95"] == [-100, -100]
    redock.print_summary(total, programs)
    lines = capsys.readouterr().out.splitlines()
    assert sum("difference +0.0 (no complex differs)" in line for line in lines) == 7
    assert sum("difference -100.0 (-100.0 to -100.0)" in line for line in lines) == 1


def test_phi_is_the_harmonic_mean_and_0_where_a_device_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = []
    for name, share, native_share in (("a", 0.5, 0.8), ("b", 0.25, None)):
        row = {"mode": "batched", "dataset": "d_31_4", "share_of_ceiling": share}
        row |= {"application_efficiency": native_share} if native_share else {}
        rows = [row, row | {"mode": "latency"}] if name == "a" else [row]
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps({"device": name, "rows": rows}))
    batched, latency = portability.combine(paths)
    assert batched["phi_share_of_ceiling"] == pytest.approx(1 / 3)
    assert batched["phi_application_efficiency"] == pytest.approx(0.8)
    assert latency["phi_share_of_ceiling"] == 0
    assert "33.3 %" in capsys.readouterr().out


CUDA = """
#include <cstddef>
using std::size_t;
#define __global__
#define __device__
#define __shared__ static
struct float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) int4 { int x, y, z, w; };
struct Place { int x; };
static Place threadIdx, blockIdx, blockDim;
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
float __fmaf_rn(float, float, float), __int_as_float(int), __saturatef(float);
float fminf(float, float), fmaxf(float, float);
unsigned __float_as_uint(float);
int __float_as_int(float), min(int, int), max(int, int);
void __syncthreads();
"""
"""What CUDA gives without a header, as a compiler for the host reads it."""


@pytest.mark.skipif(not shutil.which("g++"), reason="needs g++")
@pytest.mark.parametrize("form", ["batched", "latency"])
def test_the_docking_kernels_are_cuda_with_the_prelude(form: str, tmp_path: Path) -> None:
    program = tmp_path / "dock.cpp"
    macros = "#define SG_PTX 1\n#define SG_SIZE 32\n#define TEAM 4\n"
    program.write_text(CUDA + macros + native.as_cuda(f"{form}/dock.cl"))
    command = ["g++", "-std=c++17", "-pedantic-errors", "-fsyntax-only", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


def test_work_counts_only_while_all_work() -> None:
    alone = [(0.0, 2.0, 10.0), (2.0, 4.0, 30.0)]
    assert steady_rate([alone]) == (10.0, 4.0)
    late = [(1.0, 3.0, 40.0), (3.0, 9.0, 60.0)]  # from 1 to 4: half of 10, 30; 40, a sixth of 60
    assert steady_rate([alone, late]) == pytest.approx(((5 + 30 + 40 + 10) / 3, 3.0))
    with pytest.raises(ValueError, match="give each more"):
        steady_rate([alone, [(5.0, 6.0, 1.0)]])


def test_processes_dock_ligands_of_their_own_again_and_again(tmp_path: Path) -> None:
    settings = Settings(effort="draft")
    works = [screen.Work(tmp_path, tmp_path, 4, 2, number, None, settings) for number in (0, 1)]
    parts = [part.tolist() for given in works for part in given.molecules(5)]
    assert parts == [[0, 1], [2, 3], [4, 0], [1, 2]]


def test_every_library_file_holds_as_many_records_as_others_count(shared_data: Path) -> None:
    folders = [shared_data / "libraries", shared_data / "messy"]
    files = list(reading.files_below(folders))
    assert len(files) == 16
    for path in files:
        assert sum(1 for _ in records(path)) == reading.counted(path), path
        parts = [list(records(path, Part(k, 7))) for k in range(1, 8)]
        assert sum(map(len, parts)) == reading.counted(path), path


def test_a_large_library_is_read_in_every_form_and_only_plain_ones_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = nullcontext(SimpleNamespace(apply=lambda function, given: function(*given)))
    context = SimpleNamespace(Pool=lambda *_, **__: here)
    with monkeypatch.context() as patched:  # in this process
        patched.setattr(reading.multiprocessing, "get_context", lambda _: context)
        reading.large(tmp_path, 20)
    lines = capsys.readouterr().out.splitlines()[3:]
    cells = [[cell.strip() for cell in line.split("|")] for line in lines]
    assert [(cell[1], cell[3]) for cell in cells] == [
        (f"large{end}", "20") for end in (".smi", ".smi.gz", ".smi.zst", ".parquet")
    ]
    monkeypatch.setattr("sys.argv", ["reading.py", str(tmp_path), "--jobs", "1"])
    assert reading.main() == 0
    rows = capsys.readouterr().out.splitlines()[2:]
    assert sum("| 20 | 9 ready, 11 duplicate" in row for row in rows) == 1
    assert sum("| not | 9 ready, 11 duplicate" in row for row in rows) == 3


def test_scores_are_the_same_after_json() -> None:
    scores = np.array([np.float32(1.23456789), -np.inf, 0.1])
    assert (crossdock.unlisted(json.loads(json.dumps(crossdock.listed(scores)))) == scores).all()


def test_how_a_pockets_own_ligand_ranks_by_hand() -> None:
    scores = np.array([[3.0, 1, 2, 0], [3, 3, 2, 4], [-np.inf, 1, 2, 0]])
    area, early = crossdock.leads(scores, np.array([0, 1, 0]))
    # It leads; one is better, one equal and one worse; it has no pose.
    assert area.tolist() == [1, 0.5, 0]
    assert early.tolist() == [True, False, False]


def test_over_a_power_of_the_size_the_small_ligand_gains() -> None:
    scores, heavy = np.array([[8.0, 9.0], [8.0, 9.0]]), np.array([10, 40])
    found = crossdock.figures(scores, heavy, np.array([0, 1]))
    assert found["0"]["ROC AUC"]["value"] == found["0.3"]["ROC AUC"]["value"] == 0.5
    small = crossdock.figures(scores, heavy, np.array([0, 0]))
    assert [small[power]["ROC AUC"]["value"] for power in ("0", "0.1", "0.3")] == [0, 1, 1]


def test_half_the_runs_are_near_after_the_evaluations_of_the_middle_one() -> None:
    evaluations = [np.full(4, 100), np.full(4, 200), np.full(4, 300)]
    energies = [np.array(row) for row in ([-5, -9, -1, -1], [-9, -9, -1, -2], [-9, -9, -9, -3])]
    trace = list(zip(evaluations, energies, strict=True))
    assert autodock.first_near(trace, -8) == 200
    assert autodock.first_near(trace, -9.5) is None
    assert autodock.first_near(trace[1:], -8) == 200


def test_the_clock_counts_all_kernels_of_the_networks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It knew those alone that `Program.kernel` gives, a quarter of their time."""
    file, clock = tmp_path / "figures.json", Clock()
    words = ["--networks", "plain", "--poses", "1", "--runs", "1", "--json", str(file)]
    monkeypatch.setattr("sys.argv", ["networks.py", *words])
    with clock.stage("score"):
        assert networks.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:-2]] == [
        *("list_atoms", "densities", "convolve", "convolve", "halve"),
        *("convolve", "convolve", "halve", "convolve", "finish"),
    ]
    seconds = 1e-3 * sum(json.loads(file.read_text())["kernel_ms_a_pose"])
    assert seconds < clock.kernel["score"] < clock.wall["score"]


def test_boxes_of_the_genetic_algorithm_have_their_centres() -> None:
    for name, (center, cells) in autodock.BOXES.items():
        grid = autodock.grid_of(name)
        middle = grid.origin + grid.spacing * (np.array(grid.shape) - 1) / 2
        assert middle == pytest.approx(center, abs=1e-4)
        assert grid.shape == tuple(count + 1 for count in cells)


def test_an_invented_campaign_can_be_asked(tmp_path: Path) -> None:
    path = tmp_path / "campaign.h5"
    invent(path, 5)
    with open_campaign(path) as campaign:
        target = campaign.target("t")
        assert sorted(target.column("name", target.order())) == [f"CHEMBL{n}" for n in range(5)]


def test_vina_docks_a_parsed_ligand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vina_peer = pytest.importorskip("benchmarks.vina_peer")
    monkeypatch.setattr(vina_peer, "EXHAUSTIVENESS", 1)
    settings, library = Settings(), tmp_path / "library.smi"
    library.write_text("OCc1ccccc1 benzyl-alcohol\n")
    receptor, ligand = screen.packaged_complex()
    target = Target.of(pocket_of(receptor, ligand, 6.0, tmp_path, settings.pocket))
    made = LigandsInMemory.of(parsed(library, tmp_path, settings.parse)).ligands
    found = vina_peer.VinaPeer(target, tmp_path, 1).dock(made, 0)
    mol = molecule_of(found.molecule)
    assert Chem.MolToSmiles(Chem.RemoveHs(mol)) == "OCc1ccccc1"
    assert found.xyz.shape[1:] == (mol.GetNumAtoms(), 3)
    assert (np.diff(found.affinity) >= 0).all()
    assert found.affinity[0] < -2


def test_a_state_that_the_peer_cannot_dock_is_lost_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """It made the complex a miss of Vina's; one of ours is lost alone."""

    class Peer:
        def __init__(self, *_: object) -> None: ...

        def dock(self, ligands: Any, row: int) -> Any:
            if row != ligands.good:
                raise ValueError(f"Meeko: no state {row}")
            return SimpleNamespace(
                molecule=None, xyz=np.zeros((1, 1, 3)), affinity=np.array([-9.0])
            )

    monkeypatch.setitem(sys.modules, "benchmarks.vina_peer", SimpleNamespace(VinaPeer=Peer))
    monkeypatch.setattr(redock, "distances", lambda *_: np.array([0.5]))
    monkeypatch.setattr(redock, "failed_checks", lambda *_: [])
    ligands = SimpleNamespace(conformer=np.array([0, 1, 0]), good=2)
    given = SimpleNamespace(target=None, work=None, molecules=SimpleNamespace(ligands=ligands))
    found = redock.attempt(redock.vina, SimpleNamespace(cores=1), given)
    assert (found["status"], found["rmsd_best_scored"]) == ("ok", 0.5)
    ligands.good = 1  # a conformer that the peer is not given
    found = redock.attempt(redock.vina, SimpleNamespace(cores=1), given)
    assert found == {"status": "failed: Meeko: no state 0"}


def test_what_the_peer_found_of_other_inputs_is_not_taken_for_its_scores(tmp_path: Path) -> None:
    file, folder = tmp_path / "scores.jsonl", SimpleNamespace(folder=Path("kinase"))
    one, two = (enrich.Place(Path("a.h5"), row, 0, given) for row, given in enumerate("xy"))
    keys = [(enrich.GROUPS[0], line, 0) for line in (1, 2)]
    enrich.note(folder, file, keys[0], one, -7.0, 1.0)
    enrich.note(folder, file, keys[1], enrich.Place(two.file, two.row, 0, "old"), -9.0, 1.0)
    places = dict(zip(keys, (one, two), strict=True))
    with file.open("a") as stream:
        stream.write('{"target": "kinase", "gr')  # killed
    assert enrich.known_scores("kinase", file, places) == {keys[0]: -7.0}
    assert not enrich.known_scores("other", file, places)
    assert not enrich.known_scores("kinase", tmp_path / "new.jsonl", places)


def test_molecules_of_one_name_have_peer_scores_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vina docked the first, and all had its score."""
    pytest.importorskip("benchmarks.vina_peer")
    work = _work(tmp_path, "OCc1ccccc1 same\nCCO same\nC1CC1 same\n", "CCCC same\n")
    monkeypatch.setattr(enrich, "pinned", lambda *_: ThreadPoolExecutor(1))
    asked: list[Path] = []

    def run_peer(place: enrich.Place) -> tuple[float, float]:
        asked.append(place.file)
        return -1.0 - place.row, 0.1

    monkeypatch.setattr(enrich, "run_peer", run_peer)
    group = np.array(["decoys", "actives", "actives"])
    line, one = np.array([1, 3, 2]), np.ones(3)
    found = enrich.Molecules(group, np.full(3, "same"), line, one, one, one, one, one, {"a": one})
    for _ in range(2):
        peer = enrich.peer_scores(work, found, 1, tmp_path / "scores.jsonl", 1)
        assert peer.tolist() == [-1, -3, -2]
        assert enrich.rankings(found, peer)[enrich.PEER].tolist() == [1, 3, 2]
    assert len(asked) == 3


def test_vina_is_given_something_else_where_a_setting_says_so(tmp_path: Path) -> None:
    vina_peer = pytest.importorskip("benchmarks.vina_peer")
    library = tmp_path / "library.smi"
    library.write_text("OCc1ccccc1 benzyl-alcohol\n")
    receptor, ligand = screen.packaged_complex()
    pocket = Settings().pocket
    around = [
        vina_peer.receptor_digest(
            Target.of(pocket_of(receptor, ligand, radius, tmp_path, pocket.model_copy(update=more)))
        )
        for radius, more in (
            (6.0, {}),
            (6.0, {"max_anchors": 4}),
            (7.0, {}),
            (6.0, {"margin": 9.0}),
        )
    ]
    assert around[0] == around[1]  # no matter to Vina
    assert len(set(around)) == 3
    made = [
        LigandsInMemory.of(parsed(library, tmp_path, ParseSettings(seed=seed))).ligands
        for seed in (1, 2)
    ]
    assert len({vina_peer.digest(around[0], ligands, 0) for ligands in made}) == 2
    assert vina_peer.digest(around[0], made[0], 0) != vina_peer.digest(around[2], made[0], 0)


def test_choices_with_and_without_networks_are_reported_apart() -> None:
    good = {"status": "ok", "rmsd_best_scored": 0.9, "rmsd_best_of_nine": 0.9, "failed_checks": []}
    good |= {"rmsd_best_of_kept": 0.9, "rmsd_best_by_physics": 2.4}
    rows = [{"id": "a", "ours": good}, {"id": "b", "ours": {"status": "failed: no"}}]
    total = redock.summary(rows, ["ours"])["ours"]
    assert total["best-scored within 2 A"]["count"] == 1
    assert total["by physics within 2 A"]["count"] == 0


def test_the_weight_of_networks_is_cross_validated(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    found = [{"settings": {"score": {"pose_weights": {"gnina": 0.5}}}}]
    for number in range(40):
        rmsd = rng.uniform(0, 6, 12)
        logit = np.where(rmsd < 2, 3.0, -3.0)
        energy = rng.normal(-9, 0.5, 12)
        poses = {"rmsd": rmsd, "gnina.logit": logit, "choice": energy - 0.5 * logit}
        ours = {"status": "ok", "poses": {name: list(v) for name, v in poses.items()}}
        found.append({"id": str(number), "ours": ours})
    found.append({"id": "40", "ours": {"status": "failed: no"}})
    path = tmp_path / "redock.json"
    path.write_text("\n".join(map(json.dumps, [*found, {"complexes": 41}])))
    known = pose_weights.complexes(path)
    hit = pose_weights.successes(known, 2.0)
    assert hit.shape[1] == 41
    assert not hit[:, 40].any()  # it failed
    kept = sum(one["rmsd"].min() <= 2 for one in known)
    assert hit[0].sum() < kept  # energies say nothing here
    assert hit[-1].sum() == kept
    counts = pose_weights.cross_validated(hit)
    assert hit[0].sum() < counts.mean() <= kept


def test_growth_is_foretold_from_the_parts() -> None:
    """Pieces as 10 * molecules ^ 0.5, 2 kB each; 10 ms a molecule and 50 ms a new piece."""
    counts = [100, 400, 900, 1600]
    pieces = [100, 200, 300, 400]
    new = np.diff(counts, prepend=0) * 0.01 + np.diff(pieces, prepend=0) * 0.05
    parts = [
        growth.Part(count, many, many * 2e-3, seconds)
        for count, many, seconds in zip(counts, pieces, new.tolist(), strict=True)
    ]
    assert growth.laws(parts, 1_000_000) == (
        "pieces = 10 * molecules ^ 0.500\n"
        "seconds = 0.0100 * molecules + 0.0500 * pieces\n"
        "1000000 molecules: 10000 pieces, 20 MB, 2.9 hours of a core"
    )


def test_states_and_conformers_by_setting() -> None:
    """An acid with two centres left open and a flexible ring: two states, and more with more."""
    library = [Record(1, "x", "CC1CCCCC1C(=O)O", "smiles"), Record(2, "y", "CCO", "smiles")]
    found = {
        name: states.measured(library, ParseSettings().model_copy(update=changes))[:2]
        for name, changes in states.ROWS.items()
    }
    assert found["as drawn"] == [1, 1]
    assert found["stereoisomers 1, conformers 1"] == [1, 1]
    assert found["conformers 1"] == [2.5, 2.5]
    assert found["default"][0] == 2.5
    assert found["default"][1] > 2.5
