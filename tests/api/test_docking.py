"""Docking from Python: the same bits as a campaign, and nothing given is lost.

Its hits are a sequence, files and a data frame that say the same; these tests are in this module,
since each module may be tested by another process, which docks anew.
"""

import csv
import logging
import pickle
import sys
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from rdkit import Chem
from rdkit.Chem import AllChem

from ligen_py import export, report, verify
from ligen_py.api import Hits, InputError, Pocket, dock, docking
from ligen_py.api.ligands import sources_of
from ligen_py.molecules.export import symmetric_rmsd
from ligen_py.store.campaign.reader import open_campaign
from tests.api.conftest import FAST, PROTEIN, REFERENCE
from tests.mini import Mini


def exported(mini: Mini, *flags: str) -> list[Chem.Mol]:
    folder = mini.folder / "export"
    assert export.main(["--campaign", str(mini.campaign), "--output", str(folder), *flags]) == 0
    return list(Chem.SDMolSupplier(str(folder / "dhfr.sdf"), removeHs=False))


def test_hits_are_those_of_a_campaign_bit_for_bit(library_hits: Hits, mini: Mini) -> None:
    mols = exported(mini, "--poses", "3", "--quiet")
    mine = [pose for hit in library_hits for pose in hit.poses]
    assert len(mine) == len(mols) > 2 * len(library_hits)
    same = ("rank", "name", "score", "state", "restart", "pose", "energy", "line", "key")
    for one, other in zip(mine, mols, strict=True):
        for item in (*same, *(name for name in other.GetPropNames() if name.startswith("vina"))):
            assert one.GetProp(item) == other.GetProp(item), item
        written = Chem.MolFromMolBlock(Chem.MolToMolBlock(one), removeHs=False)
        assert Chem.MolToMolBlock(written) == Chem.MolToMolBlock(other)


