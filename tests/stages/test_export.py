"""Export: what other programs read back, whatever the names hold."""

import csv
import io
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import gemmi
import numpy as np
import pyarrow.parquet
import pytest
from rdkit import Chem

from ligen_py import aggregate, export
from ligen_py.records.functions.ad4 import Ad4Type
from ligen_py.store.campaign import kept_poses
from ligen_py.store.campaign.manifest import PartFiles
from ligen_py.store.campaign.reader import TargetReader
from ligen_py.store.files import read as reading
from ligen_py.summary import molecule as summary
from ligen_py.summary.scripts import Scene, chimerax
from tests import pdbqt
from tests.edited import edited
from tests.placed import started
from tests.stages.factory import (
    POSES,
    Molecule,
    copied,
    merged,
    prepared,
    receptor,
    write_manifest,
    write_part,
)
from tests.with_meeko import PDBQTMolecule, RDKitMolCreate

NAMES = [
    'quote " comma , slash / and \\',
    "=HYPERLINK(1)",
    "  @sum",
    "-5'-deoxy",
    "line\nbreak\r\n$$$$\n> <x>",
    "long " * 2000,
    "分子 naïve",
    "../../name",
    "same",
    "same",
]
SMILES = ["CCO", "CC[NH3+]", "CC(=O)[O-]", "c1ccncc1", "C[C@H](N)C(=O)O", "FC=CF", "CCS", "C#N",
          "O=C1CCCN1", "c1ccc2[nH]ccc2c1"]  # fmt: skip
EXTRA = {0: '{"price": "-12.5", "rank": "7", "a<b>\\nc": "=SUM(A1)\\nx"}', 2: '{"cas": "50-00-0"}'}
MOLECULES = [
    Molecule(name, smiles, 9.0 - 0.5 * i, extra=EXTRA.get(i, ""))
    for i, (name, smiles) in enumerate(zip(NAMES, SMILES, strict=True))
]

MINUS = Molecule("-minus", "CCO", 1.0)


pytestmark = pytest.mark.usefixtures("one_core")


@pytest.fixture(scope="module")
def aggregated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[PartFiles]]:
    """A campaign and its parts, made once; what a test gets is a copy, which it may change."""
    folder = tmp_path_factory.mktemp("aggregated")
    parts = [write_part(folder, target, "lib", "1-of-1", MOLECULES) for target in ("a", "b")]
    manifest, output = write_manifest(folder / "manifest.tsv", parts), folder / "campaign.h5"
    flags = ["--manifest", str(manifest), "--output", str(output), "--quiet"]
    assert aggregate.main([*flags, "--top-poses", "10"]) == 0
    return output, parts


@pytest.fixture
def campaign(aggregated: tuple[Path, list[PartFiles]], tmp_path: Path) -> Path:
    made, parts = aggregated
    write_manifest(tmp_path / "manifest.tsv", copied(parts, made.parent, tmp_path))
    return tmp_path / made.name


def run(campaign: Path, *flags: str) -> int:
    folder = campaign.parent / "export"
    return export.main([str(campaign), "--output", str(folder), "--quiet", *flags])


