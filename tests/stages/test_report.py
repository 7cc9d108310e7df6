"""The report: a table on the terminal and one page, from the campaign file alone."""

import json
import re
import shutil
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import h5py
import numpy as np
import pytest
from rdkit import Chem

from ligen_py import aggregate, report
from ligen_py.engine.scoring.checks import table
from ligen_py.records.ligands import SIMPLER
from ligen_py.records.scores import Check
from ligen_py.settings.campaign import PRESETS, has_networks
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.summary.controls import Bar, Docked, Verdict, choose, document, figures_of
from ligen_py.summary.facts import targets_of
from ligen_py.summary.glossary import NETWORK_EFFORTS
from tests.edited import edited
from tests.placed import started
from tests.stages.factory import BOX, Molecule, merged, prepared, write_manifest, write_part

HOSTILE = "<script>alert(1)</script> & \"x\" 'y' \x1b[31m" + "long " * 300
REFERENCE = "CC(=O)c1ccc(OCC)cc1"


def library() -> list[Molecule]:
    """Twenty molecules scored 20, 19, ... 1, one that cannot be read, one without a score."""
    chains = [
        f"C{'C' * (i % 5)}{'NOS'[i % 3]}C{'O' * (i // 15)}C{'C' * (i // 5)}" for i in range(20)
    ]
    found = [Molecule(f"m{i + 1}", smiles, 20.0 - i) for i, smiles in enumerate(chains)]
    return [*found, Molecule("unread", "C(", None), Molecule("unscored", "CCN=O", None)]


pytestmark = pytest.mark.usefixtures("one_core")


