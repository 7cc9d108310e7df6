"""The dossier's words: verdicts, doubts, methods, figures; and times as Snakemake wrote them."""

import json
import math
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from ligen_py.molecules.hits.analysis import Analysis
from ligen_py.molecules.hits.properties import Properties
from ligen_py.molecules.interactions.contacts import Contact
from ligen_py.records.ledger import Reason, Status
from ligen_py.settings.lga import LgaSettings
from ligen_py.settings.refine import RefineSettings
from ligen_py.settings.score import ScoreSettings
from ligen_py.store.campaign.layout import Counts, Runs, Watched
from ligen_py.store.campaign.times import Time, read_times
from ligen_py.summary import facts
from ligen_py.summary.controls import RANKING, Bar, Row, Verdict
from ligen_py.summary.dossier import Dossier
from ligen_py.summary.doubts import doubts
from ligen_py.summary.enrichment import Enrichment
from ligen_py.summary.facts import Balance, Group, Loss, Redocking, Target, Watch
from ligen_py.summary.figures import HEIGHT, MOST_DOTS, WIDTH, Scale, distribution, scatter
from ligen_py.summary.methods import citations, methods
from ligen_py.summary.page import _throughput
from ligen_py.summary.text import text_of
from ligen_py.summary.verdict import verdict

TARGET = Target(
    name="t", size=10, rank_by="first", functions=["vina"], best=[], control=None, ledger=[],
    watch=Watch(1, 1, []), groups=[], bars=[1, 4, 2], lowest=1.0, highest=4.0, judged=None,
)  # fmt: skip
FINE = Analysis(
    properties=Properties(300, 2, 60, 1, 3, 4, 20, 0, 5, ()),
    contacts=(Contact("hydrogen bond", "ASP1 A", 2.9, (0, 0, 0), (0, 0, 0)),),
    checks={"stereo": True, "clash": True},
    strain=2.0,
)


def redocked(best: float | None, kept: float | None) -> Redocking:
    return Redocking("REF", "scored", "no pose", 5.0, 9, best, kept)


@pytest.mark.parametrize(
    ("control", "level", "words"),
    [
        (None, "fair", "nothing was redocked"),
        (redocked(1.2, 0.8), "good", "came back to 1.20 Å"),
        (redocked(2.0, 0.8), "good", "came back to 2.00 Å"),
        (redocked(6.5, 1.1), "fair", "crystal pose (1.10 Å), but another scores better"),
        (redocked(6.5, 2.02), "bad", "did not come back (best-scored pose 6.50 Å away"),
        (redocked(None, None), "bad", "the control failed (REF: no pose)"),
    ],
)  # fmt: skip
def test_a_verdict_on_poses(control: Redocking | None, level: str, words: str) -> None:
    found = verdict(replace(TARGET, control=control))
    assert found[0][0] == level
    assert words in found[0][1]


def test_one_pose_was_scored_again() -> None:
    assert Watch(1, 1, []).summary == (
        "no alarm in 1 chunk; 1 best pose was scored again by plain NumPy"
    )
    assert Watch(2, 0, ["x"]).summary == (
        "1 alarm in 2 chunks; 0 best poses were scored again by plain NumPy"
    )


def test_a_target_without_a_scored_molecule_says_why() -> None:
    """The page's first words and the table, which has no empty list of hits."""
    losses = [Loss("failed", "parse", "unparsable", 1), Loss("rejected", "parse", "too heavy", 40)]
    more = Balance("more", 2, {}, [Loss("failed", "parse", "unparsable", 2)])
    ledger = [Balance("lib", 41, {}, losses), more]
    words = (
        "No molecule was scored, of 43 input records: 40 rejected in parse (too heavy), 3 failed "
        "in parse (unparsable)."
    )
    none = replace(TARGET, size=0, bars=[], ledger=ledger)
    assert ("bad", words) in verdict(none)
    text = text_of([none], {"page": "x"})
    assert words in text
    assert "rank" not in text.partition("Redocking control")[0].partition(words)[2]
    assert "input records: there are none." in text_of([replace(none, ledger=[])], {"page": "x"})


def test_molecules_that_passed_a_limit_are_said() -> None:
    """Table and page; nothing where there is none."""
    assert "parse.time_limit" not in text_of([TARGET], {"page": "x"})
    for count, words in ((1, "Limits: 1 molecule was scored"), (2, "Limits: 2 molecules were ")):
        target = replace(TARGET, simpler=count)
        assert f"  {words}" in text_of([target], {"page": "x"})
        level, said = verdict(target)[2]
        assert level == "fair"
        assert said.startswith(words)
        assert "parse.time_limit" in said