def table(campaign: Path) -> list[dict[str, str]]:
    text = (campaign.parent / "export/a.csv").read_text(encoding="utf-8")
    assert text.count("\n") == 1 + len(MOLECULES)
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize(
    ("kind", "flags"),
    [
        ("pockets", []),
        ("scores", ["--poses", "2"]),
        ("refined", ["--pose", "a", NAMES[0], "20"]),
    ],
)
def test_parts_that_were_made_anew_are_not_mixed_with_an_old_campaign(
    campaign: Path, kind: str, flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (file,) = (campaign.parent / kind).rglob("a*.h5" if kind == "pockets" else "a/lib/1-of-1.h5")
    with edited(file) as opened:
        opened.attrs["settings"] = "{}"
    assert run(campaign, *flags) == 1
    said = capsys.readouterr().err
    assert f"{file}: is not the file that the campaign was made from; run 'ligen run" in said


def test_sdf_and_csv_say_the_same(campaign: Path) -> None:
    assert run(campaign) == 0
    files = sorted(path.name for path in (campaign.parent / "export").glob("[!.]*"))
    endings = ("-receptor.pdb", ".csv", ".cxc", ".parquet", ".pml", ".sdf")
    assert files == [f"{target}{ending}" for target in "ab" for ending in endings]
    rows = table(campaign)
    mols = list(Chem.SDMolSupplier(str(campaign.parent / "export/a.sdf"), removeHs=False))
    assert len(mols) == len(rows) == 10
    for i, (row, mol, molecule) in enumerate(zip(rows, mols, MOLECULES, strict=True)):
        assert Chem.CanonSmiles(row["smiles"]) == Chem.CanonSmiles(molecule.smiles)
        assert row["smiles"] == mol.GetProp("smiles")
        bare = Chem.RemoveHs(mol)
        Chem.RemoveStereochemistry(bare)
        assert Chem.MolToSmiles(bare) == Chem.CanonSmiles(row["smiles"], useChiral=0)
        assert mol.GetNumAtoms() == Chem.AddHs(Chem.MolFromSmiles(molecule.smiles)).GetNumAtoms()
        assert row["rank"] == mol.GetProp("rank") == str(i + 1)
        assert float(row["score"]) == float(mol.GetProp("score")) == molecule.score
        assert float(row["xscore.half"]) == float(mol.GetProp("xscore.half")) == molecule.score / 2
        assert (row["library"], row["line"]) == ("lib", str(i + 1))
        assert (mol.GetProp("target"), mol.GetProp("restart")) == ("a", "20")
        assert len(mol.GetProp("key")) == 32


def test_columns_of_the_input_stand_beside_the_scores(campaign: Path) -> None:
    assert run(campaign) == 0
    rows = table(campaign)
    assert list(rows[0])[-4:] == ["price", "input.rank", "a(b) c", "cas"]
    assert [rows[0][name] for name in ("rank", "input.rank", "price", "cas")] == [
        "1",
        "7",
        "-12.5",
        "",
    ]
    assert rows[0]["a(b) c"] == "'=SUM(A1) x"
    assert (rows[2]["cas"], rows[2]["file"]) == ("50-00-0", "lib.smi")
    mols = list(Chem.SDMolSupplier(str(campaign.parent / "export/a.sdf")))
    assert mols[0].GetProp("a(b) c") == "=SUM(A1) x"
    assert mols[2].GetProp("cas") == "50-00-0"
    assert not mols[1].HasProp("price")


def test_an_exported_table_may_be_a_library_again(tmp_path: Path) -> None:
    given = {"score": "1", "input.score": "2", "chosen_by": "3", "energy": "4", "network.pose": "5"}
    molecules = [Molecule("a", "CCO", 1.0, extra=json.dumps(given))]
    manifest = tmp_path / "manifest.tsv"
    write_manifest(manifest, [write_part(tmp_path, "a", "lib", "1-of-1", molecules)])
    output = tmp_path / "campaign.h5"
    assert aggregate.main(["--manifest", str(manifest), "--output", str(output), "--quiet"]) == 0
    assert run(output) == 0
    row = next(csv.DictReader((tmp_path / "export/a.csv").open(encoding="utf-8")))
    (mol,) = Chem.SDMolSupplier(str(tmp_path / "export/a.sdf"))
    for name, value in given.items():
        assert row[f"input.{name}"] == mol.GetProp(f"input.{name}") == value


def test_parquet_has_the_table_with_numbers_as_numbers(campaign: Path) -> None:
    assert run(campaign) == 0
    found = pyarrow.parquet.read_table(campaign.parent / "export/a.parquet").to_pylist()
    rows = table(campaign)
    assert list(found[0]) == list(rows[0])
    for mine, row in zip(found, rows, strict=True):
        assert (mine["rank"], mine["line"]) == (int(row["rank"]), int(row["line"]))
        assert mine["score"] == float(row["score"])
        assert mine["xscore.half"] == float(row["xscore.half"])
    assert [one["name"] for one in found] == NAMES
    assert (found[0]["price"], found[0]["a(b) c"]) == ("-12.5", "=SUM(A1)\nx")
    assert found[1]["price"] is None


def test_the_receptor_is_written_as_it_was_prepared(campaign: Path) -> None:
    assert run(campaign) == 0
    [model] = gemmi.read_structure(str(campaign.parent / "export/a-receptor.pdb"))
    common, _, _, charged = receptor()
    atoms = [atom for chain in model for residue in chain for atom in residue]
    heavy = [atom for atom in atoms if atom.element.name != "H"]
    hydrogens = [atom for atom in atoms if atom.element.name == "H"]
    assert np.allclose([atom.pos.tolist() for atom in heavy], common.xyz, atol=6e-4)
    assert [atom.name for atom in heavy] == [label.split("/")[3] for label in common.label]
    places = charged.xyz[charged.type == Ad4Type.HD]
    written = np.array([atom.pos.tolist() for atom in hydrogens])
    apart = np.linalg.norm(written[:, None] - places, axis=2)
    assert len(written) == len(places)
    assert apart.min(axis=0).max() < 1e-3
    lysine = next(r for chain in model for r in chain if r.name == "LYS" and "HZ1" in r)
    assert {"NZ", "HZ1", "HZ2", "HZ3"} <= {atom.name for atom in lysine}


def test_more_poses_stand_best_first(campaign: Path) -> None:
    assert run(campaign) == 0
    best = list(Chem.SDMolSupplier(str(campaign.parent / "export/a.sdf"), removeHs=False))
    assert run(campaign, "--poses", "2") == 0
    mols = list(Chem.SDMolSupplier(str(campaign.parent / "export/a.sdf"), removeHs=False))
    assert len(mols) == 2 * len(best)
    for i, first in enumerate(best):
        one, two = mols[2 * i : 2 * i + 2]
        assert [mol.GetProp("pose") for mol in (one, two)] == ["1", "2"]
        assert np.array_equal(
            one.GetConformer().GetPositions(), first.GetConformer().GetPositions()
        )
        assert not np.allclose(one.GetConformer().GetPositions(), two.GetConformer().GetPositions())
        assert one.GetProp("restart") == first.GetProp("restart") == "20"
        assert float(two.GetProp("xscore.total")) == MOLECULES[i].score - 1
        assert float(one.GetProp("energy")) < float(two.GetProp("energy"))
        assert one.GetProp("score") == two.GetProp("score") == first.GetProp("score")
    assert len(table(campaign)) == len(best)
    assert run(campaign, "--poses", "9", "--count", "1") == 0
    assert len(Chem.SDMolSupplier(str(campaign.parent / "export/a.sdf"))) == POSES


def test_each_ligands_file_is_opened_twice_for_more_poses_whatever_the_number_of_molecules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Best first, molecules come from any chunk in turn, and each opening hashes a whole file."""
    parts = [
        write_part(tmp_path, "a", "lib", f"{k + 1}-of-3", MOLECULES[k::3], first_line=1 + 10 * k)
        for k in range(3)
    ]
    table, campaign = write_manifest(tmp_path / "manifest.tsv", parts), tmp_path / "campaign.h5"
    assert aggregate.main(["--manifest", str(table), "--output", str(campaign), "--quiet"]) == 0
    opened, plain = [], reading._opened

    def counted(path: Path, *given: Any) -> Any:
        opened.append(path)
        return plain(path, *given)

    monkeypatch.setattr(reading, "_opened", counted)
    assert run(campaign, "--poses", "2") == 0
    mols = Chem.SDMolSupplier(str(tmp_path / "export/a.sdf"))
    assert [mol.GetProp("_Name") for mol in mols][:6:2] == NAMES[:3]
    for part in parts:  # once to find the molecules, once for their poses
        assert opened.count(part.ligands) == 2
    written = (tmp_path / "export/a.sdf").read_bytes()
    monkeypatch.setattr(kept_poses, "PIECE", 6)
    assert run(campaign, "--poses", "2") == 0
    assert (tmp_path / "export/a.sdf").read_bytes() == written


def test_duplicates_are_read_once_for_all_files(
    campaign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, plain = [], TargetReader.others

    def counted(self: TargetReader, rows: np.ndarray) -> dict[int, list[str]]:
        asked.append(self.name)
        return plain(self, rows)

    monkeypatch.setattr(TargetReader, "others", counted)
    monkeypatch.setattr(summary, "PIECE", 3)
    assert run(campaign) == 0
    assert asked == ["a", "b"]


def test_pdbqt_is_a_file_a_pose(campaign: Path) -> None:
    assert run(campaign, "--pdbqt", "--count", "3") == 0
    folder = campaign.parent / "export"
    names = sorted(path.name for path in (folder / "a-pdbqt").iterdir())
    assert names == ["1-quote_comma_slash_and.pdbqt", "2-HYPERLINK_1.pdbqt", "3-sum.pdbqt"]
    for name, mol in zip(names, Chem.SDMolSupplier(str(folder / "a.sdf")), strict=True):
        [found] = RDKitMolCreate.from_pdbqt_mol(
            PDBQTMolecule((folder / "a-pdbqt" / name).read_text(), skip_typing=True)
        )
        assert Chem.MolToSmiles(Chem.RemoveHs(found)) == Chem.MolToSmiles(mol)
    seen, (common, _, _, charged) = pdbqt.read(folder / "a-receptor.pdbqt"), receptor()
    heavy = [i for i, kind in enumerate(seen.kind) if kind != "HD"]
    assert np.allclose(seen.xyz[heavy], common.xyz, atol=6e-4)
    assert seen.ad4_types()[heavy].tolist() == charged.type[: len(heavy)].tolist()
    assert seen.charge[heavy].tolist() == pytest.approx(
        charged.partial_charge[: len(heavy)], abs=6e-4
    )
    assert len(seen.kind) == len(charged.xyz)
    assert run(campaign, "--pdbqt", "--poses", "2", "--count", "1") == 0
    assert (folder / "a-pdbqt" / "1-quote_comma_slash_and-2.pdbqt").is_file()


def test_the_scripts_open_what_is_there(campaign: Path) -> None:
    assert run(campaign) == 0
    folder = campaign.parent / "export"
    for script in ("a.pml", "a.cxc"):
        text = (folder / script).read_text()
        opened = set(re.findall(r"[\w.-]+\.(?:pdb|sdf)", text))
        assert opened == {"a-receptor.pdb", "a.sdf"}
        assert str(folder) not in text
    assert run(campaign, "--count", "2", "--poses", "3") == 0
    assert len(list(Chem.SDMolSupplier(str(folder / "a.sdf")))) == 6
    assert "hide #2.2-6 models" in (folder / "a.cxc").read_text().splitlines()


@pytest.mark.parametrize("ending", ["pdb", "mol2"])
def test_the_scripts_open_a_reference_that_is_no_control(tmp_path: Path, ending: str) -> None:
    crystal = tmp_path / f"crystal.{ending}"
    crystal.write_text("as it was given\n")
    part = replace(write_part(tmp_path, "a", "lib", "1-of-1", MOLECULES), crystal=crystal)
    write_manifest(tmp_path / "manifest.tsv", [part])
    campaign = tmp_path / "campaign.h5"
    flags = ["--manifest", str(tmp_path / "manifest.tsv"), "--output", str(campaign), "--quiet"]
    assert aggregate.main([*flags, "--top-poses", "10"]) == 0
    assert run(campaign) == 0
    shown = f"a-reference.{ending}"
    assert (tmp_path / "export" / shown).read_text() == crystal.read_text()
    for script in ("a.pml", "a.cxc"):
        assert shown in (tmp_path / "export" / script).read_text()


SPEC = r"#\d+(?:\.\d+)?(?:-\d+)?"
"""Models in ChimeraX, such as #3 or #3.2-20."""

FORMS = [
    r'open "[\w.-]+"(?: name \w+)?',
    rf"(?:hide|show) (?:{SPEC}|\({SPEC} :< \d+\) & {SPEC}) (?:atoms|models)",
    rf"cartoon {SPEC}",
    rf"color (?:{SPEC} )?(?:lightgray|khaki|byhetero)",
    rf"style {SPEC} stick",
    rf"hbonds {SPEC} restrict (?:cross|both|any|{SPEC})",
    rf"view {SPEC}",
]
"""Commands of ChimeraX in the forms of its user guide (rbvi.ucsf.edu/chimerax/docs/user)."""


def test_the_script_of_chimerax_has_documented_commands_only() -> None:
    scene = Scene("t", ["a-receptor.pdb"], "a.sdf", 20)
    several = Scene("t", ["a.pdb", "b.pdb"], "a.sdf", 1, "r.sdf")
    judged = replace(several, networks="a-network.sdf")
    for one in (scene, scene.with_reference("a-reference.sdf"), several, judged):
        title, *commands = chimerax(one).splitlines()
        assert title.startswith("#")
        for command in commands:
            assert any(re.fullmatch(form, command) for form in FORMS), command
    # The networks' poses are the model behind the hits, and are not shown at first.
    shown = chimerax(judged).splitlines()
    place = shown.index('open "a-network.sdf"')
    assert shown[place + 1 : place + 3] == ["style #5 stick", "hide #5 models"]


@pytest.mark.skipif(shutil.which("pymol") is None, reason="needs PyMOL (Debian: pymol)")
def test_the_script_of_pymol_runs_in_it(campaign: Path) -> None:
    assert run(campaign) == 0
    folder = campaign.parent / "export"
    asked = "print('found', cmd.get_names('all'), cmd.count_states('hits'))"
    words = ["pymol", "-c", "-q", "-k", str(folder / "a.pml"), "-d", asked]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=campaign.parent)
    assert f"found ['receptor', 'hits', 'site', 'contacts'] {len(MOLECULES)}" in done.stdout
    assert "Error" not in done.stdout + done.stderr


