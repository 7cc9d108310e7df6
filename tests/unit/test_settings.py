import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ligen_py import cli
from ligen_py.errors import InputError
from ligen_py.settings.campaign import PRESETS, Campaign, Method
from ligen_py.settings.check import check
from ligen_py.settings.dock import DockSettings
from ligen_py.settings.flags import flags
from ligen_py.settings.lga import LgaSettings
from ligen_py.settings.networks import NetworksSettings
from ligen_py.settings.parse import ParseSettings
from ligen_py.settings.pocket import Site, Structure
from ligen_py.settings.refine import RefineSettings
from ligen_py.settings.report import ReportSettings
from ligen_py.settings.score import ScoreSettings
from ligen_py.settings.section import Section
from tests.config_file import settings_in

SECTIONS = {
    name: field.default_factory
    for name, field in Campaign.model_fields.items()
    if isinstance(field.default_factory, type)
}
CONFIG = Path(__file__).parents[2] / "config"
GOOD = {
    "targets": {"t": {"receptor": "r.pdb", "site": {"ligand": "l.sdf"}}},
    "libraries": {"l": {"file": "l.smi"}},
}


def through_flags(section: Section) -> Section:
    """A section as the rules hand it to a stage: as flags, read by the stage's parser."""
    parser = cli.parser("stage", None, type(section))
    return cli.settings_from(type(section), parser.parse_args(shlex.split(flags(section))))


@pytest.mark.parametrize("name", SECTIONS)
def test_defaults_survive_the_command_line(name: str) -> None:
    assert through_flags(SECTIONS[name]()) == SECTIONS[name]()


@given(
    tolerance=st.floats(1e-9, 1.0),
    restarts=st.integers(1, 4096),
)
def test_numbers_survive_the_command_line(tolerance: float, restarts: int) -> None:
    section = DockSettings(bump_tolerance=tolerance, num_restart=restarts)
    assert through_flags(section) == section


def test_names_with_spaces_and_quotes_survive_the_command_line() -> None:
    section = ReportSettings(groups={"hard": ("a b", "c'd", 'e"f', "{g}", "å")})
    assert through_flags(section) == section


@pytest.mark.parametrize("path", sorted(CONFIG.rglob("*.yaml")), ids=lambda path: path.name)
def test_every_config_in_the_project_is_good(path: Path) -> None:
    campaign = settings_in(path)
    assert campaign.targets or campaign.homologs


def test_the_example_shows_every_default() -> None:
    example = settings_in(CONFIG / "config.yaml")
    for name in set(SECTIONS) - {"report"}:
        assert getattr(example, name) == SECTIONS[name](), name
        assert getattr(example, name).model_fields_set == set(SECTIONS[name].model_fields), name


def test_each_local_search_has_its_own_defaults() -> None:
    ours, autodock = LgaSettings(), LgaSettings(local_search="adadelta", population=90)
    assert ours == LgaSettings(local_search="bfgs")
    assert (ours.population, ours.iterations, ours.crossover, ours.stop_every) == (50, 30, 20, 0)
    assert (autodock.population, autodock.iterations) == (90, 300)
    assert (autodock.crossover, autodock.stop_every) == (80, 5)
    assert LgaSettings(local_search="solis_wets").population == 150


@pytest.mark.parametrize(
    ("aggregate", "export", "stored", "exported"),
    [
        ({}, {}, 1000, 100),
        ({"top_poses": 99}, {}, 99, 99),
        ({"top_poses": 101}, {"poses": 2}, 101, 100),
        ({}, {"count": 1000}, 1000, 1000),
        ({"rank_by": "consensus"}, {"count": 1001}, 1001, 1001),
        ({"top_poses": 20}, {"count": 20}, 20, 20),
    ],
)
def test_as_many_poses_are_stored_as_are_exported(
    aggregate: dict[str, object], export: dict[str, object], stored: int, exported: int
) -> None:
    """A campaign that exports more than it stores would fail after its last docking."""
    document = changed(aggregate=aggregate, export=export)
    campaign = Campaign.model_validate(document)
    assert (campaign.aggregate.top_poses, campaign.export.count) == (stored, exported)
    assert Campaign.model_validate(campaign.model_dump(mode="json")) == campaign


def test_an_effort_fills_what_the_config_leaves_out_and_nothing_else() -> None:
    method = Method(effort="thorough", refine={"rounds": 7})
    assert method.refine.rounds == 7
    assert method.dock.num_restart == PRESETS["thorough"]["dock"]["num_restart"]
    preset = PRESETS["thorough"]["refine"] | {"rounds": 7}
    assert method.refine == RefineSettings(**preset)
    assert Method(effort="standard") == Method()


