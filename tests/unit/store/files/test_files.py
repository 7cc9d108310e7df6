"""Every kind of file: written whole or not at all, and read with a sentence when it is wrong."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest

from ligen_py.engine.scoring.checks import table
from ligen_py.errors import InputError
from ligen_py.provenance import Run
from ligen_py.records.kept import KEPT, Chosen
from ligen_py.records.ledger import Ledger
from ligen_py.records.ligands import LIGANDS, Entries
from ligen_py.records.offtargets import OFFTARGETS, OffTargets
from ligen_py.records.scores import SCORES, Scores
from ligen_py.settings.score import ScoreSettings
from ligen_py.store.campaign.layout import CAMPAIGN, Control, Scored
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.store.campaign.writer import new_campaign
from ligen_py.store.files.read import files_kept_open, kind_of, read, read_columns, searched
from ligen_py.store.files.seal import LENGTH
from ligen_py.store.files.table import Table, growing_column, text_rows
from ligen_py.store.files.text import write_texts
from ligen_py.store.files.write import TEXT, new_file, write
from tests.edited import edited
from tests.stages.factory import Molecule, library_of

RUN = Run("score", ScoreSettings())


def write_scores(path: Path, count: int = 3) -> Path:
    ledger = Ledger(
        status=np.ones(count, "u1"),
        reason=np.zeros(count, "u1"),
        detail=np.array([""] * count, dtype=object),
    )
    scores = Scores(
        first_pose=np.arange(count + 1, dtype="i8"),
        restart=np.zeros(count, "i4"),
        energy=np.linspace(-4, -8, count).astype("f4"),
        best=np.arange(count, dtype="i8"),
        score=np.linspace(4, 8, count).astype("f4"),
    )
    write(
        path,
        SCORES,
        RUN,
        {"ledger": ledger, "scores": scores, "checks": table([])},
        {"xscore": {}},
    )
    return path


def test_no_file_is_written_without_its_records_or_with_others(tmp_path: Path) -> None:
    """A mistake of the program, which no user can make."""
    path, checks = tmp_path / "scores.h5", {"checks": table([])}
    for records in ({}, checks, {**checks, "poses": table([])}):
        with pytest.raises(ValueError, match="a scores file contains"):
            write(path, SCORES, RUN, records)
    assert not path.exists()


def test_what_kind_a_file_is_of(tmp_path: Path) -> None:
    """The first one asked for stands for a file that is none of them, or no file at all."""
    path, none = write_scores(tmp_path / "some.h5"), tmp_path / "none.h5"
    assert kind_of(path, [KEPT, SCORES]) is SCORES
    assert kind_of(path, [LIGANDS, KEPT]) is LIGANDS
    assert kind_of(none, [LIGANDS, SCORES]) is LIGANDS
    none.write_bytes(b"no HDF5")
    assert kind_of(none, [LIGANDS, SCORES]) is LIGANDS
    content = bytearray(path.read_bytes())
    content[-LENGTH - 1] ^= 1
    path.write_bytes(content)
    assert kind_of(path, [LIGANDS, SCORES]) is LIGANDS


def test_a_record_reads_back_as_it_was_written(tmp_path: Path) -> None:
    path = write_scores(tmp_path / "s.h5")
    assert read(path, SCORES, Scores).score.tolist() == [4, 6, 8]
    columns = read_columns(path, SCORES, ["scores/best", "ledger/detail"])
    assert columns["scores/best"].tolist() == [0, 1, 2]
    assert columns["ledger/detail"].tolist() == ["", "", ""]


def test_equal_runs_write_equal_bytes(tmp_path: Path) -> None:
    one, two = write_scores(tmp_path / "a.h5"), write_scores(tmp_path / "b.h5")
    assert one.read_bytes() == two.read_bytes()


def test_an_interrupted_write_leaves_nothing(tmp_path: Path) -> None:
    def interrupted() -> None:
        with new_file(tmp_path / "a.h5", SCORES, RUN) as file:
            file["data"] = np.arange(1000)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_write_keeps_the_file_before_it(tmp_path: Path) -> None:
    path = write_scores(tmp_path / "a.h5")
    before = path.read_bytes()

    def interrupted() -> None:
        with new_campaign(path, RUN) as campaign:
            campaign.target("t")
            raise InputError("no")

    with pytest.raises(InputError):
        interrupted()
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["a.h5"]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.95])
def test_a_file_cut_short_is_a_sentence(tmp_path: Path, share: float) -> None:
    path = write_scores(tmp_path / "s.h5", 5000)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(InputError, match=r"s\.h5: (not a complete HDF5 file|damaged).*; delete it"):
        read(path, SCORES, Scores)


def test_a_changed_byte_is_noticed(tmp_path: Path) -> None:
    path = write_scores(tmp_path / "s.h5", 5000)
    with h5py.File(path) as file:
        place = file["scores/score"].id.get_chunk_info(0).byte_offset
    data = bytearray(path.read_bytes())
    data[place + 17] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"s\.h5: damaged"):
        read(path, SCORES, Scores)


def test_a_changed_letter_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "l.h5"
    parsed = library_of([Molecule("serious name", "CCO", 1)])
    records = parsed.groups
    write(path, LIGANDS, RUN, records)
    path.write_bytes(path.read_bytes().replace(b"serious name", b"curious name"))
    with pytest.raises(InputError, match=r"l\.h5: damaged \(its checksum differs\); delete it and"):
        read(path, LIGANDS, Entries)


def zeroed(path: Path, last: int = LENGTH + 5) -> None:
    """The last bytes are 0, as a disk leaves them that lost power."""
    with path.open("r+b") as stream:
        stream.seek(-last, os.SEEK_END)
        stream.write(bytes(last))


def rewritten(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        file["scores/score"][0] += 1


def without_line(path: Path) -> None:
    os.truncate(path, path.stat().st_size - LENGTH)


def torn_line(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: -LENGTH + 3] + b"?" + data[-LENGTH + 4 :])


@pytest.mark.parametrize("harm", [zeroed, rewritten, without_line, torn_line])
def test_a_seal_cannot_be_lost(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    path = write_scores(tmp_path / "s.h5", 5000)
    harm(path)
    with pytest.raises(
        InputError,
        match=r"s\.h5: damaged \(another program has changed it, or its end was lost\); delete it",
    ):
        read(path, SCORES, Scores)


@pytest.mark.parametrize("last", [512, 4096, 8192, 16384])
def test_zeroed_blocks_are_noticed(tmp_path: Path, last: int) -> None:
    path = write_scores(tmp_path / "s.h5", 5000)
    zeroed(path, last)
    with pytest.raises(InputError, match=r"s\.h5: "):
        read(path, SCORES, Scores)


def test_a_writer_that_was_killed_leaves_nothing_behind_its_successor(tmp_path: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    host = socket.gethostname()
    left = tmp_path / f".s.h5.{host}-{dead.pid}.x.part"
    others = [tmp_path / f".s.h5.{host}-{os.getpid()}.y.part", tmp_path / ".s.h5.n99-1.z.part"]
    for path in (left, *others):
        path.touch()
    write_scores(tmp_path / "s.h5")
    assert sorted(tmp_path.iterdir()) == sorted([*others, tmp_path / "s.h5"])


def test_wrong_kind_version_folder_and_absence_are_sentences(tmp_path: Path) -> None:
    path = write_scores(tmp_path / "s.h5")
    with pytest.raises(InputError, match=r"s\.h5: contains ligen_py.scores, not ligen_py.kept"):
        read(path, KEPT, Chosen)
    with pytest.raises(InputError, match="is a folder"):
        read(tmp_path, SCORES, Scores)
    with pytest.raises(InputError, match="does not exist; give a scores file"):
        read(tmp_path / "none.h5", SCORES, Scores)
    with pytest.raises(InputError, match="does not exist; give an offtargets file"):
        read(tmp_path / "none.h5", OFFTARGETS, OffTargets)
    with edited(path) as file:
        file.attrs["encoding-version"] = SCORES.version + 1
    with pytest.raises(InputError, match=r"layout version 2.*update ligen_py"):
        read(path, SCORES, Scores)
    with edited(path) as file:
        file.attrs["encoding-version"] = SCORES.version - 1
    with pytest.raises(
        InputError, match=r"layout version 0.*delete it and make it again, with \'ligen run"
    ):
        read(path, SCORES, Scores)
    (tmp_path / "text.h5").write_text("not HDF5")
    with pytest.raises(InputError, match=r"text\.h5: not an HDF5 file; give a campaign file$"):
        open_campaign(tmp_path / "text.h5").__enter__()


def test_a_missing_or_misshapen_column_is_a_sentence(tmp_path: Path) -> None:
    path = write_scores(tmp_path / "s.h5")
    with edited(path) as file:
        del file["scores/score"]
    with pytest.raises(InputError, match="/scores/score is missing"):
        read_columns(path, SCORES, ["scores/score"])
    with edited(path) as file:
        file["scores/score"] = np.zeros(3, "f8")
    with pytest.raises(InputError, match="type float64, not float32"):
        read_columns(path, SCORES, ["scores/score"])


def test_a_table_grows_and_moves_offsets(tmp_path: Path) -> None:
    library = library_of([Molecule("a", "CCO", 1), Molecule("b", "CC", 1)])
    with h5py.File(tmp_path / "t.h5", "w") as file:
        table = Table(file.create_group("ligands"), type(library.ligands))
        for _ in range(3):
            table.append(library.ligands)
        atoms = library.ligands.first_atom
        offsets = file["ligands/first_atom"][...]
        assert offsets.tolist() == [*atoms, *(atoms[1:] + atoms[-1]), *(atoms[1:] + 2 * atoms[-1])]
        assert (file["ligands/xyz"][...] == np.tile(library.ligands.xyz, (3, 1))).all()
        assert file["ligands/xyz"].attrs["units"] == "angstrom"


@pytest.mark.parametrize(("rows", "chunk"), [(0, 1024), (10, 1024), (5000, 5000), (10**6, 65536)])
def test_the_chunks_of_a_column_are_as_large_as_its_first_rows(
    tmp_path: Path, rows: int, chunk: int
) -> None:
    with h5py.File(tmp_path / "t.h5", "w") as file:
        growing_column(file, "x", "f4", rows)
        assert file["x"].chunks == (chunk,)


def test_a_campaign_without_targets_is_a_sentence(tmp_path: Path) -> None:
    with new_file(tmp_path / "c.h5", CAMPAIGN, RUN) as file:
        file.create_group("targets")
    with pytest.raises(InputError, match=r"c\.h5: contains no target"):
        open_campaign(tmp_path / "c.h5").__enter__()


def test_every_column_of_a_campaign_says_what_it_means() -> None:
    for record in (Scored, Control):
        for name, spec in record.__dataclass_fields__.items():
            assert spec.metadata["doc"], f"{record.__name__}.{name}"


def test_texts_appear_together_or_not_at_all(tmp_path: Path) -> None:
    write_texts(tmp_path / "new" / "folder", {"a.txt": ["A\r", "\n"], "b.txt": "Å"})
    assert (tmp_path / "new/folder/a.txt").read_bytes() == b"A\r\n"
    assert (tmp_path / "new/folder/b.txt").read_text(encoding="utf-8") == "Å"
    with pytest.raises(UnicodeEncodeError):
        write_texts(tmp_path, {"good.txt": "fine", "bad.txt": "\ud800"})
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
    with pytest.raises(InputError, match="is a file; give a folder"):
        write_texts(tmp_path / "new/folder/a.txt", {"x": ""})


class Whole(str):
    """Text of which nobody asks the characters one by one."""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("was taken apart")


def test_a_text_is_written_in_one_piece(tmp_path: Path) -> None:
    write_texts(tmp_path, {"a.txt": Whole("Å\n")})
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "Å\n"


FULL = """
import resource, signal
import numpy as np
from collections.abc import Callable
from pathlib import Path
from ligen_py.errors import InputError
from ligen_py.provenance import Run
from ligen_py.settings.section import Section
from ligen_py.store.campaign.layout import CAMPAIGN
from ligen_py.store.files.read import open_file
from ligen_py.store.files.text import write_texts
from ligen_py.store.files.write import new_file
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
def table():
    with new_file(Path("new.h5"), CAMPAIGN, Run("export", Section())) as file:
        file["x"] = np.random.default_rng(1).random(1 << 20)
