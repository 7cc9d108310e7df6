"""The one line: what a stranger types, and what is wrong with it in a sentence."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rdkit import Chem

from ligen_py import command
from ligen_py.api import docking
from ligen_py.dock_command import main
from tests.api.conftest import PROTEIN, REFERENCE

SITE = ("--site", str(REFERENCE), "--chains", "B", "--effort", "draft")

UNDER_UMASK = """
import os, sys
os.umask(int(sys.argv[1], 8))
from ligen_py.dock_command import main
sys.exit(main(sys.argv[2:]))
"""

ENDED = """
import os, signal, sys
from ligen_py import command
from ligen_py.store.files.growing import Growing

number = int(sys.argv[1])
signal.signal(number, signal.SIG_DFL)  # nohup ignores SIGHUP

def ended(*given):
    os.kill(os.getpid(), number)  # once for the process, once for its group
    os.kill(os.getpid(), number)

Growing.append = ended  # while poses are written
sys.exit(command.main(sys.argv[2:]))
"""


@pytest.fixture(scope="module")
def docked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docked")
    (folder / "more.smi").write_text("c1ccccc1 benzene\nxx wrong\nOCC again\n")
    words = [str(PROTEIN), "CCO ethanol", str(folder / "more.smi"), *SITE]
    assert main([*words, "-o", str(folder / "out"), "--poses", "2", "--redock"]) == 0
    return folder / "out"


def test_the_folder_has_hits_report_and_scripts(docked: Path) -> None:
    mols = list(Chem.SDMolSupplier(str(docked / "hits.sdf"), removeHs=False))
    assert {mol.GetProp("_Name") for mol in mols} == {"ethanol", "benzene"}
    assert [mol.GetProp("pose") for mol in mols] == ["1", "2", "1", "2"]
    assert "ethanol" in (docked / "hits.csv").read_text()
    assert "benzene" in (docked / "report.html").read_text()
    assert (docked / "hits-reference.sdf").read_bytes() == REFERENCE.read_bytes()
    assert (docked / "results/campaign.h5").is_file()
    assert not [path for path in docked.iterdir() if path.name.startswith(".")]


def test_the_table_fits_and_says_what_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    words = ["dock", str(PROTEIN), f"CCO {'long ' * 20}", "OCC again", "c1ccccc1O", *SITE]
    assert command.main([*words, "-o", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    rows = out.splitlines()
    assert rows[0].split() == ["rank", "score", "vina", "ad4", "states", "name"]
    assert max(len(row) for row in rows[:3]) <= 60
    assert rows[3] == "  larger is better; vina, ad4: kcal/mol with the sign reversed"
    assert "c1ccccc1O" in out
    assert "Given more than once: 1; each is docked once" in out
    assert f"Poses {tmp_path / 'out/hits.sdf'}" in out


def test_a_reference_as_mol_file_is_redocked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has the bond orders that an SDF has; so has a MOL2 file."""
    path = tmp_path / "reference.mol"
    path.write_text(REFERENCE.read_text().partition("$$$$")[0])
    site = ["--site", str(path), "--effort", "draft", "--redock"]
    assert main([str(PROTEIN), "CCO", *site, "-o", str(tmp_path / "out")]) == 0
    assert "redocked: best-scored pose" in capsys.readouterr().out


def test_results_are_replaced_only_if_asked(
    docked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(PROTEIN), "CCCO", *SITE, "-o", str(docked)]
    before = (docked / "hits.sdf").read_bytes()
    assert main(words) == 1
    assert "contains results already; name another folder, or give --overwrite" in (
        capsys.readouterr().err
    )
    assert main([str(PROTEIN), "[Na+]", *SITE, "-o", str(docked), "--overwrite"]) == 1
    assert (docked / "hits.sdf").read_bytes() == before
    # What cannot be docked replaces nothing.
    everything = {path: path.stat().st_ino for path in docked.rglob("*")}
    for wrong in (["--site", "NONE"], ["--device", "abacus"], ["--count", "1001"]):
        assert main([*words, "--overwrite", *wrong]) in (1, 2)
        assert {path: path.stat().st_ino for path in docked.rglob("*")} == everything
    names = ("hits-receptor.pdbqt", "hits-reference.mol2")
    stale = [docked / "hits-pdbqt" / "old-1.pdbqt", *(docked / name for name in names)]
    stale[0].parent.mkdir(exist_ok=True)
    own = [docked / name for name in ("hits-notes.txt", "hits.pse", "hits-receptor-mutant.pdb")]
    for path in (*stale, *own):
        path.touch()
    assert main([*words, "--overwrite"]) == 0
    [mol] = Chem.SDMolSupplier(str(docked / "hits.sdf"))
    assert mol.GetProp("_Name") == "CCCO"
    assert not any(path.exists() for path in stale)
    assert all(path.exists() for path in own)


