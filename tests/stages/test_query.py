"""Questions to a campaign of seven records, and to one large enough to be read in pieces."""

import csv
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from pyarrow import parquet
from rdkit import Chem

from ligen_py import aggregate, compare, query
from ligen_py.molecules.interactions.receptor import surroundings
from ligen_py.molecules.interactions.residues import interactions_of
from ligen_py.molecules.patterns import Pattern
from ligen_py.provenance import Run
from ligen_py.records.ledger import Status
from ligen_py.records.networks import NETWORKS, Judged
from ligen_py.records.rows import no_rows
from ligen_py.settings.networks import NetworksSettings
from ligen_py.store.campaign import judged, reader
from ligen_py.store.campaign.manifest import PartFiles
from ligen_py.store.campaign.reader import open_campaign
from ligen_py.store.files import table
from ligen_py.store.files.table import some_rows
from ligen_py.store.files.write import TEXT, write, write_column
from ligen_py.summary.queries import question
from ligen_py.summary.queries.answer import table_of
from ligen_py.summary.queries.columns import Molecules, joined
from ligen_py.summary.table import readable
from tests.edited import edited
from tests.stages.factory import Molecule, merged, write_manifest, write_part

MOLECULES = [
    Molecule("ethanol", "CCO", 5.0),
    Molecule("cut\x1b[31m", "C(", None),
    Molecule("butane", "CCCC", 6.5),
    Molecule("amine", "CCN", 6.5),
    Molecule("ether", "CCOCC", 7.25),
    Molecule("ethanol", "OCC", 9.0),
    Molecule("acid", "CC(=O)O", -2.0),
]


pytestmark = pytest.mark.usefixtures("one_core")


