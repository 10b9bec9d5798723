"""Runs that version 0.1.0 saved are shown, exported, compared, measured again and gone on with like any others.

`fixtures/runs_0_1` is a folder of runs as that version left it. All ask the golden set of the embedded server, drawn by
the same seed, so that the questions of the shorter ones are among those of the longer ones. The judge was the imitation
of the Messages API in `messages_api`. The files are read here as plain JSON: what they say is what must come out.
"""

import csv
import io
import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from evals.judges.prompt import load_prompt
from evals.report.templates import escape
from evals.report.wording import number
from evals.schemas.results import SCHEMA_VERSION

Cli = Callable[..., Any]
RUNS = Path(__file__).parent / "fixtures" / "runs_0_1"
COMPLETE = "3fce6905"
"""Eight questions, without a judge."""
JUDGED = "631f81a2"
"""Six questions, with a judge."""
INTERRUPTED = "bcec9d3a"
"""Six questions, ended by Ctrl-C after three answers."""
KILLED = "96a109a9"
"""Four questions, whose process was killed after two answers: its log was never put together."""
FINISHED = [COMPLETE, JUDGED, INTERRUPTED]
GENERATION = ("faithfulness", "answer_correctness", "answer_relevancy")


NOT_A_HIT_ANY_MORE = ("precision_at_3", "precision_at_5", "citation_precision")
"""A chunk in which a number of the gold is another one was a hit by overlap when these runs were saved."""