@pytest.mark.parametrize(
    ("interval", "level", "words"),
    [
        ((0.6, 0.9), "good", "it prefers actives"),
        ((0.4, 0.7), "fair", "does not separate actives"),
        ((0.1, 0.4), "bad", "behind the others"),
        (None, "fair", "too few to say"),
    ],
)
def test_a_verdict_on_the_ranking(
    interval: tuple[float, float] | None, level: str, words: str
) -> None:
    found = Enrichment(10, 3, 2.0, 0.7, interval, [])
    group = Group("actives", [], found)
    _, ranking = verdict(replace(TARGET, groups=[group]))
    assert ranking[0] == level
    assert words in ranking[1]
    assert verdict(TARGET)[1][1].startswith("Ranking: no known actives were given")
    # They were given, so it must not say that they were not.
    lost = verdict(replace(TARGET, groups=[replace(group, enrichment=None)]))[1]
    assert lost[0] == "fair"
    assert lost[1].startswith("Ranking: of actives no member is ranked, or nothing else is, so")


def test_only_known_binders_decide_what_to_think_of_the_ranking() -> None:
    """Inactives that rank last are no fault, and frequent hitters that rank first no merit."""
    last = Group("inactives", [], Enrichment(10, 5, 2.0, 0.03, (0.0, 0.1), ()))
    first = Group("frequent-hitters", [], Enrichment(10, 5, 2.0, 0.9, (0.8, 1.0), ()))
    few = Group("few", [], Enrichment(10, 3, 2.0, 0.7, None, ()))
    lost = Group("lost", [], None)
    level, said = verdict(replace(TARGET, groups=[last, first, few, lost]))[1]
    assert level == "fair"
    assert said == (
        "Ranking: no known actives were given, so nothing shows whether it prefers them; choose by "
        "contacts and chemistry, and by rank last. Groups: inactives ROC AUC 0.03 (95 % interval "
        "0.00 to 0.10); frequent-hitters ROC AUC 0.90 (95 % interval 0.80 to 1.00); few ROC AUC "
        "0.70 (3 members)."
    )
    level, said = verdict(replace(TARGET, groups=[last, replace(first, name="actives")]))[1]
    assert level == "good"
    assert "it prefers actives" in said


@pytest.mark.parametrize(
    ("logp", "level", "words"),
    [
        (0.59, "good", "so the order means something"),
        (0.69, "fair", "but low logP alone is within this interval (0.69)"),
        (0.7, "fair", "but low logP alone does as well (0.70)"),
        (0.95, "fair", "but low logP alone does as well (0.95)"),
    ],
)
def test_a_property_that_ranks_a_group_as_well_takes_its_worth(
    logp: float, level: str, words: str
) -> None:
    nulls = (("low logP", logp), ("many heavy atoms", 0.55))
    found = Enrichment(10, 3, 2.0, 0.7, (0.6, 0.9), (), nulls)
    _, ranking = verdict(replace(TARGET, groups=[Group("actives", [], found)]))
    assert ranking[0] == level
    assert "it prefers actives (ROC AUC 0.70" in ranking[1]
    assert words in ranking[1]


@pytest.mark.parametrize(
    ("figure", "null", "level"),
    [
        ((0.8, 0.7, 0.9), (0.55, 0.4, 0.7), "good"),
        ((0.8, 0.7, 0.9), (0.75, 0.6, 0.8), "fair"),
        ((0.8, 0.7, 0.9), (0.8, 0.7, 0.9), "fair"),
        ((0.55, 0.4, 0.7), (0.5, 0.4, 0.6), "fair"),
    ],
)
def test_actives_of_the_controls_come_before_groups(
    figure: tuple[float, float, float], null: tuple[float, float, float], level: str
) -> None:
    rows = [
        Row("t", "score", False, {"ROC AUC": figure}),
        Row("", "few heavy atoms", True, {"ROC AUC": null}),
        Row("", "high logP", True, {"ROC AUC": (0.3, 0.2, 0.4)}),
    ]
    judged = Verdict("t", actives=20, decoys=400, rows=rows)
    group = Group("actives", [], Enrichment(10, 3, 2.0, 0.7, (0.1, 0.4), []))
    _, ranking = verdict(replace(TARGET, judged=judged, groups=[group]))
    assert ranking[0] == level
    assert "20 known actives" in ranking[1]
    assert f"{figure[0]:.2f}" in ranking[1]
    missed = replace(judged, bars=[Bar("ROC AUC", False, RANKING)])
    assert verdict(replace(TARGET, judged=missed, groups=[group]))[1][0] != "good"
    beaten = figure[1] > 0.5 and null[0] >= figure[0]
    assert ("few heavy atoms alone does as well (0.80)" in ranking[1]) == beaten


