"""`evals show --by`: a run by the values of a key, in a terminal of any width."""

from collections.abc import Callable
from typing import Any

import pytest

from evals.store.runs import RunStore

Sliced = Callable[..., str]


@pytest.fixture
def sliced(save: Callable[..., RunStore], evals_cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Sliced:
    """Show a run by a key, one question for each of the values given, on a console so many columns wide."""

    def show(values: list[Any], *, width: int = 80) -> str:
        monkeypatch.setenv("COLUMNS", str(width))
        questions = {f"q{n}": {"metadata": {"tag": value}} for n, value in enumerate(values)}
        store = save("abcd", {key: {"mrr": 1.0} for key in questions}, questions=questions)
        result = evals_cli("show", "abcd", "--by", "tag", "--failures", 0, "--runs-dir", store.folder)
        assert result.code == 0, result.err
        return str(result.out).rpartition("by tag\n")[2].partition("\n\n")[0]

    return show


def test_values_that_fit_stand_side_by_side(sliced: Sliced) -> None:
    """A column a value, with its number of questions."""
    heads, row, explained = sliced(["a", "b", "a"]).splitlines()
    assert heads.split() == ["metric", "a", "(n=2)", "b", "(n=1)"]
    assert row.split() == ["mrr", "1.000", "(0.00–1.00)", "n", "2", "1.000", "(0.00–1.00)", "n", "1"]
    assert "n, the questions that it is over" in explained


@pytest.mark.parametrize("width", [80, 110])
def test_what_does_not_fit_stands_below_each_other_uncut(sliced: Sliced, width: int) -> None:
    """Under the name of the metric, each value beside its title, and no ellipsis in a number."""
    values = [f"a rather long value {n}" for n in range(8)]
    lines = sliced(values, width=width).splitlines()
    assert lines[0] == "mrr"
    told = " ".join(" ".join(lines[1:9]).split()).split("; ")
    assert [pair.partition(" behind")[0] for pair in told] == [f"{each} (n=1) 1.000 (0.00–1.00) n 1" for each in values]
    assert all(len(line) <= width for line in lines)


def test_of_very_many_values_the_biggest_are_shown_and_the_others_named(sliced: Sliced) -> None:
    """A key such as a page has a value a question; the sheet has them all."""
    out = " ".join(sliced([*range(40), 39, 39, 17]).split())
    assert "17 (n=2)" in out
    assert "39 (n=3)" in out
    assert out.count("(n=") == 12
    assert "the 12 of 40 values with the most questions" in out
    assert "evals export --run-id abcd --runs-dir" in out
    assert "meta.tag" in out


@pytest.fixture
def partly(save: Callable[..., RunStore]) -> RunStore:
    """A run whose questions are of two kinds, of which one easy one has no value; and one that did not finish."""
    values = {"q1": {"mrr": 1.0}, "q2": {"mrr": None}, "q3": {"mrr": 0.5}}
    kinds = {name: {"metadata": {"kind": kind}} for name, kind in (("q1", "easy"), ("q2", "easy"), ("q3", "hard"))}
    save("beef", values, questions=kinds, completed_at=None)
    return save("abcd", values, questions=kinds)


def test_each_value_is_over_the_questions_that_have_one(partly: RunStore, evals_cli: Callable[..., Any]) -> None:
    """Two easy questions, and a mean over the one of them that the metric applies to."""
    out = evals_cli("show", "abcd", "--by", "kind", "--runs-dir", partly.folder).out
    (row,) = (line for line in out.partition("by kind")[2].splitlines()[:3] if "mrr" in line)
    assert "easy (n=2)" in out
    assert row.count(" n 1") == 2


def test_slices_are_given_to_programs_too(partly: RunStore, evals_cli: Callable[..., Any]) -> None:
    """Every value of the key with its questions and its scorecard, and nothing else."""
    said = evals_cli("show", "abcd", "--by", "kind", "--json", "--runs-dir", partly.folder).json
    assert (said["id"], said["by"], list(said["slices"])) == ("abcd", "kind", ["easy", "hard"])
    easy = said["slices"]["easy"]
    (mrr,) = (metric for metric in easy["scorecard"]["metrics"] if metric["name"] == "mrr")
    assert (easy["questions"], mrr["value"], mrr["sample_size"]) == (2, 1.0, 1)


def test_slices_of_a_run_that_did_not_finish_are_refused(partly: RunStore, evals_cli: Callable[..., Any]) -> None:
    """A program gets no empty scorecards; it is told how to go on."""
    result = evals_cli("show", "beef", "--by", "kind", "--json", "--runs-dir", partly.folder)
    assert (result.code, result.out) == (2, "")
    assert "evals eval --resume beef" in result.err
