import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from ligen_py.campaign import workplan
from ligen_py.campaign.earlier import EarlierRun
from ligen_py.campaign.parts import Part
from ligen_py.campaign.workplan import Workplan, stage_environment
from ligen_py.errors import InputError
from ligen_py.formats import format_of
from ligen_py.plan import _overridden, _unused
from ligen_py.planning.next_run import _stale_files, _stale_searches
from ligen_py.provenance import Run, file_digest
from ligen_py.records.ligands import LIGANDS
from ligen_py.records.pocket import POCKET
from ligen_py.records.scores import SCORES
from ligen_py.search_changes import Change, search_changes
from ligen_py.settings.document import read_document
from ligen_py.settings.parse import ParseSettings
from ligen_py.settings.pocket import PocketSettings
from ligen_py.settings.score import ScoreSettings
from ligen_py.store.campaign.contents import Contents
from ligen_py.store.campaign.manifest import read_manifest
from ligen_py.store.campaign.parsed_library import ParsedChunk
from ligen_py.store.files.write import new_file
from tests.config_file import settings_in


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("r.pdb", "l.sdf", "l.pdb", "lib.smi", "{x}.smi", "<results>.smi", "tab\tin.smi"):
        (tmp_path / name).write_text("x")
    (tmp_path / "empty").mkdir()
    return tmp_path


def config(**changes: Any) -> dict[str, Any]:
    good = {
        "targets": {
            "a": {"receptor": "r.pdb", "site": {"ligand": "l.sdf"}, "chains": ["B", "C"]},
            "b": {"receptor": "r.pdb", "site": {"center": [-1.5, 0.00001, 2]}},
        },
        "libraries": {"lib": {"file": "lib.smi", "chunks": 2}},
    }
    return {**good, **changes}


def test_parts_are_every_chunk_for_every_target_and_the_controls(folder: Path) -> None:
    assert Workplan.of(config(), "c.yaml", folder).parts() == [
        Part("a", "lib", "1-of-2"),
        Part("a", "lib", "2-of-2"),
        Part("a", "control-a", "1-of-1"),
        Part("b", "lib", "1-of-2"),
        Part("b", "lib", "2-of-2"),
    ]


def test_a_config_that_a_run_has_kept_is_read_again(folder: Path) -> None:
    """It has every default, also that of `chunk_size` beside `chunks`."""
    kept = folder / "config.yaml"
    plan = Workplan.of(config(), "c.yaml", folder)
    kept.write_text(plan.described(folder))
    assert Workplan.of(read_document(kept).values, "c.yaml", folder).parts() == plan.parts()


def test_a_finished_campaign_knows_what_it_lacks(folder: Path) -> None:
    results = folder / "results"
    plan = Workplan.of(config(), "c.yaml", folder)
    assert EarlierRun(plan, folder).missing() == []  # nothing is finished
    results.mkdir()
    (results / "report.html").touch()
    missing = EarlierRun(plan, folder).missing()
    assert len(missing) == len(set(missing)) == 5 * 4 + 3 + 2 + 2 + 2 * 2
    assert results / "campaign.h5" in missing
    for path in missing:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert EarlierRun(plan, folder).missing() == []
    lost = results / "kept/b/lib/2-of-2.h5"
    lost.unlink()
    assert EarlierRun(plan, folder).missing() == [lost]


def test_a_folder_gives_chunks_file_by_file_and_another_file_changes_none(folder: Path) -> None:
    lib = folder / "mols"
    (lib / "in here").mkdir(parents=True)
    (lib / "b.smi.gz").write_bytes(b"x" * 3200)
    (lib / "a.sdf").write_bytes(b"x" * 2500)
    (lib / "in here" / "c.csv").write_bytes(b"x" * 1280)
    for ignored in ("notes.txt", "README.md", ".hidden.smi"):
        (lib / ignored).write_text("x")
    (lib / "empty.smi").touch()
    given = {"libraries": {"lib": {"file": "mols", "chunk_size": 100}}}
    before = Workplan.of(config(**given), "c.yaml", folder).chunks("lib")
    assert before[:3] == ["a.sdf.1-of-1", "b.smi.gz.1-of-2", "b.smi.gz.2-of-2"]
    assert re.fullmatch(r"in_here_c\.csv-[0-9a-f]{8}\.1-of-1", before[3])
    (lib / "aa.mol2").write_text("x")
    plan = Workplan.of(config(**given), "c.yaml", folder)
    after = plan.chunks("lib")
    assert [chunk for chunk in after if "aa.mol2" not in chunk] == before
    assert after[1] == "aa.mol2.1-of-1"
    assert plan.source("lib", before[3]) == lib / "in here" / "c.csv"
    assert plan.parse_flags("lib").startswith("--allow-empty")
    globbed = {"libraries": {"lib": {"file": "mols/**/*.csv", "chunks": 2}}}
    found = Workplan.of(config(**globbed), "c.yaml", folder).chunks("lib")
    assert [chunk.rpartition(".")[2] for chunk in found] == ["1-of-2", "2-of-2"]