@pytest.fixture(scope="module")
def aggregated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once; what a test gets is a copy of its folder, which it may change."""
    folder = tmp_path_factory.mktemp("aggregated")
    molecules = library()
    molecules[2] = Molecule(HOSTILE, molecules[2].smiles, 18.0)
    crystal = folder / "crystal.sdf"
    mol = started(prepared(REFERENCE).states[0].shape)
    crystal.write_text(Chem.MolToMolBlock(mol))
    reference = [Molecule("REF", REFERENCE, 8.5)]
    parts = [
        write_part(folder, "alpha", "lib", "1-of-1", molecules),
        write_part(folder, "beta", "lib", "1-of-1", molecules),
        write_part(folder, "alpha", "control-alpha", "1-of-1", reference, crystal=crystal),
    ]
    manifest = write_manifest(folder / "manifest.tsv", parts)
    flags = ["--manifest", str(manifest), "--output", str(folder / "campaign.h5"), "--quiet"]
    assert aggregate.main(flags) == 0
    return folder / "campaign.h5"


@pytest.fixture
def campaign(aggregated: Path, tmp_path: Path) -> Path:
    shutil.copytree(aggregated.parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / aggregated.name


def run(campaign: Path, *flags: str) -> int:
    """Report a campaign; few of its hits are analysed, unless the flags ask for more."""
    page = campaign.parent / "report.html"
    words = ["--campaign", str(campaign), "--output", str(page), "--hits", "3"]
    return report.main([*words, *flags])


class Page(HTMLParser):
    """Collects tags, attributes and text; checks that tags close in order."""

    VOID = frozenset({"meta", "br", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_reports_know_the_efforts_with_networks() -> None:
    assert {effort for effort in PRESETS if has_networks(effort)} == NETWORK_EFFORTS


def test_an_effort_that_lacked_its_networks_is_said(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for effort, words in (("thorough", " (without gnina's networks)"), ("standard", "")):
        with edited(campaign) as file:
            file.attrs["effort"] = effort
        assert run(campaign) == 0
        assert f"  effort {effort}{words}; every value" in capsys.readouterr().out
        page = Page((campaign.parent / "report.html").read_text())
        assert f"Effort: {effort}{words}" in page.text


def test_the_table_names_the_best_the_control_the_ledger_and_the_files(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(campaign, "--exported", "results/export") == 0
    said = capsys.readouterr().out
    assert said.count("20 molecules ranked of 22 input records") == 2
    assert re.search(r"^ +1  20\.00 +20\.00  m1 +1  lib$", said, re.MULTILINE)
    assert re.search(r"^ +10  11\.00 +11\.00  m10 +1  lib$", said, re.MULTILINE)
    assert "m11" not in said
    assert re.search(
        r"REF: score 8\.50; best-scored pose \d+\.\d\d Å from the crystal pose, "
        r"nearest of 3 kept poses \d+\.\d\d Å",
        said,
    )
    assert "none: the campaign contains no control of this target" in said
    assert re.search(
        r"^  library  records  scored  rejected  failed  duplicate$", said, re.MULTILINE
    )
    assert re.search(r"^  lib +22 +20 +0 +2 +0$", said, re.MULTILINE)
    assert "failed in parse: unparsable" in said
    assert "failed in score: no finite score" in said
    assert str(campaign) in said
    assert "results/export" in said
    assert "\x1b" not in said
    assert max(map(len, said.splitlines())) < 200


def test_the_page_shows_what_the_controls_showed(campaign: Path) -> None:
    """A verdict in the campaign file is the page's word on the ranking, and a table."""
    folder = campaign.parent
    rng = np.random.default_rng(0)
    labels = np.arange(200) < 25
    docked = Docked(
        "alpha",
        labels,
        {"score": rng.normal(size=200) + 1.5 * labels, "xscore": rng.normal(size=200) + labels},
        {name: rng.normal(size=200) for name in ("heavy", "logp", "states")},
    )
    rows, bars = figures_of([docked]), [Bar("ROC AUC <b>fine</b>", True), Bar("RMSD", False)]
    judged = Verdict(
        "alpha", [], 25, 175, "made up", rows, choose([docked], rows), bars, ["A note."]
    )
    (folder / "controls.json").write_text(json.dumps(document(judged)))
    words = ["--manifest", str(folder / "manifest.tsv"), "--output", str(campaign), "--quiet"]
    assert aggregate.main([*words, "--verdicts", str(folder / "controls.json")]) == 0
    with open_campaign(campaign) as found:
        alpha, beta = targets_of(found, 5, {})
    assert alpha.judged == judged
    assert beta.judged is None
    assert run(campaign) == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    text = unescape(" ".join(re.sub(r"<[^>]*>", " ", page).split()))
    assert "it prefers 25 known actives among 175 decoys (ROC AUC 0." in text
    assert "Before the libraries: failed" in text
    assert "passed: ROC AUC <b>fine</b>" in text
    assert "failed: RMSD" in text
    assert "heavy atoms null ranking" in text
    assert "On molecules that had no part in the choice" in text
    assert "A note." in text


def ranked(folder: Path, *libraries: list[Molecule]) -> Path:
    """A campaign of one target, with these molecules in a library each."""
    parts = [
        write_part(folder, "t", f"lib{number}", "1-of-1", molecules)
        for number, molecules in enumerate(libraries)
    ]
    manifest, output = write_manifest(folder / "m.tsv", parts), folder / "campaign.h5"
    assert aggregate.main(["--manifest", str(manifest), "--output", str(output), "--quiet"]) == 0
    return output