@pytest.mark.parametrize(
    ("actives", "decoys", "level"),
    [(1, 400, "fair"), (4, 400, "fair"), (9, 4, "fair"), (5, 5, "good")],
)
def test_few_actives_show_nothing_however_narrow_their_interval(
    actives: int, decoys: int, level: str
) -> None:
    """The one active of a control was the best, 95 % interval 1.00 to 1.00: a good order."""
    rows = [Row("t", "score", False, {"ROC AUC": (1.0, 1.0, 1.0)})]
    judged = Verdict("t", actives=actives, decoys=decoys, rows=rows)
    _, ranking = verdict(replace(TARGET, judged=judged))
    assert ranking[0] == level
    assert ("too few to say" in ranking[1]) == (level == "fair")
    assert f"{actives} known active{'s' * (actives > 1)} among" in ranking[1]


@pytest.mark.parametrize(("rank_by", "figure"), [("energy", "0.80"), ("consensus", "0.60")])
def test_actives_are_judged_by_what_ranks_the_campaign(rank_by: str, figure: str) -> None:
    rows = [
        Row("t", "score", False, {"ROC AUC": (0.8, 0.7, 0.9)}),
        Row("t", "vina", False, {"ROC AUC": (0.9, 0.8, 0.95)}),
        Row("t", "mean rank", False, {"ROC AUC": (0.6, 0.55, 0.7)}),
        Row("t-near", "score", False, {"ROC AUC": (0.95, 0.9, 0.99)}),
        Row("", "high logP", True, {"ROC AUC": (0.3, 0.2, 0.4)}),
    ]
    judged = Verdict("t", actives=20, decoys=400, rows=rows)
    _, ranking = verdict(replace(TARGET, judged=judged, rank_by=rank_by))
    assert f"ROC AUC {figure}" in ranking[1]


def test_a_fine_hit_has_no_doubt() -> None:
    assert doubts(FINE, 1.5, 0.01, {"Vina": 0.02}) == []
    assert doubts(FINE, math.nan, 0.01, {}) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"polar": 0}, "no nitrogen, oxygen or other polar atom"),
        ({"weight": 700.0}, "large: 700.0 g/mol"),
        ({"weight": 100.0}, "small: 100.0 g/mol"),
        ({"logp": 7.0}, "greasy: logP 7.0"),
        ({"alerts": ("PAINS quinone A",)}, "PAINS quinone A"),
        ({"alerts": ("Brenk a", "Brenk b", "Brenk c")}, "3 structural alerts"),
    ],
)
def test_properties_raise_doubts(change: dict, words: str) -> None:
    assert FINE.properties is not None
    (found,) = doubts(replace(FINE, properties=replace(FINE.properties, **change)), 1.5, 0.0, {})
    assert words in found


def test_poses_raise_doubts() -> None:
    (found,) = doubts(replace(FINE, contacts=()), 1.5, 0.0, {})
    assert "no hydrogen bond" in found
    water = Contact("water", "HOH1 A", 2.9, (0, 0, 0), (0, 0, 0))
    assert doubts(replace(FINE, contacts=(water,)), 1.5, 0.0, {}) == [found]
    (found,) = doubts(replace(FINE, checks={"clash": False}), 1.5, 0.0, {})
    assert "clash" in found
    (found,) = doubts(replace(FINE, strain=20.0), 1.5, 0.0, {})
    assert "strained: 20.0 kcal/mol" in found
    (found,) = doubts(FINE, 0.1, 0.0, {})
    assert "only 0.10 kcal/mol worse" in found
    assert doubts(FINE, 0.196, 0.0, {}) == []  # shown as 0.20, as is one of 0.204
    (found,) = doubts(FINE, 1.5, 0.0, {"Vina": 0.6, "AD4": 0.7, "X-Score": 0.4})
    assert found == "Vina and AD4 rank it behind half of the molecules"
    assert doubts(FINE, 1.5, 0.5, {"Vina": 0.6}) == []
    (found,) = doubts(Analysis(), 1.5, 0.0, {})
    assert "could not be analysed" in found


