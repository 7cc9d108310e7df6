"""Verify: a sound campaign has no fault, and each of forty ways to spoil one is found."""

import gzip
import os
import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import replace
from importlib import import_module
from io import StringIO
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import h5py
import numpy as np
import pytest
import yaml

from ligen_py import accept, aggregate, controls, verify
from ligen_py.campaign.workplan import Workplan
from ligen_py.chain import BETWEEN, SCREEN, STAGES
from ligen_py.errors import OutputError, WorkerError
from ligen_py.molecules.library import reading as library_reading
from ligen_py.molecules.library.reading import Part as ChunkPart
from ligen_py.opencl.device import select
from ligen_py.provenance import file_digest
from ligen_py.records.column import Kind
from ligen_py.records.kinds import KINDS
from ligen_py.records.ledger import Ledger, Reason, Status
from ligen_py.records.ligands import LIGANDS, SIMPLER
from ligen_py.settings.document import read_document
from ligen_py.store.campaign.manifest import Manifest, PartFiles, read_manifest
from ligen_py.store.files import read as reading
from ligen_py.store.files.dropped import drop_rows
from ligen_py.store.files.read import read
from ligen_py.store.files.seal import seal
from ligen_py.verification import made_again
from ligen_py.verification.controls import source_faults, verdict_faults
from ligen_py.verification.made_again import ranking_faults, written_faults
from ligen_py.verification.redocked import choose, redocking_faults
from tests.edited import edited
from tests.mini import DHFR, LIBRARY, Mini
from tests.stages.factory import write_manifest

SECOND, CONTROL = 1, 2
"""Places of the second chunk and of the control among the parts."""

NOTHING_DOCKED = ("--hits", "0", "--sample", "0")
"""Flags without which molecules are docked again."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Mini:
    return Mini(tmp_path_factory.mktemp("sound"), chunks=2, control=True).run()


@pytest.fixture
def mini(sound: Mini, tmp_path: Path) -> Mini:
    """A copy, in another place, that may be spoilt."""
    shutil.copytree(sound.folder, tmp_path / "copy")
    copy = Mini(tmp_path / "copy", chunks=2, control=True)
    write_manifest(copy.manifest, copy.parts())
    return copy


def run(mini: Mini, *words: str) -> int:
    return verify.main([str(mini.campaign), "--quiet", *words])


CONFIG = {
    "targets": {
        "dhfr": {
            "receptor": str(DHFR / "1ia1_protein_one_lig_removed.pdb"),
            "chains": ["B"],
            "site": {"ligand": str(DHFR / "1ia1_ligand.sdf")},
        }
    },
    "libraries": {"lib": {"file": "lib.smi", "chunks": 2}},
    "pocket": {"radius": 8},
    "dock": {"num_restart": 12, "num_iterations": 1, "n_angles": 8},
    "filter": {"max_num_poses": 4},
    "refine": {"rounds": 1, "evaluations": 8, "max_num_poses": 3},
}
"""What Mini does, as a config."""


def described(mini: Mini, **changes: object) -> list[str]:
    """Flags that compare with this config, in a campaign whose manifest is the workflow's own."""
    path = mini.folder / "c.yaml"
    path.write_text(yaml.safe_dump(CONFIG | changes))
    plan = Workplan.of(*read_document(path), mini.folder)
    mini.manifest.write_text(plan.manifest(str(mini.folder / "results")).text())
    merged(mini)
    return ["--config", str(path), *NOTHING_DOCKED]


def merged(mini: Mini) -> None:
    """Make the campaign file anew, of the parts in the manifest."""
    mini.campaign.unlink()
    words = ["--manifest", str(mini.manifest), "--output", str(mini.campaign), "--quiet"]
    assert aggregate.main([*words, "--effort", "standard"]) == 0


