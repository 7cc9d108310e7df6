"""What is found before a campaign's first job, each as one sentence that says where."""

import gzip
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ligen_py import config_checks, doctor, parse, plan, run
from ligen_py.api import Pocket, dock
from ligen_py.errors import DeviceError, InputError, UsageError
from tests.gnina import random_tensors
from tests.torch_files import saved

DHFR = "package:posebusters/datasets/pdb/1s3v/1s3v_"
LIBRARY = "".join(f"{'C' * (i % 40 + 1)}O molecule{i * 7919}\n" for i in range(5000))


def write(folder: Path, **changes: Any) -> Path:
    """A config file in a folder, with a library beside it."""
    (folder / "lib.smi").write_text(LIBRARY)
    config: dict[str, Any] = {
        "targets": {
            "dhfr": {
                "receptor": f"{DHFR}protein_one_lig_removed.pdb",
                "site": {"center": [-2.7, 27.8, 3.4]},
            }
        },
        "libraries": {"drugs": {"file": "lib.smi"}},
    }
    path = folder / "c.yaml"
    path.write_text(yaml.safe_dump(config | changes))
    return path


def refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        config_checks.checked(path)
    assert re.match(rf"{re.escape(str(path))}: line [1-9]\d*: key '", str(caught.value))
    return str(caught.value)


def test_a_good_campaign_passes(tmp_path: Path) -> None:
    assert list(config_checks.checked(write(tmp_path)).pockets) == ["dhfr"]


def test_a_pattern_that_is_no_smarts(tmp_path: Path) -> None:
    message = refused(write(tmp_path, parse={"exclude": {"odd": "[CX3"}}))
    assert "'odd' is no SMARTS: '[CX3'; correct it" in message


