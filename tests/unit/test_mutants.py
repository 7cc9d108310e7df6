"""The mutants that `make mutants` plants: what is changed, what is left alone, what kills them."""

import random
from pathlib import Path

import pytest

from tests import mutants
from tests.mutants import (
    ROOT,
    SURVIVED,
    Mutant,
    concerning,
    drawn,
    equivalent,
    every,
    means_nothing,
    names_of,
    of_kernel,
    of_python,
    outcome,
)

PYTHON = '''"""Sizes of 12 things."""
LIMIT = 1.5  # of 3
NAMES: tuple[int, 2] = (7,)


def fits(å: float, b: float) -> bool:
    """Whether 4 fit."""
    if å is None:
        raise ValueError(f"{b:.2f} is 5")
    require_all(å)
    print(å.reshape(3, -1))
    return (å + 0.0) < LIMIT and not b == 2
'''
KERNEL = """// of 3
#define SIZE 4
/* 5
6 */
__attribute__((reqd_work_group_size(WG, 1, 1))) void f(float4 a, global int *b, int side) {
    if (a.x <= 1.5f && b->c != 0) { b[2] += 1 << 3; }
    for (int i = 0; i < SIZE; i++) { b[i] /= fmax(a.x, 1e-12f); }
    for (int i = 5; i < 6; i++) while (b[i] < SIZE);
    for (int i = 7; i < side; i++) __asm__("max.s32 %0, %1, 8;");
}
"""


def planted(found: list[Mutant], source: str) -> list[str]:
    for one in found:
        text = one.text(source)
        assert text != source
        assert text[: one.start] == source[: one.start]
        assert text.endswith(source[one.end :])
    return [one.described(source).partition(": ")[2] for one in found]


def test_what_is_changed_in_a_program() -> None:
    assert planted(of_python("x.py", PYTHON), PYTHON) == [
        "1.5 -> 1.65",
        "7 -> 8",
        "å is None -> False",
        "is -> is not",
        "require_all(å) -> None",
        "3 -> 4",
        "0.0 -> 0.1",
        "< -> <=",
        "and -> or",
        "== -> !=",
        "2 -> 3",
    ]


def test_what_is_changed_in_a_kernel() -> None:
    assert planted(of_kernel("x.cl", KERNEL), KERNEL) == [
        "<= -> <", "1.5 -> 1.65", "!= -> ==", "0 -> 1", "2 -> 3", "1 -> 2", "3 -> 4",
        "0 -> 1", "< SIZE -> < SIZE - 1", "5 -> 6", "< 6 -> < 6 - 1", "< -> <=", "7 -> 8",
        "< -> <=",
    ]  # fmt: skip


def test_what_only_makes_a_buffer_larger_is_no_mutant() -> None:
    source = (
        "a = buffers.empty(device, int(4 * max(1, n)) + (n - 2), types[3])\n"
        "b = reserve.empty(5 * n, np.int32)\n"
        "c = np.empty(6)\n"
    )
    assert planted(of_python("x.py", source), source) == ["2 -> 3", "3 -> 4", "6 -> 7"]


def test_a_change_is_named_by_its_line_or_by_those_that_follow_too() -> None:
    source = "for (;;k < 3)\n  if (k) {\n    stop(4);\n}\n"
    names = names_of(of_kernel("x.cl", source)[0], source)
    assert [where for _, where, what in names if what == "< -> <="] == [
        "for (;;k < 3)", "for (;;k < 3) if (k) {", "for (;;k < 3) if (k) { stop(4);", "*",
    ]  # fmt: skip


def test_every_mutant_is_a_program() -> None:
    found = every()
    assert len(found) > 5000
    assert every(["kernels"]) == [one for one in found if one.path.startswith("kernels/")]
    for one in random.Random(1).sample(found, 60):
        text = one.text((ROOT / one.path).read_text(encoding="utf-8"))
        if one.path.endswith(".py"):
            compile(text, one.path, "exec")
        tests = concerning(one.path)
        assert tests
        assert all((ROOT / test).exists() for test in tests)


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("ligen_py/summary/nulls.py", "unit/summary/test_nulls.py"),
        ("ligen_py/sequences/statistics.py", "unit/sequences/test_proteins.py"),
        ("ligen_py/verification/files.py", "stages/test_verify.py"),
        ("ligen_py/aggregate.py", "stages/test_aggregate.py"),
    ],
)
def test_the_tests_of_a_file_are_known_and_the_nearest_come_first(path: str, test: str) -> None:
    """Of folders that no row of the table named there was an error."""
    assert concerning(path)[0] == f"tests/{test}"