@pytest.mark.parametrize("flag", [None, "--site", "--autobox"])
def test_what_is_docked_again_is_not_deleted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flag: str | None
) -> None:
    (tmp_path / "results/input").mkdir(parents=True)
    for name in ("hits.sdf", "hits-receptor.pdb", "hits-reference.sdf"):
        (tmp_path / name).touch()
    ligand, site = str(tmp_path / "hits.sdf"), str(tmp_path / "hits-reference.sdf")
    words = ["CCO", flag, site] if flag else [ligand, *SITE]
    assert main([str(PROTEIN), *words, "-o", str(tmp_path), "--overwrite"]) == 1
    assert f"{site if flag else ligand}: --overwrite would delete it" in capsys.readouterr().err
    assert Path(ligand).exists()
    assert (tmp_path / "results").exists()


def test_ligands_that_are_called_as_results_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "hits.sdf"
    mine.write_bytes(REFERENCE.read_bytes())
    words = [str(PROTEIN), str(mine), *SITE, "-o", str(tmp_path)]
    assert main(words) == 1
    said = f"{tmp_path}: contains hits.sdf already; name another folder, or give --overwrite"
    assert said in capsys.readouterr().err
    assert main([*words, "--overwrite"]) == 1
    assert f"{mine}: --overwrite would delete it" in capsys.readouterr().err
    assert mine.read_bytes() == REFERENCE.read_bytes()


def test_a_campaign_is_never_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "results/pockets").mkdir(parents=True)
    (tmp_path / "results/config.yaml").touch()
    words = [str(PROTEIN), "CCCO", *SITE, "-o", str(tmp_path)]
    for flags in ([], ["--overwrite"]):  # without the flag it was advised, and then refused
        assert main([*words, *flags]) == 1
        said = f"{tmp_path / 'results'}: is not of ligen dock; name another folder\n"
        assert capsys.readouterr().err.endswith(f"error: {said}")
    assert (tmp_path / "results/config.yaml").exists()


def test_ctrl_c_ends_with_a_sentence_and_leaves_no_half_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked_to_stop(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(docking, "_write_files", asked_to_stop)
    words = [str(PROTEIN), "CCCO", *SITE, "-o", str(tmp_path / "out")]
    assert main(words) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "ligen dock: error: stopped as asked"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_end_leaves_no_temporary_folder(tmp_path: Path, number: signal.Signals) -> None:
    """As from a batch system at its time limit, or from a terminal that closes."""
    out = tmp_path / "out"
    words = ["dock", str(PROTEIN), "CCCO", *SITE, "-o", str(out)]
    command = [sys.executable, "-c", ENDED, str(int(number)), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 128 + number
    assert done.stderr.splitlines()[-1] == f"ligen dock: error: stopped by {number.name}"
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (["CCO"], 2, "say where to dock: --site with a reference ligand"),
        (["CCO", "--site", "l.sdf", "--center", "1", "2", "3"], 2, "--site and --center both say"),
        (["nothing.sdf", *SITE], 1, "nothing.sdf: does not exist"),
        (["ligand.xyz", *SITE], 1, "ligand.xyz: no such file, and no SMILES"),
        (
            ["CCO a\nCCN b", *SITE],
            1,
            "error: CCO a: more lines follow; give each SMILES in its own",
        ),
        (["", *SITE], 1, "error: '': no such file, and no SMILES that RDKit can read"),
        ([str(PROTEIN), *SITE], 1, "a structure file has no bond orders; give molecules as SDF"),
        (["CCO", "--site", "ligand.sdf"], 1, "ligand.sdf: does not exist"),
        (["CCO", "--site", "XYZ"], 1, "no residue is called XYZ"),
        (["CCO", "--center", "99", "99", "99"], 1, "no receptor atom lies in the box"),
        (["CCO", *SITE, "--size", "20", "20"], 2, "--size: give one side or three, not 2"),
        (["CCO", *SITE, "--size", "big"], 2, "--size: give numbers, in Angstrom, not big"),
        (["CCO", "--autobox", "l.sdf", "--size", "20"], 2, "--autobox makes its own box"),
        (["CCO", *SITE, "--margin", "9"], 2, "--margin: is around the ligand of --autobox, not "),
        (
            ["CCO", "--autobox", str(REFERENCE), "--margin", "-1"],
            1,
            "margin: give 0 or more, not -1",
        ),
        (["CCO", *SITE, "--poses", "1001"], 1, "dock: poses: give 1000 or less"),
        (["CCO", *SITE, "--count", "1001"], 1, "dock: poses: give 1000 or less"),
        (["CCO", *SITE, "--ph", "99"], 1, "dock: ph: give 14 or less (given: 99.0)"),
        (["CCO", *SITE, "--seed", "9999999999"], 1, "give 2147483647 or less"),
        (["CCO", *SITE, "--device", "abacus"], 2, "no OpenCL device matches 'abacus'"),
        (
            ["CCO", "--center", "10", "36", "18", "--redock"],
            1,
            "in the structure, nor a PDB or PDBQT",
        ),
    ],
)
def test_what_is_wrong_is_the_last_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    status: int,
    sentence: str,
) -> None:
    assert main([str(PROTEIN), *words, "-o", str(tmp_path / "out")]) == status
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("ligen dock: error: ")
    assert sentence in last
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "ending"),
    [
        (["--chains", "B", "CCO"], "LIGANDS; write protein and ligands before --chains"),
        (["--size", "20", "CCO", "--chains", "B"], "; write protein and ligands before --size"),
        (["--keep", "ALL"], "LIGANDS; write protein and ligands before --keep"),
        (["--cavity", "1"], "required: LIGANDS"),
        (["CCO", "--cavity", "none", "--chains", "B"], "none: give a whole number, 1 or more"),
    ],
)
def test_a_flag_that_takes_the_ligands_says_where_they_belong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], ending: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([str(PROTEIN), *words, "-o", str(tmp_path)])
    assert capsys.readouterr().err.endswith(f"{ending}\n")