def test_a_campaign_without_docked_poses_is_sound(
    mini: Mini, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = described(mini, docked_poses="drop")[:2]
    for part in mini.parts():
        for kind in BETWEEN:
            drop_rows(getattr(part, kind), KINDS[kind])
    assert run(mini, *words, "--hits", "2", "--sample", "1") == 0, capsys.readouterr().out
    monkeypatch.setattr(verify, "_made_again", lambda *_: ())
    path = mini.folder / "c.yaml"
    path.write_text(yaml.safe_dump(CONFIG))
    assert run(mini, *words, *NOTHING_DOCKED) == 1
    assert "its rows were dropped, the config asks to keep them" in capsys.readouterr().out


def test_what_is_made_again_is_said(sound: Mini, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "ligen_py"):
        choose(sound.campaign, read_manifest(sound.manifest), 2, 1, 5)
    assert caplog.messages[-1].endswith(" molecules: the best 2, and 1 more by --seed 5")


def test_a_campaign_is_compared_with_its_config(
    mini: Mini, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = described(mini)
    assert run(mini, *words) == 0, capsys.readouterr().out
    monkeypatch.setattr(verify, "_made_again", lambda *_: ())  # these take the most time
    monkeypatch.setattr(made_again, "merge_faults", lambda *_: iter(()))
    path = mini.folder / "c.yaml"
    for changes, fault in (
        ({"effort": "draft"}, "was made with effort standard, "),
        (
            {"dock": {"num_restart": 13}},
            "made with dock.num_restart 12, the config asks for 13",
        ),
        ({"pocket": {"radius": 9}}, "was made with pocket.radius 8.0, the config asks for 9.0"),
        ({"parse": {"ph": 7.0}}, "was made with parse.ph 7.4, the config asks for 7.0"),
        ({"aggregate": {"top_poses": 9}}, "with aggregate.top_poses 1000, the config asks for 9"),
        (
            {"libraries": {"lib": {"file": "lib.smi", "chunks": 1}}},
            "lacks the part dhfr/lib/1-of-1",
        ),
        (
            {"libraries": CONFIG["libraries"] | {"more": {"file": "lib.smi"}}},
            "manifest.tsv: lacks the part dhfr/more/1-of-1",
        ),
    ):
        path.write_text(yaml.safe_dump(CONFIG | changes))
        assert run(mini, *words) == 1
        assert fault in capsys.readouterr().out, fault
    path.write_text(yaml.safe_dump(CONFIG))
    library = mini.folder / "lib.smi"
    library.write_text(library.read_text() + "CCO ethanol\n")
    assert run(mini, *words) == 1
    assert f"was not made from {library} as it is now" in capsys.readouterr().out


def test_a_config_that_cannot_be_used_is_no_fault_of_the_campaign(
    mini: Mini, capsys: pytest.CaptureFixture[str]
) -> None:
    path = mini.folder / "c.yaml"
    path.write_text(yaml.safe_dump(CONFIG | {"dok": {}}))
    assert run(mini, "--config", str(path), *NOTHING_DOCKED) == 1
    said = capsys.readouterr()
    assert "FAULT" not in said.out
    assert said.err.endswith("c.yaml: line 5: unknown key 'dok'; did you mean 'dock'?\n")


def test_a_file_that_is_no_manifest_is_no_fault_of_the_campaign(
    mini: Mini, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(mini.campaign), "--manifest", str(mini.folder / "lib.smi"), *NOTHING_DOCKED]
    assert verify.main(words) == 1
    said = capsys.readouterr()
    assert "FAULT" not in said.out
    assert "lib.smi: not the manifest of a campaign" in said.err
    assert "delete the results" not in said.err


def test_what_is_no_campaign_is_named_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump(CONFIG))
    assert verify.main([str(path)]) == 1
    assert "c.yaml: not an HDF5 file; give a campaign file" in capsys.readouterr().err


def test_the_first_function_is_that_of_the_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files list them by name, so ad4 before vina."""
    by_first = ("--functions", "vina", "ad4", "--rank-by", "first")
    ranked = Mini(tmp_path / "first", flags={"score": by_first}).run()
    assert run(ranked, *NOTHING_DOCKED) == 0, capsys.readouterr().out
    (part,) = ranked.parts()
    with edited(part.scores) as file:
        del file["terms/ad4"]
    words = f"{part.scores}: has terms of other functions than its settings name"
    assert list(ranking_faults(part)) == [words]


def test_without_a_config_a_line_says_that_nothing_was_compared(
    mini: Mini, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify.main([str(mini.campaign), *NOTHING_DOCKED]) == 0
    assert "not compared with a config; give it by --config" in capsys.readouterr().err


def test_a_sound_campaign_has_no_fault(
    mini: Mini, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(mini, "--sample", "100") == 0
    assert "no fault" in capsys.readouterr().out
    # Relative paths count from the folder in which the campaign ran, wherever one stands.
    table = mini.manifest.read_text().replace(f"{mini.folder}/", "")
    mini.manifest.write_text(table)
    monkeypatch.chdir(mini.folder.parent)
    assert run(mini) == 0


def no_room(*_: object, **__: object) -> None:
    raise OutputError("/tmp/x: cannot be written (No space left on device); make room there")


def killed(*_: object, **__: object) -> None:
    raise WorkerError("a process was killed")


@pytest.mark.parametrize("trouble", [no_room, killed])
def test_what_the_machine_lacks_is_no_fault_of_the_campaign(
    mini: Mini,
    trouble: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(aggregate, "run", trouble)
    assert run(mini) == 1
    said = capsys.readouterr()
    assert "FAULT" not in said.out
    last = said.err.splitlines()[-1]
    assert "error: " in last
    if trouble is no_room:
        assert "No space left on device" in last
        assert f"{gettempdir()}: " in last


@pytest.mark.usefixtures("installed")
def test_networks_that_the_machine_lacks_are_no_fault_of_the_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of these good results it said that they are to be deleted."""
    asked = ("--functions", "vina", "ad4", "gnina", "--rank-by", "networks")
    mini = Mini(tmp_path, flags={"score": asked}).run()
    words = ("--hits", "2", "--sample", "0")
    assert run(mini, *words) == 0
    assert "again" not in "".join(capsys.readouterr())
    monkeypatch.setenv("LIGEN_NETWORKS", str(tmp_path))  # where there are none
    assert run(mini, *words) == 0
    warned = [line for line in capsys.readouterr().err.splitlines() if "is scored again" in line]
    assert len(warned) == 1
    assert "also none of molecules that are docked again: " in warned[0]
    assert "plain.pt: there is no such file" in warned[0]
    # Without networks the effort would ask for other functions: all scores looked faulty.
    monkeypatch.delenv("LIGEN_NETWORKS")
    monkeypatch.setattr("ligen_py.paths.find_spec", lambda name: None)
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(CONFIG | {"effort": "thorough"}))
    assert run(mini, "--config", str(tmp_path / "c.yaml"), *words) == 1
    said = capsys.readouterr()
    assert "c.yaml: its effort has gnina's networks, as these results do, but they" in said.err
    assert "FAULT" not in said.out
    (part,) = mini.parts()
    with edited(part.poses) as file:  # what needs no networks is compared as ever
        moved(file)
    chosen = [np.arange(1)]
    (fault,) = redocking_faults(read_manifest(mini.manifest), chosen, None, scored=False)
    assert "molecules docked again: not equal" in fault