def test_a_seed_draws_the_same_mutants_when_other_lines_change(tmp_path: Path) -> None:
    path = tmp_path / "some.py"
    lines = [f"a{n} = {n}\n" for n in range(30)]
    path.write_text("".join(lines))
    first = [one.described(path.read_text()) for one in drawn(["some.py"], 10, 1, tmp_path)]
    assert len(set(first)) == 10
    lines.insert(0, "b = 7\n")
    path.write_text("".join(lines))
    again = [one.described(path.read_text()) for one in drawn(["some.py"], 11, 1, tmp_path)]
    changes = [{one.partition(": ")[2] for one in found} for found in (first, again)]
    assert changes[0] <= changes[1]
    other = [one.described(path.read_text()) for one in drawn(["some.py"], 11, 2, tmp_path)]
    assert set(other) != set(again)


def test_mutants_are_killed_by_a_test_that_fails_and_by_nothing_else(tmp_path: Path) -> None:
    test = "from size import LIMIT\ndef test_it() -> None:\n    assert 1 < LIMIT < 2\n"
    (tmp_path / "size.py").write_text("LIMIT = 1.9\nOTHER = 5\n")
    (tmp_path / "test_size.py").write_text(test)
    limit, other = of_python("size.py", (tmp_path / "size.py").read_text())
    assert outcome(limit, tmp_path, ["test_size.py"]) == "killed by test_size.py::test_it"
    assert outcome(other, tmp_path, ["test_size.py"]) == SURVIVED
    assert (tmp_path / "size.py").read_text() == "LIMIT = 1.9\nOTHER = 5\n"
    (tmp_path / "test_none.py").write_text("def test_it_in_the_simulator_Oclgrind(): assert 0\n")
    assert outcome(limit, tmp_path, ["test_none.py"]) == SURVIVED  # no test is left
    with pytest.raises(RuntimeError, match=r"test_gone\.py"):
        outcome(limit, tmp_path, ["test_gone.py"])


SAMPLE = (
    ("ligen_py/store/files/temporary.py", "sync(temporary)", "-> None"),
    ("ligen_py/store/files/seal.py", "_digest(path, size - LENGTH)", "!= -> =="),
    ("ligen_py/engine/scoring/ranking.py", "new[:1] = values[0] != last", "!= -> =="),
    ("ligen_py/engine/functions/vina/constants.py", "I=2.2", "2.2 -> 2.42"),
)
"""File, a part of one line's text, and the end of the change's words. No kernel: to compile one
takes longer than all of these."""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mutants.copied(tmp_path_factory.mktemp("tree"))


@pytest.mark.parametrize(("path", "text", "change"), SAMPLE, ids=[path for path, *_ in SAMPLE])
def test_a_sample_is_killed(tree: Path, path: str, text: str, change: str) -> None:
    """Four of the mutants of `make mutants`, by the first tests that it would run."""
    source = (ROOT / path).read_text(encoding="utf-8")
    (number,) = [n for n, line in enumerate(source.splitlines(), start=1) if text in line]
    lines = [one for one in every([path]) if one.line == number]
    chosen = [one for one in lines if one.described(source).endswith(change)]
    assert chosen, [one.described(source) for one in lines]
    assert not means_nothing(chosen[0])
    said = outcome(chosen[0], tree, concerning(path)[:3], 600)
    assert said.startswith("killed by tests/"), said


def test_a_change_that_means_nothing_is_one_that_can_be_made() -> None:
    """No line of the list is about code that is gone."""
    sources = {path: (ROOT / path).read_text(encoding="utf-8") for path, *_ in equivalent()}
    known = {name for one in every(list(sources)) for name in names_of(one, sources[one.path])}
    assert [name for name in equivalent() if name not in known] == []
    assert all(reason for reason in equivalent().values())


def test_a_run_says_how_many_survived(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = iter(["killed by a.py", SURVIVED, "killed by b.py"])
    monkeypatch.setattr(mutants, "copied", lambda folder: ROOT)
    monkeypatch.setattr(mutants, "outcome", lambda *_: next(said))
    words = ["ligen_py/engine/constants.py", "kernels/include/random.clh"]
    assert mutants.main([*words, "--count", "3", "--seed", "7"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2] == "seed 7: 3 mutants, 1 survived, 0 ran out of time"
    assert lines[-1].startswith("survived: ")
    assert len(lines) == 6