def test_a_group_lists_every_molecule_that_its_figures_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A duplicate of one molecule has the name of another one."""
    one = [Molecule("1", "CCO", 5.0), Molecule("2", "CCCC", 1.0), Molecule("3", "CCCCO", 3.0)]
    output = ranked(tmp_path, one, [Molecule("2", "OCC", 4.0)])
    with open_campaign(output) as opened:
        (target,) = targets_of(opened, 10, {"g": ["2"]})
    (group,) = target.groups
    assert [(one.name, one.rank) for one in group.members] == [("2", 1), ("2", 3)]
    assert group.enrichment is not None
    assert group.enrichment.members == group.molecules == 2
    assert group.names == (1, 1)
    assert run(output, "--groups", '{"g": ["2", "gone"]}') == 0
    assert "Group g: 2 molecules ranked (1 of 2 names)\n" in capsys.readouterr().out
    with edited(output) as file:
        file["targets/t/scored/note"][:] = SIMPLER
    with open_campaign(output) as opened:
        assert opened.target("t").noted(SIMPLER) == 3  # the fourth is a duplicate


def test_hits_are_compared_with_each_of_a_group_that_has_a_name(tmp_path: Path) -> None:
    one = [Molecule("twin", "CCOCCC", 5.0), Molecule("3", "CCCCO", 3.0)]
    output = ranked(tmp_path, one, [Molecule("twin", "CCSCC", 4.0)])
    assert run(output, "--groups", '{"g": ["twin"]}') == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "that each is compared with: twin, twin (2).</p>" in page


def test_groups_are_told_as_measured(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    groups = {
        "good": ["m1", "m2", "m4", "m5", "m20"],
        "bad": ["m18", "m19", "m20", "unread", "unscored", "nobody"],
        "none": ["nobody", "M4", "UNREAD"],
    }
    assert run(campaign, "--groups", json.dumps(groups), "--top", "3") == 0
    said = capsys.readouterr().out
    # Ranks 1, 2, 4, 5, 20 of 20: won pairs 15 + 15 + 14 + 14 + 0 of 75.
    assert "Group good: 5 of 5 members ranked\n  median rank 4 of 20\n  ROC AUC 0.77 (95 %" in said
    size = np.array(
        [Chem.MolFromSmiles(molecule.smiles).GetNumAtoms() for molecule in library()[:20]]
    )
    own, others = size[[0, 1, 3, 4, 19]], np.delete(size, [0, 1, 3, 4, 19])
    fewer = (np.sign(others[:, None] - own).mean() + 1) / 2
    (line,) = re.findall(r"^  by one property alone: (.*)$", said, re.MULTILINE)[:1]
    assert f"few heavy atoms {fewer:.2f}" in line
    assert "many docked states 0.50" in line
    assert "best 5 %: 1 of 1 are members, enrichment 4.0 (at most 4.0; chance is 1)" in said
    assert "best 10 %: 2 of 2 are members, enrichment 4.0 (at most 4.0; chance is 1)" in said
    assert (
        "Group bad: 3 of 6 members ranked\n  median rank 19 of 20\n  ROC AUC 0.00 (too few" in said
    )
    assert "enrichment 0.0" in said
    assert "With 3 members one molecule more or less changes these figures." in said
    assert "unread (failed: SMILES Parse Error" in said
    assert "unscored (failed: no pose has a finite score)" in said
    assert "nobody (not in a library)" in said
    assert "M4 (not in a library under this name; did you mean m4?)" in said
    assert "UNREAD (not in a library under this name; did you mean unread?)" in said
    assert "nothing to compare" in said
    page = (campaign.parent / "report.html").read_text(encoding="utf-8")
    assert f"By one property alone: {line}. The range" in " ".join(page.split())
    assert '<dd class="soft">kcal/mol, larger is better' in " ".join(page.split())
    for rank, name in ((1, "m1"), (20, "m20")):
        assert re.search(rf"^ +{rank} +{21 - rank}\.00  {name}$", said, re.MULTILINE)


def test_the_page_stands_alone_and_escapes_names(campaign: Path) -> None:
    groups = json.dumps({"actives": ["m1", "m7", HOSTILE, "gone"]})
    assert run(campaign, "--groups", groups, "--hits", "20") == 0
    text = (campaign.parent / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.tags.count("script") == 4  # data of two targets, two scripts
    assert all(link.startswith("#") for link in page.links)
    assert "http" not in text.replace("http-equiv", "")
    assert page.tags.count("h2") == 5
    words = " ".join(" ".join(page.text).split())
    assert "<script>alert(1)</script> & \"x\" 'y'" in words
    assert "\x1b" not in text
    # Of several targets `pick` wants to know which.
    assert "ligen pick CAMPAIGN --target beta --count 96 --max-per-scaffold 3" in words
    assert "prefers-color-scheme: dark" in text
    for part in (
        *("m10", "REF, docked from scratch", "reasons", "no finite score", "max_num_poses 30"),
        f"receptor and site protein.pdb; {BOX.replace(' A,', ' Å,')}; chain",
        # The radius of the section is not this site's.
        f"Site of alpha: {BOX.replace(' A,', ' Å,')}",
        "radius where a site has none 10.0, spacing",
        "Receptor: A/X/1 lies in the box.",
        "Receptor: is it in its frame?",
        *("REF did not come back", "too few to say", "Virtual screening was done with ligen_py"),
    ):
        assert part in words


def test_equal_runs_write_equal_bytes(campaign: Path) -> None:
    pages = []
    flags = ["--groups", '{"g": ["m1", "m2", "m3", "m4", "m5", "m6"]}', "--hits", "20"]
    for jobs in ("1", "2"):
        assert run(campaign, *flags, "--jobs", jobs) == 0
        pages.append((campaign.parent / "report.html").read_bytes())
    assert pages[0] == pages[1]


def test_a_campaign_in_which_nothing_was_scored_has_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = [write_part(tmp_path, "t", "lib", "1-of-1", [Molecule("cut", "C(", None)])]
    manifest = write_manifest(tmp_path / "m.tsv", parts)
    flags = ["--manifest", str(manifest), "--output", str(tmp_path / "c.h5"), "--quiet"]
    assert aggregate.main(flags) == 0
    assert run(tmp_path / "c.h5", "--groups", '{"g": ["cut"]}') == 0
    assert "t: 0 molecules ranked of 1 input record\n" in capsys.readouterr().out
    Page((tmp_path / "report.html").read_text(encoding="utf-8"))


def test_one_of_anything_is_no_plural(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(ranked(tmp_path, [Molecule("only", "CC(N)C=CF", 3.0)])) == 0
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    text = " ".join(" ".join(page.text).split())
    assert re.findall(r"\b1 \w*?(?:hit|molecule|record|cluster|pose|chunk)s\b", text) == []
    assert "of 1 record " in text
    assert "reasons" not in text  # nothing was lost
    assert "1 molecule ranked of 1 input record\n" in capsys.readouterr().out
    assert "2 stereocentres or double bonds left open" in text


def test_a_ranking_by_devices_of_two_classes_is_said(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cpu = "Intel(R) OpenCL / AMD EPYC (cpu, driver 1, functions {})"
    card = "NVIDIA CUDA / NVIDIA H200 (gpu, driver 570)"
    with h5py.File(campaign) as file:
        first = {kind.decode(): row for row, kind in reversed([*enumerate(file["runs/kind"])])}
        places = [first[kind] for kind in ("scores", "refined", "pocket")]
    said = "that compute other last bits scored parts of this ranking"
    same = (cpu.format("1a"), cpu.format("1a").replace("driver 1", "driver 2"), card)
    for devices, is_said in ((same, False), ((cpu.format("1a"), cpu.format("2b"), ""), True)):
        with edited(campaign) as file:
            for place, device in zip(places, devices, strict=True):
                file["runs/device"][place] = device
        assert run(campaign) == 0
        page = unescape((campaign.parent / "report.html").read_text(encoding="utf-8"))
        for text in (capsys.readouterr().out, page):
            words = f"2 {said} ({cpu.format('1a')}; {cpu.format('2b')})"
            assert (words in " ".join(text.split())) == is_said
            assert (said in text) == is_said


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--groups", "{"], "--groups: not JSON such as"),
        (["--groups", '["m1"]'], "--groups: give names with values"),
        (["--groups", '{"a/b": ["m1"]}'], "a/b"),
        (["--top", "0"], "--top: give 1 or more"),
    ],
)
def test_bad_flags_are_sentences_and_no_page(
    campaign: Path, capsys: pytest.CaptureFixture[str], flags: list[str], sentence: str
) -> None:
    assert run(campaign, *flags) == 1
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.out == ""
    assert not (campaign.parent / "report.html").exists()


def test_another_kind_of_file_is_a_sentence(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(campaign.parent / "pockets/alpha.h5") == 1
    assert "contains ligen_py.pocket, not ligen_py.campaign" in capsys.readouterr().err


def test_alarms_of_the_watch_are_reported(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of two parts the first has zeros, as the score stage found, and the second has drifted."""
    folder = campaign.parent / "watched"
    zero = table([(Check.ZERO, 30, 50, 0.6, "30 of 50 scores of exactly <0>")])
    twin = table([(Check.TWIN, 0, 20, 0.0, "0 of 20 scores unlike the twin's")])
    fine, odd = library()[:20], [Molecule(f"x{i}", "C" * (i + 1), 90.0 + i) for i in range(20)]
    parts = [
        write_part(folder, "t", "lib", "1-of-2", fine, checks=zero),
        write_part(folder, "t", "lib", "2-of-2", odd, first_line=50, checks=twin),
    ]
    manifest = write_manifest(folder / "manifest.tsv", parts)
    flags = ["--manifest", str(manifest), "--output", str(folder / "campaign.h5"), "--quiet"]
    assert aggregate.main(flags) == 1
    assert "apart by 1.00 from the first scores" in capsys.readouterr().err
    assert aggregate.main([*flags, "--max-drift", "1"]) == 0
    assert "watch: t/lib/2-of-2: drift: apart by 1.00" in capsys.readouterr().err
    assert run(folder / "campaign.h5") == 0
    said = capsys.readouterr().out
    assert "2 alarms in 2 chunks; 20 best poses were scored again by plain NumPy" in said
    assert "ALARM lib/1-of-2: zero: 30 of 50 scores of exactly <0>" in said
    assert "ALARM lib/2-of-2: drift: apart by 1.00" in said
    words = " ".join(Page((folder / "report.html").read_text(encoding="utf-8")).text)
    assert "scores of exactly <0>" in words
    with open_campaign(folder / "campaign.h5") as opened:
        watched = opened.target("t").watched()
    assert watched.alarm.tolist() == [1, 0, 0, 1]
    assert watched.chunk.tolist() == ["1-of-2"] * 2 + ["2-of-2"] * 2