@pytest.mark.parametrize(
    "changes", [{"networks": {"best": 3}}, {"score": {"functions": ["vina", "gnina"]}}]
)
def test_networks_that_are_not_there(
    changes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, **changes)
    key = "networks.best" if "networks" in changes else "score.functions"
    monkeypatch.setenv("LIGEN_NETWORKS", str(tmp_path))
    message = refused(path)
    assert f"key '{key}': {tmp_path}/crossdock_default2018.pt: there is no such file" in message
    saved(tmp_path / "crossdock_default2018.pt", random_tensors("plain"))
    assert "is another network than gnina's of that name" in refused(path)
    monkeypatch.delenv("LIGEN_NETWORKS")
    monkeypatch.setattr("ligen_py.paths.find_spec", lambda name: None)
    assert "are not installed; install them with 'pip install" in refused(path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"site": {"center": [900, 0, 0]}}, "no receptor atom lies in the box around (900.00, "),
        ({"site": {"residues": ["A/9999"]}}, "residues: no residue is called A/9999"),
        ({"site": {"ligand_name": "XYZ"}}, "ligand_name: no residue is called XYZ"),
        ({"site": {"cavity": 1}, "chains": ["Q"]}, "has no chain Q; its chains are A"),
        ({"site": {"ligand": "lib.smi"}}, "lib.smi: not a reference ligand; give an SDF"),
        ({"receptor": "lib.smi"}, "lib.smi: contains no atoms; give a PDB or mmCIF file"),
        ({"cofactors": {"XYZ": "C("}}, "cofactors.XYZ: the SMILES cannot be read: 'C('"),
        ({"cofactors": {"XYZ": "odd.mol"}}, "cofactors.XYZ: no molecule can be read from '"),
    ],
)
def test_a_structure_or_site_that_cannot_be_used(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    target = {
        "receptor": f"{DHFR}protein_one_lig_removed.pdb",
        "site": {"center": [-2.7, 27.8, 3.4]},
    }
    (tmp_path / "odd.mol").write_text("no molecule")
    message = refused(write(tmp_path, targets={"dhfr": target | changes}))
    assert "key 'targets.dhfr': " in message
    assert words in message


def test_a_receptor_of_nothing_but_ca_atoms(tmp_path: Path) -> None:
    lines = [
        f"ATOM  {i:5d}  CA  ALA A{i:4d}    {3.8 * i:8.3f}   0.000   0.000  1.00  0.00           C"
        for i in range(1, 6)
    ]
    (tmp_path / "trace.pdb").write_text("\n".join([*lines, "END", ""]))
    target = {"receptor": "trace.pdb", "site": {"center": [10, 0, 0]}}
    message = refused(write(tmp_path, targets={"t": target}))
    assert "trace.pdb: contains CA atoms only; docking needs every heavy atom" in message


@pytest.mark.parametrize("name", ["none.smi", "none.sdf.gz"])
def test_a_library_of_one_file_that_is_empty(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    message = refused(write(tmp_path, libraries={"vendor": {"file": name}}))
    assert "key 'libraries.vendor.file': " in message
    assert f"{name}: contains no molecules; give a file with one or more records" in message
    both = write(tmp_path, libraries={"vendor": {"file": "*.smi"}})
    config_checks.checked(both)  # of several files an empty one is left out


@pytest.mark.parametrize("key", ["actives", "decoys", "references"])
@pytest.mark.parametrize("text", ["", "\n\n", "smiles,name\n"])
def test_a_file_of_known_molecules_that_is_empty(tmp_path: Path, key: str, text: str) -> None:
    (tmp_path / "none.csv").write_text(text)
    (tmp_path / "some.csv").write_text("smiles,name\nCCO,ethanol\n")
    files = dict.fromkeys(("actives", "decoys", "references"), "some.csv")

    def config() -> Path:
        controls = {name: files[name] for name in ("actives", "decoys")}
        report = {"references": files["references"]}
        return write(tmp_path, controls={"dhfr": controls}, report=report)

    config_checks.checked(config())
    files[key] = "none.csv"
    message = refused(config())
    assert f".{key}': " in message
    assert "none.csv: contains no molecules; give a file with one or more records" in message


def test_a_library_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Snakemake's own words for it are no sentence; root may read everything."""
    monkeypatch.setattr(os, "access", lambda path, mode: path.name != "lib.smi")
    message = refused(write(tmp_path))
    assert message.endswith(
        f"key 'libraries.drugs.file': {tmp_path}/lib.smi: cannot be read (Permission denied)"
    )


@pytest.mark.parametrize("stage", [plan, run], ids=["plan", "run"])
def test_a_config_that_the_system_does_not_look_for(
    stage: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """The system's answer is another one than that the file is not there, as in a closed folder."""
    with pytest.raises(SystemExit) as ended:
        stage.main(["a" * 300])
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith("aaa: cannot be read (File name too long)\n")


@pytest.mark.parametrize("kept", [0.3, 0.999])
def test_a_library_that_was_cut_short(tmp_path: Path, kept: float) -> None:
    packed = gzip.compress(LIBRARY.encode())
    (tmp_path / "cut.smi.gz").write_bytes(packed[: int(len(packed) * kept)])
    message = refused(write(tmp_path, libraries={"vendor": {"file": "cut.smi.gz"}}))
    assert "key 'libraries.vendor': " in message
    assert "cut.smi.gz: the compressed data are damaged or cut short" in message


@pytest.mark.parametrize(
    ("query", "matrix", "sentence"),
    [
        (">q\nMK-V\n", "BLOSUM62", "q.fa: q: '-' at residue 3 is no amino acid"),
        ("", "BLOSUM62", "q.fa: contains no sequences"),
        (">q\nMKV\n", "own.txt", "own.txt: line 1: the letters of the columns were expected"),
    ],
)
def test_queries_and_a_matrix_that_cannot_be_used(
    tmp_path: Path, query: str, matrix: str, sentence: str
) -> None:
    """They ended the search, perhaps after hours of docking."""
    (tmp_path / "q.fa").write_text(query)
    (tmp_path / "db.fa").write_text(">p\nMKV\n")
    (tmp_path / "own.txt").write_text("no matrix\n")
    search = {"query": "q.fa", "database": "db.fa", "matrix": matrix}
    message = refused(write(tmp_path, homologs={"like": search}))
    assert "key 'homologs.like': " in message
    assert sentence in message


def test_a_database_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "q.fa").write_text(">q\nMKV\n")
    (tmp_path / "db.fa").write_text("smiles,name\nCCO,ethanol\n")
    message = refused(write(tmp_path, homologs={"like": {"query": "q.fa", "database": "db.fa"}}))
    assert "key 'homologs.like': " in message
    assert "db.fa: does not begin with '>'" in message


def test_settings_of_off_targets_are_named_by_their_keys(tmp_path: Path) -> None:
    """They were called faults of the guides' file."""
    for name in ("genome.fa", "guides.txt"):
        (tmp_path / name).write_text(">one\nACGTTGCAACGTTGCAACGT\n")
    search = {"genome": "genome.fa", "guides": "guides.txt", "pattern": "NNXX"}
    message = refused(write(tmp_path, offtargets={"cas": search}))
    assert "key 'offtargets.cas': key 'pattern': the pattern 'NNXX' must be" in message
    search |= {"pattern": "N" * 20, "mismatches": 21}
    message = refused(write(tmp_path, offtargets={"cas": search}))
    assert "key 'offtargets.cas': key 'mismatches': 21 is more than the 20 letters" in message


def test_a_folder_in_that_of_a_genome_is_told_before_the_first_job(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "genome" / "more").mkdir(parents=True)
    for name in ("genome/a.fa", "cds.fa"):
        (tmp_path / name).write_text(f">one\n{'AC' * 20}TGG\n")
    search = {"genome": "genome", "cds": "cds.fa"}
    config_checks.checked(write(tmp_path, guides={"cas": search, "same": search}))
    assert caplog.text.count("genome/more: a folder in that of a genome; its files are not") == 1


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"offtarget_pam": "NAG"}, "'offtarget_pam' NAG has no place for G of NGG: "),
        ({"pam": "NGN"}, "away from the guide; give NG, which admits the same"),
        ({"pam": "TTTTTTTT"}, "no guide of 20 bases with PAM TTTTTTTT fits the coding sequence; "
         "give another pam"),
    ],
)  # fmt: skip
def test_a_pam_without_guides_is_found_before_the_first_job(
    tmp_path: Path, changed: dict[str, str], sentence: str
) -> None:
    for name in ("genome.fa", "cds.fa"):
        (tmp_path / name).write_text(f">one\n{'AC' * 20}TGG\n")
    search = {"genome": "genome.fa", "cds": "cds.fa"}
    config_checks.checked(write(tmp_path, guides={"cas": search}))
    message = refused(write(tmp_path, guides={"cas": search | changed}))
    assert "key 'guides.cas': " in message
    assert sentence in message


