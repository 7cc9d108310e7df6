"""Tuned rows: which file counts, what is refused, and what tune takes from a search."""

import errno
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock, patch

import numpy as np
import pytest

from ligen_py import tune
from ligen_py.engine.docking.batched import BY_SUB_GROUPS, Docker
from ligen_py.engine.docking.latency import LatencyDocker
from ligen_py.engine.docking.tuning_candidate import Outcome, Trial, random_input
from ligen_py.engine.filtering.batched import program_of
from ligen_py.engine.random_input import make_field, make_ligands
from ligen_py.engine.stage_trial import Stages
from ligen_py.errors import DeviceError, InputError
from ligen_py.opencl import residency, tuning
from ligen_py.opencl.device import SUB_GROUP_SIZE, Device, devices, select
from ligen_py.opencl.residency import Usage
from ligen_py.opencl.tuning import Tuning, names, tuned
from ligen_py.paths import kernel_folder
from ligen_py.records.column import extended
from ligen_py.records.functions.vina import VinaLigands
from ligen_py.records.typed import Typed
from tests.xscore_input import as_vina, random_receptor

KERNEL = "batched/dock.cl"


@pytest.fixture
def device() -> Device:
    return select()


def place(folder: Path, name: str, **classes: dict[str, object]) -> None:
    rows = {KERNEL: {key.lstrip("_"): row for key, row in classes.items()}}
    (folder / f"{name}.json").write_text(json.dumps({"kernels": rows}))