def test_the_exhaustive_effort_has_both_searches_where_the_config_names_none() -> None:
    both = Method(effort="exhaustive", lga={"runs": 10})
    assert (both.search, both.lga.runs, both.lga.restarts) == ("lga", 10, 2048)
    assert both.filter == Method(search="lga").filter
    assert both.refine == Method(effort="thorough").refine
    alone = Method(effort="exhaustive", search="ligen")
    assert (alone.search, alone.filter) == ("ligen", Method().filter)
    assert Method.model_validate(both.model_dump(mode="json")) == both


def test_the_thorough_effort_goes_without_networks_that_are_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    preset = PRESETS["thorough"]["score"]["functions"]
    monkeypatch.setenv("LIGEN_NETWORKS", str(tmp_path))
    assert list(Method(effort="thorough").score.functions) == preset
    monkeypatch.delenv("LIGEN_NETWORKS")
    monkeypatch.setattr("ligen_py.paths.find_spec", lambda name: None)
    assert list(Method(effort="thorough").score.functions) == preset[:-1]
    asked = Method(effort="thorough", score={"functions": ["gnina"], "rank_by": "first"})
    assert asked.score.functions == ("gnina",)


def test_networks_rank_where_the_thorough_effort_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ranked(**score: object) -> str:
        return Method(effort="thorough", score=score).score.rank_by

    monkeypatch.setenv("LIGEN_NETWORKS", str(tmp_path))
    assert ranked() == ranked(functions=["gnina", "vina"]) == "networks"
    assert ranked(functions=["vina", "ad4"]) == ranked(rank_by="energy") == "energy"
    with pytest.raises(ValueError, match="'rank_by' is networks, but 'functions' has none"):
        ranked(functions=["vina", "ad4"], rank_by="networks")
    monkeypatch.delenv("LIGEN_NETWORKS")
    monkeypatch.setattr("ligen_py.paths.find_spec", lambda name: None)
    assert ranked() == "energy"
    assert Method(effort="standard").score.rank_by == "energy"


def test_what_is_no_energy_ranks_no_molecule() -> None:
    parser = cli.parser("stage", None, ScoreSettings)
    for words, fine in ((["gnina"], False), (["gnina", "xscore"], True)):
        given = parser.parse_args(["--functions", *words])
        if fine:
            assert cli.settings_from(ScoreSettings, given).functions == ("gnina", "xscore")
            continue
        with pytest.raises(InputError, match="--functions has no energy, by which molecules rank"):
            cli.settings_from(ScoreSettings, given)


def test_networks_of_the_best_molecules_stand_in_place_of_those_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIGEN_NETWORKS", str(tmp_path))  # as where networks are installed
    for best, last in ((0, "gnina"), (5, "xscore")):
        campaign = Campaign.model_validate(changed(effort="thorough", networks={"best": best}))
        assert campaign.score.functions[-1] == last
        assert campaign.score.rank_by == ("energy" if best else "networks")
    assert NetworksSettings().weight == ScoreSettings().pose_weights["gnina"]


def test_every_effort_is_a_preset_of_good_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIGEN_NETWORKS", str(tmp_path))  # as where networks are installed
    efforts = Method.model_json_schema()["properties"]["effort"]["enum"]
    assert list(PRESETS) == efforts
    for effort, preset in PRESETS.items():
        method = Method(effort=effort).model_dump(mode="json")
        for section, values in preset.items():
            assert method[section] | values == method[section], (effort, section)


def changed(**values: object) -> dict[str, object]:
    return {**GOOD, **values}


