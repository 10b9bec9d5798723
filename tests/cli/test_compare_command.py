"""`evals compare`: what it prints, and how it ends."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
METRICS = ("mrr", "citation_recall", "unanswerable_accuracy", "abstention_false_negative_rate", "recall_at_1")


@pytest.fixture
def hit(save: Cli) -> Cli:
    """Save a run in which the first questions have one value, and the others another."""

    def put(run_id: str, hits: int, n: int = 40, **changes: Any) -> None:
        alike = {f"q{number}": dict.fromkeys(METRICS, float(number < hits)) for number in range(n)}
        save(run_id, {key: {**values, "latency_p50": 20.0 + int(key[1:])} for key, values in alike.items()}, **changes)

    return put


@pytest.fixture
def hits(hit: Cli) -> Cli:
    """Save several such runs, by their ids."""
    return lambda **runs: [hit(run_id, count) for run_id, count in runs.items()]


@pytest.fixture
def compare(evals_cli: Cli, tmp_path: Path) -> Cli:
    """Run `evals compare` on the saved runs."""

    def call(*arguments: object) -> Any:
        return evals_cli("compare", *arguments, "--runs-dir", tmp_path / "runs")

    return call


def row_of(out: str, name: str) -> list[str]:
    """The cells of a metric's row."""
    return re.split(r"\s{2,}", next(line for line in out.splitlines() if line.startswith(f"{name} ")).strip())


def test_two_runs_are_compared_metric_by_metric(hits: Cli, compare: Cli) -> None:
    """The verdict first; before, after, difference, interval and verdict in a row; the changed questions below."""
    hits(aaaa=30, bbbb=10)
    result = compare("aa", "bb")
    assert result.code == 0
    assert result.out.startswith("bbbb is worse than aaaa, over 40 common questions; ")
    assert row_of(result.out, "mrr")[1:4] == ["0.750", "0.250", "-0.500"]
    assert row_of(result.out, "mrr")[-1] == "worse (0 rose, 20 fell)"
    assert "20 of 40 questions scored worse: q10, q11" in result.out
    assert "differs" not in result.out


@pytest.mark.parametrize(
    ("fell", "ids"), [(8, "q2, q3, q4, q5, q6, q7, q8, q9"), (9, "q1, q2, q3, q4, q5, q6, q7, q8, …")]
)
def test_eight_questions_that_fared_worse_are_named(hits: Cli, compare: Cli, fell: int, ids: str) -> None:
    """Dots say that there are more, and only then."""
    hits(aaaa=10, bbbb=10 - fell)
    assert f"{fell} of 40 questions scored worse: {ids}\n" in compare("aaaa", "bbbb").out


@pytest.mark.parametrize("fell", [1, 5, 10])
def test_the_metrics_that_people_look_for_first_always_have_a_row(hits: Cli, compare: Cli, fell: int) -> None:
    """Whatever moved; where fewer than six questions differ, the row says so."""
    hits(aaaa=30, bbbb=30 - fell)
    out = compare("aaaa", "bbbb").out
    for name in ("score", "citation_recall", "unanswerable_accuracy", "answer_rate", "latency_p50"):
        assert row_of(out, name)[1], name
    if fell < 6:
        differ = "1 differs" if fell == 1 else f"{fell} differ"
        assert row_of(out, "score")[-1] == f"{differ} (fewer than 6)"


def test_the_metrics_without_a_row_are_counted_and_all_of_them_can_be_shown(hits: Cli, compare: Cli) -> None:
    """Their number is how many rows `--all` adds."""
    hits(aaaa=30, bbbb=29)
    short, whole = compare("aaaa", "bbbb").out, compare("aaaa", "bbbb", "--all").out
    added = [name for name in METRICS if f"\n{name} " in whole and f"\n{name} " not in short]
    assert len(added) == 3
    assert "\n(3 more) " in short
    assert " more)" not in whole


def test_a_difference_that_is_too_small_to_be_shown_has_no_minus(save: Cli, compare: Cli) -> None:
    """Nothing is less than nothing."""
    save("aaaa", {f"q{n}": {"mrr": 0.5} for n in range(9)})
    save("bbbb", {f"q{n}": {"mrr": 0.5 - 1e-6} for n in range(9)})
    out = compare("aaaa", "bbbb", "--all").out
    assert row_of(out, "mrr")[1:4] == ["0.500", "0.500", "+0.000"]


def test_a_run_is_not_compared_with_itself(hits: Cli, compare: Cli) -> None:
    """Two starts of one id are one run, and a comparison that cannot fail would pass every gate."""
    hits(aaaa=30)
    result = compare("aaaa", "aa", "--fail-on-regression")
    assert (result.code, "run aaaa is named 2 times" in result.err) == (2, True)