@pytest.mark.parametrize("gone", ["manifest.tsv", "ligands/lib/1-of-1.h5"])
def test_without_the_other_files_of_the_campaign_only_the_hits_are_written(
    campaign: Path, capsys: pytest.CaptureFixture[str], gone: str
) -> None:
    (campaign.parent / gone).unlink()
    assert run(campaign) == 0
    assert "receptor and scripts are left out" in capsys.readouterr().err
    files = sorted(path.name for path in (campaign.parent / "export").glob("[!.]*"))
    assert files == ["a.csv", "a.parquet", "a.sdf", "b.csv", "b.parquet", "b.sdf"]
    for flags in (("--poses", "2"), ("--pdbqt",)):
        assert run(campaign, *flags) == 1
        assert "manifest.tsv" in capsys.readouterr().err


def test_what_is_gone_is_named_and_all_else_is_written(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ended with the system's words alone, and with nothing written."""
    pocket, refined = (campaign.parent / f"{p}.h5" for p in ("pockets/b", "refined/b/lib/1-of-1"))
    refined.unlink()
    assert run(campaign, "--poses", "2") == 1
    said = f"{refined}: does not exist; 'ligen run CONFIG' makes it again\n"
    assert capsys.readouterr().err.endswith(said)
    pocket.unlink()
    assert run(campaign) == 0
    said = f"{pocket}: does not exist; receptor and scripts of b are left out; 'ligen run CONFIG' "
    assert capsys.readouterr().err.startswith(said)
    files = sorted(path.name for path in (campaign.parent / "export").glob("[!.]*"))
    assert files[-3:] == ["b.csv", "b.parquet", "b.sdf"]
    assert "a-receptor.pdb" in files
    assert len(files) == 9


def test_without_the_reference_ligand_only_that_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crystal = tmp_path / "crystal.pdb"
    crystal.write_text("as it was given\n")
    part = replace(write_part(tmp_path, "a", "lib", "1-of-1", MOLECULES), crystal=crystal)
    campaign = merged(tmp_path, [part])
    crystal.unlink()
    capsys.readouterr()  # aggregate says that it cannot show it
    assert run(campaign, "--poses", "2") == 0
    said = f"{crystal}: does not exist; the reference ligand is left out; put it back\n"
    assert capsys.readouterr().err == said
    assert "reference" not in (tmp_path / "export/a.pml").read_text()
    assert run(campaign, "--pose", "a", NAMES[0], "20") == 0
    assert run(campaign, "--manifest", str(tmp_path / "manifest.tsv")) == 1


@pytest.mark.parametrize("gone", [None, "pockets/a.h5", "manifest.tsv"])
@pytest.mark.parametrize("flags", [[], ["--list"]])
def test_the_last_copy_of_the_reference_ligand_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], gone: str | None, flags: list[str]
) -> None:
    """It was deleted by the export that said that the file itself is gone."""
    crystal, copy = tmp_path / "crystal.pdb", tmp_path / "export/a-reference.pdb"
    crystal.write_text("as it was given\n")
    part = replace(write_part(tmp_path, "a", "lib", "1-of-1", [MINUS]), crystal=crystal)
    campaign = merged(tmp_path, [part])
    lists = [*flags, str(copy.parent / ".exported")] if flags else []
    assert run(campaign, *lists) == 0
    crystal.unlink()
    if gone:
        (tmp_path / gone).unlink()
    for _ in range(2):
        assert run(campaign, *lists) == 0
        assert copy.read_text() == "as it was given\n"
        said = capsys.readouterr().err
        words = f"put it back (copy of an earlier export: {copy})\n"
        assert (words in said) == (gone != "manifest.tsv")
    if gone is None:  # with the source again, and of another kind, the copy is replaced
        crystal = tmp_path / "crystal.mol2"
        crystal.write_text("in another form\n")
        part = replace(part, crystal=crystal)
        assert run(merged(tmp_path, [part]), *lists) == 0
        assert not copy.exists()
        assert copy.with_suffix(".mol2").read_text() == "in another form\n"