Harm = Callable[[Mini], None]


def test_each_file_of_a_part_is_opened_once(sound: Mini, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening a small file takes longer than reading it, and a campaign has many."""
    opened: Counter[Path] = Counter()
    open_one = reading._opened

    def counted(path: Path, kind: Kind) -> h5py.File:
        opened[path] += 1
        return open_one(path, kind)

    monkeypatch.setattr(reading, "_opened", counted)
    monkeypatch.setattr(verify.made_again, "merge_faults", lambda *given: iter(()))
    monkeypatch.setattr(verify, "_made_again", lambda *given: iter(()))
    assert run(sound) == 0
    kinds = ("ligands", "poses", "kept", "refined", "scores")
    files = [getattr(part, kind) for part in sound.parts() for kind in kinds]
    assert [opened[file.resolve()] or opened[file] for file in files] == [1] * len(files)


def value(kind: str, column: str, row: object, new: object, part: int = SECOND) -> Harm:
    """One value of one file is another."""

    def harm(mini: Mini) -> None:
        path: Path = getattr(mini.parts()[part], kind)
        with edited(path) as file:
            old = file[column][row]
            file[column][row] = old + new if isinstance(old, np.generic) else new

    harm.__name__ = f"{kind}-{column}"
    return harm


def flipped(kind: str, seed: int) -> Harm:
    """One byte of one file is another, wherever it falls."""

    def harm(mini: Mini) -> None:
        path: Path = getattr(mini.parts()[0], kind)
        content = bytearray(path.read_bytes())
        content[int(np.random.default_rng(seed).integers(len(content)))] ^= 0x10
        path.write_bytes(content)

    harm.__name__ = f"flipped-{kind}-{seed}"
    return harm


def on(kind: str, act: Callable[[Path], object], name: str) -> Harm:
    """Something happens to one file."""

    def harm(mini: Mini) -> None:
        act(getattr(mini.parts()[SECOND], kind))

    harm.__name__ = f"{name}-{kind}"
    return harm


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 100)


def passed_off(path: Path) -> None:
    """Other content, under the digest of what the file was."""
    before = file_digest(path)
    with h5py.File(path, "r+") as file:
        file["ligands/charge"][0] += 1
    with path.open("ab") as stream:
        stream.write(f"ligen_py stands for {before}\n".encode())
    seal(path)


def other_chunk(path: Path) -> None:
    shutil.copy(path.with_name("1-of-2.h5"), path)


def attribute(name: str, value: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with edited(path) as file:
            file.attrs[name] = value

    return change


def docked_otherwise(path: Path) -> None:
    """A part's poses are of other settings; what follows was made from them."""
    attribute("settings", '{"num_restart": 2}')(path)
    for kind in ("kept", "refined", "scores"):
        attribute("inputs", "[]")(Path(str(path).replace("/poses/", f"/{kind}/")))


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        ("poses", docked_otherwise, "poses/dhfr/lib/2-of-2.h5: was made with other settings"),
        ("poses", attribute("stage", "lga"), "kept/dhfr/lib/2-of-2.h5: was not made from"),
        ("kept", attribute("settings", "{}"), "refined/dhfr/lib/2-of-2.h5: was not made from"),
    ],
)
def test_parts_of_other_poses_are_not_merged(
    mini: Mini,
    kind: str,
    change: Callable[[Path], None],
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    change(getattr(mini.parts()[SECOND], kind))
    output = str(mini.folder / "again.h5")
    assert aggregate.main(["--manifest", str(mini.manifest), "--output", output]) == 1
    assert words in capsys.readouterr().err


def rejected(mini: Mini) -> None:
    """A record is said to have been rejected, in every file after parse, lawfully."""
    with edited(mini.parts()[SECOND].scores) as file:
        file["ledger/status"][0] = Status.REJECTED
        file["ledger/reason"][0] = Reason.TOO_MANY_ATOMS


def cut_campaign(mini: Mini) -> None:
    cut(mini.campaign)


def no_campaign_attribute(mini: Mini) -> None:
    attribute("inputs", "[]")(mini.campaign)


def lost_row(mini: Mini) -> None:
    lines = mini.manifest.read_text().splitlines()
    mini.manifest.write_text("\n".join([*lines[:2], *lines[3:]]) + "\n")


def renamed_library(mini: Mini) -> None:
    mini.manifest.write_text(mini.manifest.read_text().replace("\tlib\t", "\tbil\t"))


def swapped_files(mini: Mini) -> None:
    table = mini.manifest.read_text().replace("scores/dhfr/lib/1-of-2", "scores/dhfr/lib/X")
    table = table.replace("scores/dhfr/lib/2-of-2", "scores/dhfr/lib/1-of-2")
    mini.manifest.write_text(table.replace("scores/dhfr/lib/X", "scores/dhfr/lib/2-of-2"))


def digests_swapped(mini: Mini) -> None:
    with edited(mini.campaign) as file:
        swapped(file["parts/sha256"])


def first_up(values: Any) -> None:
    values[0] += 1


def swapped(values: Any) -> None:
    values[:2] = values[:2][::-1]


def renamed(values: Any) -> None:
    values[0] = b"renamed"


def moved(file: h5py.File) -> None:
    file["poses/translation"][:, 0] += np.float32(0.25)
    file["poses/pocket_bumps"][...] = 0
    file["poses/score"][0] += 1


def another_verdict(file: h5py.File) -> None:
    file["verdicts/cluster"][0] += 7


def lower_energy(file: h5py.File) -> None:
    file["refinement/after"][...] -= np.float32(1e-5)


CORRUPTIONS = [
    value("ligands", "entries/name", 0, "another"),
    value("ligands", "ligands/xyz", (0, 0), np.float32(0.001)),
    value("ligands", "entries/line", 0, np.int64(1)),
    value("pocket", "field/value", (3, 3, 3), np.int8(1)),
    value("pocket", "receptor/xyz", (0, 1), np.float32(0.01)),
    value("poses", "poses/score", 0, np.int32(1)),
    value("poses", "poses/translation", (2, 1), np.float32(1e-4)),
    value("kept", "verdicts/cluster", 0, np.int32(1)),
    value("kept", "chosen/number", 0, np.int32(1)),
    value("refined", "poses/torsion", 0, np.float32(1)),
    value("refined", "refinement/after", 0, np.float32(-1)),
    value("scores", "scores/score", 0, np.float32(1)),
    value("scores", "terms/vina/total", 0, np.float32(1)),
    value("scores", "scores/score", 0, np.float32(1), part=CONTROL),
    flipped("ligands", 1),
    flipped("pocket", 2),
    flipped("poses", 3),
    flipped("kept", 4),
    flipped("refined", 5),
    flipped("scores", 6),
    on("poses", cut, "cut"),
    on("kept", Path.unlink, "lost"),
    on("pocket", Path.unlink, "lost"),
    on("scores", other_chunk, "other-chunk"),
    on("ligands", other_chunk, "other-chunk"),
    on("poses", other_chunk, "other-chunk"),
    on("refined", attribute("settings", '{"rounds": 7}'), "settings"),
    on("kept", attribute("inputs", "[]"), "inputs"),
    rejected,
    cut_campaign,
    no_campaign_attribute,
    digests_swapped,
    lost_row,
    renamed_library,
    swapped_files,
    on("ligands", passed_off, "passed-off"),
]


@pytest.mark.parametrize("harm", CORRUPTIONS, ids=[harm.__name__ for harm in CORRUPTIONS])
def test_every_corruption_is_found(
    mini: Mini, harm: Harm, capsys: pytest.CaptureFixture[str]
) -> None:
    harm(mini)
    assert run(mini, *NOTHING_DOCKED) == 1
    said = capsys.readouterr()
    assert "FAULT " in said.out
    assert "Traceback" not in said.err
    last = said.err.splitlines()[-1]
    assert "; delete the results that they name" in last
    assert last.endswith("and 'ligen run CONFIG' makes them again")
    for line in said.out.splitlines():
        if line.endswith(": is missing") or "damaged" in line:
            assert "'ligen run CONFIG'" in line


def test_every_changed_column_of_the_campaign_is_found(
    mini: Mini, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = {
        "control/rmsd": first_up,
        "counts/records": first_up,
        "ranking": swapped,
        "scored/name": renamed,
        "scored/score": first_up,
        "top/xyz": first_up,
    }
    with edited(mini.campaign) as file:
        for column, change in changes.items():
            change(file[f"targets/dhfr/{column}"])
    assert run(mini, *NOTHING_DOCKED) == 1
    said = capsys.readouterr()
    assert "campaign.h5: /targets/dhfr/control/rmsd and 5 others are not what its parts" in said.out
    assert "Traceback" not in said.err


def faults_of(mini: Mini, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """The faults that are printed, with files as seen from the campaign's folder."""
    run(mini, *NOTHING_DOCKED, *words)
    printed = capsys.readouterr().out.replace(f"{mini.folder}/", "").splitlines()
    return [line.removeprefix("FAULT ") for line in printed if line.startswith("FAULT ")]


def test_what_follows_from_a_changed_library_is_one_fault(
    mini: Mini, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its records were read again, too: each column of each part that differs was a fault."""
    words = described(mini)
    library = mini.folder / "lib.smi"
    library.write_text(library.read_text().replace("C", "CC", 1))
    old = "was not made from lib.smi as it is now"
    first, second = (f"results/ligands/lib/{part}-of-2.h5" for part in (1, 2))
    words += ["--sample", "100"]
    monkeypatch.setattr(verify, "redocking_faults", lambda *_: ())  # takes the most time
    assert faults_of(mini, capsys, *words) == [f"{first}: {old} (the first of 2 files)"]
    monkeypatch.setattr(verify, "_made_again", lambda *_: ())
    assert faults_of(mini, capsys, *words, "--all") == [f"{first}: {old}", f"{second}: {old}"]


def test_what_follows_from_a_changed_part_is_one_fault(
    mini: Mini, capsys: pytest.CaptureFixture[str]
) -> None:
    path = mini.parts()[SECOND].ligands
    other_chunk(path)
    ligands, poses = "results/ligands/lib/2-of-2.h5", "results/poses/dhfr/lib/2-of-2.h5"
    assert faults_of(mini, capsys) == [
        f"{ligands}: is not the file that the campaign was made from",
        f"{poses}: was not made from {ligands} as it is now (the first of 4 files)",
    ]


def test_a_damaged_file_that_targets_share_is_one_fault(
    mini: Mini, capsys: pytest.CaptureFixture[str]
) -> None:
    """What other targets have made from it is not looked at either."""
    results, parts = mini.campaign.parent, mini.parts()
    write_manifest(mini.manifest, [*parts, *(in_place_of_dhfr("hsp", part) for part in parts)])
    for stage in SCREEN:
        shutil.copytree(results / stage.kind / "dhfr", results / stage.kind / "hsp")
    merged(mini)
    assert faults_of(mini, capsys) == []
    cut(parts[SECOND].ligands)
    (fault,) = faults_of(mini, capsys)
    assert fault.startswith("results/ligands/lib/2-of-2.h5: not a complete HDF5 file")


def in_place_of_dhfr(target: str, part: PartFiles) -> PartFiles:
    """The files of a part as another target's; ligands and pocket are the same."""
    paths = {stage.kind: getattr(part, stage.kind) for stage in SCREEN}
    moved = {
        kind: path.parents[2] / target / path.parent.name / path.name
        for kind, path in paths.items()
    }
    return replace(part, target=target, **moved)


def test_what_follows_from_another_manifest_is_no_fault(
    mini: Mini, capsys: pytest.CaptureFixture[str]
) -> None:
    words = described(mini)
    lost_row(mini)
    assert faults_of(mini, capsys, *words) == [
        "results/campaign.h5: was not made from results/manifest.tsv as it is now",
        "dhfr/lib/2-of-2: is not in the manifest",
        "results/manifest.tsv: lacks the part dhfr/lib/2-of-2, by c.yaml",
    ]
    scores = mini.folder / "results/scores/dhfr/lib/1-of-2.h5"
    scores.write_bytes(scores.read_bytes()[:-2000])
    *_, last = faults_of(mini, capsys, *words)
    assert last.startswith("results/scores/dhfr/lib/1-of-2.h5: not a complete HDF5 file")


def test_what_follows_from_another_number_of_parts_is_one_fault(
    mini: Mini, capsys: pytest.CaptureFixture[str]
) -> None:
    words = described(mini)
    libraries = {"lib": {"file": "lib.smi", "chunks": 3}}
    (mini.folder / "c.yaml").write_text(yaml.safe_dump(CONFIG | {"libraries": libraries}))
    (fault,) = faults_of(mini, capsys, *words)
    assert fault == (
        "results/manifest.tsv: lacks the part dhfr/lib/1-of-3, by c.yaml; 4 other parts differ, too"
    )


def test_wrong_results_with_right_hashes_are_found_by_docking_again(
    mini: Mini, capsys: pytest.CaptureFixture[str]
) -> None:
    """And by nothing else: everything after them is made from them, and every hash is right."""
    kinds = [stage.kind for stage in SCREEN]
    changes = {"poses": moved, "kept": another_verdict, "refined": lower_energy}
    for part, (kind, change) in zip(mini.parts(), changes.items(), strict=True):
        with edited(getattr(part, kind)) as file:
            change(file)
        for later in kinds[kinds.index(kind) + 1 :]:
            getattr(part, later).unlink()
    mini.campaign.unlink()
    mini.run()
    again = "molecules docked again: not equal in"
    assert faults_of(mini, capsys, "--sample", "100") == [
        f"results/poses/dhfr/lib/1-of-2.h5: {again} 3 columns, poses/translation first",
        f"results/kept/dhfr/lib/2-of-2.h5: {again} 1 column, verdicts/cluster first",
        f"results/refined/dhfr/control-dhfr/1-of-1.h5: {again} 1 column, refinement/after first",
    ]


@pytest.fixture(scope="module")
def kept_config(sound: Mini, tmp_path_factory: pytest.TempPathFactory) -> Mini:
    """A campaign with all that a run leaves: config, exported molecules, report."""
    mini = Mini(tmp_path_factory.mktemp("whole") / "copy", chunks=2, control=True)
    shutil.copytree(sound.folder, mini.folder)
    described(mini)
    written(mini)
    shutil.copytree(mini.folder, mini.folder.with_name("kept"))
    return mini


def written(mini: Mini) -> None:
    """Keep the config, export and report, as the rules do it in the campaign's folder."""
    path = mini.folder / "c.yaml"
    document = read_document(path)
    plan = Workplan.of(document.values, document.source, mini.folder)
    results = mini.campaign.parent
    (results / "config.yaml").write_text(plan.described(results))
    printed = StringIO()
    with chdir(mini.folder), redirect_stdout(printed):
        inputs = {"campaign": Path("results/campaign.h5")}
        exported = Path("results/export")
        STAGES["export"].run(inputs, plan.settings.export, None, exported)
        page = Path("results/report.html")
        STAGES["report"].run(inputs | {"exported": exported}, plan.settings.report, None, page)
    (results / "report.txt").write_text(printed.getvalue())


@pytest.fixture
def whole(kept_config: Mini) -> Iterator[Mini]:
    """This campaign, to be spoilt; put back after that, since its files name their places."""
    yield kept_config
    shutil.rmtree(kept_config.folder)
    shutil.copytree(kept_config.folder.with_name("kept"), kept_config.folder)


@pytest.mark.parametrize("stage", ["pocket", "parse", "export", "score", "dock"])
def test_a_full_disk_of_temporary_files_is_no_fault_of_the_campaign(
    kept_config: Mini, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = read_document(kept_config.folder / "c.yaml")
    plan = Workplan.of(document.values, document.source, kept_config.folder)
    manifest = read_manifest(kept_config.manifest)
    chosen = [np.zeros(1, "i8")] * len(manifest.parts)
    label = select(None).origin
    monkeypatch.setattr(import_module(f"ligen_py.{stage}"), "run", no_room)
    faults = {
        "pocket": lambda: made_again.pocket_faults(plan, manifest),
        "parse": lambda: made_again.library_faults(plan, manifest, chosen),
        "export": lambda: written_faults(kept_config.campaign, plan, manifest),
        "score": lambda: made_again.scoring_faults(manifest, 1, None, label),
        "dock": lambda: redocking_faults(manifest, chosen, None),
    }
    with pytest.raises(OutputError):
        list(faults[stage]())


def test_what_was_written_is_compared_wherever_it_lies_by_now(
    whole: Mini, caplog: pytest.LogCaptureFixture
) -> None:
    """From any folder, behind a link, renamed, and copied without the times of its jobs."""
    results, times = whole.folder / "results", whole.folder / "benchmarks"
    times.mkdir()
    (times / "aggregate.tsv").write_text("s\tmax_rss\n1.5\t100\n")
    results.rename(whole.folder.parent / "scratch")
    results.symlink_to("../scratch")
    document = read_document(whole.folder / "c.yaml")
    plan = Workplan.of(document.values, document.source, whole.folder)
    whole.manifest.write_text(plan.manifest().text())

    def faults(campaign: Path) -> list[str]:
        table = campaign.with_name("manifest.tsv")
        return list(written_faults(campaign, plan, read_manifest(table).found_from(table)))

    with chdir(whole.folder), redirect_stdout(StringIO()):
        shown = {"campaign": Path("results/campaign.h5"), "exported": Path("results/export")}
        shown |= {"times": Path("benchmarks")}
        page = Path("results/report.html")
        STAGES["report"].run(shown, plan.settings.report, None, page)
        assert 'id="times"' in page.read_text(encoding="utf-8")
    with chdir(results / "export"):
        assert faults(whole.campaign) == []
    results.unlink()
    old = whole.folder / "results_old"
    (whole.folder.parent / "scratch").rename(old)
    os.utime(old / "campaign.h5", (0, 0))
    assert (old / "export/dhfr-receptor.pdb").exists()
    (old / "export/other.sdf").touch()
    with chdir(old):
        assert faults(Path("campaign.h5")) == []
    assert "export/other.sdf: not compared, as export does not write it" in caplog.text
    shutil.rmtree(old / "export")
    (old / "report.txt").unlink()
    assert sorted(set(faults(old / "campaign.h5"))) == [
        f"{old / name}: is missing; 'ligen run CONFIG' makes it again"
        for name in ("export", "report.txt")
    ]


def test_a_compressed_library_is_read_once_for_all_its_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part can only be read from the beginning of the file."""
    library = tmp_path / "lib.smi.gz"
    library.write_bytes(gzip.compress(LIBRARY.encode()))
    libraries = {"lib": {"file": library.name, "chunks": 3}}
    plan = Workplan.of(CONFIG | {"libraries": libraries}, "c.yaml", tmp_path)
    every = plan.manifest(str(tmp_path / "results")).parts
    manifest = Manifest(tuple(part for part in every if not part.control))
    for part in manifest.parts:
        inputs = {"input": library, "part": ChunkPart.parse(part.ligands.stem)}
        STAGES["parse"].run(inputs, plan.parse_options("lib"), None, part.ligands)
    chosen = [np.empty(0, "i8")] * len(manifest.parts)
    opened, reader = [], library_reading._reader

    def counted(path: Path, *given: Any) -> Any:
        opened.append(path)
        return reader(path, *given)

    monkeypatch.setattr(library_reading, "_reader", counted)
    assert list(made_again.library_faults(plan, manifest, chosen)) == []
    assert opened == [library]
    with edited(manifest.parts[SECOND].ligands) as file:
        file["entries/name"][0] = "another"
    (fault,) = made_again.library_faults(plan, manifest, chosen)
    assert "2-of-3.h5: the record of line 2 is called 'another', in" in fault


def test_the_controls_are_looked_at_too(mini: Mini, capsys: pytest.CaptureFixture[str]) -> None:
    """Actives and decoys, which no manifest lists, and what was said of them."""
    results = mini.campaign.parent
    for chunk, library in enumerate(("actives-of-dhfr", "decoys-of-dhfr"), start=1):
        for path in sorted(results.rglob(f"lib/{chunk}-of-2.h5")):
            to = path.parent.with_name(library) / "1-of-1.h5"
            to.parent.mkdir()
            shutil.copy(path, to)
    given = dict.fromkeys(("actives", "decoys"), "lib.smi")
    words = described(mini, controls={"dhfr": given})
    document = read_document(mini.folder / "c.yaml")
    plan = Workplan.of(document.values, document.source, mini.folder)
    verdict = results / "controls/dhfr/controls.json"
    accepted = verdict.with_name("accepted.txt")
    with chdir(mini.folder):
        flags = shlex.split(plan.controls.verdict_flags("dhfr"))
        assert controls.main([*flags, "--output", str(verdict), "--quiet"]) == 0
        flags = ["--verdict", str(verdict), "--below", "warn"]
        assert accept.main([*flags, "--output", str(accepted), "--quiet"]) == 0
    assert list(verdict_faults(plan, [verdict])) == []
    assert list(source_faults(plan, results)) == []
    text = verdict.with_suffix(".txt")
    text.write_text(text.read_text().replace("dhfr", "another"))
    accepted.write_text(accepted.read_text().replace("dhfr", "another"))
    assert list(verdict_faults(plan, [verdict])) == [
        f"{path}: is not what the files of its controls give" for path in (text, accepted)
    ]
    cut(results / "scores/dhfr/actives-of-dhfr/1-of-1.h5")
    (results / "poses/dhfr/decoys-of-dhfr/1-of-1.h5").unlink()
    first, second = faults_of(mini, capsys, *words)
    assert first.startswith("results/scores/dhfr/actives-of-dhfr/1-of-1.h5: not a complete HDF5")
    assert second.startswith("results/poses/dhfr/decoys-of-dhfr/1-of-1.h5: is missing; ")


def better_score(file: h5py.File) -> None:
    file["scores/score"][0] += np.float32(3)


def better_term(file: h5py.File) -> None:
    terms = file["terms/xscore"]
    other = next(name for name in terms if name != "total")
    for term in (other, "total"):
        terms[term][0] += np.float32(3)


def names_swapped(file: h5py.File) -> None:
    names = file["entries/name"][...]
    ready = np.flatnonzero(file["ledger/status"][...] == Status.READY)[:2]
    names[ready] = names[ready[::-1]]
    file["entries/name"][...] = names


def receptor_moved(file: h5py.File) -> None:
    file["receptor/xyz"][:, 0] += np.float32(1)


def test_what_was_forged_and_sealed_again_is_found(
    whole: Mini, capsys: pytest.CaptureFixture[str]
) -> None:
    """All that follows is made from it as it should be; each fault names the file."""
    first, second, control = whole.parts()
    for path, change in ((first.pocket, receptor_moved), (first.ligands, names_swapped)):
        with edited(path) as file:
            change(file)
    for part in (first, second, control):
        for stage in SCREEN:
            getattr(part, stage.kind).unlink()
    whole.run()
    for path, change in ((first.scores, better_score), (control.scores, better_term)):
        with edited(path) as file:
            change(file)
    described(whole)
    lost_row(whole)
    merged(whole)
    written(whole)
    for fault, (file, words) in zip(
        faults_of(whole, capsys, "--all"),
        [
            ("dhfr/lib/2-of-2", "is not in the manifest"),
            ("results/manifest.tsv", "lacks the part dhfr/lib/2-of-2, by "),
            ("results/scores/dhfr/lib/1-of-2.h5", "scores/score is not what the terms give"),
            ("results/scores/dhfr/control-dhfr/1-of-1.h5", "terms/xscore/hb and 1 other are not "),
            ("results/pockets/dhfr.h5", "receptor/xyz and 3 others are not what "),
            ("results/ligands/lib/1-of-2.h5", "the record of line 1 is called 'acetamide', in "),
        ],
        strict=True,
    ):
        assert fault.startswith(f"{file}: {words}")


def test_molecules_that_passed_a_limit_are_not_compared_with_a_library(
    whole: Mini, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Then or now: a limit of time depends on the machine. All others are compared."""
    document = read_document(whole.folder / "c.yaml")
    plan = Workplan.of(document.values, document.source, whole.folder)
    part = whole.parts()[0]
    ready = np.flatnonzero(read(part.ligands, LIGANDS, Ledger).status == Status.READY)
    chosen = [ready[:2], *[np.empty(0, "i8")] * 2]
    manifest = read_manifest(whole.manifest)

    def faults() -> list[str]:
        caplog.clear()
        return list(made_again.library_faults(plan, manifest, chosen))

    with edited(part.ligands) as file:
        file["entries/note"][ready[0]] = SIMPLER
        file["ligands/xyz"][0] += 1
    assert faults() == []
    said = f"{part.ligands}: 1 of 2 molecules not compared, as they passed parse.time_limit"
    assert said in caplog.text

    def out_of_time(*given: Any, **named: Any) -> None:
        parsed(*given, **named)
        with edited(given[3]) as file:
            file["ledger/status"][1], file["ledger/reason"][1] = Status.FAILED, Reason.TIMED_OUT

    stage = import_module("ligen_py.parse")
    parsed = stage.run
    monkeypatch.setattr(stage, "run", out_of_time)
    assert faults() == []
    assert "2 of 2 molecules not compared" in caplog.text
    monkeypatch.undo()
    with edited(part.ligands) as file:
        file["ligands/xyz"][...] += 1
    (fault,) = faults()
    assert f"{part.ligands}: ligands/xyz and " in fault


def test_every_written_file_is_compared(whole: Mini, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["export/dhfr.csv", "export/dhfr.sdf", "report.html", "report.txt"]
    results = whole.campaign.parent
    for name in names:
        text = (results / name).read_text()
        assert "trimethoprim" in text
        (results / name).write_text(text.replace("trimethoprim", "trimethoprix"))
    found = faults_of(whole, capsys, "--all")
    assert [fault.partition(":")[0] for fault in found] == [f"results/{name}" for name in names]
    assert all(": is not what results/campaign.h5 gives; delete " in fault for fault in found)
    # What a rule writes as a folder is made again as one.
    assert all("; delete results/export, and 'ligen run CONFIG'" in fault for fault in found[:2])


def test_a_whole_campaign_has_no_fault(whole: Mini, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify.main([str(whole.campaign)]) == 0, capsys.readouterr().out
    said = capsys.readouterr().err
    assert "files and run records of 3 parts" in said
    assert "preparing 1 pocket and the chosen molecules again" in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--sample", "-1"], "give a share below 1"),
        (["--sample", "1.5"], "give a share below 1"),
        (["--sample", "nan"], "give a share below 1"),
        (["--device", "no such device"], "no OpenCL device matches"),
    ],
)
def test_bad_flags_are_sentences(
    mini: Mini, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(mini, *words) in (1, 2)
    assert sentence in capsys.readouterr().err


def test_a_seed_below_zero_is_refused_at_once(
    sound: Mini, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run(sound, "--seed", "-1")
    assert "-1: give a whole number, 0 or more" in capsys.readouterr().err


def test_a_campaign_away_from_its_files_is_a_fault(
    mini: Mini, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = mini.manifest.read_text().replace(f"{mini.folder}/", "nowhere/")
    (tmp_path / "m.tsv").write_text(table)
    assert run(mini, "--manifest", str(tmp_path / "m.tsv")) == 1
    assert "its files are not here (nowhere/results/ligands" in capsys.readouterr().out