def test_axes_have_round_ticks_inside() -> None:
    scale = Scale(-3.7, 12.2, 100, 500)
    assert scale(-3.7) == 100
    assert scale(12.2) == 500
    values = [float(words) for _, words in scale.ticks]
    assert values == [0, 5, 10]
    assert [words for _, words in Scale(0.12, 0.19, 0, 1).ticks] == [
        "0.12", "0.14", "0.16", "0.18",
    ]  # fmt: skip
    assert Scale(2.0, 2.0, 0, 10)(2.0) == 0


def test_molecules_are_counted_in_whole_numbers() -> None:
    for most, ticks in ((1, ["0", "1"]), (2, ["0", "1", "2"]), (40, ["0", "10", "20", "30", "40"])):
        found = distribution(replace(TARGET, bars=[1, most]), [])
        assert [words for _, words in found.y.ticks] == ticks


def test_every_molecule_is_in_the_figures() -> None:
    figure = distribution(TARGET, [(4.5, "reference", "REF")])
    assert [words.rpartition(" ")[2] for *_, words in figure.cells] == ["1", "4", "2"]
    assert figure.marks[0].x == WIDTH - 12
    rng = np.random.default_rng(0)
    few, many = rng.normal(size=(2, MOST_DOTS)), rng.normal(size=(2, 5 * MOST_DOTS))
    assert len(scatter("x", "y", *few, []).dots) == MOST_DOTS
    shaded = scatter("x", "y", *many, [])
    assert not shaded.dots
    counted = sum(int(words.split()[0]) for *_, words in shaded.cells)
    assert counted >= 0.95 * 5 * MOST_DOTS  # the rest lies far below the others
    assert counted + shaded.left_out == 5 * MOST_DOTS
    few[1][0] = -1e3  # it was drawn outside of the picture, and not said to be
    one_less = scatter("x", "y", *few, [])
    assert (len(one_less.dots), one_less.left_out) == (MOST_DOTS - 1, 1)
    assert all(y <= one_less.y.first for _, y in one_less.dots)
    assert figure.cells[0][-1] == "up to 2.00: 1"
    for x, y, width, height, shade, _ in shaded.cells:
        assert 0 <= x <= x + width <= WIDTH + 1
        assert 0 <= y <= y + height <= HEIGHT
        assert 0 < shade <= 1
    empty = scatter("x", "y", np.empty(0), np.empty(0), [])
    assert empty.dots == []