def test_a_reference_ligand_that_was_exported_once_is_not_deleted(tmp_path: Path) -> None:
    """Of a campaign that names the copy as its reference ligand."""
    crystal = tmp_path / "export/a-reference.pdb"
    crystal.parent.mkdir()
    crystal.write_text("precious\n")
    (crystal.parent / ".exported").write_text(f"{crystal.name}\n")
    part = replace(write_part(tmp_path, "a", "lib", "1-of-1", [MINUS]), crystal=crystal)
    campaign = merged(tmp_path, [part])
    (tmp_path / "pockets/a.h5").unlink()
    for lists in ([], ["--list", str(crystal.parent / ".exported")]):
        assert run(campaign, *lists) == 0
        assert crystal.read_text() == "precious\n"


def test_a_new_export_takes_the_place_of_the_earlier_one(
    campaign: Path, aggregated: tuple[Path, list[PartFiles]], tmp_path: Path
) -> None:
    """Poses, receptors and scripts of the earlier one stayed beside hits that they do not fit."""
    folder = campaign.parent / "export"
    assert run(campaign, "--pdbqt", "--poses", "2") == 0
    mine = [folder / "a-pdbqt/01-mine_out.pdbqt", folder / "a-receptor-mine.pdb"]
    for path in mine:
        path.write_text("precious")
    other = merged(tmp_path / "other", [write_part(tmp_path / "other", "c", "lib", "1-of-1", [])])
    words = ["--output", str(folder), "--quiet"]
    assert export.main([str(other), *words]) == 0
    (campaign.parent / "pockets/a.h5").unlink()
    assert run(campaign, "--count", "2") == 0
    kept = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert {name for name in kept if name[0] == "a"} == {
        *(f"a.{ending}" for ending in ("csv", "parquet", "sdf")),
        *(str(path.relative_to(folder)) for path in mine),
    }
    assert {"b.pml", "c.sdf", "c-receptor.pdb"} <= kept
    assert not any(name.startswith("b-pdbqt") for name in kept)
    # What the workflow listed, too.
    (folder / ".exported").write_text("a-network.sdf\nc-network.sdf\n../a-network.sdf\n")
    for path in (folder / "a-network.sdf", folder / "c-network.sdf"):
        path.write_text("old")
    before = (folder / ".exported").stat().st_mtime_ns
    assert run(campaign, "--count", "2") == 0
    assert not (folder / "a-network.sdf").exists()
    assert (folder / "c-network.sdf").exists()
    assert (folder / ".exported").stat().st_mtime_ns == before