def test_a_regression_ends_with_1(hits: Cli, compare: Cli) -> None:
    """The message names the metrics; an improvement and noise pass; any run that is worse than the baseline fails."""
    hits(aaaa=30, bbbb=10, cccc=29)
    result = compare("aaaa", "bbbb", "--fail-on-regression")
    assert (result.code, "bbbb is worse than aaaa: " in result.err) == (1, True)
    assert "mrr 0.75 to 0.25" in result.err
    assert re.search(r"evals show bbbb --runs-dir \S+/runs$", result.err, re.MULTILINE)
    assert compare("aaaa", "cccc", "--fail-on-regression").code == 0
    assert compare("aaaa", "bbbb", "cccc", "--fail-on-regression").code == 1
    assert compare("cccc", "aaaa", "--baseline", "bb", "--fail-on-regression").code == 1


def test_a_gate_that_could_compare_nothing_fails(save: Cli, compare: Cli) -> None:
    """Without a metric of quality it is unknown whether anything got worse."""
    for run_id in ("aaaa", "bbbb"):
        save(run_id, {f"q{n}": {"latency_p50": 1.0} for n in range(9)})
    result = compare("aaaa", "bbbb", "--fail-on-regression")
    assert (result.code, "no metric of quality" in result.err) == (1, True)


def test_json_is_the_comparison_and_nothing_else(hits: Cli, compare: Cli) -> None:
    """One object, also where the exit code is 1."""
    hits(aaaa=30, bbbb=10)
    result = compare("aaaa", "bbbb", "--json", "--pareto", "--fail-on-regression")
    assert result.code == 1
    assert [run["id"] for run in result.json["runs"]] == ["aaaa", "bbbb"]
    (against,) = result.json["against"]
    assert {pair["name"]: pair["verdict"] for pair in against["pairs"]}["mrr"] == "worse"
    assert result.json["pareto"]["front"] == ["aaaa"]
    assert len(against["lost"]) == 20


def test_several_runs_are_a_table_with_the_verdict_of_each_against_the_first(hits: Cli, compare: Cli) -> None:
    """A column a run; below it each against the baseline, and the front."""
    hits(aaaa=30, bbbb=20, cccc=10)
    out = compare("aaaa", "bbbb", "cccc", "--pareto").out
    assert row_of(out, "citation_recall")[1:] == ["0.750", "0.500 worse", "0.250 worse"]
    assert "cccc is worse than aaaa" in out
    front = out[out.index("Pareto front") :]
    assert (row_of(front, "aaaa")[-1], row_of(front, "bbbb")[-1]) == ("yes", "no")
    assert "at least as good as bbbb on all: aaaa" in out


@pytest.mark.parametrize("width", ["60", "80", "110"])
@pytest.mark.parametrize("count", [2, 3])
def test_no_width_cuts_a_line(hits: Cli, compare: Cli, monkeypatch: pytest.MonkeyPatch, width: str, count: int) -> None:
    """Every metric and value is there, no line is too long, and there is no colour."""
    hits(aaaa=30, bbbb=30, cccc=30)
    monkeypatch.setenv("COLUMNS", width)
    result = compare(*("aaaa", "bbbb", "cccc")[:count], "--pareto", "--all")
    assert result.code == 0
    assert [line for line in result.out.splitlines() if len(line) > int(width)] == []
    letters = re.sub(r"\s", "", result.out)
    assert all(name[:6] in letters for name in METRICS)
    assert "…" not in result.out.replace(" … ", "").replace(", …", "")
    assert "\x1b" not in result.out


def test_hostile_text_is_printed_as_text(hit: Cli, compare: Cli) -> None:
    """No control character or markup of a name, a dataset or a question reaches the terminal."""
    hostile = "\x1b[31mred\x07 [bold]x[/] \u202egpj"
    questions = {"q25": {"question": hostile}}
    hit("aaaa", 30, name=hostile, datasets=[hostile], questions=questions)
    hit("bbbb", 25, name=hostile, questions=questions)
    out = compare("aaaa", "bbbb", "--pareto").out
    assert not {"\x1b", "\x07", "\u202e"} & set(out)
    assert out.count("[bold]x[/]") >= 2


@pytest.mark.parametrize("arguments", [["aaaa"], [], ["aaaa", "zzzz"], ["aaaa", "../x"], ["aaaa", "cccc"]])
def test_what_cannot_be_compared_ends_with_2(hit: Cli, compare: Cli, arguments: list[str]) -> None:
    """One run, none, an unknown one, a path, and one over other questions of the same ids."""
    hit("aaaa", 1, n=2)
    hit("cccc", 1, n=2, questions={f"q{n}": {"question": f"Other {n}?"} for n in range(2)})
    result = compare(*arguments)
    assert result.code == 2
    assert "Traceback" not in result.err


def test_questions_whose_gold_changed_are_left_out_and_named(hits: Cli, hit: Cli, compare: Cli) -> None:
    """What they measured is another thing now."""
    hits(aaaa=30)
    hit("bbbb", 30, questions={"q3": {"expected_answer": "Something else."}})
    out = " ".join(compare("aaaa", "bbbb").out.split())
    assert "over 39 common questions" in out
    assert "1 question with another text or other gold in bbbb left out: q3" in out


def test_questions_that_ended_in_another_way_are_listed(save: Cli, compare: Cli) -> None:
    """With the way they moved and the first of their ids."""
    save("aaaa", {f"q{n}": {"mrr": 1.0} for n in range(7)})
    save("bbbb", {f"q{n}": "timeout" for n in range(7)})
    assert "7 × unknown → failed: q0, q1, q2" in compare("aaaa", "bbbb").out


