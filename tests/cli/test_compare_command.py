"""`evals compare`: what it prints, and how it ends."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
METRICS = ("mrr", "recall_at_1", "citation_recall", "abstention_false_negative_rate")


@pytest.fixture
def hits(save: Callable[..., Any]) -> Callable[..., None]:
    """Save a run in which the first questions have one value, and the others another."""

    def put(run_id: str, hits: int, n: int = 40, **changes: Any) -> None:
        alike = {f"q{number}": dict.fromkeys(METRICS, float(number < hits)) for number in range(n)}
        save(run_id, {key: {**values, "latency_p50": 20.0 + int(key[1:])} for key, values in alike.items()}, **changes)

    return put


@pytest.fixture
def compare(evals_cli: Cli, tmp_path: Path) -> Cli:
    """Run `evals compare` on the saved runs."""

    def call(*arguments: object) -> Any:
        return evals_cli("compare", *arguments, "--runs-dir", tmp_path / "runs")

    return call


def test_two_runs_are_compared_metric_by_metric(hits: Cli, compare: Cli) -> None:
    """Values, difference, interval, q and verdict stand in a row; the changed questions below."""
    hits("aaaa", 30)
    hits("bbbb", 10)
    result = compare("aa", "bb")
    assert result.code == 0
    assert "40 questions asked in both" in result.out
    row = next(line for line in result.out.splitlines() if line.startswith("mrr"))
    assert row.split()[2:5] == ["0.750", "0.250", "−0.500"]
    assert row.rstrip().endswith("worse")
    assert "<0.001" in row
    assert "B against A: better on 1, worse on 3 of 4 metrics" in result.out
    assert "q10" in result.out
    assert "20 of 40 questions scored worse; --all shows 5, --json all" in result.out


def test_a_run_is_not_compared_with_itself(hits: Cli, compare: Cli) -> None:
    """Two starts of one id are one run, and a comparison that cannot fail would pass every gate."""
    hits("aaaa", 30)
    result = compare("aaaa", "aa", "--fail-on-regression")
    assert result.code == 2
    assert "run aaaa is named 2 times" in result.err


def test_a_regression_ends_with_1(hits: Cli, compare: Cli) -> None:
    """The message names the metrics; an improvement and noise pass; any run that is worse than the baseline fails."""
    hits("aaaa", 30)
    hits("bbbb", 10)
    hits("cccc", 29)
    result = compare("aaaa", "bbbb", "--fail-on-regression")
    assert result.code == 1
    assert "bbbb is worse than aaaa: mrr 0.75 to 0.25" in result.err
    assert re.search(r"evals show bbbb --runs-dir \S+/runs$", result.err, re.MULTILINE)
    assert "abstention_false_negative_rate" not in result.err
    assert compare("aaaa", "cccc", "--fail-on-regression").code == 0
    assert compare("aaaa", "bbbb", "cccc", "--fail-on-regression").code == 1
    assert compare("bbbb", "aaaa", "cccc", "--fail-on-regression").code == 1
    assert compare("cccc", "aaaa", "--baseline", "bb", "--fail-on-regression").code == 1


def test_a_gate_that_could_compare_nothing_fails(save: Cli, compare: Cli) -> None:
    """Without a metric of quality nobody can say that nothing got worse."""
    for run_id in ("aaaa", "bbbb"):
        save(run_id, {f"q{n}": {"latency_p50": 1.0} for n in range(9)})
    result = compare("aaaa", "bbbb", "--fail-on-regression")
    assert result.code == 1
    assert "no metric of quality" in result.err


def test_json_is_the_comparison_and_nothing_else(hits: Cli, compare: Cli) -> None:
    """One object, also where the exit code is 1."""
    hits("aaaa", 30)
    hits("bbbb", 10)
    result = compare("aaaa", "bbbb", "--json", "--pareto", "--fail-on-regression")
    assert result.code == 1
    assert [run["id"] for run in result.json["runs"]] == ["aaaa", "bbbb"]
    assert {pair["name"]: pair["verdict"] for pair in result.json["pairs"]}["mrr"] == "worse"
    assert result.json["pareto"]["front"] == ["aaaa"]
    assert len(result.json["lost"]) == 20


def test_many_runs_are_a_table(hits: Cli, compare: Cli) -> None:
    """A column a run, and each against the first."""
    for run_id, found in (("aaaa", 30), ("bbbb", 20), ("cccc", 10)):
        hits(run_id, found)
    result = compare("aaaa", "bbbb", "cccc", "--pareto")
    row = next(line for line in result.out.splitlines() if line.startswith("mrr"))
    assert row.split()[2:] == ["0.750", "0.500", "worse", "0.250", "worse", "40"]
    assert "C against A" in result.out
    assert re.search("B  score .*; clearly better: A$", result.out, re.MULTILINE)
    assert re.search("A  score .*; no run is clearly better$", result.out, re.MULTILINE)


@pytest.mark.parametrize("width", ["60", "40", "110"])
@pytest.mark.parametrize("count", [2, 3])
def test_nothing_is_cut_in_a_narrow_terminal(
    hits: Cli, compare: Cli, monkeypatch: pytest.MonkeyPatch, width: str, count: int
) -> None:
    """Every metric, value and verdict is there, no line is too long, and there is no colour."""
    for run_id in ("aaaa", "bbbb", "cccc"):
        hits(run_id, 30)
    monkeypatch.setenv("COLUMNS", width)
    result = compare(*("aaaa", "bbbb", "cccc")[:count], "--pareto", "--all")
    assert result.code == 0
    assert [line for line in result.out.splitlines() if len(line) > int(width)] == []
    assert all(name in result.out for name in METRICS)
    assert ("not compared" in result.out.replace("are not compared", "")) == (count == 2)
    assert "\x1b" not in result.out


def test_hostile_text_is_printed_as_text(hits: Cli, compare: Cli) -> None:
    """No control character or markup of a name, a dataset or a question reaches the terminal."""
    hostile = "\x1b[31mred\x07 [bold]x[/] \u202egpj"
    questions = {"q25": {"question": hostile}}
    hits("aaaa", 30, name=hostile, datasets=[hostile], questions=questions)
    hits("bbbb", 25, name=hostile, questions=questions)
    out = compare("aaaa", "bbbb", "--pareto").out
    assert not {"\x1b", "\x07", "\u202e"} & set(out)
    assert out.count("[bold]x[/]") >= 3


@pytest.mark.parametrize("arguments", [["aaaa"], [], ["aaaa", "zzzz"], ["aaaa", "../x"], ["aaaa", "cccc"]])
def test_what_cannot_be_compared_ends_with_2(hits: Cli, compare: Cli, arguments: list[str]) -> None:
    """One run, none, an unknown one, a path, and one over other questions."""
    hits("aaaa", 1, n=2)
    hits("cccc", 1, n=2, questions={f"q{n}": {"question": f"Other {n}?"} for n in range(2)})
    result = compare(*arguments)
    assert result.code == 2
    assert "Traceback" not in result.err


def test_questions_that_moved_between_links_are_listed(save: Cli, compare: Cli) -> None:
    """With the way they moved and the first of their ids."""
    for run_id, ending in (("aaaa", {"mrr": 1.0}), ("bbbb", "timeout")):
        save(run_id, {f"q{n}": ending for n in range(7)})
    out = compare("aaaa", "bbbb").out
    assert "outcome changed for 7 of 7 questions" in out
    assert "     7  right → transport: q0, q1, q2, q3, q4, …" in out


def test_a_metric_that_vanished_is_said_and_fails_the_gate(save: Cli, compare: Cli) -> None:
    """A server that sends no citations any more passes no gate."""
    for run_id, cited in (("aaaa", 1.0), ("bbbb", None)):
        save(run_id, {f"q{n}": {"mrr": 1.0, "citation_recall": cited} for n in range(30)})
    result = compare("aaaa", "bbbb", "--fail-on-regression")
    assert result.code == 1
    assert "! no value any more in bbbb (it does not apply): citation_recall" in result.out
    assert "bbbb is worse than aaaa: citation_recall has no value any more" in result.err
    assert compare("bbbb", "aaaa", "--fail-on-regression").code == 0


def test_a_baseline_may_stand_beside_the_runs(hits: Cli, compare: Cli) -> None:
    """It comes first, wherever it is named."""
    for run_id, found in (("aaaa", 30), ("bbbb", 30), ("cccc", 10)):
        hits(run_id, found)
    for named in (["bbbb", "cccc"], ["bbbb", "cccc", "aaaa"]):
        found = compare(*named, "--baseline", "aa", "--json").json
        assert [run["id"] for run in found["runs"]] == ["aaaa", "bbbb", "cccc"]
        assert [(one["baseline"], one["run"]) for one in found["against"]] == [("aaaa", "bbbb"), ("aaaa", "cccc")]
        assert found["pairs"] == found["against"][-1]["pairs"]
    assert compare("aaaa", "--baseline", "aaaa").code == 2


def test_a_comparison_may_be_about_one_metric(hits: Cli, compare: Cli) -> None:
    """It is tested at 0.05; a metric that does not exist, or has no values, is an error."""
    hits("aaaa", 30)
    hits("bbbb", 24)
    plain, alone = (compare("aaaa", "bbbb", "--json", *more).json for more in ([], ["--primary", "recall_at_1"]))
    levels = [{pair["name"]: pair["level"] for pair in found["pairs"]}["recall_at_1"] for found in (plain, alone)]
    assert levels[0] < levels[1] == 0.05
    assert compare("aaaa", "bbbb", "--primary", "recal_at_1").code == 2
    assert "has no values in both" in compare("aaaa", "bbbb", "--primary", "faithfulness").err


def test_runs_are_named_by_name_and_by_file(hits: Cli, compare: Cli, evals_cli: Cli, tmp_path: Path) -> None:
    """In every command, from any folder of runs; the hints name the folder where a run is."""
    hits("aaaa", 30, name="before")
    hits("bbbb", 10, name="after the change")
    assert [run["id"] for run in compare("before", "after the change", "--json").json["runs"]] == ["aaaa", "bbbb"]
    (path,) = (tmp_path / "runs").glob("bbbb_*.json")
    result = compare("before", path, "--fail-on-regression")
    assert (result.code, "evals show bbbb --runs-dir" in result.err) == (1, True)
    for command in (("show",), ("export", "--run-id"), ("gate", "--gate", "mrr>=0")):
        assert evals_cli(command[0], *command[1:], path, "--runs-dir", tmp_path / "none").code in (0, 4)
        assert evals_cli(command[0], *command[1:], "before", "--runs-dir", tmp_path / "runs").code in (0, 4)


def test_a_verdict_over_other_questions_has_its_own_values_beside_it(hits: Cli, compare: Cli) -> None:
    """A third run of few questions changes what all have in common, not what the other two say of each other."""
    hits("aaaa", 40)
    hits("bbbb", 10)
    hits("cccc", 8, n=8)
    out = compare("aaaa", "bbbb", "cccc", "--pareto").out
    row = next(line for line in out.splitlines() if line.startswith("mrr"))
    assert row.split()[2:] == ["1.000", "1.000", "1.000", "8"]
    assert "bbbb worse in mrr: 1.000 → 0.250, over 40 questions" in " ".join(out.split())
    assert "A is better than B on " in out


def test_a_primary_metric_that_vanished_is_a_loss(save: Cli, compare: Cli) -> None:
    """It is said with "!", and a gate that depends on it fails, whichever group it is of."""
    both = {"mrr": 1.0, "recall_at_1": 1.0, "cost_per_query": 0.1}
    save("aaaa", {f"q{n}": both for n in range(30)})
    save("bbbb", {f"q{n}": {"mrr": 1.0} for n in range(30)})
    for primary in ("recall_at_1", "cost_per_query"):
        flags = ("aaaa", "bbbb", "--primary", primary)
        assert f"! the primary metric {primary} has no value in bbbb" in " ".join(compare(*flags).out.split())
        gate = compare(*flags, "--fail-on-regression")
        assert (gate.code, f"{primary} has no value any more" in gate.err) == (1, True)


def test_a_primary_metric_that_cannot_be_tested_fails_the_gate(hits: Cli, compare: Cli) -> None:
    """What the comparison is about is not known to be no worse; latency fails no gate here either."""
    hits("aaaa", 30, eval_config={"match": {"overlap_threshold": 0.5}})
    hits("bbbb", 30)
    gate = ("aaaa", "bbbb", "--fail-on-regression", "--primary")
    assert compare(*gate, "abstention_false_negative_rate").code == 0
    result = compare(*gate, "mrr")
    assert (result.code, "mrr could not be tested" in result.err) == (1, True)
    assert compare(*gate, "latency_p50").code == 0


def test_different_concurrency_is_said_and_latency_not_judged(hits: Cli, compare: Cli) -> None:
    """No verdict, and no objective."""
    hits("aaaa", 30)
    hits("bbbb", 30, concurrency=1)
    out = compare("aaaa", "bbbb", "--pareto").out
    assert "no verdict on latency" in out
    assert "left out: latency (latency_p50: the runs had different concurrency)" in out