def test_networks_that_an_effort_lacks_are_named(
    pocket: Pocket, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("LIGEN_NETWORKS", raising=False)
    monkeypatch.setattr("ligen_py.paths.find_spec", lambda name: None)
    monkeypatch.setattr(logging.getLogger("ligen_py"), "propagate", True)
    assert len(dock(pocket, "CCO", effort="thorough", settings=FAST)) == 1
    assert "gnina's networks, which choose poses and rank at this effort, are not" in caplog.text


def test_the_reference_is_redocked_as_a_campaign_does(
    library_hits: Hits, mini: Mini, capsys: pytest.CaptureFixture[str]
) -> None:
    found = library_hits.redocking
    assert found is not None
    assert found.rmsd is not None
    assert found.rmsd_kept is not None
    assert 0 < found.rmsd_kept <= found.rmsd < 30
    with open_campaign(mini.campaign) as campaign:
        control = campaign.target("dhfr").control()
    assert found.rmsd == control.rmsd[0]
    assert (found.name, found.score) == (control.name[0], control.score[0])
    pose, one = found.pose, found._posed
    assert pose is not None
    assert one is not None
    assert float(pose.GetProp("score")) == pytest.approx(found.score)
    assert pose.HasProp("vina.affinity")
    assert np.array_equal(pose.GetConformer().GetPositions(), one.xyz.astype(float))
    assert symmetric_rmsd(one.molecule, one.xyz[None], REFERENCE) == pytest.approx([found.rmsd])


def test_what_is_no_hit_is_a_failure_with_a_reason(library_hits: Hits) -> None:
    told = {one.name: (one.status, one.source) for one in library_hits.failures}
    assert told == {
        "is no molecule": ("failed", "lib.smi, line 3"),
        "ether again": ("duplicate", "lib.smi, line 7"),
    }
    assert all(one.reason for one in library_hits.failures)
    assert len(library_hits) + len(library_hits.failures) == 7


@pytest.fixture(scope="module")
def mixed(pocket: Pocket, tmp_path_factory: pytest.TempPathFactory) -> Hits:
    placed = Chem.AddHs(Chem.MolFromSmiles("OC(=O)Cc1ccccc1"))
    AllChem.EmbedMolecule(placed, randomSeed=1)
    placed.SetProp("_Name", "phenylacetic acid\n$$$$")
    placed.SetProp("price", "0012")
    flat = Chem.MolFromSmiles("CCOCC")
    flat.SetProp("note", 'x;y, "z"')
    flat.SetProp("name", "1e5")
    flat.SetIntProp("stock", 3)
    file = tmp_path_factory.mktemp("mixed") / "more.smi"
    file.write_text("CCCO propanol\nCCN\nxx wrong\n")
    again = "OCC again; and again"
    given = ["CCO ethanol", placed, None, flat, "", "nonsense", file, again, "C[C@H](F)Cl"]
    return dock(pocket, given, settings=FAST, seed=3)


def test_anything_can_be_docked_and_keeps_its_place(mixed: Hits) -> None:
    found = {hit.index: hit for hit in mixed if hit.index is not None}
    assert {index: hit.name for index, hit in found.items()} == {
        0: "ethanol",
        1: "phenylacetic acid $$$$",
        3: "CCOCC",
        8: "C[C@H](F)Cl",
    }
    assert found[1].columns == {"price": "0012"}
    assert found[3].columns == {"input.note": 'x;y, "z"', "input.name": "1e5", "stock": "3"}
    assert found[0].others == ["again; and again"]
    assert found[0].source == "ligand 1"
    of_file = {hit.name: hit.source for hit in mixed if hit.index is None}
    assert of_file == {"propanol": "more.smi, line 1", "line-2": "more.smi, line 2"}
    assert [hit.rank for hit in mixed] == list(range(1, 7))
    assert [hit.score for hit in mixed] == sorted((hit.score for hit in mixed), reverse=True)


def test_columns_named_as_ours_are_in_the_tables(mixed: Hits, tmp_path: Path) -> None:
    mixed.to_csv(tmp_path / "hits.csv")
    with (tmp_path / "hits.csv").open(encoding="utf-8") as stream:
        found = {row["name"]: row["input.note"] for row in csv.DictReader(stream)}
    assert found["CCOCC"] == 'x;y, "z"'
    assert found["ethanol"] == ""


def test_every_ligand_is_a_hit_or_a_failure(mixed: Hits) -> None:
    lost = [(one.index, one.name, one.status) for one in mixed.failures]
    assert lost == [
        (2, "ligand 3", "failed"),
        (4, "ligand 5", "failed"),
        (5, "nonsense", "failed"),
        (None, "wrong", "failed"),
        (7, "again; and again", "duplicate"),
    ]
    assert mixed.failures[-1].reason == "the same molecule as ethanol (ligand 1)"


def test_a_text_of_several_lines_is_no_molecule(tmp_path: Path) -> None:
    """The first line was docked, and the others were its name."""
    block = Chem.MolToMolBlock(Chem.MolFromSmiles("CCO"))
    given = ["CCO a\nCCN b\nCCC c", "CCO a\r\nCCN b", block, "\nCCO ethanol \n"]
    sources, failures = sources_of(given, tmp_path)
    assert [(one.name, one.index) for one in failures] == [(f"ligand {n + 1}", n) for n in range(3)]
    assert {one.reason for one in failures} == {
        "a text of several lines; give a list of SMILES, or a file"
    }
    (source,) = sources.values()
    assert source.file.read_text() == "smiles,name\nCCO,ethanol\n"


def test_a_pose_is_the_molecule_that_was_given_in_its_docked_state(mixed: Hits) -> None:
    for hit in mixed:
        pose = hit.pose
        assert Chem.CanonSmiles(hit.state) == Chem.MolToSmiles(Chem.RemoveHs(pose))
        assert pose.GetNumConformers() == 1
        assert pose.GetNumAtoms() == Chem.AddHs(Chem.MolFromSmiles(hit.state)).GetNumAtoms()
        assert pose.GetProp("_Name") == hit.name
        assert float(pose.GetProp("score")) == pytest.approx(hit.score)
        assert hit.poses == [pose]
    acid = next(hit for hit in mixed if hit.index == 1)
    assert acid.state == "O=C([O-])Cc1ccccc1"
    assert acid.smiles == "O=C(O)Cc1ccccc1"


def test_a_copy_of_a_pocket_that_is_gone_is_named() -> None:
    pocket = Pocket.from_pdb(PROTEIN, center=(36.3, 18.6, 13.6), chains="B", radius=8)
    copied = pickle.loads(pickle.dumps(pocket))
    assert copied.file.exists()
    del pocket
    with pytest.raises(InputError, match="is gone, as a copy lasts as long as the pocket that it"):
        dock(copied, "CCO")


def test_equal_calls_are_equal_and_a_seed_counts(pocket: Pocket) -> None:
    def places(seed: int) -> np.ndarray:
        hits = dock(pocket, "CCOCCc1ccccc1", settings=FAST, seed=seed)
        return hits[0].pose.GetConformer().GetPositions()

    assert np.array_equal(places(1), places(1))
    assert not np.array_equal(places(1), places(2))


def test_nothing_docked_is_no_error_but_nothing_given_is(pocket: Pocket, tmp_path: Path) -> None:
    hits = dock(pocket, ["nonsense"], settings=FAST, folder=tmp_path / "out")
    assert (len(hits), len(hits.failures)) == (0, 1)
    assert not (tmp_path / "out").exists()
    assert hits.folder is None
    for missing in ([None], None, [float("nan")]):
        assert [one.status for one in dock(pocket, missing).failures] == ["failed"]
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"jobs": 0}, "jobs: give 1 or more processes, not 0"),
        ({"jobs": "x"}, "jobs: give 1 or more processes, not 'x'"),
        ({"device": 3}, "device: give words of its name, such as 'gpu:1', not 3"),
        ({"settings": [1]}, r"settings: give sections by name, not \[1\]"),
    ]
    for given, sentence in wrong:
        with pytest.raises(InputError, match=sentence):
            dock(pocket, "CCO", **given)
    with pytest.raises(InputError, match=r"pocket: give a Pocket, as Pocket.from_pdb.*'p\.pdb'"):
        dock("p.pdb", "CCO")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no ligand was given"):
        dock(pocket, [])
    empty = tmp_path / "empty.sdf"
    empty.touch()
    with pytest.raises(InputError, match=r"empty\.sdf: contains no molecules"):
        dock(pocket, ["CCO", empty])