def test_files_of_a_target_whose_name_goes_on_are_left_alone(
    campaign: Path, tmp_path: Path
) -> None:
    words = ["--output", str(campaign.parent / "export"), "--quiet"]
    for target in ("a-network", "a-receptor", "a-reference"):
        folder = tmp_path / target
        other = merged(folder, [write_part(folder, target, "lib", "1-of-1", [MINUS])])
        assert export.main([str(other), *words]) == 0
    before = {path.name for path in (campaign.parent / "export").glob("[!.]*")}
    assert len(before) == 18
    for _ in range(2):
        assert run(campaign) == 0
        after = {path.name for path in (campaign.parent / "export").glob("[!.]*")}
        assert before <= after
        assert len(after - before) == 12


@pytest.mark.parametrize("name", [".exported-by-hand", ".exported"])
def test_a_damaged_list_of_what_was_written_is_read_as_far_as_it_goes(
    campaign: Path, name: str
) -> None:
    folder = campaign.parent / "export"
    folder.mkdir()
    (folder / "a-network.sdf").write_text("old")
    (folder / name).write_bytes(b"a-network.sdf\na-refer\xff.sdf\na-reference.\0\0\n\xc3")
    for _ in range(2):
        assert run(campaign, "--list", str(folder / ".exported")) == 0
    assert run(campaign) == 0
    assert not (folder / "a-network.sdf").exists()
    assert len(list(folder.glob("[!.]*"))) == 12


