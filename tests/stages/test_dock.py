"""`python -m ligen_py.dock` and `filter` from file to file, and what they say to bad input."""

from pathlib import Path

import numpy as np
import pytest

from ligen_py import dock, filter
from ligen_py.engine.docking import runs as slabs
from ligen_py.engine.random_input import make_field, make_ligands
from ligen_py.engine.refinement.given import kept_of
from ligen_py.provenance import Run
from ligen_py.records.kept import KEPT, Chosen, Verdict, Verdicts
from ligen_py.records.ledger import Ledger, Reason, Status
from ligen_py.records.ligands import LIGANDS, Entries, Ligands
from ligen_py.records.pocket import POCKET, Audit, Receptor, Whole
from ligen_py.records.poses import POSES, Poses
from ligen_py.settings.parse import ParseSettings
from ligen_py.settings.pocket import PocketSettings
from ligen_py.store.files.read import read, run_record
from ligen_py.store.files.write import write
from tests.edited import edited

FAST = ("--num-restart", "6", "--num-iterations", "1")


def text(*values: str) -> np.ndarray:
    return np.array(values, dtype=object)


def write_ligands(path: Path, ligands: Ligands) -> Path:
    count = len(np.unique(ligands.entry))
    names = text(*(f"ligand {n}" for n in range(count)))
    entries = Entries(names, np.arange(1, count + 1), *[names] * 4)
    zeros = np.zeros(count, "u1")
    ledger = Ledger(zeros, zeros.copy(), text(*([""] * count)))
    records = {"entries": entries, "ledger": ledger, "ligands": ligands}
    write(path, LIGANDS, Run("parse", ParseSettings()), records)
    return path


def write_pocket(path: Path) -> Path:
    none = np.zeros(0, "u1")
    receptor = Receptor(
        xyz=np.zeros((0, 3), "f4"),
        element=none,
        residue=np.zeros(0, "i4"),
        label=text(),
    )
    audit = Audit(text(), text(), np.zeros(0, "i4"), text())
    whole = Whole(xyz=receptor.xyz, element=none, label=text(), hetero=none)
    records = {"receptor": receptor, "whole": whole, "field": make_field(), "audit": audit}
    write(path, POCKET, Run("pocket", PocketSettings()), records)
    return path


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """A ligands and a pocket file, and names for what is made of them."""
    return {
        "ligands": write_ligands(tmp_path / "ligands.h5", make_ligands([(12, 2), (20, 4)])),
        "pocket": write_pocket(tmp_path / "pocket.h5"),
        "poses": tmp_path / "out" / "poses.h5",
        "kept": tmp_path / "out" / "kept.h5",
    }


def run_dock(files: dict[str, Path], *more: str) -> int:
    names = ("ligands", "pocket")
    inputs = [part for name in names for part in (f"--{name}", str(files[name]))]
    return dock.main([*inputs, "--output", str(files["poses"]), *FAST, *more])


def run_filter(files: dict[str, Path], *more: str) -> int:
    names = ("ligands", "poses")
    inputs = [part for name in names for part in (f"--{name}", str(files[name]))]
    return filter.main([*inputs, "--output", str(files["kept"]), *more])


def test_from_file_to_file(files: dict[str, Path]) -> None:
    assert run_dock(files) == 0
    poses = read(files["poses"], POSES, Poses)
    assert np.array_equal(poses.first_pose, [0, 6, 12])
    assert np.array_equal(poses.restart, [*range(6), *range(6)])
    assert run_filter(files, "--max-num-poses", "4") == 0
    kept = read(files["kept"], KEPT, Chosen)
    verdicts = read(files["kept"], KEPT, Verdicts)
    assert np.array_equal(np.diff(kept.first_pose), [4, 4])
    assert set(verdicts.verdict) <= {int(v) for v in Verdict}
    number, score = kept.number.reshape(2, 4), poses.score.reshape(2, 6)
    for verdict, own, scores in zip(verdicts.verdict.reshape(2, 4), number, score, strict=True):
        order = np.lexsort((-scores[own], verdict))
        assert np.array_equal(order, np.arange(4))
        assert len(set(own)) == 4


