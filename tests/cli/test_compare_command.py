"""`evals compare`: what it prints, and how it ends."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.store.runs import RunStore

Cli = Callable[..., Any]
METRICS = ("mrr", "recall_at_1", "citation_recall", "abstention_false_negative_rate")


@pytest.fixture
def save(build_run: Callable[..., Any], tmp_path: Path) -> Callable[..., None]:
    """Save a run in which the first questions have one value, and the others another."""

    def put(run_id: str, hits: int, n: int = 40, latency: float = 20.0, **changes: Any) -> None:
        values = {
            f"q{number}": {**dict.fromkeys(METRICS, float(number < hits)), "latency_p50": latency + number}
            for number in range(n)
        }
        run, records = build_run(run_id, values, **changes)
        store = RunStore(tmp_path / "runs")
        store.prepare()
        store.save(run)
        store.compact(run, records)

    return put


@pytest.fixture
def compare(evals_cli: Cli, tmp_path: Path) -> Cli:
    """Run `evals compare` on the saved runs."""

    def call(*arguments: object) -> Any:
        return evals_cli("compare", *arguments, "--runs-dir", tmp_path / "runs")

    return call


def test_two_runs_are_compared_metric_by_metric(save: Cli, compare: Cli) -> None:
    """Values, difference, interval, q and verdict stand in a row; the changed questions below."""
    save("aaaa", 30)
    save("bbbb", 10)
    result = compare("aa", "bb")
    assert result.code == 0
    assert "40 questions asked in both" in result.out
    row = next(line for line in result.out.splitlines() if line.startswith("mrr"))
    assert row.split()[2:5] == ["0.750", "0.250", "−0.500"]
    assert row.rstrip().endswith("worse")
    assert "<0.001" in row
    assert "B against A: better on 1, worse on 3 of 4 metrics" in result.out
    assert "lost: 20 of 40 questions" in result.out
    assert "q10" in result.out
    assert "… and 15 more" in result.out


def test_a_run_is_not_compared_with_itself(save: Cli, compare: Cli) -> None:
    """Two starts of one id are one run, and a comparison that cannot fail would pass every gate."""
    save("aaaa", 30)
    result = compare("aaaa", "aa", "--fail-on-regression")
    assert result.code == 2
    assert "run aaaa is named 2 times" in result.err


def test_runs_with_the_same_values_show_no_difference(save: Cli, compare: Cli) -> None:
    """And do not fail as a regression."""
    save("aaaa", 30)
    save("bbbb", 30)
    result = compare("aaaa", "bbbb", "--fail-on-regression")
    assert result.code == 0
    assert "no question scored differently" in result.out
    assert "worse" not in result.out


def test_a_regression_ends_with_1(save: Cli, compare: Cli) -> None:
    """The message names the metrics; an improvement and noise pass; any run that is worse than the baseline fails."""
    save("aaaa", 30)
    save("bbbb", 10)
    save("cccc", 29)
    result = compare("aaaa", "bbbb", "--fail-on-regression")
    assert result.code == 1
    assert "bbbb is worse than aaaa: mrr 0.75 to 0.25" in result.err
    assert re.search(r"evals show bbbb --runs-dir \S+/runs$", result.err, re.MULTILINE)
    assert "abstention_false_negative_rate" not in result.err
    assert compare("aaaa", "cccc", "--fail-on-regression").code == 0
    assert compare("aaaa", "bbbb", "cccc", "--fail-on-regression").code == 1
    assert compare("bbbb", "aaaa", "cccc", "--fail-on-regression").code == 1
    assert compare("cccc", "aaaa", "--baseline", "bb", "--fail-on-regression").code == 1


def test_slower_is_no_regression_of_quality(save: Cli, compare: Cli) -> None:
    """Latency is told, and fails nothing."""
    save("aaaa", 30, latency=20, interleaved_with=["bbbb"])
    save("bbbb", 30, latency=900, interleaved_with=["aaaa"])
    result = compare("aaaa", "bbbb", "--fail-on-regression")
    assert result.code == 0
    assert "worse on 1" in result.out


def test_a_gate_that_could_compare_nothing_fails(build_run: Callable[..., Any], compare: Cli, tmp_path: Path) -> None:
    """Without a metric of quality nobody can say that nothing got worse."""
    store = RunStore(tmp_path / "runs")
    store.prepare()
    for run_id in ("aaaa", "bbbb"):
        run, records = build_run(run_id, {f"q{n}": {"latency_p50": 1.0} for n in range(9)})
        store.save(run)
        store.compact(run, records)
    result = compare("aaaa", "bbbb", "--fail-on-regression")
    assert result.code == 1
    assert "no metric of quality" in result.err


def test_runs_without_a_metric_in_common_say_that_nothing_could_be_compared(
    build_run: Callable[..., Any], compare: Cli, tmp_path: Path
) -> None:
    """Instead of "no difference" and "no question scored differently", which nobody looked at; as a gate it fails."""
    store = RunStore(tmp_path / "runs")
    store.prepare()
    for run_id, metric in (("aaaa", "mrr"), ("bbbb", "recall_at_1")):
        run, records = build_run(run_id, {f"q{n}": {metric: 1.0} for n in range(30)})
        store.save(run)
        store.compact(run, records)
    result = compare("aaaa", "bbbb")
    assert result.code == 0
    assert "30 questions asked in both" in result.out
    assert "! no value any more in bbbb (it was not measured): mrr" in result.out
    assert "no verdict, no value in bbbb" not in result.out
    assert "no verdict, no value in aaaa: recall_at_1" in result.out
    assert "nothing could be compared: B and A have no metric with values in common" in result.out
    assert "B against A:" not in result.out
    assert "no question scored differently" not in result.out
    assert compare("aaaa", "bbbb", "--json").json["pairs"] == []
    gate = compare("aaaa", "bbbb", "--fail-on-regression")
    assert gate.code == 1
    assert "no metric of quality has values in both runs" in gate.err


def test_what_has_too_few_values_is_not_counted_as_compared(save: Cli, compare: Cli) -> None:
    """A single question has values and no spread: no verdict, and a gate that nobody could pass or fail is not met."""
    save("aaaa", 1, n=1)
    save("bbbb", 0, n=1)
    result = compare("aaaa", "bbbb", "--fail-on-regression")
    assert result.code == 1
    assert result.err.startswith("error: no metric of quality")
    said = "nothing could be tested: one common question is not enough to tell a difference from chance"
    assert said in " ".join(result.out.split())
    assert "metrics compared" not in result.out
    assert "no verdict, too few pairs: " in result.out


def test_json_is_the_comparison_and_nothing_else(save: Cli, compare: Cli) -> None:
    """One object, also where the exit code is 1."""
    save("aaaa", 30)
    save("bbbb", 10)
    result = compare("aaaa", "bbbb", "--json", "--pareto", "--fail-on-regression")
    assert result.code == 1
    assert [run["id"] for run in result.json["runs"]] == ["aaaa", "bbbb"]
    assert {pair["name"]: pair["verdict"] for pair in result.json["pairs"]}["mrr"] == "worse"
    assert result.json["pareto"]["front"] == ["aaaa"]
    assert len(result.json["lost"]) == 20


def test_many_runs_are_a_table(save: Cli, compare: Cli) -> None:
    """A column a run, and each against the first."""
    for run_id, hits in (("aaaa", 30), ("bbbb", 20), ("cccc", 10)):
        save(run_id, hits)
    result = compare("aaaa", "bbbb", "cccc", "--pareto")
    row = next(line for line in result.out.splitlines() if line.startswith("mrr"))
    assert row.split()[2:] == ["0.750", "0.500", "0.250", "40", "worse", "worse"]
    assert "C against A" in result.out
    assert "B  dominated by A" in result.out
    assert "A  on the front" in result.out


def test_a_verdict_over_other_questions_has_its_own_values_beside_it(save: Cli, compare: Cli) -> None:
    """A third run of few questions changes what all have in common, and not what the other two say of each other."""
    save("aaaa", 40)
    save("bbbb", 10)
    save("cccc", 8, n=8)
    out = compare("aaaa", "bbbb", "cccc", "--pareto").out
    row = next(line for line in out.splitlines() if line.startswith("mrr"))
    assert re.fullmatch(r"mrr ↑ +1\.000 +1\.000 +1\.000 +8  worse: 1\.000 → 0\.250, n 40 +identical *", row)
    assert "where these are more" in " ".join(out.split())
    assert "A is better than B on " in out
    assert "retrieval (by 0.750, n 40)" in " ".join(out.split())
    assert "values and scores: over the questions that all runs share" in " ".join(out.split())


def test_a_primary_metric_that_vanished_is_a_loss(build_run: Callable[..., Any], compare: Cli, tmp_path: Path) -> None:
    """It is said with "!", and a gate that depends on it fails, whichever group it is of."""
    store = RunStore(tmp_path / "runs")
    store.prepare()
    both = {"mrr": 1.0, "recall_at_1": 1.0}
    for run_id, found in (("aaaa", {**both, "cost_per_query": 0.1}), ("bbbb", {"mrr": 1.0})):
        run, records = build_run(run_id, {f"q{n}": found for n in range(30)})
        store.save(run)
        store.compact(run, records)
    for primary in ("recall_at_1", "cost_per_query"):
        flags = ("aaaa", "bbbb", "--primary", primary)
        told = " ".join(compare(*flags).out.split())
        assert f"! this comparison is about {primary}, of which bbbb has no value: nobody can say whether" in told
        assert compare(*flags).code == 0
        gate = compare(*flags, "--fail-on-regression")
        assert (gate.code, f"{primary} has no value any more" in gate.err) == (1, True)
    assert "this comparison is about" not in compare("aaaa", "bbbb", "--primary", "mrr").out


def test_a_primary_metric_that_cannot_be_tested_fails_the_gate(save: Cli, compare: Cli) -> None:
    """What the comparison is about is not known to be no worse; latency fails no gate here either."""
    save("aaaa", 30, eval_config={"match": {"overlap_threshold": 0.5}})
    save("bbbb", 30)
    gate = ("aaaa", "bbbb", "--fail-on-regression", "--primary")
    assert compare(*gate, "abstention_false_negative_rate").code == 0
    result = compare(*gate, "mrr")
    assert result.code == 1
    assert "error: mrr could not be tested (the runs recognised gold by different rules (`match`)), so nobody" in (
        result.err
    )
    assert compare(*gate, "latency_p50").code == 0


def test_different_concurrency_is_said_and_latency_not_judged(save: Cli, compare: Cli) -> None:
    """No verdict, and no objective."""
    save("aaaa", 30, latency=900)
    save("bbbb", 30, latency=20, concurrency=1)
    result = compare("aaaa", "bbbb", "--pareto")
    assert "no verdict on latency" in result.out
    assert "left out: latency (latency_p50: the runs had different concurrency)" in result.out
    assert "no verdict, the runs had different concurrency: latency_p50" in result.out


@pytest.mark.parametrize("width", ["60", "40", "110"])
@pytest.mark.parametrize("count", [2, 3])
def test_nothing_is_cut_in_a_narrow_terminal(
    save: Cli, compare: Cli, monkeypatch: pytest.MonkeyPatch, width: str, count: int
) -> None:
    """Every metric, value and verdict is there, no line is too long, and there is no colour."""
    for run_id in ("aaaa", "bbbb", "cccc"):
        save(run_id, 30)
    monkeypatch.setenv("COLUMNS", width)
    result = compare(*("aaaa", "bbbb", "cccc")[:count], "--pareto")
    assert result.code == 0
    assert all(len(line) <= int(width) for line in result.out.splitlines())
    assert all(name in result.out for name in METRICS)
    assert " ".join(result.out.split()).count("identical") > len(METRICS) * (count - 1)
    assert result.out.count("not compared") == count - 1
    assert "\x1b" not in result.out


def test_hostile_text_is_printed_as_text(save: Cli, compare: Cli) -> None:
    """No control character or markup of a name, a dataset or a question reaches the terminal."""
    hostile = "\x1b[31mred\x07 [bold]x[/] \u202egpj"
    questions = {"q25": {"question": hostile}}
    save("aaaa", 30, name=hostile, datasets=[hostile], questions=questions)
    save("bbbb", 25, name=hostile, questions=questions)
    out = compare("aaaa", "bbbb", "--pareto").out
    assert not {"\x1b", "\x07", "\u202e"} & set(out)
    assert out.count("[bold]x[/]") >= 3


@pytest.mark.parametrize("arguments", [["aaaa"], [], ["aaaa", "zzzz"], ["aaaa", "../x"], ["aaaa", "cccc"]])
def test_what_cannot_be_compared_ends_with_2(save: Cli, compare: Cli, arguments: list[str]) -> None:
    """One run, none, an unknown one, a path, and one over other questions."""
    save("aaaa", 1, n=2)
    save("cccc", 1, n=2, questions={f"q{n}": {"question": f"Other {n}?"} for n in range(2)})
    result = compare(*arguments)
    assert result.code == 2
    assert "Traceback" not in result.err


def test_an_ambiguous_prefix_ends_with_2(save: Cli, compare: Cli) -> None:
    """The message lists the runs that begin so."""
    save("aaaa", 1, n=2)
    save("aabb", 1, n=2)
    result = compare("aa", "aabb")
    assert result.code == 2
    assert "aaaa, aabb" in result.err


def test_questions_that_moved_between_links_are_listed(
    build_run: Callable[..., Any], compare: Cli, tmp_path: Path
) -> None:
    """With the way they moved and the first of their ids."""
    store = RunStore(tmp_path / "runs")
    store.prepare()
    for run_id, ending in (("aaaa", {"mrr": 1.0}), ("bbbb", "timeout")):
        run, records = build_run(run_id, {f"q{n}": ending for n in range(7)})
        store.save(run)
        store.compact(run, records)
    out = compare("aaaa", "bbbb").out
    assert "first broken link: 7 of 7 questions moved" in out
    assert "     7  right → transport: q0, q1, q2, q3, q4, …" in out


def test_a_metric_that_vanished_is_said_and_fails_the_gate(
    build_run: Callable[..., Any], compare: Cli, tmp_path: Path
) -> None:
    """A server that sends no citations any more passes no gate."""
    store = RunStore(tmp_path / "runs")
    store.prepare()
    for run_id, cited in (("aaaa", 1.0), ("bbbb", None)):
        run, records = build_run(run_id, {f"q{n}": {"mrr": 1.0, "citation_recall": cited} for n in range(30)})
        store.save(run)
        store.compact(run, records)
    result = compare("aaaa", "bbbb", "--fail-on-regression")
    assert result.code == 1
    assert "! no value any more in bbbb (it does not apply): citation_recall" in result.out
    assert "bbbb is worse than aaaa: citation_recall has no value any more" in result.err
    assert compare("bbbb", "aaaa", "--fail-on-regression").code == 0


def test_a_baseline_may_stand_beside_the_runs(save: Cli, compare: Cli) -> None:
    """It comes first, wherever it is named."""
    for run_id, hits in (("aaaa", 30), ("bbbb", 30), ("cccc", 10)):
        save(run_id, hits)
    for named in (["bbbb", "cccc"], ["bbbb", "cccc", "aaaa"]):
        found = compare(*named, "--baseline", "aa", "--json").json
        assert [run["id"] for run in found["runs"]] == ["aaaa", "bbbb", "cccc"]
        assert [(one["baseline"], one["run"]) for one in found["against"]] == [("aaaa", "bbbb"), ("aaaa", "cccc")]
        assert found["pairs"] == found["against"][-1]["pairs"]
    assert compare("aaaa", "--baseline", "aaaa").code == 2


def test_a_comparison_may_be_about_one_metric(save: Cli, compare: Cli) -> None:
    """It is tested at 0.05; a metric that does not exist, or has no values, is an error."""
    save("aaaa", 30)
    save("bbbb", 24)
    plain, alone = (compare("aaaa", "bbbb", *more) for more in ([], ["--primary", "recall_at_1"]))
    told = [[line for line in found.out.splitlines() if "tested at 0.05: " in line] for found in (plain, alone)]
    assert [["recall_at_1" in line for line in lines] for lines in told] == [[], [True]]
    assert compare("aaaa", "bbbb", "--primary", "recal_at_1").code == 2
    assert "has no values in both" in compare("aaaa", "bbbb", "--primary", "faithfulness").err


def test_runs_are_named_by_name_and_by_file(save: Cli, compare: Cli, evals_cli: Cli, tmp_path: Path) -> None:
    """In every command, from any folder of runs; the hints name the folder where a run is."""
    save("aaaa", 30, name="before")
    save("bbbb", 10, name="after the change")
    assert [run["id"] for run in compare("before", "after the change", "--json").json["runs"]] == ["aaaa", "bbbb"]
    (path,) = (tmp_path / "runs").glob("bbbb_*.json")
    result = compare("before", path, "--fail-on-regression")
    assert (result.code, "evals show bbbb --runs-dir" in result.err) == (1, True)
    for command in (("show",), ("export", "--run-id"), ("gate", "--gate", "mrr>=0")):
        assert evals_cli(command[0], *command[1:], path, "--runs-dir", tmp_path / "none").code in (0, 4)
        assert evals_cli(command[0], *command[1:], "before", "--runs-dir", tmp_path / "runs").code in (0, 4)


def test_a_run_of_another_folder_is_not_gone_on_with_here(save: Cli, evals_cli: Cli, tmp_path: Path) -> None:
    """Its answers would go to a second place: exit 2, and the hint names its folder."""
    save("aaaa", 30)
    (path,) = (tmp_path / "runs").glob("aaaa_*.json")
    result = evals_cli("eval", "--resume", path, "--runs-dir", tmp_path / "none")
    assert (result.code, f"add --runs-dir {tmp_path / 'runs'}" in result.err) == (2, True)


def test_a_name_of_several_runs_is_wrong_usage(save: Cli, compare: Cli) -> None:
    """Exit 2, and the message lists their ids."""
    save("aaaa", 30, name="nightly")
    save("bbbb", 10, name="nightly")
    result = compare("aaaa", "nightly")
    assert (result.code, "'nightly' is the name of 2 runs: aaaa, bbbb" in result.err) == (2, True)