def text():
    with open_file(Path("campaign.h5"), CAMPAIGN):
        write_texts(Path("out"), {"a.csv": ["x" * (1 << 20)]})
for write in (table, text):
    try:
        write()
    except InputError as error:
        print(error)
"""
"""Writes where no file may have more than 64 KiB."""


def test_a_disk_that_takes_no_more_is_not_called_damage(tmp_path: Path) -> None:
    with new_campaign(tmp_path / "campaign.h5", RUN) as campaign:
        campaign.target("t")
    done = subprocess.run(
        [sys.executable, "-c", FULL],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])},
        capture_output=True,
        text=True,
    )
    first, second = done.stdout.splitlines()
    assert first.startswith("new.h5: cannot be written (File too large)"), done.stderr
    assert second.startswith("out/a.csv: cannot be written (File too large)"), done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["campaign.h5", "out"]
    assert not list((tmp_path / "out").iterdir())


def test_texts_that_are_all_empty_are_known_by_their_lengths(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "file.h5", "w") as file:
        words = np.array(["", "", "", "", "late"], object)
        column = file.create_dataset("words", data=words, dtype=TEXT, chunks=(2,))
        for rows in (slice(None), slice(0, 4), slice(0, 3, 2), slice(2, 2), slice(3, 5)):
            assert text_rows(column, rows).tolist() == words[rows].tolist()
        assert text_rows(column, np.array([0, 4])).tolist() == ["", "late"]


def test_a_search_reads_a_file_without_its_checksum_and_the_next_reader_checks_it(
    tmp_path: Path,
) -> None:
    path = write_scores(tmp_path / "s.h5")
    data = bytearray(path.read_bytes())
    data[-9] ^= 1  # in the digest, behind what HDF5 reads
    path.write_bytes(data)
    with files_kept_open():
        with searched():
            assert len(read_columns(path, SCORES, ("scores/best",))["scores/best"])
        with pytest.raises(InputError, match="damaged"):
            read_columns(path, SCORES, ("scores/best",))