def test_names_are_told_on_one_line_and_no_cell_is_a_formula(campaign: Path) -> None:
    assert run(campaign) == 0
    names = [row["name"] for row in table(campaign)]
    assert names[0] == NAMES[0]
    assert names[1:4] == ["'=HYPERLINK(1)", "  '@sum", "'-5'-deoxy"]
    assert names[4] == "line break  $$$$ > <x>"
    assert names[5:] == NAMES[5:]
    mols = list(Chem.SDMolSupplier(str(campaign.parent / "export/a.sdf")))
    assert mols[1].GetProp("name") == mols[1].GetProp("_Name") == "=HYPERLINK(1)"
    assert mols[5].GetProp("name") == NAMES[5]


def test_only_the_best_are_written(campaign: Path) -> None:
    assert run(campaign, "--count", "2") == 0
    supplier = Chem.SDMolSupplier(str(campaign.parent / "export/a.sdf"))
    assert [mol.GetProp("_Name") for mol in supplier] == NAMES[:2]


def test_other_files_in_the_folder_are_left_alone(campaign: Path) -> None:
    folder = campaign.parent / "export"
    folder.mkdir()
    (folder / "mine.txt").write_text("precious")
    (folder / "a.csv").write_text("old")
    assert run(campaign) == 0
    assert (folder / "mine.txt").read_text() == "precious"
    assert len(table(campaign)) == 10
    assert len(list(folder.glob("[!.]*"))) == 13


