"""`evals show --by`: a run by the values of a key, in a terminal of any width."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.store.runs import RunStore

Sliced = Callable[..., str]


@pytest.fixture
def sliced(
    build_run: Callable[..., Any], evals_cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Sliced:
    """Show a run by a key, one question for each of the values given, on a console so many columns wide."""

    def show(values: list[Any], *, width: int = 80) -> str:
        monkeypatch.setenv("COLUMNS", str(width))
        questions = {f"q{n}": {"metadata": {"tag": value}} for n, value in enumerate(values)}
        run, records = build_run(
            "abcd", {key: {"mrr": 1.0} for key in questions}, questions=questions, completed_at="2026-01-15T11:00:00Z"
        )
        store = RunStore(tmp_path / "runs")
        store.prepare()
        store.save(run)
        store.compact(run, records)
        result = evals_cli("show", "abcd", "--by", "tag", "--failures", 0, "--runs-dir", store.folder)
        assert result.code == 0, result.err
        return str(result.out).partition("by tag")[2]

    return show


def test_values_that_fit_stand_side_by_side(sliced: Sliced) -> None:
    """A column a value, with its number of questions."""
    heads, row = sliced(["a", "b", "a"]).splitlines()
    assert heads.split() == ["a", "(n=2)", "b", "(n=1)"]
    assert row.split()[:2] == ["mrr", "1.000"]


@pytest.mark.parametrize("width", [80, 110])
def test_what_does_not_fit_stands_below_each_other_uncut(sliced: Sliced, width: int) -> None:
    """A line a value under the name of the metric, and no ellipsis in a number."""
    values = [f"a rather long value {n}" for n in range(8)]
    lines = sliced(values, width=width).splitlines()
    assert lines[1] == "  mrr"
    assert [line.rpartition("(n=1)")[0].strip() for line in lines[2:10]] == values
    assert all("1.000 (0.00–1.00)" in line for line in lines[2:10])
    assert all(len(line) <= width for line in lines)


def test_numbers_are_in_their_order(sliced: Sliced) -> None:
    """2 comes before 10."""
    heads = sliced([10, 2, 1, 11, 0], width=200).splitlines()[0]
    assert [head for head in heads.split() if not head.startswith("(")] == ["0", "1", "2", "10", "11"]


def test_of_very_many_values_the_biggest_are_shown_and_the_others_named(sliced: Sliced) -> None:
    """A key such as a page has a value a question; the sheet has them all."""
    out = " ".join(sliced([*range(40), 39, 39, 17]).split())
    assert "17 (n=2)" in out
    assert "39 (n=3)" in out
    assert out.count("(n=") == 12
    assert "the 12 of 40 values with the most questions" in out
    assert "evals export --run-id abcd --runs-dir" in out
    assert "meta.tag" in out


def test_a_list_is_spelled_out(sliced: Sliced) -> None:
    """Not as a program writes it down; an empty one is no value."""
    out = sliced([["home", "motor"], []])
    assert "home, motor (n=1)" in out
    assert "[" not in out