def test_a_worker_of_a_pool_says_what_to_use(pocket: Pocket) -> None:
    with get_context("fork").Pool(1) as workers:
        caught = workers.apply_async(_refusal, [pocket]).get(60)
    assert "use concurrent.futures.ProcessPoolExecutor" in caught


def _refusal(pocket: Pocket) -> str:
    with pytest.raises(InputError) as caught:
        dock(pocket, "CCO", settings=FAST)
    return str(caught.value)


@pytest.mark.parametrize(
    ("ligands", "sentence"),
    [
        ("nothing.sdf", "nothing.sdf: does not exist"),
        ("C" * 5000 + ".smi", "^ligand: give the file's name, not its text, 'C{40}' ...$"),
        ("CCO\nCCN.smi", r"^ligand: give the file's name, not its text, 'CCO.nCCN.smi' ...$"),
        (Path("nothing"), "nothing: does not exist"),
        (Path(__file__), "format unknown"),
        (Path(__file__).parent, "is a folder; give its files"),
        (str(Path(__file__).parent), "is a folder; give its files"),
        (PROTEIN, "1ia1_protein_one_lig_removed.pdb: a structure file has no bond orders"),
    ],
)
def test_a_file_that_is_none_is_a_sentence(
    pocket: Pocket, ligands: str | Path, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        dock(pocket, ligands)


def test_settings_are_those_of_a_config(pocket: Pocket) -> None:
    with pytest.raises(InputError, match=r"unknown section 'pocket'; .*Pocket\.from_pdb$"):
        dock(pocket, "C", settings={"pocket": {"ph": 5}})
    with pytest.raises(InputError, match=r"unknown section 'docc'; did you mean 'dock'\?"):
        dock(pocket, "C", settings={"docc": {}})
    with pytest.raises(InputError, match=r"unknown key 'refine\.round'; did you mean"):
        dock(pocket, "C", settings={"refine": {"round": 1}})
    for unused in ("networks", "lga", "export", "pocket"):
        with pytest.raises(InputError, match=f"unknown section '{unused}'"):
            dock(pocket, "C", settings={unused: {}})
    by = "effort 'exhaustive' searches by lga, the others by dock$"
    for effort, unused in (("exhaustive", "dock"), ("standard", "lga")):
        with pytest.raises(InputError, match=f"unknown section '{unused}'; {by}"):
            dock(pocket, "C", effort=effort, settings={unused: {}})
    for given in ({"ph": 20}, {"seed": -1}, {"poses": 0}):
        with pytest.raises(InputError, match=f"^dock: {next(iter(given))}: give [^;]*; [^;]*$"):
            dock(pocket, "C", **given)


@pytest.mark.parametrize("value", [3, b"CCO", ("CCO", "ethanol")])
def test_a_ligand_of_another_kind_is_named_by_its_place(value: Any, tmp_path: Path) -> None:
    said = f"ligand 2: give a SMILES, a file or an RDKit molecule, not {type(value).__name__}"
    with pytest.raises(TypeError, match=said):
        sources_of(["CCO", value], tmp_path)


@pytest.mark.parametrize("value", [5, b"CCO", object()])
def test_so_is_a_ligand_that_stands_alone(value: Any, tmp_path: Path) -> None:
    said = f"ligand 1: give a SMILES, a file or an RDKit molecule, not {type(value).__name__}"
    with pytest.raises(TypeError, match=said):
        sources_of(value, tmp_path)


@pytest.mark.parametrize("value", [None, float("nan")])
def test_a_missing_value_that_stands_alone_is_a_failure(value: Any, tmp_path: Path) -> None:
    sources, (failure,) = sources_of(value, tmp_path)
    assert (sources, failure.name, failure.reason) == ({}, "ligand 1", f"no molecule ({value})")


def test_missing_values_of_pandas_are_failures(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    given = pandas.Series(["CCO", None, "CCN"], dtype="string")
    assert given[1] is pandas.NA
    for ligands in (given, ["CCO", pandas.NaT], ["CCO", np.float32("nan")]):
        _, failures = sources_of(ligands, tmp_path)
        assert [(one.name, one.status) for one in failures] == [("ligand 2", "failed")]


@pytest.mark.parametrize("table", [{"CCO": "ethanol"}, SimpleNamespace(columns=["CCO"])])
def test_a_table_is_no_list_of_its_keys(pocket: Pocket, table: Any) -> None:
    with pytest.raises(TypeError, match="give a list: of a data frame the column of SMILES"):
        dock(pocket, table)


def test_a_folder_gets_all_files_and_is_a_campaign(
    kept: Path, pocket: Pocket, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {path.name for path in kept.iterdir()}
    endings = ("sdf", "csv", "parquet", "pml", "cxc")
    assert names == {
        *(f"hits.{ending}" for ending in endings),
        *("hits-receptor.pdb", "hits-receptor.pdbqt", "hits-reference.sdf", "hits-pdbqt"),
        *("report.html", "results"),
    }
    assert len(Chem.SDMolSupplier(str(kept / "hits.sdf"))) == 4
    # The reference ligand was not docked, and is shown all the same.
    assert 'data-do="reference"' in (kept / "report.html").read_text(encoding="utf-8")
    moved = kept.rename(tmp_path / "moved")
    campaign = moved / "results/campaign.h5"
    assert verify.main([str(campaign)]) == 0
    assert "no fault" in capsys.readouterr().out
    flags = ["--campaign", str(campaign), "--output", str(tmp_path / "again"), "--quiet"]
    assert export.main([*flags, "--poses", "2"]) == 0
    ours, theirs = moved / "hits.sdf", tmp_path / "again/dhfr.sdf"
    assert ours.read_bytes() == theirs.read_bytes()
    assert (moved / "hits-receptor.pdb").read_bytes() == (
        tmp_path / "again/dhfr-receptor.pdb"
    ).read_bytes()
    moved.rename(kept)
    with pytest.raises(InputError, match="contains results already"):
        dock(pocket, "CCO", folder=kept)


def test_other_threads_can_print_meanwhile(
    pocket: Pocket,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    seen, ours = [], sys.stdout
    monkeypatch.setattr(report, "page_of", lambda *facts: str(seen.append(sys.stdout)))
    dock(pocket, "CCO ethanol", settings=FAST, folder=tmp_path / "out")
    assert seen == [ours]
    assert capsys.readouterr().out == ""


def test_results_are_replaced_only_by_new_ones(pocket: Pocket, tmp_path: Path) -> None:
    dock(pocket, "CCO", settings=FAST, folder=tmp_path / "out")
    before = (tmp_path / "out/hits.sdf").read_bytes()
    assert not dock(pocket, "[Na+]", settings=FAST, folder=tmp_path / "out", overwrite=True)
    assert (tmp_path / "out/hits.sdf").read_bytes() == before
    assert len(dock(pocket, "CCCO", settings=FAST, folder=tmp_path / "out", overwrite=True)) == 1
    assert (tmp_path / "out/hits.sdf").read_bytes() != before


def test_results_stay_where_new_ones_cannot_be_written(pocket: Pocket, tmp_path: Path) -> None:
    def interrupted(stage: str) -> None:
        if stage == "export":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dock(pocket, "CCO", settings=FAST, folder=tmp_path / "out", watch=interrupted)
    assert not (tmp_path / "out").exists()
    dock(pocket, "CCO", settings=FAST, folder=tmp_path / "out")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(KeyboardInterrupt):
        dock(
            pocket, "CCCO", settings=FAST, folder=tmp_path / "out", overwrite=True,
            watch=interrupted,
        )  # fmt: skip
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_files_of_users_are_not_replaced_unasked(pocket: Pocket, tmp_path: Path) -> None:
    mine = tmp_path / "hits.csv"
    mine.write_text("mine")
    said = r"contains hits\.csv already; name another folder, or give overwrite=True"
    with pytest.raises(InputError, match=said):
        dock(pocket, "CCO", settings=FAST, folder=tmp_path)
    assert mine.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["hits.csv"]
    notes = tmp_path / "hits-reference.notes"
    notes.write_text("mine")
    assert len(dock(pocket, "CCO", settings=FAST, folder=tmp_path, overwrite=True)) == 1
    assert mine.read_text() != "mine"
    assert notes.read_text() == "mine"


def test_a_campaign_is_never_overwritten(pocket: Pocket, tmp_path: Path) -> None:
    (tmp_path / "results/pockets").mkdir(parents=True)
    for asked in (False, True):
        with pytest.raises(InputError, match=r"is not of ligen dock; name another folder$"):
            dock(pocket, "CCO", folder=tmp_path, overwrite=asked)
    assert (tmp_path / "results/pockets").exists()


def test_molecules_of_a_kind_are_docked_together(tmp_path: Path) -> None:
    """Each library is docked for itself: mixed ones were as many libraries as molecules."""
    placed = Chem.AddHs(Chem.MolFromSmiles("CCO"))
    AllChem.EmbedMolecule(placed, randomSeed=1)
    sources, failures = sources_of(["CCO", placed, "CCN", placed, "CCC"], tmp_path)
    assert not failures
    assert {name: (one.file.name, one.places) for name, one in sources.items()} == {
        "given": ("given.csv", {2: 0, 3: 2, 4: 4}),
        "given-2": ("given-2.sdf", {1: 1, 1 + len(Chem.MolToMolBlock(placed).splitlines()) + 1: 3}),
    }
    lines = (tmp_path / "given-2.sdf").read_text().splitlines()
    places = [number for number, line in enumerate(lines, 1) if line == "CCO"]
    assert places == list(sources["given-2"].places)


def test_too_many_molecules_for_one_line_are_a_sentence(
    pocket: Pocket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docking, "EVERY", 3)
    (tmp_path / "many.smi").write_text("CCO ethanol\n" * 100)
    with pytest.raises(InputError, match="there are more than 3 molecules; write a config file"):
        dock(pocket, tmp_path / "many.smi")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"parse": None}, "settings: parse: give its keys with values, not None"),
        ({"aggregate": {"top_poses": 1}}, "settings: aggregate.top_poses"),
    ],
)
def test_settings_that_cannot_be_are_sentences(
    pocket: Pocket, settings: Any, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        dock(pocket, "CCO", settings=settings)


def test_hits_are_the_same_in_another_process(mixed: Hits) -> None:
    items = mixed[1].pose.GetPropsAsDict()
    assert items
    sent = pickle.loads(pickle.dumps(mixed))
    assert sent[1].pose.GetPropsAsDict() == items
    assert list(sent) == list(mixed)
    assert mixed.index(sent[1]) == 1
    assert len({*mixed, *sent}) == len(mixed)


def test_hits_are_a_sequence(library_hits: Hits) -> None:
    assert len(library_hits) == 5
    assert [hit.rank for hit in library_hits] == [1, 2, 3, 4, 5]
    assert library_hits[-1] is list(library_hits)[4]
    assert [hit.rank for hit in library_hits[1:3]] == [2, 3]
    first = library_hits[0]
    assert set(first.terms) >= {"vina.total", "vina.affinity", "ad4.total", "xscore.total"}
    assert first.terms["vina.total"] == -first.terms["vina.affinity"]
    assert library_hits.functions == ["vina", "ad4", "xscore"]


def test_poses_are_ordered_and_the_first_is_the_best(library_hits: Hits) -> None:
    for hit in library_hits:
        energies = [float(pose.GetProp("energy")) for pose in hit.poses]
        assert energies == sorted(energies)
        assert 1 <= len(energies) <= 3
        assert hit.pose is hit.poses[0]


def test_files_and_frame_say_the_same(library_hits: Hits, tmp_path: Path) -> None:
    library_hits.to_sdf(tmp_path / "hits.sdf")
    library_hits.to_csv(tmp_path / "hits.csv")
    library_hits.to_parquet(tmp_path / "hits.parquet")
    mols = list(Chem.SDMolSupplier(str(tmp_path / "hits.sdf"), removeHs=False))
    assert len(mols) == sum(len(hit.poses) for hit in library_hits)
    with (tmp_path / "hits.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    table = pyarrow.parquet.read_table(tmp_path / "hits.parquet").to_pylist()
    best = [mol for mol in mols if mol.GetProp("pose") == "1"]
    for hit, row, other, mol in zip(library_hits, rows, table, best, strict=True):
        assert float(row["score"]) == other["score"] == hit.score == float(mol.GetProp("score"))
        assert row["name"] == other["name"] == hit.name == mol.GetProp("_Name")
        assert float(row["vina.total"]) == hit.terms["vina.total"] == other["vina.total"]
    pandas = pytest.importorskip("pandas")
    frame = library_hits.frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == [*rows[0], "pose"]
    assert frame["rank"].tolist() == [1, 2, 3, 4, 5]
    assert frame["score"].tolist() == [hit.score for hit in library_hits]
    assert frame["pose"][0].GetNumConformers() == 1


def test_a_frame_needs_pandas(library_hits: Hits, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        library_hits.frame()


def test_hits_are_printed_as_a_table(library_hits: Hits) -> None:
    text = repr(library_hits)
    assert text.startswith("<Hits: 5 molecules, 2 failures>")
    assert all(hit.name in text for hit in library_hits)
    assert "more" not in text
    assert text.endswith(
        "\n  larger is better; vina, ad4: kcal/mol with the sign reversed; xscore: pKd"
    )
    head, first, second, more, _ = library_hits.table(2, 20).splitlines()
    assert head.startswith("  rank  score  vina")
    assert len(head) == len(first) == len(second) == 20
    assert more == "  and 3 more"
    assert repr(Hits([], [], [], ["vina"], None, None)) == "<Hits: 0 molecules>"