def test_a_folder_is_read_behind_links_and_never_in_part(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A subfolder that lies on another disk, or that may not be read, has molecules, too."""
    for name in ("many", "disk/more"):
        (folder / name).mkdir(parents=True)
        (folder / name / "a.smi").write_text("CCO ethanol\n")
    (folder / "many" / "linked").symlink_to("../disk")
    (folder / "disk" / "back").symlink_to("../many")  # a loop
    library = {"lib": {"file": "many", "chunks": 1}}
    plan = Workplan.of(config(libraries=library), "c.yaml", folder)
    assert [file.name for file in plan.files("lib")] == ["a.smi", "linked/more/a.smi"]

    def walk(top: Path, onerror: Callable[[OSError], object], **_: object) -> Iterator[object]:
        onerror(PermissionError(13, "Permission denied", f"{top}/closed"))
        yield str(top), [], ["a.smi"]

    monkeypatch.setattr(os, "walk", walk)
    with pytest.raises(InputError, match=r"'libraries.lib.file': .*/closed: cannot be read \(Perm"):
        Workplan.of(config(libraries=library), "c.yaml", folder)


def test_parts_wait_for_those_before_only_where_a_molecule_is_docked_once(folder: Path) -> None:
    libraries = {name: {"file": "lib.smi", "chunks": 2} for name in ("a", "b")}
    plain = Workplan.of(config(libraries=libraries), "c.yaml", folder)
    once = Workplan.of(config(libraries=libraries, duplicates="campaign"), "c.yaml", folder)
    assert plain.before("b", "2-of-2") == once.before("a", "1-of-2") == []
    assert once.before("b", "2-of-2") == [("a", "1-of-2"), ("a", "2-of-2"), ("b", "1-of-2")]
    assert once.before("control-a", "1-of-1") == []
    many = {"lib": {"file": "lib.smi", "chunks": 1001}}
    once = Workplan.of(config(libraries=many, duplicates="campaign"), "c.yaml", folder)
    with pytest.raises(InputError, match="'duplicates': campaign parses 1001 parts"):
        once.before("lib", "1-of-1001")


def test_parts_that_are_parsed_in_turn_are_a_chain(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that stand before are there when those are that a part awaits, also of other campaigns.

    1,000 parts were half a million links, which took Snakemake minutes. Nor can it follow a
    chain of hundreds of links at a time.
    """
    libraries = {
        name: {"file": "lib.smi", "chunks": n} for name, n in (("a", 300), ("b", 200), ("c", 500))
    }
    once = Workplan.of(config(libraries=libraries, duplicates="campaign"), "c.yaml", folder)
    monkeypatch.setattr(Workplan, "is_reused", lambda _, library: library == "b")
    every = [(name, chunk) for name in libraries for chunk in once.chunks(name)]
    known: dict[tuple[str, str], set[tuple[str, str]]] = {}
    links = 0

    def visit(part: tuple[str, str], depth: int) -> None:
        nonlocal links
        assert depth < 80
        if part in known:
            return
        # What another campaign has parsed is copied, and awaits nothing.
        awaited = [] if part[0] == "b" else once.awaited(*part)
        for one in awaited:
            visit(one, depth + 1)
        links += len(awaited)
        known[part] = set(awaited).union(*(known[one] for one in awaited))

    visit(every[-1], 0)
    assert known.keys() == set(every)
    for number, part in enumerate(every):
        assert part[0] == "b" or known[part] == set(every[:number])
    assert links < 30 * len(every)


def test_the_parts_that_are_parsed_last_await_all_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another campaign has parsed is copied, and awaits none."""
    libraries = {name: {"file": "lib.smi", "chunks": 2} for name in ("lib", "copied")}
    given = {"duplicates": "campaign", "controls": {"a": {"actives": "lib.smi"}}}
    plan = Workplan.of(config(libraries=libraries, **given), "c.yaml", folder)
    monkeypatch.setattr(Workplan, "is_reused", lambda _, library: library == "copied")
    ours = [
        f"results/ligands/{name}-a/1-of-1.h5" for name in ("control", "actives-of", "decoys-of")
    ]
    assert plan.parsed_last("results") == ["results/ligands/lib/2-of-2.h5", *ours]


@pytest.mark.parametrize("name", ["l.mol2", "l.MOL2.gz", "l.mol", "l.sd.gz"])
def test_a_reference_ligand_with_bond_orders_is_a_control(name: str, folder: Path) -> None:
    (folder / name).write_text("x")
    targets = {"a": {"receptor": "r.pdb", "site": {"ligand": name}}}
    plan = Workplan.of(config(targets=targets), "c.yaml", folder)
    assert plan.controls.library("a") == "control-a"
    assert plan.source("control-a", "1-of-1") == folder / name


def test_memory_grows_with_the_records_of_a_chunk_and_the_processes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (folder / "large.smi").open("wb") as file:
        file.truncate(64 * 800_000)  # a file of that size, of which nothing is read
    libraries = {
        "few": {"file": "lib.smi", "chunks": 1},
        "large": {"file": "large.smi", "chunk_size": 200_000},
    }
    plan = Workplan.of(config(libraries=libraries), "c.yaml", folder)
    assert plan.resources.parse_memory("few", "1-of-1", 1) == 2125
    assert plan.resources.parse_memory("few", "1-of-1", 16) == 4000
    assert plan.resources.screen_memory("few", "1-of-1") == 8000
    assert plan.resources.parse_memory("large", "2-of-4", 8) == 3000 + 5000
    assert plan.resources.screen_memory("large", "2-of-4") == 2000 + 20_000
    for poses, restarts, share in ((512, 2048, 2), (0, 1024, 4), (512, 128, 1), (128, 2048, 1)):
        dock = plan.settings.dock.model_copy(
            update={"max_num_poses": poses, "num_restart": restarts}
        )
        more = replace(plan, settings=plan.settings.model_copy(update={"dock": dock}))
        assert more.resources.screen_memory("large", "2-of-4") == 2000 + share * 20_000
    for runs, restarts, poses in ((20, 0, 256), (2560, 0, 2560), (256, 4096, 512), (256, 64, 320)):
        given = {"runs": runs, "restarts": restarts}
        by_lga = config(libraries=libraries, search="lga", lga=given, dock={"max_num_poses": 1024})
        more = Workplan.of(by_lga, "c.yaml", folder)
        assert more.resources.screen_memory("large", "2-of-4") == 2000 + poses / 256 * 20_000
    assert plan.resources.report_memory() == 4000 + 320  # two targets
    assert plan.resources.aggregate_minutes() == 240
    libraries["large"]["chunks"] = 4
    del libraries["large"]["chunk_size"]
    both = Workplan.of(config(libraries=libraries, duplicates="campaign"), "c.yaml", folder)
    assert both.resources.parse_memory("large", "4-of-4", 8) == 3000 + 5000 + 60
    (folder / "parsed").mkdir()
    with (folder / "parsed" / "1-of-2.h5").open("wb") as file:
        file.truncate(9000 * 200_000)
    chunk = ParsedChunk(folder / "parsed" / "1-of-2.h5", "1-of-2.h5")
    monkeypatch.setattr(workplan, "parsed_chunks", lambda _: {"1-of-2": chunk})
    parsed = Workplan.of(config(libraries={"lib": {"parsed": "parsed"}}), "c.yaml", folder)
    assert parsed.resources.screen_memory("lib", "1-of-2") == 2000 + 20_000
    assert parsed.resources.report_memory() == 4000 + 80
    with (folder / "parsed" / "1-of-2.h5").open("wb") as file:
        file.truncate(9000 * 500_000_000)
    parsed = Workplan.of(config(libraries={"lib": {"parsed": "parsed"}}), "c.yaml", folder)
    assert parsed.resources.aggregate_minutes() == 1000
    # Of what an anti-target's search will choose, nothing is known yet.
    assert plan.resources.screen_memory("best-of-a", "1-of-1") == 8000


def test_too_many_parts_are_a_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workplan, "MOST_CHUNKS", 1)
    with pytest.raises(InputError, match="2 parts, at most 1; give a larger"):
        Workplan.of(config(), "c.yaml", folder)


def test_paths_have_no_repeats(folder: Path) -> None:
    plan = Workplan.of(config(), "c.yaml", folder)
    assert plan.paths("p/{target}") == ["p/a", "p/b"]
    assert plan.paths("{library}/{chunk}") == ["lib/1-of-2", "lib/2-of-2", "control-a/1-of-1"]


def test_a_reference_without_bond_orders_makes_no_control(folder: Path) -> None:
    targets = {"a": {"receptor": "r.pdb", "site": {"ligand": "l.pdb"}}}
    plan = Workplan.of(config(targets=targets), "c.yaml", folder)
    assert plan.controls.library("a") is None
    assert {part.library for part in plan.parts()} == {"lib"}
    # Scripts for viewers find it in the manifest all the same.
    assert {part.crystal for part in plan.manifest("results").parts} == {folder / "l.pdb"}
    assert plan.crystals() == [folder / "l.pdb"]
    (drawn, *_) = Workplan.of(config(), "c.yaml", folder).manifest("results").parts
    assert drawn.crystal is None


@pytest.mark.parametrize("ligand", ["l.sdf", "l.pdb"])
def test_the_digest_of_a_plan_is_that_of_its_manifest(folder: Path, ligand: str) -> None:
    open_and_closed = {"open": "r.pdb", "closed": "r.pdb"}
    targets = {
        "a": {"receptor": open_and_closed, "site": {"ligand": ligand}},
        "b": {"receptor": "r.pdb", "site": {"center": [0, 0, 0]}},
    }
    plan = Workplan.of(config(targets=targets), "c.yaml", folder)
    assert plan.digest == plan.manifest().digest()
    assert plan.every_source() == [folder / name for name in ("r.pdb", ligand, "lib.smi")]


def test_the_manifest_is_what_aggregate_reads(folder: Path, tmp_path: Path) -> None:
    plan = Workplan.of(config(), "c.yaml", folder)
    table = tmp_path / "manifest.tsv"
    table.write_text(plan.manifest("results").text(), encoding="utf-8")
    manifest = read_manifest(table)
    assert [(part.target, part.library) for part in manifest.parts] == [
        (part.target, part.library) for part in plan.parts()
    ]
    (control,) = manifest.control("a")
    assert control.crystal == folder / "l.sdf"
    assert control.scores == Path("results/scores/a/control-a/1-of-1.h5")
    assert manifest.control("b") == []


def test_a_control_forgets_its_crystal_coordinates(folder: Path) -> None:
    plan = Workplan.of(config(), "c.yaml", folder)
    assert "--embed always" in plan.parse_flags("control-a")
    assert "--embed missing" in plan.parse_flags("lib")
    assert plan.source("control-a", "1-of-1") == folder / "l.sdf"


def test_site_and_chains_become_flags(folder: Path) -> None:
    plan = Workplan.of(config(), "c.yaml", folder)
    assert plan.pocket_flags("a").startswith(
        f"--chains B C --cofactors '{{}}' --ligand {folder / 'l.sdf'} --radius"
    )
    # argparse would take -1e-05 for a flag.
    assert plan.pocket_flags("b").startswith("--cofactors '{}' --center -1.5 0.00001 2.0 --radius")


def test_a_cofactor_file_is_a_source_of_its_pocket(folder: Path) -> None:
    target = {"receptor": "r.pdb", "site": {"center": [0, 0, 0]}}
    target["cofactors"] = {"cof": "c.sdf", "ACT": "CC(=O)[O-]"}
    with pytest.raises(InputError, match=r"targets.t.cofactors.COF': .*c.sdf does not exist"):
        Workplan.of(config(targets={"t": target}), "c.yaml", folder)
    (folder / "c.sdf").touch()
    plan = Workplan.of(config(targets={"t": target}), "c.yaml", folder)
    assert plan.pocket_sources("t") == [folder / "r.pdb", folder / "c.sdf"]
    given = {"COF": str(folder / "c.sdf"), "ACT": "CC(=O)[O-]"}
    assert plan.structure("t").cofactors == given


def test_sites_and_conformations_are_pockets_of_their_own(folder: Path) -> None:
    (folder / "s.pdb").touch()
    target = {
        "receptor": {"open": "r.pdb", "shut": "s.pdb"},
        "sites": {"one": {"ligand": "l.sdf"}, "two": {"cavity": 2, "size": [20, 18, 22]}},
        "assembly": 1,
    }
    plan = Workplan.of(config(targets={"t": target}), "c.yaml", folder)
    assert list(plan.pockets) == ["t.one.open", "t.one.shut", "t.two.open", "t.two.shut"]
    assert plan.receptor("t.two.shut") == folder / "s.pdb"
    assert plan.pocket_flags("t.two.shut").startswith(
        "--assembly 1 --cofactors '{}' --cavity 2 --site-size 20.0 18.0 22.0 --radius"
    )
    assert plan.named_files("t.one.shut") == [folder / "l.sdf"]
    assert (
        plan.controls.library("t.one.shut")
        == plan.controls.library("t.one.open")
        == "control-t.one"
    )
    table = folder / "m.tsv"
    table.write_text(plan.manifest("results").text(), encoding="utf-8")
    manifest = read_manifest(table)
    assert manifest.targets == ["t.one", "t.two"]
    (members, _) = manifest.chunks("t.two", "lib")
    assert [part.conformation for part in members] == ["open", "shut"]
    assert members[1].scores == Path("results/scores/t.two.shut/lib/1-of-2.h5")
    assert [part.place for part in manifest.control("t.one")] == ["t.one.open", "t.one.shut"]


@pytest.mark.parametrize(
    ("changes", "keys"),
    [
        ({"effort": "thorough"}, []),
        ({"effort": "standard", "dock": {"num_restart": 64}}, []),
        ({"effort": "thorough", "refine": {"rounds": 4, "seed": 2}}, []),
        (
            {"effort": "thorough", "dock": {"num_restart": 64}, "refine": {"rounds": 1}},
            ["dock.num_restart", "refine.rounds"],
        ),
    ],
)
def test_keys_of_an_effort_that_the_file_sets_are_told(
    folder: Path, changes: dict[str, Any], keys: list[str]
) -> None:
    """A copy of config.yaml set all of them, and no effort did anything."""
    found = list(_overridden(Workplan.of(config(**changes), "c.yaml", folder)))
    words = f"the file sets other values than the effort's: {', '.join(keys)}"
    assert found == ([words] if keys else [])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"lga": {"runs": 5}}, "lga has no effect, as search is ligen"),
        ({"search": "lga", "lga": {"runs": 5}}, ""),
        ({"search": "lga", "dock": {"num_restart": 64}}, "dock has no effect, as search is lga"),
        (
            {"search": "lga", "dock": {"num_restart": 64}, "lga": {"restarts": 64}},
            "dock has no effect, as search is lga",
        ),
        (
            {"effort": "exhaustive", "dock": {"num_restart": 64}},
            "dock has no effect, as search is lga",
        ),
        ({"effort": "exhaustive"}, ""),
        (
            {"search": "lga", "filter": {"max_pocket_bumps": 0}},
            "filter.max_pocket_bumps has no effect, as search is lga: its runs count as free of "
            "bumps",
        ),
        ({"search": "lga", "filter": {"max_pocket_bumps": 0}, "lga": {"restarts": 9}}, ""),
        ({"filter": {"max_pocket_bumps": 0}}, ""),
    ],
)
def test_a_section_of_the_other_search_is_told(
    folder: Path, changes: dict[str, Any], words: str
) -> None:
    found = list(_unused(Workplan.of(config(**changes), "c.yaml", folder)))
    assert [one.partition(";")[0] for one in found] == ([words] if words else [])


@pytest.mark.parametrize("chosen", ["search: lga", "effort: exhaustive"])
def test_the_runs_of_the_genetic_algorithm_are_not_dropped(folder: Path, chosen: str) -> None:
    text = yaml.safe_dump(config()) + f"{chosen}\ndocked_poses: drop\n"
    (folder / "c.yaml").write_text(text)
    line = text.count("\n")
    with pytest.raises(InputError, match=f"line {line}: key 'docked_poses': take it out") as error:
        settings_in(folder / "c.yaml")
    assert ("which effort exhaustive chooses" in str(error.value)) == ("effort" in chosen)


def test_a_workbook_is_to_be_saved_as_csv() -> None:
    with pytest.raises(InputError, match=r"vendor\.xlsx: is a workbook of a spreadsheet; save it"):
        format_of(Path("vendor.xlsx"))


def test_a_path_can_lie_inside_an_installed_package(folder: Path) -> None:
    plan = Workplan.of(config(), "c.yaml", folder)
    assert plan.resolve("package:ligen_py/provenance.py").is_file()
    assert plan.resolve("/tmp/x") == Path("/tmp/x")
    assert plan.resolve("x/y.sdf") == folder / "x/y.sdf"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"libraries": {"lib": {"file": "no.smi"}}}, "no.smi does not exist"),
        ({"libraries": {"lib": {"parsed": "nowhere"}}}, "nowhere: no such folder; name the"),
        ({"libraries": {"lib": {"file": "lib.smi", "parsed": "x"}}}, "either 'file' or 'parsed'"),
        ({"libraries": {"lib": {"parsed": "x", "chunks": 2}}}, "'chunks' was decided when"),
        ({"libraries": {"lib": {"file": "empty"}}}, "empty contains no library file"),
        ({"libraries": {"lib": {"file": "*.csv"}}}, "no file matches"),
        ({"libraries": {"lib": {"file": "{x}.smi"}}}, "braces for wildcards"),
        ({"libraries": {"lib": {"file": "tab\tin.smi"}}}, "the name cannot be shown; rename it"),
        ({"report": {"groups": {"g": ["x" * 120_000]}}}, "a command line takes 100,000"),
        ({"libraries": {"lib": {"file": "<results>.smi"}}}, "takes <...> for another path"),
        ({"libraries": {"lib": {"file": "r.*"}}}, "r.pdb: a structure file has no bond orders"),
        ({"libraries": {"lib": {"file": "l*", "chunks": 10000, "chunk_size": 0}}}, "chunk_size"),
        (
            {"libraries": {"lib": {"file": "lib.smi", "chunks": 2, "chunk_size": 5}}},
            "key 'libraries.lib': 'chunks' is given, so that 'chunk_size' has no effect",
        ),
        ({"libraries": {"control-a": {"file": "lib.smi"}}}, "kept for the controls"),
        ({"libraries": {"lib": {"file": "package:nosuchpackage/x"}}}, "pip install nosuchpackage"),
        ({"libraries": {"lib": {"file": "package:../x"}}}, "is not installed"),
        ({"libraries": {"lib": {"file": "package:glob/x"}}}, "is not installed"),
        ({"libraries": {"lib": {"file": "~no-such-user/x.smi"}}}, "no such home folder"),
        ({"libraries": {"lib": {"file": ""}}}, "'libraries.lib.file': is empty; name a file or a"),
        ({"targets": {"a" * 60: {"receptor": "r.pdb", "site": {"ligand": "l.sdf"}}}}, "at most"),
        ({"targets": {"a": {"receptor": "r.pdb", "site": {"ligand": "q.sdf"}}}}, "site.ligand"),
        ({"targets": {"a": {"receptor": "q.pdb", "site": {"ligand": "l.sdf"}}}}, "a.receptor"),
        (
            {"targets": {"a": {"receptor": {"x": "q.pdb"}, "site": {"cavity": 1}}}},
            "a.receptor.x",
        ),
        (
            {"targets": {"a": {"receptor": "r.pdb", "sites": {"s": {"ligand": "q.sdf"}}}}},
            "a.sites.s.ligand",
        ),
        (
            {
                "targets": {
                    "a": {"receptor": "r.pdb", "sites": {"s": {"cavity": 1}}},
                    "a.s": {"receptor": "r.pdb", "site": {"cavity": 1}},
                }
            },
            "'a.s' is the name of two",
        ),
        (
            {
                "targets": {
                    "a": {"receptor": {"x": "r.pdb", "y": "r.pdb"}, "sites": {"s": {"cavity": 1}}},
                    "a.s": {"receptor": "r.pdb", "site": {"cavity": 1}},
                }
            },
            "'a.s' is the name of two",
        ),
        (
            {
                "targets": {
                    "a": {"receptor": "r.pdb", "site": {"cavity": 1}},
                    "a-reference": {"receptor": "r.pdb", "site": {"cavity": 1}},
                }
            },
            "'a-reference' is the name of a target, and of the file of the reference ligand of 'a'",
        ),
        (
            {
                "targets": {
                    "a": {"receptor": {"x": "r.pdb", "receptor": "r.pdb"}, "site": {"cavity": 1}},
                    "a-receptor": {"receptor": "r.pdb", "site": {"cavity": 1}},
                }
            },
            "'a-receptor-receptor' is the file of a receptor of 'a' and of 'a-receptor'",
        ),
        (
            {
                "targets": {
                    "a": {"receptor": "r.pdb", "site": {"ligand": "l.sdf"}},
                    "a.waters-near": {"receptor": "r.pdb", "site": {"cavity": 1}},
                },
                "controls": {"a": {"waters": ["near"]}},
            },
            "'a.waters-near' is also what 'a' is called where controls try other waters",
        ),
    ],
)
def test_what_cannot_be_used_is_one_sentence(
    folder: Path, changes: dict[str, Any], words: str
) -> None:
    path = folder / "c.yaml"
    path.write_text(yaml.safe_dump(config(**changes)))
    document = read_document(path)
    with pytest.raises(InputError, match=words) as caught:
        Workplan.of(document.values, document.source, folder)
    assert re.match(rf"{re.escape(str(path))}: line [1-9]\d*: key '", str(caught.value))


@pytest.mark.parametrize("name", ["r.pdb", "lib.smi"])
def test_a_file_from_the_future_is_found_before_the_first_job(folder: Path, name: str) -> None:
    """Snakemake would throw away what was made from it."""
    os.utime(folder / name, (3e9, 3e9))
    with pytest.raises(InputError, match=f"{name}: the time of its last change .* 'touch .*{name}"):
        Workplan.of(config(), "c.yaml", folder)


def test_stages_run_this_package_from_anywhere(tmp_path: Path) -> None:
    environment = {**os.environ, **stage_environment()}
    command = ["python", "-c", "import ligen_py.settings, sys; print(ligen_py.__file__)"]
    found = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert Path(found.stdout.strip()).parent == Path(__file__).parents[2] / "ligen_py"


def test_the_environment_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    once = stage_environment()
    for name, value in once.items():
        monkeypatch.setenv(name, value)
    assert stage_environment() == once


def searches(**changes: Any) -> dict[str, Any]:
    """A campaign of one search of sequences."""
    return {"homologs": {"s": {"query": "q.fa", "database": "db.fa", **changes}}}


@pytest.fixture
def sequences(folder: Path) -> Path:
    for name in ("q.fa", "db.fa", "db.h5", "own.txt", "guides.tsv", "cds.fa", "a.gtf"):
        (folder / name).write_text("x")
    (folder / "hg38.fa").write_text(">chr1\nACGT\n")
    (folder / "other").mkdir()
    (folder / "other" / "hg38.fa").write_text(">chr1\nACGT\n")
    (folder / "in.txt").write_text("other\nNNNNNNRG\nACGTGGNN 3\n")
    return folder


def test_lost_tables_of_searches_are_made_again(sequences: Path) -> None:
    """They are what a search is for; Snakemake asks for the file beside them alone."""
    guides = {"guides": {"g": {"genome": "hg38.fa", "cds": "cds.fa"}}}
    sites = {"offtargets": {"o": {"genome": "hg38.fa", "guides": "guides.tsv"}}}
    plan = Workplan.of(searches() | guides | sites, "c.yaml", sequences)
    (sequences / "results").mkdir()
    (sequences / "results" / "report.html").touch()
    results = sequences / "results"
    lost = {str(path.relative_to(results)) for path in EarlierRun(plan, sequences).missing()}
    assert {
        "homologs/s/found/hits.tsv",
        "offtargets/o/found/counts.tsv",
        "offtargets/o/found/summary.txt",
        "guides/g/found/guides.bed",
        "guides/g/1-of-1.h5",
    } < lost


def test_a_campaign_may_have_searches_alone(sequences: Path) -> None:
    plan = Workplan.of(searches(chunks=2, top=5, min_identity=0.5), "c.yaml", sequences)
    assert plan.parts() == []
    assert plan.final("results") == [
        "results/config.yaml",
        "results/report.html",
        "results/report.txt",
        "results/homologs/s/found/panel.tsv",
        "results/homologs/s/found/homologs.h5",
    ]
    assert plan.searches.parts("homologs", "s") == ["1-of-2", "2-of-2"]
    assert plan.searches.homolog_files("s", "results") == {
        "query": str(sequences / "q.fa"),
        "database": "results/homologs/s/database.h5",
    }
    expected = "--matrix BLOSUM62 --gap-first 10 --gap-next 2 --top 5"
    assert plan.searches.homolog_flags("s") == expected
    assert plan.searches.panel_flags("s") == "--min-identity 0.5 --max-evalue 0.00001"


def test_a_matrix_by_name_is_no_file_that_lies_beside_the_config(sequences: Path) -> None:
    """As with `ligen homologs`: a file has no E-values, so all hits were like enough."""
    (sequences / "BLOSUM62").write_text("x")
    for given in ({}, {"matrix": "blosum62"}):
        plan = Workplan.of(searches(**given), "c.yaml", sequences)
        assert "matrix" not in plan.searches.homolog_files("s", "results")
        assert sequences / "BLOSUM62" not in plan.searches.sources("homologs", "s")
        assert plan.searches.homolog_flags("s").lower().startswith("--matrix blosum62 ")
    plan = Workplan.of(searches(matrix="./BLOSUM62"), "c.yaml", sequences)
    assert sequences / "BLOSUM62" in plan.searches.sources("homologs", "s")


def test_a_search_may_ask_for_the_homologs_of_a_target(sequences: Path) -> None:
    given = {"target": "b", "query": None, "database": "db.h5", "matrix": "own.txt"}
    plan = Workplan.of({**config(), **searches(**given)}, "c.yaml", sequences)
    assert plan.final("r")[:2] == ["r/config.yaml", "r/export/.exported"]
    assert plan.final("r")[-1] == "r/homologs/s/found/homologs.h5"
    assert plan.searches.homolog_files("s", "results") == {
        "receptor": str(sequences / "r.pdb"),
        "pocket": "results/pockets/b.h5",
        "database": str(sequences / "db.h5"),
        "matrix": str(sequences / "own.txt"),
    }
    assert f"--matrix {sequences / 'own.txt'}" in plan.searches.homolog_flags("s")


def test_searches_of_genomes(sequences: Path) -> None:
    search = {"genome": "hg38.fa", "guides": "guides.tsv", "mismatches": 3, "chunks": 2}
    design = {"genome": "other/hg38.fa", "gene": "EGFR", "annotation": "a.gtf", "controls": 4}
    given = {
        "offtargets": {"one": search, "two": {"input": "in.txt", "rows": "all"}},
        "guides": {"egfr": design},
    }
    plan = Workplan.of(given, "c.yaml", sequences)
    assert plan.final("r") == [
        "r/config.yaml",
        "r/report.html",
        "r/report.txt",
        "r/offtargets/one/found/offtargets.h5",
        "r/offtargets/two/found/offtargets.h5",
        "r/guides/egfr/found/guides.h5",
    ]
    assert plan.searches.parts("offtargets", "one") == ["1-of-2", "2-of-2"]
    assert plan.searches.every_part_file("r") == [
        *(f"r/offtargets/one/{n}-of-2.h5" for n in (1, 2)),
        "r/offtargets/two/1-of-1.h5",
        "r/guides/egfr/1-of-1.h5",
    ]
    other = sequences / "other"
    assert plan.searches.genomes == {
        "hg38": sequences / "hg38.fa", "other": other, "hg38_2": other / "hg38.fa"
    }  # fmt: skip
    assert plan.searches.genome_files("offtargets", "two", "r") == {
        "input": str(sequences / "in.txt"), "genome": str(other), "cache": "r/genomes/other"
    }  # fmt: skip
    words = plan.searches.genome_words("guides", "egfr", "r")
    assert words == (
        f"--annotation {sequences / 'a.gtf'} --genome {other / 'hg38.fa'} "
        "--cache r/genomes/hg38_2 --gene EGFR"
    )
    assert "--mismatches 3 " in plan.searches.offtarget_flags("one")
    assert plan.searches.offtarget_flags("two").startswith("--rows all")
    assert "--controls 4" in plan.searches.guide_flags("egfr")


def test_the_genome_of_an_input_file_is_the_same_from_every_folder(
    sequences: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`ligen plan` and `verify` compared results with a genome of the folder they were typed in."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "other").mkdir()
    (elsewhere / "other" / "hg38.fa").write_text(">chr2\nAAAA\n")
    (sequences / "inputs").mkdir()
    (sequences / "inputs" / "in.txt").write_text((sequences / "in.txt").read_text())
    given = {"offtargets": {"o": {"input": "in.txt"}, "p": {"input": "inputs/in.txt"}}}
    expected = {"other": sequences / "other"}
    for folder in (sequences, elsewhere):
        monkeypatch.chdir(folder)
        assert Workplan.of(given, "c.yaml", sequences).searches.genomes == expected


def test_a_genome_that_is_named_in_two_ways_is_converted_once(sequences: Path) -> None:
    design = {"genome": "other/../hg38.fa", "gene": "EGFR", "annotation": "a.gtf"}
    given = {
        "offtargets": {"one": {"genome": "hg38.fa", "guides": "guides.tsv"}},
        "guides": {"egfr": design},
    }
    searches = Workplan.of(given, "c.yaml", sequences).searches
    assert searches.genomes == {"hg38": sequences / "hg38.fa"}
    for section, name in searches.genome_paths:
        assert searches.genome_files(section, name, "r")["cache"] == "r/genomes/hg38"


def test_anti_targets_are_docked_but_not_ranked(sequences: Path) -> None:
    anti = {"receptor": "r.pdb", "site": {"center": [0, 0, 0], "radius": 8}}
    given = {"target": "b", "query": None, "structures": {"P1": anti}, "best": 5}
    plan = Workplan.of({**config(), **searches(**given)}, "c.yaml", sequences)
    assert list(plan.antitargets) == ["anti-s.P1"]
    assert "anti-s.P1" not in plan.pockets
    assert all(not part.target.startswith("anti-") for part in plan.parts())
    assert plan.receptor("anti-s.P1") == sequences / "r.pdb"
    assert plan.site("anti-s.P1").radius == 8
    assert plan.searches.ranked_targets("s") == ["b"]
    assert plan.searches.best_flags("s") == "--best 5"
    assert plan.searches.antitarget_scores("s", "r") == {
        "P1": "r/scores/anti-s.P1/best-s/1-of-1.h5",
    }
    assert "r/homologs/s/selectivity.tsv" in plan.final("r")


ANTI = {"P1": {"receptor": "r.pdb", "site": {"center": [0, 0, 0]}}}


def test_an_anti_target_whose_structure_has_changed_is_named(sequences: Path) -> None:
    given = searches(target="b", query=None, structures=ANTI)
    plan = Workplan.of({**config(), **given}, "c.yaml", sequences)
    results, structure = sequences / "results", sequences / "r.pdb"
    made = Run("pocket", PocketSettings(), (structure,))
    with new_file(results / "pockets" / "anti-s.P1.h5", POCKET, made):
        pass
    assert list(search_changes(plan, results, file_digest)) == []
    structure.write_text("another")
    (change,) = search_changes(plan, results, file_digest)
    file = results / "pockets" / "anti-s.P1.h5"
    assert change == Change(structure, file, "s")
    contents = Contents(sequences)
    (stale,) = _stale_searches(plan, sequences, contents)
    assert stale.startswith(
        f"{structure} has changed: {file}, and the selectivity of the search 's'"
    )
    os.truncate(file, 100)
    (stop,) = _stale_searches(plan, sequences, contents)
    assert stop.startswith(f"would stop: {file}: not a complete HDF5 file")


def test_scores_of_networks_are_not_replaced_by_scores_without(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The networks were there in another shell; only the config says that they are not wanted."""
    monkeypatch.delenv("LIGEN_NETWORKS", raising=False)
    monkeypatch.setattr("ligen_py.paths.find_spec", lambda name: None)
    plan = Workplan.of(config(effort="thorough"), "c.yaml", folder)
    assert "are not installed, so energies alone do; install them with" in plan.without_networks
    EarlierRun(plan, folder).require_networks()
    scores = folder / "results/scores/b/lib"
    energies = ScoreSettings(functions=("vina", "ad4", "xscore"))
    networks = ScoreSettings(functions=("vina", "gnina"))
    for time, (name, settings) in enumerate((("2-of-2", energies), ("1-of-2", networks)), 1):
        with new_file(scores / f"{name}.h5", SCORES, Run("score", settings, ())):
            pass
        os.utime(scores / f"{name}.h5", (time, time))
    with pytest.raises(InputError, match="was scored with gnina's networks, which are not") as said:
        EarlierRun(plan, folder).require_networks()
    wish = config(effort="thorough", score={"functions": ["vina", "ad4", "xscore"]})
    assert "'score: {functions: [vina, ad4, xscore]}'" in str(said.value)
    for asked in (wish, config()):
        other = Workplan.of(asked, "c.yaml", folder)
        assert other.without_networks == ""
        EarlierRun(other, folder).require_networks()
    os.truncate(scores / "1-of-2.h5", 100)  # a run makes it again
    EarlierRun(plan, folder).require_networks()
    monkeypatch.setenv("LIGEN_NETWORKS", str(folder))
    assert not Workplan.of(config(effort="thorough"), "c.yaml", folder).lacks_networks


def test_results_of_other_targets_are_told(folder: Path) -> None:
    plan = Workplan.of(config(), "c.yaml", folder)
    assert EarlierRun(plan, folder).other_targets() == []
    (folder / "results").mkdir()
    manifest = folder / "results" / "manifest.tsv"
    manifest.write_text(plan.manifest(str(folder / "results")).text())
    assert EarlierRun(plan, folder).other_targets() == []
    other = Workplan.of(config(targets={"c": config()["targets"]["b"]}), "c.yaml", folder)
    assert EarlierRun(other, folder).other_targets() == ["a", "b"]
    both = Workplan.of(
        config(targets={**config()["targets"], "c": config()["targets"]["b"]}), "c.yaml", folder
    )
    assert EarlierRun(both, folder).other_targets() == []
    fewer = Workplan.of(config(targets={"b": config()["targets"]["b"]}), "c.yaml", folder)
    assert EarlierRun(fewer, folder).other_targets() == ["a"]


def test_a_damaged_file_stops_no_plan(folder: Path) -> None:
    """What else has changed is said behind it."""
    plan = Workplan.of(config(), "c.yaml", folder)
    receptor, library = folder / "r.pdb", folder / "lib.smi"
    with new_file(folder / "results/pockets/b.h5", POCKET, Run("pocket", PocketSettings(), ())):
        pass
    damaged = folder / "results/ligands/lib/1-of-2.h5"
    made = Run("parse", ParseSettings(), (library,))
    with new_file(damaged, LIGANDS, made):
        pass
    contents = Contents(folder)
    assert [line.partition(" has changed")[0] for line in _stale_files(plan, folder, contents)] == [
        str(receptor)
    ]
    os.truncate(damaged, 100)
    stop, change = _stale_files(plan, folder, contents)
    assert stop.startswith(f"would stop: {damaged}: not a complete HDF5 file")
    assert change.startswith(f"{receptor} has changed")


def test_what_was_exported_of_its_targets_may_be_lost(folder: Path) -> None:
    """By the list of what was written: a new target, and files of another one, are none of it."""
    plan = Workplan.of(config(export={"pdbqt": True}), "c.yaml", folder)
    results = folder / "results"
    files = ("a.sdf", "a-reference.pdb", "a-pdbqt/1-x.pdbqt", "a-gone.sdf")
    (results / "export" / "a-pdbqt").mkdir(parents=True)
    for name in files:
        (results / "export" / name).touch()
    others = ("a-pdbqt/mine/1-x.pdbqt",)  # of a form that no file of `export` has
    listed = "".join(f"{name}\n" for name in files + others)
    (results / "export" / ".exported").write_text(listed)
    (results / "campaign.h5").touch()
    earlier = Workplan.of(
        {**config(), "targets": {"a": config()["targets"]["a"]}}, "c.yaml", folder
    )
    (results / "manifest.tsv").write_text(earlier.manifest(str(results)).text())
    for path in EarlierRun(earlier, folder).missing():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert EarlierRun(plan, folder).lost() == []
    for name in files:
        (results / "export" / name).unlink()
    assert [(path.name, how) for path, how in EarlierRun(plan, folder).lost()] == [
        (Path(name).name, "is missing") for name in files[:-1]
    ]
    without = Workplan.of(config(), "c.yaml", folder)
    assert [path.name for path, _ in EarlierRun(without, folder).lost()] == list(files[:2])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (searches(structures=ANTI), "'structures' are docked with the best ligands of a 'target'"),
        (
            {**searches(target="b", query=None, structures=ANTI),
             "aggregate": {"rank_by": "consensus"}},
            "needs 'aggregate.rank_by: score'",
        ),
        (
            {**searches(target="b", query=None, structures=ANTI),
             "libraries": {"best-s": {"file": "lib.smi"}}},
            "'libraries.best-s': is the name of the best ligands",
        ),
        (
            searches(target="b", query=None,
                     structures={"P1": ANTI["P1"] | {"receptor": "no.pdb"}}),
            "'homologs.s.structures.P1.receptor': .*no.pdb does not exist",
        ),
    ],
)  # fmt: skip
def test_what_anti_targets_lack(sequences: Path, given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Workplan.of({**config(), **given}, "c.yaml", sequences)


GUIDES = {"genome": "hg38.fa", "cds": "cds.fa"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"offtargets": {"o": {"guides": "guides.tsv"}}}, "'guides' need a 'genome'"),
        ({"offtargets": {"o": {}}}, "give either 'input' or 'guides'"),
        ({"offtargets": {"o": {"input": "in.txt", "pattern": "NGG"}}}, "'pattern' stands in the"),
        ({"offtargets": {"o": {"input": "no.txt"}}}, "'offtargets.o.input': .*no.txt does not"),
        ({"guides": {"g": GUIDES | {"genome": "no.fa"}}}, "'guides.g.genome': .*no.fa does not"),
        ({"guides": {"g": GUIDES | {"gene": "EGFR"}}}, "give either 'cds' or 'gene'"),
        ({"guides": {"g": {"genome": "hg38.fa", "gene": "E"}}}, "'gene' needs an 'annotation'"),
        ({"guides": {"g": GUIDES | {"pam": "NGX"}}}, "guides.g.pam"),
    ],
)
def test_what_a_search_of_a_genome_lacks(
    sequences: Path, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        Workplan.of(given, "c.yaml", sequences)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "give 'targets' and 'libraries', or 'homologs', 'offtargets' or 'guides'"),
        ({"libraries": {"lib": {"file": "lib.smi"}}}, "c.yaml: key 'targets' is missing; libr"),
        ({"libraries": {"lib": {"file": "lib.smi"}}, "targets": {}}, "key 'targets' names none"),
        (searches(target="b"), "give either 'query' or 'target'"),
        (searches(target="b", query=None), "key 'homologs.s.target': 'b' is none of the targets"),
        (searches(query="no.fa"), "key 'homologs.s.query': .*no.fa does not exist"),
        (searches(database="no.fa"), "key 'homologs.s.database': .*no.fa does not exist"),
        (searches(matrix="BLOSUM63"), "key 'homologs.s.matrix': .*BLOSUM63 does not exist"),
        (searches(gap_next=11), "'gap_next' must not exceed 'gap_first'"),
        (searches(best=3), "'best' counts ligands that are docked into 'structures'; give"),
    ],
)
def test_what_a_search_lacks(sequences: Path, given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Workplan.of(given, "c.yaml", sequences)


@pytest.mark.parametrize("linked", [False, True])
def test_the_kept_config_describes_the_same_campaign_from_another_folder(
    folder: Path, linked: bool
) -> None:
    given = config(duplicates="campaign", effort="draft")
    plan = Workplan.of(given, "c.yaml", folder)
    results = folder / "results"
    if linked:
        (folder / "scratch" / "deep").mkdir(parents=True)
        results.symlink_to("scratch/deep")
    else:
        results.mkdir()
    (results / "config.yaml").write_text(plan.described(results))
    document = read_document(results / "config.yaml")
    again = Workplan.of(document.values, document.source, results)
    assert again.settings.model_dump(exclude={"targets", "libraries"}) == plan.settings.model_dump(
        exclude={"targets", "libraries"}
    )
    assert again.manifest().digest() == plan.manifest().digest()
    mine, theirs = ([path.resolve() for path in one.every_source()] for one in (plan, again))
    assert mine == theirs


def test_the_kept_config_of_a_search_with_an_input_file_can_be_read(sequences: Path) -> None:
    """It had the settings that stand in the file, and was refused for them."""
    plan = Workplan.of({"offtargets": {"o": {"input": "in.txt"}}}, "c.yaml", sequences)
    results = sequences / "results"
    results.mkdir()
    (results / "config.yaml").write_text(plan.described(results))
    document = read_document(results / "config.yaml")
    again = Workplan.of(document.values, document.source, results)
    assert again.searches.offtarget_flags("o") == plan.searches.offtarget_flags("o")
    found = again.searches.sources("offtargets", "o")
    assert [path.resolve() for path in found] == plan.searches.sources("offtargets", "o")


def test_controls_are_parts_of_their_own(folder: Path) -> None:
    given = config()
    (folder / "known.smi").write_text("CCO x\n")
    given["controls"] = {"a": {"actives": "known.smi", "waters": ["none", "near"], "below": "stop"}}
    plan = Workplan.of(given, "c.yaml", folder)
    assert plan.ranked == ["a", "b"]
    # `none` is what the campaign does already.
    assert plan.controls.variants == {"a.waters-near": ("a", "near")}
    parts = plan.controls.parts("a")
    assert [(group, form, files.place) for group, form, files in parts] == [
        *((group, "a", "a") for group in ("crystal", "actives", "decoys")),
        *((group, "waters near", "a.waters-near") for group in ("crystal", "actives", "decoys")),
    ]
    assert parts[4][2].scores == Path("<results>/scores/a.waters-near/actives-of-a/1-of-1.h5")
    assert plan.controls.parts("b") == []
    # They are no part of the ranking.
    every = [part.library for part in plan.parts()]
    assert not {"actives-of-a", "decoys-of-a"} & set(every)
    assert "--waters near" in plan.pocket_flags("a.waters-near")
    assert "--waters none" in plan.pocket_flags("a")
    assert plan.controls.accept_flags("a") == "--below stop"


def test_the_report_compares_hits_with_its_references_and_with_actives(folder: Path) -> None:
    given = config()
    (folder / "known.smi").write_text("CCO x\n")
    given["controls"] = {"a": {"actives": "known.smi"}}
    assert Workplan.of(given, "c.yaml", folder).references() == [folder / "known.smi"]
    given["report"] = {"references": "more.smi"}
    with pytest.raises(InputError, match=r"more\.smi does not exist"):
        Workplan.of(given, "c.yaml", folder)
    (folder / "more.smi").write_text("CCO y\n")
    plan = Workplan.of(given, "c.yaml", folder)
    assert plan.references() == [folder / "more.smi", folder / "known.smi"]
    assert "references" not in plan.report_flags()
    assert plan.controls.accept_flags("b") == "--below warn"
    assert plan.controls.is_drawn("decoys-of-a")
    assert not plan.controls.is_drawn("actives-of-a")
    assert plan.sources(Part("a", "decoys-of-a", "1-of-1"), "ligands") == []
    given["controls"]["a"]["decoys"] = "known.smi"
    assert not Workplan.of(given, "c.yaml", folder).controls.is_drawn("decoys-of-a")


def test_filters_remove_no_control(folder: Path) -> None:
    given = config()
    (folder / "known.smi").write_text("CCO x\n")
    given["controls"] = {"a": {"actives": "known.smi"}}
    sizes = {"max_atoms": 60, "max_torsions": 5}
    given["parse"] = {"properties": {"weight": [200, 300]}, "alerts": ["pains"], "ph": 6.0} | sizes
    plan = Workplan.of(given, "c.yaml", folder)
    for library in ("actives-of-a", "decoys-of-a", "control-a"):
        options = plan.parse_options(library)
        assert (options.max_atoms, options.max_torsions) == (256, 64)
    assert (plan.parse_options("lib").max_atoms, plan.parse_options("lib").max_torsions) == (60, 5)
    for library in ("actives-of-a", "decoys-of-a"):
        options = plan.parse_options(library)
        assert (options.properties, options.alerts, options.ph) == ({}, (), 6.0)
        assert options.protonate
    assert plan.parse_options("lib").alerts == ("pains",)


def test_a_library_may_not_be_named_as_a_control(folder: Path) -> None:
    for name in ("control-a", "actives-of-a", "decoys-of-x"):
        given = config()
        given["libraries"][name] = given["libraries"]["lib"]
        with pytest.raises(InputError, match=f"{name}.*kept for the controls"):
            Workplan.of(given, "c.yaml", folder)