@pytest.fixture(scope="module")
def aggregated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once; what a test gets is a copy, which it may change."""
    folder = tmp_path_factory.mktemp("aggregated")
    parts = [write_part(folder, target, "lib", "1-of-1", MOLECULES) for target in ("a", "b")]
    return merged(folder, parts)


@pytest.fixture
def campaign(aggregated: Path, tmp_path: Path) -> Path:
    return shutil.copy(aggregated, tmp_path / aggregated.name)


def ask(campaign: Path, capsys: pytest.CaptureFixture[str], *words: str) -> list[list[str]]:
    """The answer as cells: the header, then a row a molecule."""
    assert query.main([str(campaign), *words, "--format", "tsv"]) == 0
    return [line.split("\t") for line in capsys.readouterr().out.splitlines()]


def names(rows: list[list[str]]) -> list[str]:
    place = rows[0].index("name")
    return [row[place] for row in rows[1:]]


def test_the_best_of_every_target(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header, *rows = ask(campaign, capsys, "--top", "2")
    assert header == [
        *("target", "rank", "name", "score", "xscore.total", "weight", "logp", "library"),
    ]
    best = ["1", "ether", "7.25", "7.25", "74.073166", "1.0428", "lib"]
    second = ["2", "butane", "6.5", "6.5", "58.07825", "1.8064", "lib"]
    assert rows == [[target, *row] for target in "ab" for row in (best, second)]
    every = ask(campaign, capsys, "--target", "b", "--limit", "0")
    assert names(every) == ["ether", "butane", "amine", "ethanol", "acid"]
    assert "target" not in every[0]


def test_score_over_reference_pockets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], campaign: Path
) -> None:
    folder, ethanol = tmp_path / "three", {"own": 5.0, "one": 1.0, "two": 3.0}
    parts = [
        write_part(folder, target, "lib", "1-of-1", [Molecule("ethanol", "CCO", score)])
        for target, score in ethanol.items()
    ]
    butane = [Molecule("butane", "CCCC", 6.5)]
    parts.append(write_part(folder, "own", "more", "1-of-1", butane))
    manifest, file = write_manifest(tmp_path / "three.tsv", parts), tmp_path / "three.h5"
    assert aggregate.main(["--manifest", str(manifest), "--output", str(file), "--quiet"]) == 0
    words = ("--target", "own", "--columns", "name", "over_references")
    # 5 - (1 + 3) / 2 / 2; butane has no score in the others.
    assert ask(file, capsys, *words)[1:] == [["butane", ""], ["ethanol", "4.0"]]
    assert names(ask(file, capsys, *words, "--where", "over_references > 3.9")) == ["ethanol"]
    ordered = ask(file, capsys, *words, "--sort", "over_references", "--descending")
    assert names(ordered) == ["ethanol", "butane"]
    rows = ask(campaign, capsys, "--target", "a", "--columns", "name", "over_references")
    assert [row[1] for row in rows[1:]] == ["3.625", "3.25", "3.25", "2.5", "-2.0"]
    manifest = write_manifest(tmp_path / "own.tsv", [parts[0], parts[-1]])
    file.unlink()
    assert aggregate.main(["--manifest", str(manifest), "--output", str(file), "--quiet"]) == 0
    assert query.main([str(file), "--columns", "over_references"]) == 2
    assert "no column 'over_references'" in capsys.readouterr().err
    # Nor where mean ranks take the place of scores.
    manifest = write_manifest(tmp_path / "three.tsv", parts)
    file.unlink()
    flags = ["--manifest", str(manifest), "--output", str(file), "--quiet"]
    assert aggregate.main([*flags, "--rank-by", "consensus"]) == 0
    assert query.main([str(file), "--columns", "over_references"]) == 2
    assert "no column 'over_references'" in capsys.readouterr().err


def test_by_name_ranked_or_not(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--target", "a", "--name", "ethanol", "cut\x1b[31m", "--columns", "rank,name", "line")
    rows = ask(campaign, capsys, *words)
    assert [(row[1], row[2], row[3].partition(":")[0]) for row in rows[1:]] == [
        ("ethanol", "1", "scored"),
        ("cut [31m", "2", "failed"),
        ("ethanol", "6", "duplicate"),
    ]
    assert query.main([str(campaign), "--name", "nobody", "none"]) == 1
    assert capsys.readouterr().err.endswith("campaign.h5: contains no record named nobody, none\n")
    # Among names that are known those that are not are mentioned.
    asked = [str(campaign), *words[:3], "nobody", *words[3:], "--format", "tsv"]
    assert query.main(asked) == 0
    said = capsys.readouterr()
    assert [line.split("\t") for line in said.out.splitlines()] == rows
    assert said.err == f"{campaign}: contains no record for the target a named nobody\n"


def test_every_record_that_is_not_scored_is_listed(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ask(campaign, capsys, "--target", "a", "--unscored", "--limit", "0")
    assert rows[0] == ["name", "library", "file", "line", "status"]
    with open_campaign(campaign) as found:
        left = found.target("a").left()
    assert [(row[0], row[4].partition(":")[0]) for row in rows[1:]] == [
        (readable(name), Status(status).name.lower())
        for name, status in zip(left.name, left.status, strict=True)
    ]
    assert len(rows) > 2
    both = ask(campaign, capsys, "--unscored", "--limit", "1", "--columns", "target", "name")
    assert [row[0] for row in both[1:]] == ["a", "b"]
    assert ask(campaign, capsys, "--unscored", "--columns", "name", "status")[0] == [
        "name",
        "status",
    ]
    named = ask(campaign, capsys, "--name", "cut\x1b[31m", "--columns", "status")
    assert named[0] == ["name", "status"]
    for words in (("--where", "score > 3"), ("--format", "sdf"), ("--sql", "SELECT 1")):
        assert query.main([str(campaign), "--unscored", *words]) == 2
        assert "unscored" in capsys.readouterr().err


def test_a_named_record_that_is_not_scored_is_an_answer(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert query.main([str(campaign), "--target", "a", "--name", "cut\x1b[31m"]) == 0
    printed = capsys.readouterr()
    assert "failed" in printed.out
    assert printed.err == ""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--where", "6.5 <= score <= 6.5"], ["butane", "amine"]),
        (["--where", "score <= 5"], ["ethanol", "acid"]),
        (["--where", "score > 4 and mw < 60 and logp > 0"], ["butane"]),
        (["--where", "tpsa > 0", "--where", "score > 6"], ["ether", "amine"]),
        (["--where", "library == 'other'"], []),
        (["--where", "xscore.total > 7 or xscore.half < 0"], ["ether", "acid"]),
        (["--sort", "mw"], ["amine", "ethanol", "butane", "acid", "ether"]),
        (["--sort", "score / heavy", "--descending", "--limit", "2"], ["amine", "ethanol"]),
        (["--match", "^E"], ["ether", "ethanol"]),
        (["--match", "smiles=O$", "--match", "an"], ["ethanol"]),
        (["--smarts", "[OX2]"], ["ether", "ethanol", "acid"]),
        (["--smarts", "[OX2]", "--not-smarts", "C=O", "--limit", "1"], ["ether"]),
        (["--smarts", "O", "--smarts", "C=O"], ["acid"]),
        (["--smarts", "O[H]"], ["ethanol", "acid"]),
    ],
)
def test_filters_and_order(
    campaign: Path, capsys: pytest.CaptureFixture[str], words: list[str], expected: list[str]
) -> None:
    assert names(ask(campaign, capsys, "--target", "a", *words)) == expected


def test_no_answer_is_a_sentence_beside_the_table(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert query.main([str(campaign), "--where", "score > 100"]) == 0
    printed = capsys.readouterr()
    assert printed.err == "no ranked molecule fits\n"
    assert printed.out.split()[:3] == ["target", "rank", "name"]
    for form in ("sdf", "csv"):
        assert query.main([str(campaign), "--where", "score > 100", "--format", form]) == 0
        assert capsys.readouterr().err == "no ranked molecule fits\n"


def test_an_answer_that_is_cut_says_so(
    campaign: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of the ten best of all that fit looked like one of all."""
    monkeypatch.setattr(question, "LIMIT", 2)
    said = "a: the first 2 of those that fit; --limit 0 gives all\n"
    file = campaign.parent / "answer.csv"
    output = ["--output", str(file)]
    for words, expected in (
        (["--where", "score > 0"], said),
        (["--smarts", "C"], said),
        (output, f"{said}wrote 2 rows into {file}\n"),
        (["--where", "score > 7"], ""),
        (["--smarts", "C=O"], ""),
        (["--where", "score > 0", "--limit", "2"], ""),
        (["--where", "score > 0", "--limit", "0", *output], f"wrote 4 rows into {file}\n"),
        (["--where", "score > 0", "--limit", "0", *output, "--quiet"], ""),
        (["--name", "ethanol", "butane", "amine"], ""),
        ([], ""),
    ):
        assert query.main([str(campaign), "--target", "a", *words]) == 0
        assert capsys.readouterr().err == expected, words


