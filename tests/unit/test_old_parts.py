"""Files of parts that a campaign has no longer are named; no others are."""

from pathlib import Path
from typing import Any

from ligen_py.campaign.old_parts import OldParts, old_parts
from ligen_py.campaign.workplan import Workplan
from ligen_py.planning.next_run import _old_parts
from tests.unit.test_campaign import ANTI, config


def campaign(folder: Path, **changes: Any) -> Workplan:
    for name in ("r.pdb", "l.sdf", "lib.smi", "in.txt", "genome.fa", "q.fa"):
        (folder / name).write_text("x")
    return Workplan.of(config(**changes), "c.yaml", folder)


def write(plan: Workplan, results: Path) -> None:
    """Every file of a campaign's parts, of three bytes each, and some beside them."""
    parts = [*plan.manifest(str(results)).parts]
    parts += [files for target in plan.ranked for *_, files in plan.controls.parts(target)]
    files = [str(getattr(part, kind)) for part in parts for kind in ("ligands", "scores", "pocket")]
    for name in (*files, *plan.searches.every_part_file(str(results))):
        path = Path(name.replace("<results>", str(results)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one")


def test_a_campaign_in_other_parts_names_the_old_files(tmp_path: Path) -> None:
    results = tmp_path / "results"
    search = {"query": "q.fa", "database": "q.fa"}
    for chunks in (3, 12, 4):
        given = {"lib": {"file": "lib.smi", "chunks": chunks}}
        searches = {"like": search | {"chunks": chunks}}
        controls = {"a": {"actives": "lib.smi"}}
        plan = campaign(tmp_path, libraries=given, homologs=searches, controls=controls)
        write(plan, results)
    (results / "homologs" / "like" / "database.h5").write_text("no part")
    found = list(old_parts(plan, results))
    folders = ["homologs/like", "ligands/lib", "scores/a/lib", "scores/b/lib"]
    assert found == [
        OldParts(f"{results}/{folder}/[0-9]*-of-{chunks}.h5", chunks, 3 * chunks)
        for folder in folders
        for chunks in (12, 3)
    ]
    first, *rest = _old_parts(plan, tmp_path)
    assert first.startswith("60 old files, 0.0 MB, of parts that this config does not have; ")
    assert rest == [f"  {old.pattern}" for old in found]
    for old in found:
        for path in results.glob(old.pattern.removeprefix(f"{results}/")):
            path.unlink()
    assert list(_old_parts(plan, tmp_path)) == []


def test_a_pattern_takes_no_file_of_the_campaign(tmp_path: Path) -> None:
    """That of a file whose name begins with a digit looks like one without a name."""
    library = tmp_path / "library"
    library.mkdir()
    (library / "1a.smi").write_text("x")
    given = {"lib": {"file": "library", "chunks": 2}}
    plan = campaign(tmp_path, libraries=given)
    results = tmp_path / "results"
    write(plan, results)
    folder = results / "ligands" / "lib"
    (folder / "1-of-2.h5").write_text("old")
    (folder / "b[1].smi.1-of-2.h5").write_text("old")
    assert [old.pattern for old in old_parts(plan, results)] == [
        f"{folder}/1-of-2.h5",
        f"{folder}/b[[]1].smi.[0-9]*-of-2.h5",
    ]


def test_parts_of_a_target_and_a_library_that_are_no_more_are_named(tmp_path: Path) -> None:
    results = tmp_path / "results"
    search = {"target": "a", "query": None, "database": "q.fa", "structures": ANTI}
    for library in ("old", "new"):
        plan = campaign(
            tmp_path, libraries={library: {"file": "lib.smi"}}, homologs={"like": search}
        )
        write(plan, results)
    anti = Path(next(iter(plan.searches.antitarget_scores("like", str(results)).values())))
    anti.parent.mkdir(parents=True)
    anti.write_text("one")
    assert [old.pattern.removeprefix(f"{results}/") for old in old_parts(plan, results)] == [
        f"{folder}/old/[0-9]*-of-1.h5" for folder in ("ligands", "scores/a", "scores/b")
    ]


def test_pockets_controls_and_anti_targets_that_are_no_more_are_named(tmp_path: Path) -> None:
    results = tmp_path / "results"
    search = {"target": "a", "query": None, "database": "q.fa"}
    controls = {"a": {"actives": "lib.smi", "waters": ["near"]}}
    files = [
        *("pockets/a.h5", "pockets/b.h5", "pockets/gone.h5", "pockets/a.waters-near.h5"),
        *("pockets/anti-like.P1.h5", "pockets/anti-like.P2.h5", "controls/b/controls.json"),
        *("scores/anti-like.P1/best-like/1-of-1.h5", "scores/anti-like.P2/best-like/1-of-1.h5"),
        *("controls/gone/controls.json", "controls/gone/controls.txt"),
        *("homologs/like/selectivity.tsv", "ligands/best-like/1-of-1.h5"),
    ]
    for name in files:
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).write_text("one")

    def named(**changes: Any) -> dict[str, int]:
        plan = campaign(tmp_path, controls=controls, homologs={"like": search | changes})
        found = old_parts(plan, results)
        return {old.pattern.removeprefix(f"{results}/"): old.files for old in found}

    gone = {"pockets/gone.h5": 1, "controls/gone": 2}
    other = {"scores/anti-like.P2/best-like/[0-9]*-of-1.h5": 1, "pockets/anti-like.P2.h5": 1}
    assert named(structures=ANTI) == gone | other
    assert named() == gone | other | {
        "scores/anti-like.P1/best-like/[0-9]*-of-1.h5": 1,
        "ligands/best-like/[0-9]*-of-1.h5": 1,
        "pockets/anti-like.P1.h5": 1,
        "homologs/like/selectivity.tsv": 1,
    }