def test_the_most_special_file_counts(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "tuned_folder", lambda: tmp_path)
    levels = ["default", "vendor", "architecture", "device"]
    plain = Tuning().on(device)
    assert tuned(device, KERNEL, 32) == plain
    for unroll, level in enumerate(levels, start=3):
        tuning._tuned.cache_clear()
        place(tmp_path, names(device)[level], _32={"unroll": unroll})
        assert tuned(device, KERNEL, 32).unroll == unroll
        assert tuned(device, KERNEL, 64) == tuned(device, "latency/dock.cl", 32) == plain
    tuning._tuned.cache_clear()
    place(tmp_path, names(device)["device"], all={"unroll": 8})
    assert tuned(device, KERNEL, 64).unroll == 8
    tuning._tuned.cache_clear()


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"unrol": 2}, "unknown unrol"),
        ({"lanes": 7}, "lanes 7"),
        ({"look_up": "guess"}, "look_up 'guess'"),
        ({"sub_groups": 0}, "sub_groups 0"),
        ({"unroll": "2"}, "unroll '2': a whole number from 1 to 1024"),
        ({"queues": 10**9}, "queues 1000000000"),
        ({"look_up": []}, r"look_up \[\]"),
    ],
)
def test_what_cannot_be_is_told_by_file_and_key(
    device: Device,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    row: dict[str, object],
    words: str,
) -> None:
    monkeypatch.setattr(tuning, "tuned_folder", lambda: tmp_path)
    tuning._tuned.cache_clear()
    place(tmp_path, "default", all=row)
    with pytest.raises(InputError, match=f"default.json.*{words}"):
        tuned(device, KERNEL, 32)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"kernels": {"batched/dock.cl": {"32": {"lan', "no JSON .*line 1 column 41"),
        ("\xff", "no JSON .*utf-8"),
        ("[" * 100_000, "no JSON .*recursion"),
        ("[]", "has no key 'kernels'"),
        ('{"kernel": {}}', "has no key 'kernels'"),
        ('{"kernels": null}', "kernels: contains no keys with values"),
        ('{"kernels": {"all": 4}}', "kernels: all: contains no keys with values"),
        ('{"kernels": {"all": {"32": []}}}', "kernels: all: 32: contains no keys with values"),
        ('{"kernels": {"batched/docks.cl": {}}}', "kernels: there is no kernel file batched/docks"),
        ('{"kernels": {"all": {"large": {}}}}', "kernels: all: 'large' is neither 'all' nor"),
        ('{"kernels": {}, "measured": []}', "measured: contains no keys with values"),
    ],
)
def test_a_damaged_file_is_told_by_file_and_key(
    device: Device,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    words: str,
) -> None:
    (tmp_path / "default.json").write_text(text, "latin-1")
    monkeypatch.setattr(tuning, "tuned_folder", lambda: tmp_path)
    tuning._tuned.cache_clear()
    with pytest.raises(InputError, match=f"default.json: {words}.*; correct it, or remove"):
        tuned(device, KERNEL, 32)
    monkeypatch.setattr(tune, "_require_kernel_tuner", lambda: None)
    (tmp_path / "default.json").rename(tmp_path / f"{names(device)['device']}.json")
    assert tune.main(["--kernels", "batched", "--output", str(tmp_path)]) == 1
    assert "remove the file" in capsys.readouterr().err.splitlines()[-1]


def test_every_shipped_row_can_be_used_where_it_holds() -> None:
    back_ends = {"nvidia": "ptx", "intel": "khr", "pocl": "local", "default": "local"}
    paths = sorted((kernel_folder() / "tuned").glob("*.json"))
    assert {"default", "nvidia-h200", "intel-cpu"} <= {path.stem for path in paths}
    for path in paths:
        back_end = back_ends[path.stem.split("-")[0]]
        for kernel, classes in tuning.read_rows(path).items():
            for row in classes.values():
                target = KERNEL if kernel == "all" else kernel
                assert Tuning(**row).fault_on(back_end, SUB_GROUP_SIZE, target) is None, (
                    path.name,
                    kernel,
                    row,
                )
        for classes in json.loads(path.read_text()).get("measured", {}).values():
            for record in classes.values():
                assert not record["best"].get("spilled_bytes")
    for found in devices():
        row = tuned(found, KERNEL, 32)
        assert row.fault_on(found.back_end, found.sub_group_size, KERNEL) is None


def test_every_shipped_row_is_read_where_it_holds() -> None:
    """A row of a kernel without settings there would hold for nothing."""
    back_ends = {"nvidia": "ptx", "intel": "khr", "pocl": "local"}
    for path in (kernel_folder() / "tuned").glob("*-*.json"):
        kind, back_end = "cpu" if path.stem.endswith("-cpu") else "gpu", path.stem.split("-")[0]
        there: Any = SimpleNamespace(kind=kind, back_end=back_ends[back_end], sub_group_size=32)
        for kernel in tuning.read_rows(path):
            folder, name = kernel.removesuffix(".cl").split("/")
            form = folder if name == "dock" else name
            assert tune.space(there, form), (path.name, kernel)


def test_lanes_are_the_devices_and_no_more(device: Device) -> None:
    wide = Device(device.handle, 64)
    assert Tuning().on(wide).lanes == 64
    assert Tuning(lanes=16).on(wide).lanes == 16
    assert tuned(wide, "batched/xscore.cl").lanes == 64
    for size, kernel, lanes in ((32, KERNEL, 64), (64, "batched/xscore.cl", 32)):
        fault = Tuning(lanes=lanes).fault_on("local", size, kernel)
        assert fault == f"lanes {lanes}: here a sub-group has {size}"
    assert Tuning(lanes=32).fault_on("local", 64, KERNEL) is None
    assert Tuning(lanes=16).fault_on("ptx", 32, KERNEL) == "lanes 16: here a sub-group has 32"


PTXAS = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'optimize' for 'sm_90a'
ptxas info    : Function properties for optimize
    64 bytes stack frame, 44 bytes spill stores, 48 bytes spill loads
ptxas info    : Used 80 registers, used 1 barriers, 8448 bytes smem, 568 bytes cmem[0]
ptxas info    : Compiling entry function 'score' for 'sm_90a'
ptxas info    : Function properties for score
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 568 bytes cmem[0]
"""


def test_registers_and_spills_come_from_the_build_log() -> None:
    assert residency.usage(PTXAS) == {"optimize": Usage(80, 44), "score": Usage(32, 0)}
    assert residency.usage("") == {}


def outcome(rate: float, spilled: int = 0) -> Outcome:
    return Outcome(rates=(0.9 * rate, rate, 1.1 * rate), usage=Usage(96, spilled))


def test_the_fastest_is_right_spills_nothing_and_beats_the_start() -> None:
    start, other, spiller = Tuning(), Tuning(unroll=4), Tuning(registers=64)
    wrong = (Tuning(unroll=1), Outcome("differs from the NumPy twin"))
    rows = [(start, outcome(100)), (other, outcome(120)), (spiller, outcome(200, 44)), wrong]
    assert tune.fastest(rows)[0] == other
    assert tune.fastest([rows[0], (other, outcome(105))])[0] == start
    assert tune.fastest([(start, outcome(100, 8)), (other, outcome(50))])[0] == other
    with pytest.raises(DeviceError, match="differs from the NumPy twin"):
        tune.fastest([wrong])


def test_a_wrong_kernel_is_refused_before_it_is_timed(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = Trial(device, "batched", *random_input(32, restarts=4), count=2, runs=1)
    assert trial.attempt(tuned(device, KERNEL, 32)).rates
    trial._expected[0][0][0, 0] += 1
    assert trial.attempt(tuned(device, KERNEL, 32)).refused == "differs from the NumPy twin"


def test_without_kernel_tuner_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "kernel_tuner.interface", None)
    assert tune.main(["--device", "intel"]) == 1
    assert "install it: pip install kernel_tuner\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--ligands", __file__], "--ligands and --pocket belong together; give both, or neither"),
        (["--strategy", "nsga2"], "--strategy nsga2: one of one_by_one, "),
        (["--strategy", "foo"], "--strategy foo: one of one_by_one, "),
        (["--seconds", "-1"], "--seconds -1: give a time above 0"),
    ],
)
def test_wrong_usage_ends_with_its_own_code(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("kernel_tuner")
    assert tune.main(words) == 2
    assert sentence in capsys.readouterr().err


def test_a_form_without_settings_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tune, "_require_kernel_tuner", lambda: None)
    names = ["batched", "refine", *tune.WITHOUT]
    folder = ["--output", str(tmp_path)]
    assert tune.main(["--device", "intel", "--kernels", *names, "filter", *folder]) == 0
    said = capsys.readouterr().err
    for name in names:
        assert f"{name}: nothing to tune" in said
    assert "filter: left out: give --ligands and --pocket" in said
    assert said.endswith("nothing was tuned\n")
    assert "rows in" not in said
    assert not list(tmp_path.iterdir())
    path = tmp_path / f"{tuning.names(select('intel'))['device']}.json"
    path.write_text('{"kernels": {}}')
    assert tune.main(["--device", "intel", "--kernels", *names, *folder]) == 0
    assert capsys.readouterr().err.endswith(f"nothing was tuned; {path} stays as it is\n")
    assert path.read_text() == '{"kernels": {}}'


def test_every_kernel_has_values_or_a_reason() -> None:
    card = SimpleNamespace(kind="gpu", back_end="ptx", sub_group_size=32)
    for name in tune.KERNELS:
        assert bool(tune.space(card, name)) != (name in tune.WITHOUT)  # type: ignore[arg-type]
    assert tune.space(card, "refine").keys() == {"registers", "queues"}  # type: ignore[arg-type]
    other = SimpleNamespace(kind="gpu", back_end="local", sub_group_size=64)
    assert tune.space(other, "refine").keys() == {"queues"}  # type: ignore[arg-type]
    assert not tune.space(other, "filter")  # type: ignore[arg-type]


def test_settings_are_tried_in_a_block_alone(device: Device) -> None:
    before = tuned(device, KERNEL, 32)
    with tuning.trying(KERNEL, Tuning(unroll=7)):
        assert tuned(device, KERNEL, 32) == tuned(device, KERNEL) == Tuning(unroll=7).on(device)
        assert tuned(device, "latency/dock.cl", 32).unroll != 7
    assert tuned(device, KERNEL, 32) == before


@pytest.fixture
def stages(device: Device) -> Stages:
    """Three ligands in a receptor of random atoms."""
    ligands = make_ligands([(20, 4), (9, 2), (33, 0)])
    seen = extended(
        ligands,
        VinaLigands,
        rotors=np.zeros(3, "f4"),
        type=(ligands.element > 1).astype("u1"),
    )
    receptor = as_vina(random_receptor(60, 9.0), np.ones(60, int))
    return Stages(device, {"vina": Typed(seen, receptor)}, make_field(), 5)


@pytest.mark.parametrize(
    ("kernel", "row", "words"),
    [
        ("batched/vina.cl", {"sub_groups": 128}, "sub_groups: 128 of .* local memory"),
        ("batched/filter.cl", {"sub_groups": 1024}, "sub_groups: 256 of .* local memory"),
        (
            "batched/dock.cl",
            {"sub_groups": 1024, "lanes": 8},
            "sub_groups: 1024 of .* local memory",
        ),
        ("latency/dock.cl", {"sub_groups": 1024, "lanes": 16}, "sub_groups: 1024 of .* 16384 work"),
    ],
)
def test_more_sub_groups_than_a_work_group_has_are_told_by_file_and_key(
    stages: Stages,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kernel: str,
    row: dict[str, object],
    words: str,
) -> None:
    device, plan = select("intel"), random_input(32, restarts=4)[1]
    works = {
        "batched/vina.cl": stages._scoring("vina"),
        "batched/filter.cl": lambda: program_of(device, 200, 10),
        "batched/dock.cl": lambda: Docker(device, plan, source=BY_SUB_GROUPS).program(32),
        "latency/dock.cl": lambda: LatencyDocker(device, plan).program(32),
    }
    path = tmp_path / f"{names(device)['device']}.json"
    path.write_text(json.dumps({"kernels": {kernel: {"all": row}}}))
    monkeypatch.setattr(tuning, "tuned_folder", lambda: tmp_path)
    with pytest.raises(DeviceError, match=f"^{path}: {kernel}: {words}.*; take fewer, or tune"):
        works[kernel]()
    path.unlink()
    with tuning.trying(kernel, Tuning(**row)), pytest.raises(DeviceError, match=f"^{kernel}: "):
        works[kernel]()


def test_nvidias_compiler_tells_what_a_work_group_has_and_its_driver_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The driver says 256 work-items and 48 KB of a kernel that an H200 runs with 1024 and 80."""
    handle = SimpleNamespace(max_work_group_size=1024, local_mem_size=48 << 10)
    card: Any = SimpleNamespace(handle=handle, back_end="ptx", label="card")
    built = Mock(device=card)
    built.most_items.return_value, built.local_bytes.return_value = 256, 80 << 10
    monkeypatch.setattr(tuning, "_file_of", lambda *_: "")

    def build(sub_groups: int, **outcome: Any) -> Any:
        """As the driver builds a kernel for work-groups of so many warps."""
        monkeypatch.setattr(tuning, "build", Mock(**outcome))
        setting = Tuning(sub_groups=sub_groups, lanes=32)
        return tuning.build_tuned(card, "a.cl", 64, setting, {}, ["a"])

    assert build(32, return_value=built) is built
    with pytest.raises(DeviceError, match=r"^a.cl: sub_groups: 64 of .* 2048 work-items, .* 1024"):
        build(64, return_value=built)
    said = DeviceError("ptxas error: Entry function 'a' uses too much shared data")
    with pytest.raises(DeviceError, match=r"^a.cl: sub_groups: 4 of .* local memory"):
        build(4, side_effect=said)
    with pytest.raises(DeviceError, match="expected"):
        build(4, side_effect=DeviceError("expected ';'"))


@pytest.mark.parametrize("name", ["filter", "refine", "vina"])
def test_a_setting_that_changes_a_bit_of_a_stage_is_refused(stages: Stages, name: str) -> None:
    trial = stages.trial(name, runs=2)
    start = tuned(trial.device, trial.kernel)
    assert len(trial.attempt(start).rates) == 2
    assert trial.attempt(replace(start, lanes=7)).refused.startswith("lanes 7")
    trial._expected[0] = trial._expected[0][:-1] + b"\x55"
    assert trial.attempt(start).refused == "differs from the settings in use"


def test_a_search_keeps_what_it_searched(
    tmp_path: Path, stages: Stages, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / "ligands.h5", tmp_path / "pocket.h5"]
    for file in files:
        file.touch()
    names = ["--ligands", str(files[0]), "--pocket", str(files[1]), "--output", str(tmp_path)]
    with patch("ligen_py.tune._stages", return_value=stages):
        assert tune.main(["--device", "intel", "--kernels", "filter", "vina", *names]) == 0
    path = tmp_path / f"{tuning.names(stages.device)['device']}.json"
    cure = f"no stage reads them there: copy the file to {tuning.tuned_folder()}"
    assert capsys.readouterr().err.endswith(f"rows in {path}; {cure}\n")
    rows = tuning.read_rows(path)
    assert rows["batched/filter.cl"].keys() == {"all"}
    assert rows["batched/vina.cl"].keys() == {"64"}
    assert rows["batched/vina.cl"]["64"].keys() == {"sub_groups"}


def test_an_output_that_cannot_be_written_ends_it_before_the_search(
    device: Device,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(tune, "_require_kernel_tuner", lambda: None)
    monkeypatch.setattr(tune, "_trials", None)  # root may write everywhere, but on no full disk
    full = OSError(errno.ENOSPC, "No space left on device")
    with patch("ligen_py.store.files.temporary.tempfile.mkstemp", side_effect=full):
        assert tune.main(["--kernels", "latency", "--output", str(tmp_path)]) == 1
    path = tmp_path / f"{names(device)['device']}.json"
    assert f"{path}: cannot be written (No space left" in capsys.readouterr().err


@pytest.mark.parametrize("strategy", tune.STRATEGIES)
def test_every_strategy_searches_large_spaces_and_small_ones(strategy: str) -> None:
    pytest.importorskip("kernel_tuner")

    def attempt(settings: Tuning) -> Outcome:
        if settings.lanes == 64:
            return Outcome("refused")
        return outcome(settings.unroll + settings.sub_groups + (settings.look_up == "bricks"))

    trial = SimpleNamespace(device=SimpleNamespace(label="none"), attempt=attempt)
    for space in (tune.SPACES["khr"], {"sub_groups": (1, 2, 4)}):
        found = tune.search(trial, Tuning(), space, strategy, 0.2)  # type: ignore[arg-type]
        assert found[0][0] == Tuning()


def test_tunes_on_the_ligands_given(tmp_path: Path) -> None:
    """Those of the class, as many torsions as they have; a class without any is reported."""
    ligands = make_ligands([(20, 4), (40, 3), (31, 6)], hydrogens=0)
    files = tmp_path / "ligands.h5", tmp_path / "pocket.h5"
    with patch("ligen_py.tune.read", side_effect=[ligands, make_field()]):
        chosen, plan = tune._input(*files, 32, 8)
    assert np.diff(chosen.first_atom).tolist() == [20, 31]
    assert np.diff(chosen.first_torsion).tolist() == [4, 6]
    assert plan.num_restart == 8
    with (
        patch("ligen_py.tune.read", side_effect=[ligands]),
        pytest.raises(InputError, match=r"no ligand of 65 to 96 heavy atoms"),
    ):
        tune._input(*files, 96, 8)