def test_a_device_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIGEN_DEVICE", "abacus")
    with pytest.raises(DeviceError, match="no OpenCL device matches 'abacus'"):
        config_checks.check_machine(config_checks.checked(write(tmp_path)))


@pytest.mark.parametrize(
    "tried",
    [
        lambda folder: config_checks.check_machine(config_checks.checked(write(folder))),
        lambda folder: doctor.main(["--no-test"]),
        lambda folder: dock(Pocket.__new__(Pocket), ["CCO"], folder=folder / "hits"),
    ],
    ids=["run", "doctor", "dock"],
)
def test_a_machine_on_which_nothing_can_be_drawn(
    tried: Callable[[Path], object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It was a traceback: of the report, after all docking, and of `ligen dock` at once."""
    monkeypatch.setitem(sys.modules, "rdkit.Chem.Draw.rdMolDraw2D", None)
    said = ""
    try:
        assert tried(tmp_path) == 2
        said = capsys.readouterr().err.splitlines()[-1]
    except UsageError as error:
        said = str(error)
    assert "RDKit cannot draw molecules for the report here: import of rdkit.Chem" in said
    assert "apt-get install libxrender1" in said
    assert not (tmp_path / "hits").exists()


def test_searches_alone_draw_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdkit.Chem.Draw.rdMolDraw2D", None)
    (tmp_path / "q.fa").write_text(">one\nMKTAYIAKQR\n")
    search = {"like": {"query": "q.fa", "database": "q.fa"}}
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump({"homologs": search}))
    config_checks.check_machine(config_checks.checked(path))


@pytest.mark.parametrize("stage", [plan, run], ids=["plan", "run"])
def test_a_config_that_fails_leaves_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], stage: Any
) -> None:
    path = write(tmp_path, dok={})
    assert stage.main([str(path), "--directory", str(tmp_path / "new")]) == 1
    assert capsys.readouterr().err.splitlines()[-1].endswith("did you mean 'dock'?")
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lib.smi" / "new"
    assert run.main([str(write(tmp_path)), "--directory", str(folder)]) == 1
    message = capsys.readouterr().err.splitlines()[-1]
    assert f"{folder}: cannot be written (Not a directory); name another folder" in message
    (tmp_path / "results").symlink_to(tmp_path / "scratch-that-was-emptied")
    assert run.main([str(tmp_path / "c.yaml")]) == 1
    message = capsys.readouterr().err.splitlines()[-1]
    said = f"{tmp_path / 'results'}: cannot be written (No such file or directory)"
    assert said in message
    monkeypatch.chdir(tmp_path)
    assert run.main(["c.yaml"]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(("given", "inside"), [(".", True), ("lib", False), ("*/*.smi", False)])
def test_a_library_may_not_contain_what_a_run_writes(
    given: str, inside: bool, tmp_path: Path
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.smi").write_text("CCO ethanol\n")
    plan = config_checks.checked(write(tmp_path, libraries={"drugs": {"file": given}}))
    words = "contains .*results and what else a run writes"
    if inside:
        with pytest.raises(InputError, match=words):
            config_checks.check_apart(plan, tmp_path)
    else:
        config_checks.check_apart(plan, tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "b.smi").write_text("CCO ethanol\n")
    plan = config_checks.checked(tmp_path / "c.yaml")
    if given == "lib":
        config_checks.check_apart(plan, tmp_path)
    else:
        with pytest.raises(InputError, match=words):
            config_checks.check_apart(plan, tmp_path)


def test_a_library_may_not_be_what_a_run_writes(tmp_path: Path) -> None:
    """Exported molecules are others after each run; own ligands have no rule that parses them."""
    exported, parsed = tmp_path / "results/export/dhfr.smi", tmp_path / "results/ligands/old"
    exported.parent.mkdir(parents=True)
    exported.write_text("CCO ethanol\n")
    words = ["--input", str(exported), "--output", str(parsed / "1-of-1.h5"), "--jobs", "1"]
    assert parse.main([*words, "--quiet"]) == 0
    for key, path, said in (
        ("file", exported, "is written by this campaign itself; copy it"),
        ("parsed", parsed, "is a folder of this campaign itself; name that of another"),
    ):
        given = {key: str(path.relative_to(tmp_path))}
        plan = config_checks.checked(write(tmp_path, libraries={"drugs": given}))
        with pytest.raises(InputError, match=f"'libraries.drugs.{key}': {given[key]}: {said}"):
            config_checks.check_apart(plan, tmp_path)
        config_checks.check_apart(plan, tmp_path / "other")