def test_files_without_a_usable_molecule_are_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty, bad, file = tmp_path / "empty.sdf", tmp_path / "bad.smi", tmp_path / "file"
    empty.touch()
    file.touch()
    bad.write_text("xx wrong\n")
    out = str(tmp_path / "out")
    assert main([str(PROTEIN), str(empty), *SITE, "-o", out]) == 1
    assert "empty.sdf: contains no molecules" in capsys.readouterr().err
    assert main([str(PROTEIN), str(bad), *SITE, "-o", out]) == 1
    said = capsys.readouterr().err
    assert "wrong (bad.smi, line 1): failed, SMILES Parse Error" in said
    assert "no ligand could be docked" in said.splitlines()[-1]
    assert not Path(out).exists()
    assert main([str(PROTEIN), "CCO", *SITE, "-o", str(file)]) == 1
    assert "is a file; give a folder to write into" in capsys.readouterr().err


def test_the_stage_of_the_same_name_is_the_stage_still(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for words, prog in ((["dock"], "ligen dock"), (["stage", "dock"], "ligen stage dock")):
        with pytest.raises(SystemExit):
            command.main([*words, "--help"])
        assert capsys.readouterr().out.startswith(f"usage: {prog} ")


def test_the_surroundings_do_not_matter(tmp_path: Path) -> None:
    """Another locale, time zone and umask, and a home that cannot be written: the same bytes."""
    odd = {"LC_ALL": "C", "TZ": "Pacific/Chatham", "HOME": "/proc/none", "XDG_CACHE_HOME": ""}
    found = []
    for umask, mode, surroundings in (("022", 0o644, {}), ("077", 0o600, odd)):
        folder = tmp_path / umask / "out"
        folder.parent.mkdir()
        words = [str(PROTEIN), "CCO Äthanol", "c1ccccc1 分子", *SITE, "-o", "out"]
        done = subprocess.run(
            [sys.executable, "-c", UNDER_UMASK, umask, *words],
            cwd=folder.parent,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **surroundings},
            capture_output=True,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        files = [path for path in folder.rglob("*") if path.is_file()]
        assert {path.stat().st_mode & 0o777 for path in files if path.parent == folder} == {mode}
        found.append({str(path.relative_to(folder)): path.read_bytes() for path in files})
    plain, other = (
        {name: re.sub(rb"<time>.*?</time>", b"", text) for name, text in one.items()}
        for one in found
    )
    assert [name for name in {**plain, **other} if plain.get(name) != other.get(name)] == []