def test_equal_runs_write_equal_bytes(files: dict[str, Path]) -> None:
    assert run_dock(files) == 0
    first = files["poses"].read_bytes()
    assert run_dock(files) == 0
    assert files["poses"].read_bytes() == first


def test_kept_poses_are_in_order_and_alike_in_both_modes(files: dict[str, Path]) -> None:
    written = set()
    for mode in ("latency", "batched"):
        assert run_dock(files, "--mode", mode, "--max-num-poses", "4") == 0
        written.add(files["poses"].read_bytes())
    assert len(written) == 1
    poses = read(files["poses"], POSES, Poses)
    assert np.array_equal(poses.first_pose, [0, 4, 8])
    assert (np.diff(poses.restart.reshape(2, 4)) > 0).all()
    chosen = []
    for kept in ("4", "0"):
        assert run_dock(files, "--max-num-poses", kept) == 0
        assert run_filter(files, "--max-num-poses", "3", "--cluster-rmsd", "0") == 0
        poses, own = read(files["poses"], POSES, Poses), read(files["kept"], KEPT, Chosen)
        chosen.append(kept_of(poses, own).restart)
    assert np.array_equal(*chosen)  # one pose a cluster: what the filter takes was kept


def test_mode_changes_no_byte(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    written = set()
    for mode in ("latency", "batched", "auto"):
        assert run_dock(files, "--mode", mode) == 0
        assert mode == "auto" or f"mode: {mode}\n" in capsys.readouterr().err
        written.add(files["poses"].read_bytes())
    assert len(written) == 1


def test_run_record_names_settings_inputs_and_device(files: dict[str, Path]) -> None:
    assert run_dock(files) == 0
    record = run_record(files["poses"], POSES)
    assert '"num_restart": 6' in record["settings"]
    assert '"ligands.h5"' in record["inputs"]
    assert record["stage"] == "dock"
    assert record["device"]


def test_a_ligand_larger_than_the_box_is_a_row(files: dict[str, Path]) -> None:
    ligands = make_ligands([(12, 2), (20, 0)])
    ligands.xyz[12:] *= 40
    write_ligands(files["ligands"], ligands)
    assert run_dock(files) == 0
    ledger = read(files["poses"], POSES, Ledger)
    assert list(ledger.status) == [Status.READY, Status.FAILED]
    assert ledger.reason[1] == Reason.LARGER_THAN_BOX
    assert "box's diagonal" in ledger.detail[1]
    assert np.array_equal(read(files["poses"], POSES, Poses).first_pose, [0, 6, 6])
    assert run_filter(files) == 0
    assert read(files["kept"], KEPT, Chosen).first_pose[-1] == 6


def test_a_record_is_lost_with_the_last_of_its_states(files: dict[str, Path]) -> None:
    ligands = make_ligands([(12, 2), (20, 0), (20, 0), (20, 0)])
    ligands.xyz[12:] *= 40
    ligands.entry[:] = [0, 0, 1, 1]
    write_ligands(files["ligands"], ligands)
    assert run_dock(files) == 0
    ledger = read(files["poses"], POSES, Ledger)
    assert list(ledger.status) == [Status.READY, Status.FAILED]
    assert ledger.reason.tolist() == [Reason.NONE, Reason.LARGER_THAN_BOX]
    assert read(files["poses"], POSES, Poses).first_pose.tolist() == [0, 6, 6, 6, 6]


def test_no_ligand_at_all_is_no_error(files: dict[str, Path]) -> None:
    write_ligands(files["ligands"], make_ligands([]))
    assert run_dock(files) == 0
    assert run_filter(files) == 0
    assert np.array_equal(read(files["kept"], KEPT, Chosen).first_pose, [0])


def test_unknown_device(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_dock(files, "--device", "no such device") == 2
    said = capsys.readouterr().err
    assert "no OpenCL device matches 'no such device'; found: [0]" in said
    assert "pip install intel-opencl-rt" in said
    assert not files["poses"].exists()


def test_missing_file_and_folder(
    files: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for bad, words in (
        (files["poses"], "does not exist"),
        (files["ligands"].parent, "is a folder"),
    ):
        with pytest.raises(SystemExit) as stop:
            run_dock(files | {"ligands": bad})
        assert stop.value.code == 2
        said = capsys.readouterr().err
        assert str(bad) in said
        assert words in said


def spoil_cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-2000])


def spoil_newer(path: Path) -> None:
    with edited(path) as file:
        file.attrs["encoding-version"] = 99


def spoil_text(path: Path) -> None:
    path.write_text("not HDF5")


def spoil_column(path: Path) -> None:
    with edited(path) as file:
        del file["ligands/xyz"]


def spoil_offsets(path: Path) -> None:
    with edited(path) as file:
        file["ligands/first_atom"][1] = 10**12


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (spoil_cut, "not a complete HDF5 file"),
        (spoil_text, "not an HDF5 file; give a ligands file"),
        (spoil_newer, "layout version 99, this ligen_py reads version"),
        (spoil_column, "ligands/xyz is missing"),
        (spoil_offsets, "Ligands.first_atom must start at 0 and never decrease"),
    ],
)
def test_damaged_file(
    files: dict[str, Path], spoil: object, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(files["ligands"])  # type: ignore[operator]
    assert run_dock(files) == 1
    said = capsys.readouterr().err
    assert str(files["ligands"]) in said
    assert words in said
    assert "Traceback" not in said
    assert not files["poses"].exists()


def test_wrong_kind_of_file(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_dock(files | {"ligands": files["pocket"]}) == 1
    assert "contains ligen_py.pocket, not ligen_py.ligands" in capsys.readouterr().err


def test_poses_of_other_ligands(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_dock(files) == 0
    other = write_ligands(files["ligands"].with_name("other.h5"), make_ligands([(12, 3), (9, 1)]))
    assert run_filter(files | {"ligands": other}) == 1
    assert "its torsions are not those of" in capsys.readouterr().err
    fewer = write_ligands(files["ligands"].with_name("fewer.h5"), make_ligands([(12, 2)]))
    assert run_filter(files | {"ligands": fewer}) == 1
    assert "contains poses of 2 ligands" in capsys.readouterr().err
    alike = write_ligands(files["ligands"].with_name("alike.h5"), make_ligands([(11, 2), (20, 4)]))
    assert run_filter(files | {"ligands": alike}) == 1
    assert f"{files['poses']}: was not made from {alike}" in capsys.readouterr().err


def test_a_bad_setting_names_the_flag(
    files: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_dock(files, "--n-angles", "3 degrees") == 1
    said = capsys.readouterr().err
    assert "--n-angles" in said
    assert "3 degrees" in said


def test_help_is_a_usable_page(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        dock.main(["--help"])
    assert stop.value.code == 0
    page = capsys.readouterr().out
    for word in ("--num-restart", "default: 1024", "--device", "--ligands", "Algorithm 1"):
        assert word in page


def test_runs_of_ligands_and_devices_change_nothing(
    files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    ligands = make_ligands([(12, 2), (20, 4), (9, 0), (20, 1)])
    ligands.xyz[32:41] *= 40  # one is too large for the box
    write_ligands(files["ligands"], ligands)
    assert run_dock(files, "--device", "intel") == 0
    whole = read(files["poses"], POSES, Poses)
    ledger = read(files["poses"], POSES, Ledger)
    monkeypatch.setattr(slabs, "HOST_BYTES", 1)
    assert run_dock(files, "--device", "intel") == 0
    cut = read(files["poses"], POSES, Poses)
    for name in ("first_pose", "first_torsion", "translation", "quaternion", "torsion", "score"):
        assert np.array_equal(getattr(cut, name), getattr(whole, name)), name
    found = read(files["poses"], POSES, Ledger)
    assert found.status.tolist() == ledger.status.tolist() == [0, 0, int(Status.FAILED), 0]
    one = files["poses"].read_bytes()
    assert run_dock(files, "--device", "intel:0,0") == 0  # two processes on one device
    assert files["poses"].read_bytes() == one


def test_an_error_of_one_worker_is_a_sentence(
    files: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    spoil_column(files["ligands"])
    assert run_dock(files, "--device", "intel:0,0") == 1
    assert "ligands/xyz is missing" in capsys.readouterr().err
    assert not files["poses"].exists()
