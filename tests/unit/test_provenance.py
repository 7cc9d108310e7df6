import ast
import hashlib
import json
import shutil
from functools import cache
from pathlib import Path

import pytest

from ligen_py import provenance
from ligen_py.chain import SCREEN, STAGES
from ligen_py.functions import FUNCTIONS
from ligen_py.provenance import Run, file_digest, sources, stage_digest
from ligen_py.settings.filter import FilterSettings

ROOT = Path(__file__).parents[2]


@cache
def names(stage: str) -> set[str]:
    return {str(path.relative_to(ROOT)) for path in sources(stage)}


def test_a_stage_depends_on_its_modules_and_kernels() -> None:
    dock = names("dock")
    assert {
        "ligen_py/dock.py",
        "ligen_py/engine/docking/batched.py",
        "ligen_py/settings/dock.py",
    } <= dock
    assert {"kernels/batched/dock.cl", "kernels/include/subgroup.clh"} <= dock
    # What changes speed only: tuning must not make a campaign run again.
    assert not any("tuned" in name or name == "ligen_py/tune.py" for name in dock)


def parsed(source: str) -> tuple[set[str], set[str]]:
    """What a module names, by Python's own parser: imports within the package, and files."""
    modules: set[str] = set()
    files: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
        elif isinstance(node, ast.Constant) and str(node.value).endswith(provenance.SUFFIXES):
            files.add(str(node.value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2:
            module = node.args[1]
            if node.func.id in ("load", "load_types") and isinstance(module, ast.Constant):
                modules.update(provenance._loaded(node.func.id, module.value))
    return {name for name in modules if name.startswith("ligen_py")}, files


@pytest.mark.parametrize(
    "folder", sorted({path.parent for path in (ROOT / "ligen_py").rglob("*.py")})
)
def test_what_a_module_names_is_what_pythons_parser_sees(folder: Path) -> None:
    for path in folder.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        modules, files = parsed(text)
        found = provenance._named(text)
        assert set(found[0]) == modules, path
        # The parser also sees parts of names and patterns, which are no files.
        places = (provenance.kernel_folder(), provenance.kernel_folder() / "include", path.parent)
        real = {name for name in files if any((place / name).is_file() for place in places)}
        assert real <= set(found[1]) <= files, path


def test_what_a_module_names_in_every_way_of_writing_it() -> None:
    text = '''"""from ligen_py.prose import nothing, and "prose.cl"."""
import ligen_py.one
from ligen_py.two import (
    a,  # of both, one
    b as c,
)
from elsewhere import d

def late():
    from ligen_py.three import e as f
    scorer = load(row.name, "scorer")
    return "batched/some.cl", 'none', f"{e}.cl"
'''
    modules, files = provenance._named(text)
    assert (set(modules), set(files)) == (parsed(text)[0], {"batched/some.cl"})
    assert {"ligen_py.two.b", "ligen_py.three.e", f"{FUNCTIONS['vina'].package}.scorer"} < set(
        modules
    )


def test_a_stage_does_not_depend_on_other_stages() -> None:
    assert not {"ligen_py/score.py", "ligen_py/parse.py", "kernels/batched/xscore.cl"} & names(
        "dock"
    )
    assert not any(name.endswith(".cl") for name in names("parse") | names("export"))
    assert "kernels/batched/xscore.cl" in names("score")
    refine = {"kernels/batched/maps.cl", "kernels/include/xscore_field.clh"}
    assert refine <= names("refine")
    assert not refine & (names("score") | names("aggregate"))
    assert not {f"kernels/batched/{name}.cl" for name in ("ad4", "score", "vina")} & names("refine")


def rooms(stage: str) -> set[str]:
    """Modules of the scoring functions' rooms that a stage depends on."""
    folder = "ligen_py/engine/functions/"
    return {name.removeprefix(folder) for name in names(stage) if name.startswith(folder)}


def test_a_stage_depends_on_what_it_loads_from_the_rooms_of_scoring_functions() -> None:
    score, refine = rooms("score"), rooms("refine")
    for function, row in FUNCTIONS.items():
        assert {f"{function}/scorer.py", f"{function}/reference.py"} <= score
        assert (f"{function}/field.py" in refine) == row.is_energy
        assert f"{function}/field.py" not in score
        assert not {f"{function}/scorer.py", f"{function}/reference.py"} & refine
    # Constants are both's.
    assert "vina/constants.py" in score & refine
    fields = {f"kernels/include/{name}_field.clh" for name in ("ad4", "vina", "xscore")}
    shared = {"kernels/include/energy.clh", "kernels/include/pairwise_field.clh"}
    assert fields | shared <= names("refine")
    assert not (fields | shared) & (names("score") | names("dock") | names("filter"))
    for stage in ("dock", "filter", "export", "aggregate"):
        assert not any(name.endswith(("scorer.py", "field.py")) for name in rooms(stage)), stage
    # A new row alone changes no digest: what a stage loads from its room does.
    assert not any("ligen_py/functions.py" in names(stage) for stage in ("dock", "score", "refine"))


def test_types_of_atoms_concern_who_makes_or_uses_them() -> None:
    typing = {f"ligen_py/molecules/typing/{name}.py" for name in ("ad4", "vina", "xscore")}
    assert typing <= names("parse") & names("pocket")
    assert not typing & (names("dock") | names("score") | names("refine"))
    records = {f"ligen_py/records/functions/{name}.py" for name in ("ad4", "vina", "xscore")}
    assert records <= names("parse") & names("score") & names("refine")
    assert not records & (names("dock") | names("filter"))


@pytest.mark.parametrize(
    ("kernel", "stages"),
    [
        ("batched/vina.cl", {"score"}),
        ("batched/maps.cl", {"refine"}),
        ("include/energy.clh", {"refine"}),
        ("include/ad4_field.clh", {"refine"}),
        ("include/xscore.clh", {"score"}),
        ("include/ad4.clh", {"score", "refine"}),
    ],
)
def test_a_kernel_of_a_function_concerns_its_stages_only(kernel: str, stages: set[str]) -> None:
    every = ("parse", "pocket", "dock", "filter", "refine", "score", "export")
    assert {stage for stage in every if f"kernels/{kernel}" in names(stage)} == stages


def test_an_unknown_stage_is_an_error() -> None:
    with pytest.raises(ValueError, match="no stage is called nothing"):
        sources("nothing")


SEARCHES = (
    "database",
    "homologs",
    "panel",
    "genome",
    "offtargets",
    "guides",
    "best",
    "selectivity",
)
ALL = {*STAGES, *SEARCHES}
DEVICE = {stage.name for stage in SCREEN}
REPLANNED: dict[str, set[str]] = {
    "ligen_py/settings/aggregate.py": {"aggregate"},
    "ligen_py/settings/best.py": {"best", "selectivity"},
    "ligen_py/settings/campaign.py": set(),
    "ligen_py/settings/check.py": ALL,
    "ligen_py/settings/controls.py": set(),
    "ligen_py/settings/dock.py": {"dock", "lga"},
    "ligen_py/settings/document.py": set(),
    "ligen_py/settings/export.py": {"export"},
    "ligen_py/settings/filter.py": {"dock", "filter", "lga", "refine"},
    "ligen_py/settings/flags.py": ALL,
    "ligen_py/settings/function.py": {"refine", "score"},
    "ligen_py/settings/guides.py": {"guides"},
    "ligen_py/settings/homologs.py": {"homologs", "panel"},
    "ligen_py/settings/lga.py": {"lga"},
    "ligen_py/settings/networks.py": {"networks"},
    "ligen_py/settings/offtargets.py": {"offtargets"},
    "ligen_py/settings/parse.py": {"parse", "report"},
    "ligen_py/settings/pocket.py": {"pocket"},
    "ligen_py/settings/refine.py": {"refine"},
    "ligen_py/settings/report.py": {"report"},
    "ligen_py/settings/score.py": {"score"},
    "ligen_py/settings/searches.py": set(),
    "ligen_py/settings/section.py": ALL,
    "ligen_py/settings/source.py": ALL,
    "kernels/batched/ad4.cl": {"score"},
    "kernels/batched/dock.cl": {"dock", "lga"},
    "kernels/batched/dock_lanes.cl": {"dock", "lga"},
    "kernels/batched/filter.cl": {"filter", "refine"},
    "kernels/batched/lga.cl": {"lga"},
    "kernels/batched/lga_judge.cl": {"lga"},
    "kernels/batched/lga_lanes.cl": {"lga"},
    "kernels/batched/maps.cl": {"lga", "refine"},
    "kernels/batched/heats.cl": {"refine"},
    "kernels/batched/keep.cl": {"refine"},
    "kernels/batched/pairs.cl": {"score"},
    "kernels/batched/refine.cl": {"refine"},
    "kernels/batched/refine_lanes.cl": {"refine"},
    "kernels/batched/gnina.cl": {"networks", "score"},
    "kernels/batched/xscore.cl": {"score"},
    "kernels/batched/vina.cl": {"score"},
    "kernels/latency/dock.cl": {"dock", "lga"},
    "kernels/sequences/inter_sequence.cl": {"homologs"},
    "kernels/sequences/offtargets.cl": {"guides", "offtargets"},
    "kernels/sequences/traceback.cl": {"homologs"},
    "kernels/sequences/wavefront.cl": {"homologs"},
    "kernels/include/ad4.clh": {"lga", "refine", "score"},
    "kernels/include/ad4_field.clh": {"lga", "refine"},
    "kernels/include/ad4_pose.clh": {"lga"},
    "kernels/include/axis_angles.clh": {"lga"},
    "kernels/include/bfgs.clh": {"lga"},
    "kernels/include/descent.clh": {"lga", "refine"},
    "kernels/include/ad4_pull.clh": {"lga", "refine"},
    "kernels/include/cells.clh": {"lga", "refine"},
    "kernels/include/chemical_grid.clh": {"lga", "refine"},
    "kernels/include/energy.clh": {"refine"},
    "kernels/include/field.clh": {"dock", "lga"},
    "kernels/include/field_input.clh": {"lga", "refine"},
    "kernels/include/genetic.clh": {"lga"},
    "kernels/include/geometry.clh": {*DEVICE, "lga"},
    "kernels/include/heat.clh": {"refine"},
    "kernels/include/individual.clh": {"lga"},
    "kernels/include/judge.clh": {"lga"},
    "kernels/include/dock_batch.clh": {"dock", "lga"},
    "kernels/include/lane_energy.clh": {"refine"},
    "kernels/include/metric.clh": {"lga", "refine"},
    "kernels/include/native.clh": {"lga", "refine"},
    "kernels/include/neighbours.clh": {"score"},
    "kernels/include/pairwise_field.clh": {"lga", "refine"},
    "kernels/include/pose.clh": {"score"},
    "kernels/include/random.clh": {"lga", "refine"},
    "kernels/include/real.clh": {"dock", "lga", "networks", "refine", "score"},
    "kernels/include/search.clh": {"dock", "lga"},
    "kernels/include/subgroup.clh": {*DEVICE, "homologs", "lga"},
    "kernels/include/vectors.clh": {"lga", "refine"},
    "kernels/include/vina.clh": {"lga", "refine", "score"},
    "kernels/include/vina_field.clh": {"lga", "refine"},
    "kernels/include/xscore.clh": {"score"},
    "kernels/include/xscore_field.clh": {"lga", "refine"},
}
"""Every section of the settings and every kernel -> the stages whose digest it changes."""


def test_every_table_and_template_is_a_source_of_a_stage() -> None:
    """A changed pKa must make what it protonates again."""
    package = ROOT / "ligen_py"
    data = {
        str(path.relative_to(ROOT))
        for path in package.rglob("*.*")
        if path.suffix not in (".py", ".pyc") and path.name != "py.typed"
    }
    assert {Path(name).suffix for name in data} == set(provenance.BESIDE)
    assert data <= set().union(*map(names, ALL))
    tables = {"pka.tsv", "substituents.tsv"}
    assert tables == {Path(name).name for name in names("parse") if name.endswith(".tsv")}
    assert "ligen_py/molecules/receptor/cofactors.tsv" in names("pocket")


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and its kernels."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("ligen_py", "kernels"):
        without = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=without)
    return folder


def digests() -> dict[str, str]:
    for remembered in (stage_digest, provenance._module_file, provenance._content):
        remembered.cache_clear()
    found = {stage: stage_digest(stage) for stage in ALL}
    for remembered in (stage_digest, provenance._module_file, provenance._content):
        remembered.cache_clear()
    return found


def test_a_changed_section_or_kernel_changes_the_digests_of_the_stages_that_use_it(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All others would run again for nothing, these would keep results of another program."""
    every = [*(ROOT / "ligen_py/settings").glob("[!_]*.py"), *(ROOT / "kernels").rglob("*.cl*")]
    assert {str(path.relative_to(ROOT)) for path in every} == set(REPLANNED)
    before = digests()
    monkeypatch.setattr(provenance, "PACKAGE", copied / "ligen_py")
    monkeypatch.setattr(provenance, "kernel_folder", lambda: copied / "kernels")
    assert digests() == before
    for name, stages in REPLANNED.items():
        text = (copied / name).read_text()
        (copied / name).write_text(text + ("# changed\n" if name[-3:] == ".py" else "// changed\n"))
        after = digests()
        (copied / name).write_text(text)
        assert {stage for stage in ALL if after[stage] != before[stage]} == stages, name


@pytest.mark.parametrize(
    ("stage", "without"),
    [
        ("parse", ("engine/", "opencl/", "store/campaign/", "records/scores")),
        ("pocket", ("opencl/", "store/campaign/", "records/scores", "summary/facts")),
        ("dock", ("store/campaign/", "records/scores", "records/kept", "engine/scoring/")),
        ("filter", ("store/campaign/", "records/scores", "records/pocket")),
        ("refine", ("store/campaign/", "records/scores")),
        ("score", ("store/campaign/", "engine/docking/", "engine/filtering/")),
        ("aggregate", ("opencl/", "engine/functions/", "engine/docking/", "engine/filtering/")),
        ("export", ("opencl/", "engine/functions/", "summary/facts")),
        ("report", ("opencl/", "engine/", "molecules/receptor/")),
    ],
)
def test_a_stage_holds_nothing_that_it_does_not_use(stage: str, without: tuple[str, ...]) -> None:
    folders = tuple(f"ligen_py/{name}" for name in without)
    assert not {name for name in names(stage) if name.startswith(folders)}


def test_a_run_record_tells_settings_and_inputs_but_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "in.h5"
    path.write_bytes(b"abc")
    record = Run("filter", FilterSettings(), (path,), "a device").attributes()
    assert json.loads(record["settings"]) == FilterSettings().model_dump(mode="json")
    assert json.loads(record["inputs"]) == [
        {"name": "in.h5", "sha256": hashlib.sha256(b"abc").hexdigest()}
    ]
    assert record["stage-digest"] == stage_digest("filter")
    assert str(tmp_path) not in json.dumps(record)


def test_file_digest_is_sha256(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"")
    assert file_digest(path) == hashlib.sha256(b"").hexdigest()