def test_a_reference_ligand_of_the_targets_name_is_not_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crystal = tmp_path / "a.sdf"
    crystal.write_text(Chem.MolToMolBlock(started(prepared("CCO").states[0].shape)))
    before = crystal.read_bytes()
    parts = [
        write_part(tmp_path, "a", "lib", "1-of-1", MOLECULES),
        write_part(
            tmp_path, "a", "control-a", "1-of-1", [Molecule("R", "CCO", 8.5)], crystal=crystal
        ),
    ]
    manifest = write_manifest(tmp_path / "manifest.tsv", parts)
    campaign = tmp_path / "campaign.h5"
    assert aggregate.main(["--manifest", str(manifest), "--output", str(campaign), "--quiet"]) == 0
    assert export.main(["--campaign", str(campaign), "--output", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert f"{crystal}: is a reference ligand of the campaign, and would be replaced; name" in said
    assert crystal.read_bytes() == before
    assert not (tmp_path / "a.csv").exists()


def test_equal_runs_write_equal_bytes(campaign: Path) -> None:
    found = []
    for _ in range(2):
        assert run(campaign) == 0
        found.append([p.read_bytes() for p in sorted((campaign.parent / "export").iterdir())])
    assert found[0] == found[1]


def test_more_poses_than_the_campaign_holds_is_a_sentence(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--manifest", str(campaign.parent / "manifest.tsv"), "--output", str(campaign)]
    assert aggregate.main([*flags, "--top-poses", "4", "--quiet"]) == 0
    assert run(campaign, "--count", "5") == 1
    said = capsys.readouterr().err
    assert "contains 4 poses of target a, fewer than the 5 asked for" in said
    assert "a larger aggregate.top_poses and run again" in said
    assert not (campaign.parent / "export").exists()
    # Unasked, as many as there are.
    assert run(campaign) == 0
    assert len(list(Chem.SDMolSupplier(str(campaign.parent / "export" / "a.sdf")))) == 4


def test_a_campaign_of_another_manifest_is_a_sentence(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = campaign.parent / "manifest.tsv"
    assert run(campaign, "--manifest", str(manifest)) == 0
    head, first, second = manifest.read_text().splitlines()
    manifest.write_text("\n".join([head, second, first]))
    assert run(campaign, "--manifest", str(manifest)) == 1
    assert "was not made from" in capsys.readouterr().err


def test_bad_input_is_a_sentence(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = campaign.parent / "export"
    folder.write_text("a file")
    assert run(campaign) == 1
    assert "is a file; give a folder" in capsys.readouterr().err
    folder.unlink()
    campaign.write_bytes(campaign.read_bytes()[:-1000])
    assert run(campaign) == 1
    assert "campaign.h5: " in capsys.readouterr().err
    assert not folder.exists()
    assert run(campaign.parent / "scores/a/lib/1-of-1.h5") == 1
    assert "contains ligen_py.scores, not ligen_py.campaign" in capsys.readouterr().err


def test_pieces_join_without_a_seam(campaign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for size in (1000, 3):
        monkeypatch.setattr(summary, "PIECE", size)
        assert run(campaign, "--count", "8") == 0
        found.append([p.read_bytes() for p in sorted((campaign.parent / "export").iterdir())])
    assert found[0] == found[1]


def block(record: str) -> list[str]:
    """Atoms and bonds of an SDF record."""
    return record.partition("M  END")[0].splitlines()[3:]


def test_any_pose_is_the_one_that_was_scored(campaign: Path) -> None:
    assert run(campaign) == 0
    best = (campaign.parent / "export/a.sdf").read_text(encoding="utf-8").split("$$$$\n")[0]
    assert run(campaign, "--pose", "a", NAMES[0], "20") == 0
    path = campaign.parent / "export/a-pose.sdf"
    (mol,) = Chem.SDMolSupplier(str(path), removeHs=False)
    assert block(path.read_text()) == block(best)
    assert float(mol.GetProp("xscore.total")) == MOLECULES[0].score
    assert (mol.GetProp("name"), mol.GetProp("restart")) == (NAMES[0], "20")
    assert mol.GetProp("pose") == "refined and scored"
    assert not path.with_suffix(".pdbqt").exists()
    assert run(campaign, "--pose", "a", NAMES[0], "20", "--pdbqt") == 0
    assert run(campaign, "--pdbqt", "--count", "1") == 0
    (one,) = (campaign.parent / "export/a-pdbqt").iterdir()
    atoms, same = (
        [line for line in text.splitlines() if line.startswith(("ATOM", "HETATM"))]
        for text in (path.with_suffix(".pdbqt").read_text(), one.read_text())
    )
    assert atoms == same
    assert run(campaign, "--pose", "a", NAMES[0], "30") == 0
    assert block(path.read_text()) != block(best)
    (mol,) = Chem.SDMolSupplier(str(path))
    assert float(mol.GetProp("xscore.total")) == MOLECULES[0].score - 1


def test_a_name_that_begins_with_a_dash_gets_a_blank_before_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = merged(tmp_path, [write_part(tmp_path, "a", "lib", "1-of-1", [MINUS])])
    with pytest.raises(SystemExit):
        run(campaign, "--pose", "a", MINUS.name, "20")
    said = 'argument --pose: expected 3 arguments; write " -minus", with a blank before it\n'
    assert capsys.readouterr().err.endswith(said)
    assert run(campaign, "--pose", "a", f" {MINUS.name}", "20") == 0
    (mol,) = Chem.SDMolSupplier(str(tmp_path / "export/a-pose.sdf"))
    assert mol.GetProp("name") == MINUS.name


def test_ligands_of_one_name_are_all_reported(campaign: Path) -> None:
    assert run(campaign, "--pose", "b", "same", "10", "--pdbqt") == 0
    assert len(list((campaign.parent / "export").glob("b-pose-*.pdbqt"))) == 2
    mols = list(Chem.SDMolSupplier(str(campaign.parent / "export/b-pose.sdf")))
    assert [mol.GetProp("state") for mol in mols] == ["O=C1CCCN1", "c1ccc2[nH]ccc2c1"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("c", "same", "10"), "contains no target c; it has a, b"),
        (("../a", "same", "10"), "contains no target ../a"),
        (("a", "nobody", "10"), "no ligand of target a is named nobody"),
        (("a", "same", "ten"), "restart ten is not a number"),
    ],
)
def test_a_pose_that_is_not_there_is_a_sentence(
    campaign: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], sentence: str
) -> None:
    assert run(campaign, "--pose", *words) == 1
    assert sentence in capsys.readouterr().err
    assert not list((campaign.parent).rglob("*pose.sdf"))