def test_times_are_read_as_snakemake_wrote_them(tmp_path: Path) -> None:
    head = "s\th:m:s\tmax_rss\tmax_vms\n"
    for name, text in {
        "dock/t/lib/1-of-2.tsv": f"{head}10.5\t0:00:10\t200.25\t-\n",
        "dock/t/lib/2-of-2.tsv": f"{head}20\t0:00:20\t-\t-\n",
        "report.tsv": f"{head}3.0\t0:00:03\t50\t-\n",
        "score/t/lib/1-of-2.tsv": "damaged",
        "other.tsv": f"{head}3.0\t0:00:03\t50\t-\n",
        "pocket/t.tsv": f"{head}2\t0:00:02\t10\t-\n",
        "parse/lib/1-of-2.tsv": f"{head}3\t0:00:03\t30\t-\n",
        # Of a chunk, a library and a target that the campaign has no more:
        "dock/t/lib/1-of-1.tsv": f"{head}99\t0:01:39\t900\t-\n",
        "parse/gone/1-of-2.tsv": f"{head}99\t0:01:39\t900\t-\n",
        "pocket/gone.tsv": f"{head}99\t0:01:39\t900\t-\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    parts = [("t", "lib", "1-of-2"), ("t", "lib", "2-of-2")]
    assert read_times(tmp_path, parts) == [
        Time("pocket", 1, 2.0, 10.0), Time("parse", 1, 3.0, 30.0), Time("dock", 2, 30.5, 200.25)
    ]  # fmt: skip
    assert read_times(tmp_path / "nowhere", parts) == []
    assert read_times(tmp_path)[0] == Time("pocket", 2, 101.0, 900.0)


def test_a_library_that_can_hardly_be_read_is_an_alarm() -> None:
    none = {spec.name: np.empty(0, spec.metadata["dtype"]) for spec in fields(Watched)}
    columns = {
        "library": [0, 0, 1, 1],
        "status": [Status.SCORED, Status.FAILED, Status.SCORED, Status.FAILED],
        "stage": ["", "parse", "", "parse"],
        "reason": [0, Reason.UNPARSABLE, 0, Reason.UNPARSABLE],
        "records": [1, 84, 60, 60],
    }
    types = {spec.name: spec.metadata["dtype"] for spec in fields(Counts)}
    counts = Counts(**{name: np.array(values, types[name]) for name, values in columns.items()})
    watch = facts._watch(Watched(**none), counts, ["vendor", "other"])
    (alarm,) = watch.alarms
    assert alarm.startswith("vendor: 84 of 85 records cannot be read; ")
    assert watch.summary.startswith("1 alarm in 0 chunks")


def paragraph(refine: RefineSettings, score: ScoreSettings) -> str:
    """The methods paragraph of a campaign with these settings."""
    used = {"refined": refine, "scores": score}
    settings = [json.dumps(section.model_dump(mode="json")) for section in used.values()]
    columns = [list(used), ["0"] * 2, ["ligen_py"] * 2, settings, [""] * 2]
    return " ".join(methods([], Runs(*(np.array(one, object) for one in columns)), ""))


def test_methods_name_the_refinement_only_where_there_was_one() -> None:
    score = ScoreSettings()
    refined = "poses were filtered, refined in the field of Vina and clustered, and scored"
    assert refined in paragraph(RefineSettings(), score)
    assert "poses were filtered, and scored" in paragraph(RefineSettings(rounds=0), score)


def of_stages(**settings: dict[str, Any]) -> Runs:
    """Run records of files of these kinds."""
    texts = [json.dumps(one) for one in settings.values()]
    empty = [""] * len(settings)
    columns = [list(settings), empty, empty, texts, empty]
    return Runs(*(np.array(one, object) for one in columns))


@pytest.mark.parametrize(
    ("given", "words", "first"),
    [
        (
            {},
            "genetic algorithm [1] in AutoDock4's field, 20 runs of 50 individuals with local "
            "search by BFGS and as many energy evaluations as AutoDock-GPU estimates (seed 1), "
            "poses were filtered",
            "G. M. Morris",
        ),
        (
            {"local_search": "solis_wets", "evaluations": 1500, "seed": 7},
            "150 individuals with local search by Solis and Wets' method and at most 1500 energy "
            "evaluations each (seed 7), poses were filtered",
            "G. M. Morris",
        ),
        (
            {"local_search": "adadelta", "restarts": 64},
            "(G. M. Morris et al., J. Comput. Chem. 1998, 19, 1639) in AutoDock4's field, 20 runs "
            "of 150 individuals with local search by ADADELTA and as many energy evaluations as "
            "AutoDock-GPU estimates (seed 1), and by LiGen's [1] from 64 starts, poses were",
            "L. Crisci",
        ),
    ],
)
def test_methods_say_how_the_genetic_algorithm_searched(
    given: dict[str, Any], words: str, first: str
) -> None:
    """And number [1] of the literature is in the text."""
    runs = of_stages(
        ligands={"conformers": 1}, poses=LgaSettings.model_validate(given).model_dump(mode="json")
    )
    text = " ".join(methods([], runs, ""))
    assert words in text
    assert "and one start conformer a state." in text
    assert citations([], runs)[0].startswith(first)
    assert text.count("[1]") == 1


@pytest.mark.parametrize(
    ("functions", "weights", "words"),
    [
        (("vina", "ad4"), {"vina": 1, "ad4": 0.5}, "energy (1 Vina + 0.5 AD4) was chosen"),
        (("xscore", "vinardo"), {"vina": 1}, "energy (1 X-Score) was chosen"),
        (("ad4",), {"vina": 1, "ad4": 0.5}, "energy (1 AD4) was chosen"),
        (("ad4", "xscore"), {"ad4": 0.5}, "energy (1 AD4) was chosen"),
        (("ad4", "gnina"), {"ad4": 0.5, "gnina": 2}, "energy (0.5 AD4), less what convolutional"),
        (("ad4", "gnina"), {"ad4": 0.5, "gnina": 2}, "by the whole of that energy alone, less"),
        (("ad4", "vina"), {}, "energy (1 AD4) was chosen; molecules were ranked by that energy,"),
        (("vina", "gnina"), {"gnina": 2}, "say most (2 logit of gnina) was chosen"),
        (("vina", "gnina"), {"gnina": 2}, "ranked by the energy of Vina, less"),
    ],
)
def test_methods_name_the_energy_that_chose(
    functions: tuple[str, ...], weights: dict[str, float], words: str
) -> None:
    score = ScoreSettings.model_validate({"functions": functions, "pose_weights": weights})
    assert words in paragraph(RefineSettings(), score)


def test_methods_name_the_costs_that_are_part_of_the_score() -> None:
    """Whoever computes the score as the paragraph says gets the campaign's."""
    every = paragraph(RefineSettings(), ScoreSettings())
    assert (
        "in the pose where this is lowest, plus the free energy of its protonation state in water, "
        "0.5 of the strain of its rings and 0.4 kcal/mol times the logarithm of the number of "
        "stereoisomers, divided by (1 + 0.02 torsions)" in every
    )
    none = ScoreSettings(state_cost=False, strain_cost=0, row_cost=0)
    assert "in the pose where this is lowest, divided by" in paragraph(RefineSettings(), none)


def of_target(rank_by: str, refine: dict, score: dict, functions: list[str]) -> str:
    """The methods of a campaign of one target."""
    given = {"kept": {"cluster_rmsd": 2.0 * (refine["rounds"] == 0)}, "refined": refine}
    given |= {"scores": {"functions": functions, **score}}
    texts = [np.array([""] * len(given), object) for _ in range(3)]
    kinds, settings = (np.array(list(column), object) for column in (given, given.values()))
    runs = Runs(
        created_by=texts[0],
        kind=kinds,
        settings=np.array([json.dumps(one) for one in settings], object),
        device=texts[1],
        stage_digest=texts[2],
    )
    one = SimpleNamespace(target=replace(TARGET, rank_by=rank_by, functions=functions))
    return " ".join(methods([cast(Dossier, one)], runs, "draft"))


def test_the_methods_name_a_device_once() -> None:
    """Some stages record its functions, which are no part of its name."""
    runs = of_stages(poses={}, scores={})
    device = "Intel(R) OpenCL / AMD EPYC (cpu, driver 1"
    labels = np.array([f"{device})", f"{device}, functions 9ba11233)"], object)
    (first, *_) = methods([], replace(runs, device=labels), "")
    assert f" on {device}). Of" in first


def test_the_rate_is_of_docking_to_scores() -> None:
    """The table above it has `parse`, too."""
    one = cast(Dossier, SimpleNamespace(target=replace(TARGET, size=57)))
    times = [Time("parse", 1, 400.0, 9.0), Time("dock", 1, 50.0, 9.0), Time("score", 1, 7.0, 9.0)]
    words = _throughput([one], times)
    assert words.startswith(
        "From docking to scores, without preparation, the last jobs of these 57"
    )
    assert "molecules took 57 seconds: 3,600 an hour, or 1 seconds each" in words


def test_the_methods_say_what_was_done() -> None:
    energy = {"rank_by": "energy", "pose_weights": {"vina": 1.0, "ad4": 0.5}}
    found = of_target(
        "energy", {"rounds": 1, "field": "vina", "cluster_rmsd": 1.0}, energy, ["vina", "ad4"]
    )
    assert "poses were filtered, refined in the field of Vina and clustered, and scored by" in found
    assert "scored by Vina and AD4 [2, 3]." in found
    assert "The pose of lowest energy (1 Vina + 0.5 AD4) was chosen; molecules were" in found
    both = {"rank_by": "networks", "pose_weights": {"vina": 1.0, "gnina": 2.0}}
    found = of_target("networks", {"rounds": 1}, both, ["vina", "gnina"])
    assert "number of heavy atoms, plus 0.3 logit of the networks. The networks were" in found
    assert "molecules were ranked by that energy, less the ligand's own part" in found
    # Poses of AutoDock's search are not refined.
    found = of_target("consensus", {"rounds": 0, "field": "ad4"}, energy, ["vina", "ad4"])
    assert "poses were filtered and clustered, and scored by Vina and AD4 [2, 3]." in found
    assert (
        "(1 Vina + 0.5 AD4) was chosen. Molecules were ranked by the mean of their ranks" in found
    )
    assert "divided by" not in found