def site(**keys: object) -> dict[str, object]:
    return changed(targets={"t": {"receptor": "r.pdb", "site": keys}})


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (changed(dok={}), "unknown key 'dok'; did you mean 'dock'?"),
        (changed(dock={"num_restarts": 3}), "did you mean 'num_restart'?"),
        (changed(libraries={"l": {"fil": "x"}}), "did you mean 'file'?"),
        (changed(dock={"zzz": 3}), "known keys are: num_restart"),
        (changed(targets={"site": {"cavity": 1}}), "'targets.site.cavity'; known keys are: chains"),
        (
            changed(libraries={"file": 7}),
            "key 'libraries.file': give keys with values; known keys are: smiles_column, "
            "name_column, columns, file, parsed, chunk_size, chunks (given: 7); it is: libraries "
            "by name",
        ),
        (changed(report={"groups": {"top": 7}}), "it is: groups of molecule names"),
        (changed(dock={"num_restart": 0}), "key 'dock.num_restart'"),
        (changed(dock={"num_restart": "many"}), "given: 'many'"),
        (changed(pocket={"spacing": "0.5 nm"}), "grid spacing, in Angstrom"),
        (changed(pocket={"margin": float("nan")}), "key 'pocket.margin'"),
        (changed(parse={"embed": "nowhere"}), "key 'parse.embed'"),
        (
            changed(effort="quick"),
            "'draft', 'standard', 'thorough' or 'exhaustive' (given: 'quick')",
        ),
        (changed(effort=["draft"]), "key 'effort'"),
        (changed(effort="draft", dock=None), "key 'dock'"),
        (changed(effort="draft", score=None), "key 'score'"),
        (changed(score=5), "key 'score'"),
        (changed(effort="draft", score={"functions": None}), "key 'score.functions'"),
        (changed(effort="thorough", score={"functions": 5}), "key 'score.functions'"),
        (changed(libraries={}), "key 'libraries' names none"),
        (changed(libraries={"a/b": {"file": "x"}}), "a/b"),
        (changed(targets={"t": {"receptor": "r.pdb"}}), "give either 'site' or 'sites'"),
        (
            changed(targets={"t": {"receptor": "r", "site": {}}}),
            "give one of 'ligand', 'ligand_name'",
        ),
        (changed(report={"groups": "{"}), "not JSON"),
        (
            site(center=[1, 2]),
            "site.center': give 3 numbers, such as [1.0, 2.0, 3.0] (given: [1, 2])",
        ),
        (site(center="1 2 3"), "site.center': give 3 numbers"),
        (site(center=[1, 2, 3, 4]), "site.center': give 3 numbers"),
        (site(center=[1, "x", 3]), "item 2 of key 'targets.t.site.center': give a number"),
        (site(residues="A/32"), "site.residues': give a list, such as [one, another]"),
        (
            site(residues=["A 32"]),
            "item 1 of key 'targets.t.site.residues': give a residue as NAME",
        ),
        (
            changed(targets={"t": {"receptor": "r", "site": {"cavity": 1}, "chains": [1]}}),
            "item 1 of key 'targets.t.chains': write it in quotes (given: 1)",
        ),
        (site(ligand_name=False), "site.ligand_name': write it in quotes (given: False)"),
        (
            changed(targets={"t": {"receptor": "r", "site": "l.sdf"}}),
            "site': give keys with values",
        ),
        (changed(targets={"t": {"receptor": ["r"], "site": {"cavity": 1}}}), "give a text or give"),
        (
            changed(targets={"t": None}),
            "key 'targets.t': give keys with values; known keys are: chains, ",
        ),
        (
            changed(targets={7: {"receptor": "r", "site": {"cavity": 1}}}),
            "write this name in quotes",
        ),
        (changed(dock=None), "(given: nothing)"),
        (changed(aggregate=None, export={"count": 2000}), "key 'aggregate'"),
        (changed(networks={"best": -1}), "key 'networks.best'"),
        (changed(networks={"bests": 1}), "did you mean 'best'?"),
        (changed(networks=5), "key 'networks'"),
        (changed(effort="thorough", networks={"best": "many"}), "key 'networks.best'"),
        (
            changed(networks={"best": 5}, score={"functions": ["vina", "gnina"]}),
            "'networks.best' has networks judge the poses of the best 5 molecules, but 'gnina' in "
            "'score.functions' judges all poses; take one out",
        ),
        (
            {"guides": {"g": {"cds": "g.fa", "genome": "g.fa"}}, "networks": {"best": 5}},
            "but nothing is docked without 'targets'; take it out",
        ),
        (
            changed(aggregate={"top_poses": 50}, export={"count": 51}),
            "'export.count' is 51, but 'aggregate.top_poses' has 50 poses of a target stored",
        ),
    ],
)
def test_a_bad_key_is_named_with_what_is_allowed(document: dict[str, object], words: str) -> None:
    with pytest.raises(InputError) as caught:
        check(Campaign, document, "c.yaml")
    assert str(caught.value).startswith("c.yaml: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    for strange in ("valid tuple", "instance of", "dictionary", "key ''", "center.2", "NoneType"):
        assert strange not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        (b"", "contains no settings"),
        (b"- a\n- b\n", "contains no settings"),
        (b"targets: [", "not YAML"),
        (b"\xff\xfe\x00", "not YAML"),
    ],
    ids=["missing", "empty", "list", "cut", "binary"],
)
def test_a_bad_config_file_is_named(tmp_path: Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "c.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=words) as caught:
        settings_in(path)
    assert str(path) in str(caught.value)


FILE = """\
targets:
  t:
    receptor: r.pdb
    site: {center: [1, 2]}
libraries:
  l:
    file: l.smi
dock:
  num_restart: 8
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("", "", "line 4: key 'targets.t.site.center': give 3 numbers"),
        ("num_restart", "num_restarts", "line 9: unknown key 'dock.num_restarts'; did you mean"),
        ("    receptor: r.pdb\n", "", "line 2: key 'targets.t.receptor' is missing"),
        ("file: l.smi", "file: [", "expected ',' or ']', but got ':'; it starts on line 7"),
        ("dock:", "libraries: {}\ndock:", "line 8: key 'libraries' stands already on line 5"),
        ("  num_restart: 8", "  seed: 1\n  seed: 2", "line 10: key 'dock.seed' stands already on"),
        (
            "{center: [1, 2]}",
            "{cavity: 1, cavity: 2}",
            "key 'targets.t.site.cavity' stands already",
        ),
        ("  t:", "  no:", "line 2: key 'targets.no': YAML reads this as a number, a date, a truth"),
        ("dock:", "5: x\ndock:", "line 8: key '5': YAML reads this as a number"),
        (
            "dock:",
            "pocket: {ph: 7,4}\ndock:",
            "or nothing; a decimal number needs a point, a list brackets as in [1, 2], a name",
        ),
        ("{center: [1, 2]}", "{center: 1.0, 2.0, 3.0}", "a list brackets as in [1, 2]"),
        ("num_restart: 8", "num_restart: yes", "give a whole number (given: True)"),
        ("num_restart: 8", "bump_tolerance: on", "give a number (given: True)"),
        ("file: l.smi", "chunks: yes", "give a whole number (given: True)"),
        (
            "num_restart: 8",
            "num_restart: 012",
            "line 9: key 'dock.num_restart': YAML reads 012 as 10; write the number in full",
        ),
        ("[1, 2]", "[1, 2, -1:30]", "line 4: key 'targets.t.site.center.2': YAML reads -1:30 as"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(FILE.replace(old, new, 1) if old else FILE)
    with pytest.raises(InputError) as caught:
        settings_in(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert words in str(caught.value)


def test_keys_of_an_anchor_may_be_taken_again(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(
        "targets:\n  a: &a {receptor: r, site: {cavity: 1}}\n  b: {<<: *a, receptor: q}\n"
        "libraries: {l: {file: f}}\n"
    )
    assert settings_in(path).targets["b"].receptor == "q"


def test_a_bad_flag_is_named_as_it_is_typed() -> None:
    parser = cli.parser("stage", None, Site)
    with pytest.raises(InputError) as caught:
        cli.settings_from(Site, parser.parse_args(["--site-radius", "1", "--cavity", "1"]))
    assert str(caught.value).startswith("command line: --site-radius: give 4 or more (given: '1')")
    with pytest.raises(
        InputError, match=r"give one of --ligand, --ligand-name, --residues, --center"
    ):
        cli.settings_from(Site, parser.parse_args([]))


def test_json_is_asked_for_in_flags_alone(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(FILE.replace("[1, 2]", "[1, 2, 3]") + "parse: {properties: 3}\n")
    with pytest.raises(InputError, match=r"\(given: 3\); it is: lowest and .* of properties$"):
        settings_in(path)
    parser = cli.parser("stage", None, ParseSettings)
    with pytest.raises(InputError, match=r"--properties: .* value of properties; as JSON$"):
        cli.settings_from(ParseSettings, parser.parse_args(["--properties", "3"]))
    assert "lowest and highest value of properties; as JSON" in " ".join(
        parser.format_help().split()
    )


def test_a_list_may_stand_in_several_flags() -> None:
    parser = cli.parser("stage", None, Structure)
    words = ["--keep", "A/301", "SO4", "--keep", "A/HOH/7", "--chains", "A"]
    settings = cli.settings_from(Structure, parser.parse_args(words))
    assert settings.keep == ("A/301", "SO4", "A/HOH/7")
    assert settings.chains == ("A",)


def test_a_byte_order_mark_and_windows_lines_are_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    text = "targets:\r\n  t: {receptor: r, site: {ligand: l}}\r\nlibraries:\r\n  l: {file: f}\r\n"
    path.write_text(text, encoding="utf-8-sig", newline="")
    assert settings_in(path).libraries["l"].file == "f"