def test_structures_are_looked_at_until_there_are_enough(
    campaign: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def matches(pattern: Pattern, smiles: np.ndarray) -> np.ndarray:
        seen.append(len(smiles))
        return np.ones(len(smiles), bool)

    monkeypatch.setattr(question, "FEW", 1)
    monkeypatch.setattr(Pattern, "matches", matches)
    rows = ask(campaign, capsys, "--target", "a", "--smarts", "C", "--limit", "3")
    assert names(rows) == ["ether", "butane", "amine"]
    assert seen == [1, 2]


def test_names_are_read_once_and_only_where_some_are_asked_for(
    campaign: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all unscored records they took 3 minutes for 10^8, for the best twenty molecules."""
    seen = []

    def texts(dataset: h5py.Dataset, rows: slice) -> np.ndarray:
        seen.append(dataset.name.removeprefix("/targets/"))
        return table.text_rows(dataset, rows)

    monkeypatch.setattr(reader, "text_rows", texts)
    libraries = ["/libraries", "/files"]
    ask(campaign, capsys, "--top", "2")
    assert seen == libraries
    seen.clear()
    ask(campaign, capsys, "--target", "a", "--name", "ethanol", "cut\x1b[31m")
    assert sorted(seen) == sorted([*libraries, "a/left/name", "a/scored/name"])


def test_the_best_are_the_first_of_the_ranking(
    campaign: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All were ranked again, 27 bytes a molecule, for the best twenty."""
    every = ask(campaign, capsys, "--target", "a", "--limit", "0", "--where", "score > -99")
    monkeypatch.setattr(Molecules, "rank", None)
    for count in (1, 3, 9):
        rows = ask(campaign, capsys, "--target", "a", "--top", str(count))
        assert rows == every[: count + 1]


def test_a_networks_file_that_is_none_is_refused_whatever_is_asked(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (campaign.parent / "five.smi").write_text("CCO\n")
    words = [str(campaign), "--networks", str(campaign.parent / "five.smi")]
    for more in ([], ["--columns", "name"], ["--unscored"]):
        assert query.main([*words, *more]) == 1
        out, err = capsys.readouterr()
        assert (out, "five.smi: " in err) == ("", True)


def test_columns_that_take_the_campaign_say_where_it_belongs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        query.main(["--columns", "score", "campaign.h5"])
    said = "are required: campaign; write campaign before --columns\n"
    assert capsys.readouterr().err.endswith(said)


def test_the_networks_are_not_looked_at_where_none_of_their_columns_is_asked_for(
    campaign: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The campaign file was hashed once more for every question with a networks.h5 beside it."""
    made_by = Run("networks", NetworksSettings(best=1), (campaign,))
    rows = {"networks": no_rows(Judged)}
    write(campaign.with_name("networks.h5"), NETWORKS, made_by, rows)
    assert ask(campaign, capsys, "--columns", "network.pose")[0] == ["network.pose"]
    monkeypatch.setattr(judged, "file_digest", None)
    words = ("--columns", "name", "input.price", "--where", "mw > 1", "--sort", "logp")
    assert len(ask(campaign, capsys, *words)) == 11


def test_the_commands_of_the_document_work_as_they_stand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("results", "before/results", "after/results", "best/results"):
        targets = ("kinase", "other") if folder == "results" else ("kinase",)
        place = tmp_path / folder
        molecules = [*MOLECULES, Molecule("aspirin", "CC(=O)Oc1ccccc1C(=O)O", 8.0)]
        parts = [write_part(place, target, "lib", "1-of-1", molecules) for target in targets]
        manifest, output = write_manifest(place / "m.tsv", parts), place / "campaign.h5"
        words = ["--manifest", str(manifest), "--output", str(output), "--quiet"]
        assert aggregate.main(words) == 0
        made_by = Run("networks", NetworksSettings(best=1), (output,))
        write(place / "networks.h5", NETWORKS, made_by, {"networks": no_rows(Judged)})
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[2] / "docs/queries.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("ligen ")]
    assert len(lines) >= 9
    for line in lines:
        _, command, *words = shlex.split(line, comments=True)
        if command == "run":  # there is no receptor here
            continue
        if "--sql" in words and importlib.util.find_spec("duckdb") is None:
            continue
        assert {"query": query, "compare": compare}[command].main(words) == 0, line
        if "--output" in words:
            assert Path(words[words.index("--output") + 1]).stat().st_size > 0
        else:
            assert capsys.readouterr().out, line


def test_interactions_are_those_of_the_stored_pose(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    every = ["ether", "butane", "amine", "ethanol", "acid"]
    with open_campaign(campaign) as found:
        around = surroundings(found.target("a").site())
        of = [interactions_of(p.molecule, p.xyz, around) for p in found.target("a").poses(5)]
    counts = Counter(residue for one in of for residue in {residue for _, residue in one})
    residue = next(name for name, count in counts.items() if count < 5)
    name, chain = residue.split()
    kind = next(kind for one in of for kind, other in one if other == residue)
    expected = [m for m, one in zip(every, of, strict=True) if residue in {r for _, r in one}]
    of_kind = [m for m, one in zip(every, of, strict=True) if (kind, residue) in one]
    number = name.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    words = (name, name.lower(), f"{chain}/{name}", f"{chain}/{name[:3]}/{number}", number)
    for word in words:
        assert names(ask(campaign, capsys, "--target", "a", "--interacts", word)) == expected, word
    asked = ask(campaign, capsys, "--target", "a", "--interacts", f"{kind}:{name}")
    assert names(asked) == of_kind
    for word, said in (
        ("ASP9999", "--interacts ASP9999: no residue of the pocket of a; "),
        (f"Q/{name}", "no residue of the pocket"),
        (f"magic:{name}", "no kind of interaction; there are: hydrogen bond, salt bridge"),
    ):
        assert query.main([str(campaign), "--target", "a", "--interacts", word]) == 2
        assert said in capsys.readouterr().err


def test_a_residue_may_be_missing_in_one_target(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_campaign(campaign) as found:
        label = found.target("b").site().label
        around = surroundings(found.target("a").site())
        (best,) = found.target("a").poses(1)
        _, residue = min(interactions_of(best.molecule, best.xyz, around))
    name, chain = residue.split()
    start = f"{chain}/{name[:3]}/{name[3:]}/"
    with edited(campaign) as file:
        file["targets/b/site/label"][:] = [
            one.replace(start, f"{chain}/{name[:3]}/999/") for one in label
        ]
    expected = ask(campaign, capsys, "--target", "a", "--columns", "name", "--interacts", name)
    assert query.main([str(campaign), "--columns", "name", "--interacts", name]) == 0
    printed = capsys.readouterr()
    assert [line.split() for line in printed.out.splitlines()] == expected
    assert f"b: its pocket has no residue {name}\n" in printed.err
    assert query.main([str(campaign), "--target", "b", "--interacts", name]) == 2
    assert "no residue of the pocket of b" in capsys.readouterr().err


def test_a_residue_may_be_missing_in_one_conformation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts: list[PartFiles] = []
    for seed, (name, scores) in enumerate({"open": (9, 2), "shut": (1, 8)}.items(), start=1):
        given = [Molecule("acid", "CC(=O)O", scores[0]), Molecule("amine", "CCN", scores[1])]
        part = write_part(tmp_path, f"t.{name}", "lib", "1-of-1", given, seed)
        ligands = parts[0].ligands if parts else part.ligands
        parts.append(replace(part, target="t", conformation=name, ligands=ligands))
    manifest, output = write_manifest(tmp_path / "m.tsv", parts), tmp_path / "campaign.h5"
    assert aggregate.main(["--manifest", str(manifest), "--output", str(output), "--quiet"]) == 0
    with open_campaign(output) as found:
        site = found.target("t").site()
        acid, amine = found.target("t").poses(2)
        assert (acid.conformation, amine.conformation) == ("open", "shut")
        around = surroundings(site.of("open"))
        _, residue = min(interactions_of(acid.molecule, acid.xyz, around))
    name, chain = residue.split()
    start = f"{chain}/{name[:3]}/{name[3:]}/"
    with edited(output) as file:
        labels = file["targets/t/site/label"]
        labels[:] = [
            label.replace(start, f"{chain}/{name[:3]}/999/") if one == "shut" else label
            for label, one in zip(site.label, site.conformation, strict=True)
        ]
    assert names(ask(output, capsys, "--interacts", name)) == ["acid"]
    shown = ask(output, capsys, "--columns", "name", "state", "conformation")[1:]
    assert shown == [["acid", "CC(=O)O", "open"], ["amine", "CCN", "shut"]]


def test_every_format_has_the_same_answer(
    campaign: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [str(campaign), "--target", "a", "--columns", "name", "score", "charge", "--quiet"]
    expected = {
        "name": ["ether", "butane", "amine", "ethanol", "acid"],
        "score": [7.25, 6.5, 6.5, 5.0, -2.0],
        "charge": [0] * 5,
    }
    for name in ("a.parquet", "a.csv", "a.jsonl", "a.tsv", "a.sdf"):
        assert query.main([*asked, "--output", str(tmp_path / name)]) == 0
    assert parquet.read_table(tmp_path / "a.parquet").to_pydict() == expected
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert {name: [row[name] for row in rows] for name in expected} == expected
    for name, delimiter in (("a.csv", ","), ("a.tsv", "\t")):
        with (tmp_path / name).open(newline="") as stream:
            found = list(csv.DictReader(stream, delimiter=delimiter))
        assert [row["name"] for row in found] == expected["name"]
        assert [float(row["score"]) for row in found] == expected["score"]
    molecules = list(Chem.SDMolSupplier(str(tmp_path / "a.sdf")))
    assert [mol.GetProp("_Name") for mol in molecules] == expected["name"]
    assert query.main(asked) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["ether", "7.25", "0"]
    assert query.main([*asked, "--format", "parquet"]) == 2
    assert "name a file: --output FILE" in capsys.readouterr().err


def test_a_spreadsheet_evaluates_no_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = write_part(tmp_path, "a", "lib", "1-of-1", [Molecule('=1+1,"x"', "CCO", 5.0)])
    manifest = write_manifest(tmp_path / "m.tsv", [part])
    output = tmp_path / "c.h5"
    assert aggregate.main(["--manifest", str(manifest), "--output", str(output), "--quiet"]) == 0
    assert query.main([str(output), "--format", "csv", "--columns", "name"]) == 0
    assert list(csv.reader(capsys.readouterr().out.splitlines())) == [["name"], ['\'=1+1,"x"']]


def test_a_table_fits_the_terminal() -> None:
    answer = {
        "rank": np.arange(1, 4),
        "name": np.array(["short", "x" * 60, None], object),
        "score": np.array([1.0, 2.0, np.nan]),
        "smiles": np.array(["C" * 50] * 3, object),
    }
    for width in (40, 60, 80, 200):
        *lines, last = table_of(answer, width)
        assert all(len(line) <= width for line in lines)
        assert ("1 more" in last) == (width == 40)
    assert len(list(table_of(answer, None))) == 4
    assert list(table_of({}, 80)) == []


def test_sql(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not installed")
    words = "SELECT target, count(*) AS n, max(xscore_total) best FROM molecules GROUP BY target"
    rows = ask(campaign, capsys, "--sql", f"{words} ORDER BY target")
    assert rows == [["target", "n", "best"], ["a", "5", "7.25"], ["b", "5", "7.25"]]
    every = ask(campaign, capsys, "--target", "a", "--sql", "SELECT * FROM molecules")
    assert len(every) == 6
    assert {"rank", "weight", "xscore_half", "smiles"} <= set(every[0])
    for all_columns in ("FROM molecules", "SELECT * FROM (FROM molecules)"):
        assert ask(campaign, capsys, "--target", "a", "--sql", all_columns) == every
    for by_place in ("SELECT #1 AS t FROM molecules", "SELECT t FROM molecules AS m(t)"):
        places = ask(campaign, capsys, "--target", "a", "--sql", by_place)
        assert {cell for (cell,) in places[1:]} == {"a"}
    described = ask(campaign, capsys, "--sql", "DESCRIBE molecules")
    assert [row[0] for row in described[1:]] == every[0]
    joined = ask(
        campaign, capsys, "--sql", "SELECT m.target, n.target, 1 AS target_1 FROM molecules m "
        "JOIN molecules n USING (key) WHERE m.rank = 1 AND m.target < n.target",
    )  # fmt: skip
    assert joined == [["target", "target_2", "target_1"], ["a", "b", "1"]]
    for whole in ("SELECT m FROM molecules AS m", "SELECT molecules FROM molecules"):
        (_, row, *_) = ask(campaign, capsys, "--sql", whole)
        assert "'xscore_total': " in row[0]
    infinite = ["--sql", "SELECT 'inf'::FLOAT AS x", "--format", "jsonl"]
    assert query.main([str(campaign), *infinite]) == 0
    assert capsys.readouterr().out == '{"x": null}\n'
    large = f"SELECT CASE WHEN rank > 2 THEN NULL ELSE {2**53 + 1} END x FROM molecules LIMIT 1"
    assert float(ask(campaign, capsys, "--sql", large)[1][0]) == 2**53
    for statement in ("SELEC 1", "SELECT * FROM 'x.csv'", "COPY molecules TO 'x.csv'"):
        assert query.main([str(campaign), "--sql", statement]) == 1
        assert "error: --sql: " in capsys.readouterr().err
    assert query.main([str(campaign), "--sql", "SELECT 1", "--limit", "3"]) == 2
    assert "--sql: write --limit as a part of the statement" in capsys.readouterr().err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_names_in_any_script_are_written_in_any_locale(encoding: str) -> None:
    command = (
        "import sys; from ligen_py import cli;"
        "sys.exit(cli.run(cli.parser('query', 'd'), [], lambda options: print('éther 名')))"
    )
    words = [sys.executable, "-c", command]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(words, env=environment, capture_output=True, check=True)
    assert done.stdout.decode("utf-8") == "éther 名\n"


def test_sql_without_duckdb_is_a_sentence(
    campaign: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert query.main([str(campaign), "--sql", "SELECT 1"]) == 2
    assert "DuckDB is missing; install it: pip install duckdb\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--target", "c"], 1, "contains no target c; it has a, b"),
        (["--columns", "scor"], 2, "--columns: no column 'scor'; did you mean 'score'?"),
        (["--where", "weigt > 3"], 2, "--where: no column 'weigt'; did you mean 'weight'?"),
        (["--where", "score = 3"], 2, "--where 'score = 3': write == to compare"),
        (["--sort", "name"], 2, "--sort 'name': gives no number for each molecule"),
        (["--sort", "nonsense"], 2, "--sort: no column 'nonsense'"),
        (["--descending"], 2, "--descending: needs --sort"),
        (["--match", "("], 2, "--match '(': no regular expression"),
        (["--match", "naem=x"], 2, "no text is called 'naem'; did you mean 'name'?"),
        (["--where", "input.price > 2"], 2, "it is shown by --columns, but cannot be compared"),
        (["--where", "state == 'CCO'"], 2, "it is shown by --columns, but cannot be compared"),
        (
            ["--interacts", "FOO999", "--where", "score > 100"],
            2,
            "--interacts FOO999: no residue of the pocket",
        ),
        (["--columns", "network.pose"], 2, "networks.best in the config has gnina's networks"),
        (["--smarts", "C("], 2, "--smarts 'C(': no SMARTS"),
        (["--not-smarts", ""], 2, "--not-smarts '': no SMARTS"),
        (["--output", "best.smi"], 2, "--output best.smi: no format is called .smi; give .csv, "),
        (["--format", "sdf", "--limit", "0"], 0, ""),
    ],
)
def test_bad_questions_are_sentences(
    campaign: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, said: str
) -> None:
    assert query.main([str(campaign), *words]) == code
    assert said in capsys.readouterr().err
    with pytest.raises(SystemExit) as stop:
        query.main([str(campaign), "--top", "-1"])
    assert stop.value.code == 2
    assert "-1: give a whole number, 0 or more" in capsys.readouterr().err


def test_a_column_of_the_input_is_found_or_mentioned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    molecules = [Molecule("ethanol", "CCO", 5.0, extra='{"in, stock": "2"}')]
    manifest = tmp_path / "manifest.tsv"
    write_manifest(manifest, [write_part(tmp_path, "a", "lib", "1-of-1", molecules)])
    output = tmp_path / "campaign.h5"
    assert aggregate.main(["--manifest", str(manifest), "--output", str(output), "--quiet"]) == 0
    found = ask(output, capsys, "--columns", "name,score", "input.in, stock")
    assert found == [["name", "score", "input.in, stock"], ["ethanol", "5.0", "2"]]
    assert ask(output, capsys, "--columns", "name,score", "--columns", "input.in, stock") == found
    assert query.main([str(output), "--columns", "name", "input.stock"]) == 0
    said = "no molecule shown has a value of input.stock; did you mean 'input.in, stock'?"
    assert capsys.readouterr().err.splitlines() == [said]


def test_numbers_beside_records_without_them_stay_numbers(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--target", "a", "--name", "acid", "cut\x1b[31m", "--columns", "rank")
    assert query.main([str(campaign), *words, "--format", "jsonl"]) == 0
    found = [json.loads(line)["rank"] for line in capsys.readouterr().out.splitlines()]
    assert found == [5, None]


def test_a_score_has_the_same_digits_beside_records_without_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one answer a score stood as 0.1 and as 0.10000000149011612."""
    score = 0.1
    parts = [
        write_part(tmp_path, "a", "lib", "1-of-1", [Molecule("x", "CCO", score)]),
        write_part(tmp_path, "b", "lib", "1-of-1", [Molecule("x", "CCO", score)]),
        write_part(tmp_path, "a", "bad", "1-of-1", [Molecule("y", "C(", None)]),
    ]
    words = ("--name", "x", "y", "--columns", "name", "score")
    assert [row[1] for row in ask(merged(tmp_path, parts), capsys, *words)[1:]] == [
        "0.1",
        "",
        "0.1",
    ]
    like = np.ones(1, "f4")
    columns = joined([{"name": like, "score": like}, {"name": like}])
    assert columns["score"].dtype == np.float32


def test_values_that_begin_with_a_dash(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        (["--sort", "-score"], "expected one argument; write --sort=-score\n"),
        (["--name", "-minus"], "expected at least one argument; write --name=-minus\n"),
        (["--sort", "--descending"], "expected one argument\n"),
        (["--sort"], "expected one argument\n"),
    ):
        with pytest.raises(SystemExit):
            query.main([str(campaign), *words])
        assert capsys.readouterr().err.endswith(said)
    assert names(ask(campaign, capsys, "--target", "a", "--sort=-score", "--limit", "1")) == [
        "ether"
    ]


def test_a_name_is_asked_for_as_it_stands_in_the_library(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = ask(campaign, capsys, "--target", "a", "--name", "  ether", "amine\t\n")
    assert names(found) == ["ether", "amine"]


def test_molecules_without_a_stored_pose_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    molecules = [*MOLECULES, Molecule("-last", "CCCO", -9.0)]
    parts = [write_part(tmp_path, "a", "lib", "1-of-1", molecules)]
    manifest, output = write_manifest(tmp_path / "m.tsv", parts), tmp_path / "c.h5"
    words = ["--manifest", str(manifest), "--output", str(output), "--top-poses", "2", "--quiet"]
    assert aggregate.main(words) == 0
    capsys.readouterr()
    assert query.main([str(output), "--columns", "name", "state"]) == 0
    said = "a: 4 of 6 molecules have no stored pose, and so no state; aggregate.top_poses stores"
    assert capsys.readouterr().err.startswith(said)
    assert query.main([str(output), "--columns", "name", "state", "--limit", "2"]) == 0
    assert query.main([str(output), "--columns", "name"]) == 0
    assert capsys.readouterr().err == ""
    ordered = ["--output", str(tmp_path / "x.sdf")]
    assert query.main([str(output), *ordered, "--limit", "3"]) == 1
    said = "1 of 3 molecules of target a have no stored pose; make aggregate.top_poses larger, or "
    assert capsys.readouterr().err.endswith(f"{said}give a smaller --limit\n")
    assert query.main([str(output), *ordered, "--name", "ether", " -last"]) == 1
    command = f"ligen export {output} --output . --pose a ' -last' 20"
    assert capsys.readouterr().err.endswith(f"larger, or write one by: {command}\n")
    assert query.main([str(output), *ordered, "--name", "cut\x1b[31m", "ether"]) == 0
    assert "cut [31m has no pose: failed: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--where", "score > 3 & mw < 450"], "'&' is not allowed; write 'and'"),
        (["--where", "score > 3 and ~(mw < 450)"], "'~' is not allowed; write 'not'"),
        (["--where", "weigt > 3"], "no column 'weigt'; did you mean 'weight'? Texts stand in "),
        (["--where", "zzz > 3"], ", line; texts stand in quotes"),
        (["--output", "-"], "--output -: name a file; query, compare and pick print where"),
    ],
)
def test_a_refusal_says_what_to_write(
    campaign: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert query.main([str(campaign), *words]) == 2
    assert said in capsys.readouterr().err


def test_sql_gives_whole_numbers_and_truth_values(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not installed")
    words = "SELECT rank > 4 AS late, sum(rank) AS n, sum(rank) * 1e19::HUGEINT AS large"
    words += " FROM molecules GROUP BY 1 ORDER BY 1"
    asked = [str(campaign), "--sql", words]
    assert query.main([*asked, "--format", "jsonl"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        '{"late": false, "n": 20, "large": 2e+20}',
        '{"late": true, "n": 10, "large": 1e+20}',
    ]
    for form in ("csv", "tsv", "table"):
        assert query.main([*asked, "--format", form]) == 0
        assert re.search(r"^ *false\W+20\W", capsys.readouterr().out, re.MULTILINE)
    assert query.main([str(campaign), "--sql", "SELECT 1; SELECT 2"]) == 1
    assert "--sql: give one statement" in capsys.readouterr().err
    assert query.main([str(campaign), "--sql", "SELECT 1;"]) == 0


@pytest.mark.parametrize("count", [0, 1, 40, 3000, 10_000])
def test_rows_are_read_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(table, "PIECE", 1000)
    rows = np.sort(np.random.default_rng(1).choice(10_000, count, replace=False))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        numbers = file.create_dataset("n", data=np.arange(10_000), chunks=(777,))
        words = write_column(file, "t", np.array([f"n{i}" for i in range(10_000)], object), TEXT)
        assert np.array_equal(some_rows(numbers, rows), rows)
        assert some_rows(words, rows).tolist() == [f"n{i}" for i in rows]