def test_molecules_that_passed_a_limit_are_counted(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with edited(campaign) as file:
        file["targets/alpha/scored/note"][1] = f"{SIMPLER}; macrocycle of 14 atoms"
    assert run(campaign) == 0
    assert "Limits: 1 molecule was scored in one state" in capsys.readouterr().out


def test_the_crystal_ligand_interacts_in_a_target_of_several_conformations(
    campaign: Path,
) -> None:
    """Its row was empty: its pose belongs to none of the conformations, as files have it."""

    def crystal_row(target: str) -> list[str]:
        page = (campaign.parent / "report.html").read_text(encoding="utf-8")
        section = page[page.index(f'aria-label="Parts of {target}"') :]
        (row,) = re.findall(r"as in the crystal</th>(.*?)</tr>", section, re.S)[:1]
        return re.findall(r"<td[^>]*>(.*?)</td>", row)

    assert run(campaign) == 0
    one = crystal_row("alpha")
    assert any(one)
    folder, crystal = campaign.parent, campaign.parent / "crystal.sdf"
    parts = []
    for name in ("open", "shut"):
        reference = [Molecule("REF", REFERENCE, 8.5)]
        made = [
            write_part(folder, f"t.{name}", "some", "1-of-1", library()),
            write_part(folder, f"t.{name}", "control-t", "1-of-1", reference, crystal=crystal),
        ]
        parts += [replace(part, target="t", conformation=name) for part in made]
    manifest = write_manifest(folder / "manifest.tsv", parts)
    assert aggregate.main(["--manifest", str(manifest), "--output", str(campaign), "--quiet"]) == 0
    assert run(campaign) == 0
    assert any(crystal_row("t"))


@pytest.mark.parametrize("ending", ["sdf", "pdb"])
def test_a_crystal_ligand_that_is_not_docked_is_shown(campaign: Path, ending: str) -> None:
    """It was in no page without a control, though the exported files had it."""
    folder, crystal = campaign.parent, campaign.parent / f"crystal.{ending}"
    mol = Chem.MolFromMolFile(str(folder / "crystal.sdf"))
    with_bonds = ending == "sdf"
    text = Chem.MolToMolBlock(mol) if with_bonds else Chem.MolToPDBBlock(mol, flavor=2)
    crystal.write_text(text)
    part = write_part(folder, "gamma", "some", "1-of-1", library())
    merged(folder, [replace(part, crystal=crystal)])
    assert run(campaign) == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert 'data-do="reference"' in page
    (row,) = re.findall(r"as in the crystal</th>(.*?)</tr>", page, re.S)
    assert any(re.findall(r"<td[^>]*>(.+?)</td>", row))
    assert "nothing was redocked" in page
    assert '"nearest": "crystal (crystal ligand), ' in page
    assert "docked again" not in page.split("<script")[0].split('class="hits')[1]
    with open_campaign(campaign) as found:
        reference = found.target("gamma").reference()
    assert (list(reference.origin), list(reference.name)) == (["crystal"], ["crystal"])
    assert list(reference.state) == [Chem.CanonSmiles(REFERENCE)]


def test_a_crystal_ligand_without_sure_bonds_is_not_shown(campaign: Path) -> None:
    """A PDB file's single bonds would have the interactions of another molecule."""
    folder, crystal = campaign.parent, campaign.parent / "two.pdb"
    crystal.write_text(
        "HETATM    1  C1  XYZ A   1       0.000   0.000   0.000  1.00  0.00           C\n"
    )
    part = write_part(folder, "gamma", "some", "1-of-1", library())
    merged(folder, [replace(part, crystal=crystal)])
    assert run(campaign) == 0
    assert "as in the crystal</th>" not in (folder / "report.html").read_text(encoding="utf-8")


def test_hits_are_compared_with_the_molecules_of_a_file(campaign: Path) -> None:
    known = campaign.parent / "known.smi"
    known.write_text("CCSCC binder\nc1ccccc1O phenol\n")
    assert run(campaign, "--references", str(known)) == 0
    page = (campaign.parent / "report.html").read_text(encoding="utf-8")
    (text,) = re.findall(r'"nearest": ?"(binder[^"]*)"', page)[:1]
    assert re.fullmatch(r"binder, 0\.\d\d|binder, 1\.00", text)
    # A file of all that is known of a target has thousands, which are not all named.
    known.write_text("".join(f"{'C' * i}O alcohol{i}\n" for i in range(1, 31)))
    assert run(campaign, "--references", str(known)) == 0
    page = (campaign.parent / "report.html").read_text(encoding="utf-8")
    assert "alcohol30" not in page.split("Known molecules")[1].split("</p>")[0]
    assert "alcohol23 and 7 more.</p>" in page
    known.write_text("nothing\n")
    assert run(campaign, "--references", str(known)) == 1


def test_a_hit_that_is_a_known_molecule_is_called_so(campaign: Path) -> None:
    """Under another name it was hidden; the crystal ligand, drawn as an ion, was unlike itself."""
    folder = campaign.parent
    ion, hit = "O=C([O-])c1ccc(O)cc1", Molecule("vendor-7", "O=C(O)c1ccc(O)cc1", 9.0)
    crystal = folder / "ion.sdf"
    crystal.write_text(Chem.MolToMolBlock(started(prepared(ion).states[0].shape)))
    parts = [
        write_part(folder, "t", "some", "1-of-1", [hit, Molecule("other", "CCOCC", 1.0)]),
        write_part(folder, "t", "control-t", "1-of-1", [Molecule("R", ion, 8.5)], crystal=crystal),
    ]
    manifest = write_manifest(folder / "manifest.tsv", parts)
    assert aggregate.main(["--manifest", str(manifest), "--output", str(campaign), "--quiet"]) == 0
    assert run(campaign) == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    found = re.findall(r'"nearest": ?"([^"]*)"', page)
    assert found[0] == "R (crystal ligand), 1.00"
    known = folder / "known.smi"
    known.write_text("CCCC\nCCOCC other\n")
    more = folder / "more.smi"
    more.write_text("CCSCC\n[O-]C(=O)c1ccc(O)cc1 paraben\n")
    assert run(campaign, "--references", str(known), "--references", str(more)) == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    found = re.findall(r'"nearest": ?"([^"]*)"', page)
    # The first of its name is not lost, and a known molecule is not its own neighbour.
    assert found == ["R (crystal ligand), 1.00", "paraben, 1.00", "line-1, 0.30"]
