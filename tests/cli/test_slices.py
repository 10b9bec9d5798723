"""`evals show --by`: a run by the values of a key, in a terminal of any width."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from evals.store.runs import RunStore


@pytest.mark.parametrize("width", [80, 110])
def test_values_of_a_key_are_readable_at_the_width(
    save: Callable[..., RunStore], evals_cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """A column a value, with its number of questions; of very many the biggest are shown, and the others counted."""
    monkeypatch.setenv("COLUMNS", str(width))
    values = [*range(40), 39, 39, 17]
    questions = {f"q{n}": {"metadata": {"tag": value}} for n, value in enumerate(values)}
    store = save("abcd", {key: {"mrr": 1.0} for key in questions}, questions=questions)
    out = evals_cli("show", "abcd", "--by", "tag", "--runs-dir", store.folder).out
    assert re.search(r"^39 \(n=3\) +0 of 3 +1\.000", out, re.M)
    assert "17 (n=2)" in out
    assert out.count("(n=") == 12
    assert "the 12 of 40 values with the most questions" in out
    assert all(len(line) <= width for line in out.splitlines())


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
    (row,) = (line for line in out.splitlines() if line.startswith("mrr"))
    assert "easy (n=2)" in out
    assert row.split()[1] == "1.000"


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