def head(run_id: str) -> dict[str, Any]:
    """A run's file."""
    (path,) = (path for path in RUNS.glob(f"{run_id}_*.json"))
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def log(run_id: str) -> list[dict[str, Any]]:
    """The lines of a run's log."""
    (path,) = RUNS.glob(f"{run_id}_*.records.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def answers(run_id: str) -> dict[str, dict[str, Any]]:
    """What was answered, by question, whichever kind of line holds it."""
    found = [
        (line["question_id"], line.get("record", {}).get("response") or line.get("answer")) for line in log(run_id)
    ]
    return {key: answer for key, answer in found if answer is not None}


def summaries(run: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """What a scorecard says of each metric, but for its interval, which is made in another way since."""
    metrics = run["scorecard"]["metrics"]
    return {one["name"]: (one["value"], one["sample_size"], one["counts"], one["rules"]) for one in metrics}


def holds(shown: Any, saved: Any) -> bool:
    """Whether all that was saved is shown; keys that came later may stand beside it."""
    if isinstance(saved, dict):
        return all(key in shown and holds(shown[key], value) for key, value in saved.items())
    if isinstance(saved, list):
        return len(shown) == len(saved) and all(map(holds, shown, saved))
    return bool(shown == saved)


def values(records: list[dict[str, Any]]) -> dict[str, dict[str, float | None]]:
    """The values of each metric, by question."""
    found: dict[str, dict[str, float | None]] = {}
    for record in records:
        for score in record["scores"]:
            found.setdefault(score["name"], {})[record["question"]["id"]] = score["value"]
    return found


def saved_values(run_id: str) -> dict[str, dict[str, float | None]]:
    """The same, as the log of a finished run has them."""
    return values([line["record"] for line in log(run_id)])


@pytest.fixture
def cli(evals_cli: Cli, tmp_path: Path) -> Cli:
    """Run a command on a copy of the folder."""
    shutil.copytree(RUNS, tmp_path / "runs")
    return lambda *arguments: evals_cli(*arguments, "--runs-dir", tmp_path / "runs")


@pytest.fixture
def exported(cli: Cli) -> Callable[[str], dict[str, Any]]:
    """A run of the copy with its records, by `export --format json`."""
    return lambda run_id: cli("export", "--run-id", run_id, "--format", "json").json


def test_all_are_listed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """With their status, and none is unreadable."""
    monkeypatch.setenv("COLUMNS", "150")
    out, _, unlike = cli("runs").out.partition("scores with different letters")
    assert "not listed" not in unlike
    assert "are made of different parts" in unlike
    rows = {line.split()[0]: line for line in out.splitlines() if not line.startswith((" ", "id "))}
    status = {COMPLETE: "complete", JUDGED: "complete", INTERRUPTED: "partial", KILLED: "unfinished"}
    assert rows.keys() == status.keys()
    assert all(status[run_id] in row for run_id, row in rows.items())


@pytest.mark.parametrize("run_id", [*FINISHED, KILLED])
def test_a_run_is_shown_as_it_was_saved(cli: Cli, run_id: str) -> None:
    """As JSON with everything that its file holds."""
    shown, saved = cli("show", run_id, "--json").json, head(run_id)
    assert holds(shown, saved)


@pytest.mark.parametrize("run_id", FINISHED)
def test_its_scorecard_shows_the_saved_values(cli: Cli, run_id: str) -> None:
    """Each metric's value stands behind its name, and the weighted score below them, with what has no value."""
    result = cli("show", run_id, "--all")
    assert result.code == 0, result.err
    rows = {words[0]: words[1:] for words in map(str.split, result.out.splitlines()) if words}
    run = head(run_id)
    for metric in run["scorecard"]["metrics"]:
        if metric["value"] is not None:
            assert number(metric["value"], metric["unit"]).split()[0] in rows[metric["name"]]
        assert metric["name"] in result.out
    assert f"weighted score: {run['weighted_score']['score']:.3f}" in result.out


@pytest.mark.parametrize("run_id", FINISHED)
def test_intervals_of_then_are_said_to_be_so(cli: Cli, run_id: str) -> None:
    """Where they are shown and exported, until the run is measured again."""
    said = "the intervals are by the rule of an earlier version"
    assert said in " ".join(cli("show", run_id).out.split())
    assert said in cli("export", "--run-id", run_id, "--format", "markdown").out
    again = cli("rescore", run_id, "--no-judge", "--json").json["id"]
    assert said not in " ".join(cli("show", again).out.split())


def test_a_gate_on_the_end_of_an_interval_is_by_the_rule_of_today(cli: Cli) -> None:
    """The saved one begins at 0.625; by today's it begins lower, and the value is the saved one."""
    saved = next(one for one in head(COMPLETE)["scorecard"]["metrics"] if one["name"] == "mrr")
    assert saved["ci"][0] > 0.6
    today = cli("rescore", COMPLETE, "--no-judge", "--json").json["scorecard"]["metrics"]
    ci = next(one["ci"] for one in today if one["name"] == "mrr")
    result = cli("gate", COMPLETE, "--gate", "mrr@low>=0.6", "--json")
    assert (result.code, result.json["outcome"]) == (1, "not enough evidence")
    assert (result.json["gates"][0]["value"], result.json["gates"][0]["ci"]) == (saved["value"], ci)


UNFINISHED = f"run {KILLED} did not finish: 2 of 4 answers are in its log, none is scored yet"


@pytest.mark.parametrize(
    "gate",
    [
        (KILLED,),
        (KILLED, "--gate", "recall_at_5>=0.5"),
        (KILLED, "--gate", "score@low>=0.5"),
        (KILLED, "--baseline", COMPLETE),
        (COMPLETE, "--baseline", KILLED),
    ],
)
def test_a_killed_run_meets_no_gate_and_says_why(cli: Cli, gate: tuple[str, ...]) -> None:
    """Nothing of it is scored, whoever killed it; how to go on is told."""
    result = cli("gate", *gate)
    assert (result.code, result.out) == (4, "")
    assert f"error: {UNFINISHED}\n  continue with: evals eval --resume {KILLED}" in result.err


@pytest.mark.parametrize("run_id", [*FINISHED, KILLED])
def test_every_question_is_shown_whole(cli: Cli, run_id: str) -> None:
    """What was asked, what was answered, and each value."""
    answered = answers(run_id)
    for line in log(run_id):
        key = line["question_id"]
        result = cli("show", run_id, "--question", key)
        assert result.code == 0, result.err
        told = " ".join(result.out.split())
        if key not in answered:
            assert told.endswith("not asked")
            continue
        assert " ".join(answered[key]["answer"].split()) in told
        scores = [score for score in line.get("record", {}).get("scores", []) if score["value"] is not None]
        assert all(re.sub(r"_p\d+$", "", score["name"]) in told for score in scores)


@pytest.mark.parametrize("run_id", [*FINISHED, KILLED])
def test_an_export_holds_every_record(cli: Cli, exported: Callable[[str], Any], run_id: str) -> None:
    """JSON everything, CSV a row a question with its values, Markdown the scorecard."""
    whole = exported(run_id)
    assert {record["question"]["id"]: record["response"] for record in whole["records"]} == {
        line["question_id"]: answers(run_id).get(line["question_id"]) for line in log(run_id)
    }
    rows = list(csv.DictReader(io.StringIO(cli("export", "--run-id", run_id).out)))
    assert [row["id"] for row in rows] == list(dict.fromkeys(line["question_id"] for line in log(run_id)))
    text = cli("export", "--run-id", run_id, "--format", "markdown").out
    assert f"`{run_id}`" in text
    if run_id == KILLED:
        return
    assert values(whole["records"]) == saved_values(run_id)
    for name, by_question in saved_values(run_id).items():
        column = "latency_ms" if name.startswith("latency_p") else name  # of one question both are its latency
        assert {row["id"]: float(row[column]) if row[column] else None for row in rows} == pytest.approx(
            {row["id"]: by_question.get(row["id"]) for row in rows}
        )
    for metric in head(run_id)["scorecard"]["metrics"]:
        shown = f" {number(metric['value'], metric['unit']).replace('$', '&#36;')} "
        row = (f"`{metric['name']}", shown) if metric["value"] is not None else ("no value: ", escape(metric["name"]))
        assert any(all(part in line for part in row) for line in text.splitlines())


@pytest.mark.parametrize(("other", "common"), [(JUDGED, 6), (INTERRUPTED, 3), (KILLED, 2)])
def test_two_runs_are_compared_over_their_common_questions(cli: Cli, other: str, common: int) -> None:
    """The values are the means of what was saved, and the same answers show no difference."""
    found = cli("compare", COMPLETE, other, "--pareto", "--json").json
    assert found["common"] == common
    ids = answers(COMPLETE).keys() & answers(other).keys()
    saved = saved_values(COMPLETE)
    pairs = {pair["name"]: pair for pair in found["pairs"] if pair["group"] != "performance"}
    rates = [pairs.pop(name) for name in ("abstention_rate", "abstention_rate_answerable") if name in pairs]
    assert all(rate["difference"] == 0 for rate in rates)
    for name, pair in pairs.items():
        kept = [value for key, value in saved[name].items() if key in ids and value is not None]
        assert (pair["n"], pair["first"], pair["difference"]) == (len(kept), pytest.approx(fmean(kept)), 0)
    assert ("mrr" in pairs) is (other != KILLED)
    assert [point["run_id"] for point in found["pareto"]["points"]] == [COMPLETE, other]
    assert {"retrieval", "citation"} <= found["pareto"]["objectives"].keys() or other == KILLED
    assert not any(name in pairs for name in GENERATION)
    assert cli("compare", COMPLETE, other, "--pareto").code == 0


@pytest.mark.parametrize("run_id", FINISHED)
def test_measured_again_without_a_judge_every_value_is_as_it_was(
    cli: Cli, exported: Callable[[str], Any], tmp_path: Path, run_id: str
) -> None:
    """Of each question and of the run, with counts; intervals have a width now, and the saved run stays as it is."""
    result = cli("rescore", run_id, "--no-judge", "--json")
    assert result.code == (4 if run_id == INTERRUPTED else 0), result.err
    assert (head(run_id)["schema_version"], result.json["schema_version"]) == (1, SCHEMA_VERSION)
    for one in result.json["scorecard"]["metrics"]:
        assert one["ci"] is None or one["ci"][0] <= one["value"] <= one["ci"][1] > one["ci"][0]
        assert (one["interval"] is None) == (one["sample_size"] == 0)
    again, saved = summaries(result.json), summaries(head(run_id))
    for name in GENERATION:
        assert again.pop(name)[0] is None
        saved.pop(name)
    for name in NOT_A_HIT_ANY_MORE:
        assert again.pop(name)[0] <= saved.pop(name)[0]
    assert again == saved
    found, before = values(exported(result.json["id"])["records"]), saved_values(run_id)
    changed = {*GENERATION, *NOT_A_HIT_ANY_MORE}
    assert {name: found[name] for name in found if name not in changed} == {
        name: before[name] for name in before if name not in changed
    }
    for path in RUNS.glob(f"{run_id}_*"):
        assert (tmp_path / "runs" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("run_id", [COMPLETE, JUDGED])
def test_judged_again_the_same_answers_get_the_saved_values(
    cli: Cli, exported: Callable[[str], Any], messages_api: Any, monkeypatch: pytest.MonkeyPatch, run_id: str
) -> None:
    """By a judge at another address, which is asked about everything."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    messages_api.script({"then": {"python": "judge"}})
    result = cli("rescore", run_id, "--judge", "--judge-base-url", messages_api.url, "--json")
    assert result.code == 0, result.err
    assert len(messages_api.log()) == result.json["judge"]["calls"] > 0
    found, saved = values(exported(result.json["id"])["records"]), saved_values(JUDGED)
    for name in GENERATION:
        assert {key: found[name][key] for key in saved[name]} == saved[name]


def test_what_a_judge_said_by_other_prompts_is_asked_again(
    cli: Cli, tmp_path: Path, messages_api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it is the same judge: its former replies fit neither from log nor from cache, and none stays."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    messages_api.script({"then": {"python": "judge"}})
    saved = head(JUDGED)
    label_as_before(tmp_path / "runs")
    (path,) = (tmp_path / "runs").glob(f"{JUDGED}_*Z.json")
    path.write_text(json.dumps({**saved, "judge": {**saved["judge"], "origin": messages_api.url}}), encoding="utf-8")
    result = cli("rescore", JUDGED, "--judge", "--judge-base-url", messages_api.url, "--json")
    assert result.code == 0, result.err
    judge = result.json["judge"]
    refused = sum(not line["record"]["verdicts"] for line in log(JUDGED))
    assert (judge["calls"], judge["cached"]) == (saved["judge"]["calls"] + refused, 0)
    assert judge["prompt_hashes"] == {name: load_prompt(name).hash for name in saved["judge"]["prompt_hashes"]}
    compared = cli("compare", JUDGED, result.json["id"], "--json")
    assert compared.code == 0, compared.err
    verdicts = {pair["name"]: (pair["verdict"], pair["reason"]) for pair in compared.json["pairs"]}
    for name in (*GENERATION, "unanswerable_accuracy"):
        assert verdicts[name][0] == "not compared", name
        assert "different" in verdicts[name][1]
    assert verdicts["mrr"][0] == "identical"


def label_as_before(runs: Path) -> None:
    """Have the saved replies of the judged run hold the label that is no more."""
    (path,) = runs.glob(f"{JUDGED}_*.records.jsonl")
    lines = log(JUDGED)
    for verdict in (one for line in lines for one in line["record"]["verdicts"] if one["request"] == "faithfulness"):
        verdict["reply"]["claims"][-1]["verdict"] = "unsupported"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def test_replies_with_a_label_that_is_no_more_are_shown(cli: Cli, tmp_path: Path) -> None:
    """With the values that were saved; so are exports and a comparison."""
    label_as_before(tmp_path / "runs")
    asked = [line["question_id"] for line in log(JUDGED) if line["record"]["verdicts"]]
    for arguments in (["show", JUDGED], ["show", JUDGED, "--question", asked[0]], ["compare", JUDGED, COMPLETE]):
        result = cli(*arguments)
        assert result.code == 0, result.err
    shown = cli("export", "--run-id", JUDGED, "--format", "json").json["scorecard"]
    assert summaries({"scorecard": shown}) == summaries(head(JUDGED))


@pytest.mark.parametrize("run_id", [INTERRUPTED, KILLED])
def test_a_run_that_was_cut_short_is_gone_on_with_to_its_end(
    cli: Cli, exported: Callable[[str], Any], run_id: str
) -> None:
    """The answers that are there stay with their values, and the others are asked for."""
    result = cli("eval", "--resume", run_id, "--rps", 1000, "--json")
    assert result.code == 0, result.err
    assert (result.json["id"], result.json["status"]) == (run_id, "complete")
    assert result.json["schema_version"] == SCHEMA_VERSION
    asked, before = dict.fromkeys(line["question_id"] for line in log(run_id)), answers(run_id)
    assert f"resumed with {len(before)} of {len(asked)} questions answered" in result.json["notes"]
    records = exported(run_id)["records"]
    assert [record["question"]["id"] for record in records] == list(asked)
    assert all(record["response"] == before.get(record["question"]["id"], record["response"]) for record in records)
    whole = saved_values(COMPLETE)
    performance = {score["name"] for score in records[0]["scores"] if score["group"] == "performance"}
    for name, by_question in values(records).items():
        if name not in performance:
            assert {key: by_question[key] for key in before} == {key: whole[name][key] for key in before}