def test_a_metric_that_vanished_is_said_and_fails_the_gate(save: Cli, compare: Cli) -> None:
    """A server that sends no citations any more passes no gate; nor does a primary metric, whichever group it is of."""
    for run_id, cited in (
        ("aaaa", {"citation_recall": 1.0, "cost_per_query": 0.1}),
        ("bbbb", {"citation_recall": None}),
    ):
        save(run_id, {f"q{n}": {"mrr": 1.0, **cited} for n in range(30)})
    result = compare("aaaa", "bbbb", "--fail-on-regression")
    assert result.code == 1
    assert "no value any more, it does not apply: citation_recall" in " ".join(result.out.split())
    assert "bbbb is worse than aaaa: citation_recall has no value any more" in result.err
    assert compare("bbbb", "aaaa", "--fail-on-regression").code == 0
    for primary in ("citation_recall", "cost_per_query"):
        gate = compare("aaaa", "bbbb", "--primary", primary, "--fail-on-regression")
        assert "no value any more" in gate.out, primary
        assert (gate.code, f"{primary} has no value any more" in gate.err) == (1, True)


def test_a_baseline_may_stand_beside_the_runs(hits: Cli, compare: Cli) -> None:
    """It comes first, wherever it is named."""
    hits(aaaa=30, bbbb=30, cccc=10)
    for named in (["bbbb", "cccc"], ["bbbb", "cccc", "aaaa"]):
        found = compare(*named, "--baseline", "aa", "--json").json
        assert [run["id"] for run in found["runs"]] == ["aaaa", "bbbb", "cccc"]
        assert [(one["baseline"], one["run"]) for one in found["against"]] == [("aaaa", "bbbb"), ("aaaa", "cccc")]
    assert compare("aaaa", "--baseline", "aaaa").code == 2


def test_a_comparison_may_be_about_one_metric(hits: Cli, compare: Cli) -> None:
    """Six of 40 fell: too few among several metrics, enough for one that is tested alone."""
    hits(aaaa=30, bbbb=24)

    def verdict(*more: str) -> str:
        pairs = compare("aaaa", "bbbb", "--json", *more).json["against"][0]["pairs"]
        return {pair["name"]: pair["verdict"] for pair in pairs}["mrr"]

    assert (verdict(), verdict("--primary", "mrr")) == ("not established", "worse")
    assert compare("aaaa", "bbbb", "--primary", "recal_at_1").code == 2
    assert compare("aaaa", "bbbb", "--primary", "faithfulness").code == 2


def test_runs_are_named_by_name_and_by_file(hit: Cli, compare: Cli, evals_cli: Cli, tmp_path: Path) -> None:
    """In every command, from any folder of runs; the hints name the folder where a run is."""
    hit("aaaa", 30, name="before")
    hit("bbbb", 10, name="after the change")
    assert [run["id"] for run in compare("before", "after the change", "--json").json["runs"]] == ["aaaa", "bbbb"]
    (path,) = (tmp_path / "runs").glob("bbbb_*Z.json")
    result = compare("before", path, "--fail-on-regression")
    assert (result.code, "evals show bbbb --runs-dir" in result.err) == (1, True)
    for command in (("show",), ("export", "--run-id"), ("gate", "--gate", "mrr>=0")):
        assert evals_cli(command[0], *command[1:], path, "--runs-dir", tmp_path / "none").code in (0, 4)
        assert evals_cli(command[0], *command[1:], "before", "--runs-dir", tmp_path / "runs").code in (0, 4)


def test_a_third_run_changes_nothing_of_what_two_say_of_each_other(hits: Cli, hit: Cli, compare: Cli) -> None:
    """Each comparison is over the questions that its two runs have in common."""
    hits(aaaa=40, bbbb=10)
    hit("cccc", 8, n=8)
    alone = compare("aaaa", "bbbb", "--json").json["against"]
    beside = compare("aaaa", "bbbb", "cccc", "--json").json["against"]
    assert alone == beside[:1]


def test_gold_that_was_recognised_by_other_rules_does_not_compare(hit: Cli, compare: Cli) -> None:
    """A primary metric that is not compared fails the gate: it is unknown whether it is worse."""
    hit("aaaa", 30, eval_config={"match": {"overlap_threshold": 0.5}})
    hit("bbbb", 30)
    assert "not compared: the runs recognised gold by different rules" in " ".join(compare("aaaa", "bbbb").out.split())
    gate = ("aaaa", "bbbb", "--fail-on-regression", "--primary")
    assert compare(*gate, "abstention_false_negative_rate").code == 0
    result = compare(*gate, "mrr")
    assert (result.code, "mrr could not be tested" in result.err) == (1, True)


def test_latency_of_another_concurrency_is_not_judged(hits: Cli, hit: Cli, compare: Cli) -> None:
    """A line says why."""
    hits(aaaa=30)
    hit("bbbb", 30, concurrency=1)
    said = " ".join(compare("aaaa", "bbbb").out.split())
    assert "not compared, the runs had different concurrency: latency_p50" in said
