"""Logs and traces as runs: one file is enough."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from trace_exports import ANSWER, EXPORTS, QUESTION, TEXTS, attribute, otlp, request

from evals.store.runs import RunStore

Row = Mapping[str, Any]
DECLINES = "I could not find this in the documents."
ROW = {"question": QUESTION, "answer": "Three months.", "contexts": list(TEXTS)}


def rows_of_a_week(seed: int, right: float, count: int = 300) -> Iterator[Row]:
    """Rows of a log, of which this share is right; users say it of one in five."""
    random = Random(seed)  # noqa: S311 - a made log
    for n in range(count):
        is_right = random.random() < right
        row = {
            "question": f"How long is notice {seed}-{n}?",
            "answer": "Notice is 3 months." if is_right else random.choice(["Notice is 5 months.", DECLINES]),
            "contexts": ["Notice is three months."],
            "latency_ms": random.lognormvariate(6, 0.4),
            "timestamp": f"2026-11-{seed + n % 7:02d}T09:00:00Z",
        }
        yield row | ({"feedback": 1 if is_right else -1} if n % 5 == 0 else {})


@pytest.fixture
def score(evals_cli: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Score rows as a log; the run as JSON."""

    def run(rows: Sequence[Row], *flags: object, name: str = "log.jsonl") -> Any:
        path = tmp_path / name
        path.write_text("\n".join(json.dumps(row) for row in rows))
        done = evals_cli("score", path, "--runs-dir", tmp_path / "runs", "--no-judge", "--json", *flags)
        assert done.code == 0, done.err
        return done.json

    return run


def value(run: Mapping[str, Any], name: str) -> float | None:
    """The value of a metric."""
    return next(metric["value"] for metric in run["scorecard"]["metrics"] if metric["name"] == name)


def records(tmp_path: Path) -> list[Any]:
    """The records of the one run."""
    run = RunStore(tmp_path / "runs").load("last")
    return [record.model_dump(mode="json") for record in run.records()]


def test_rows_of_question_and_answer_are_a_run(score: Callable[..., Any]) -> None:
    """Of the suite production; nothing is compared with itself, so no metric of gold is among them."""
    rows = [ROW, {**ROW, "answer": "Five months: 5."}, {**ROW, "answer": DECLINES}]
    run = score([{**row, "latency_ms": 100 * n} for n, row in enumerate(rows, start=1)])
    assert (run["status"], run["question_count"], run["log"]["read"]) == ("complete", 3, 3)
    assert value(run, "declined_rate") == pytest.approx(1 / 3)
    assert value(run, "unsupported_numbers") == 1.0
    assert value(run, "latency_p50") == 200.0
    assert "read 3 of 3 rows" in run["notes"]
    assert not {"recall_at_5", "answer_correctness"} & {metric["name"] for metric in run["scorecard"]["metrics"]}


def test_a_metric_that_needs_a_reference_says_so(score: Callable[..., Any]) -> None:
    """It has no value, and a reason."""
    run = score([ROW], "--metrics", "recall_at_5,declined_rate")
    (recall, declined) = run["scorecard"]["metrics"]
    assert (recall["value"], recall["reason"]) == (None, "the question has no gold passages")
    assert declined["value"] == 0.0


@pytest.mark.parametrize(
    ("row", "field", "expected"),
    [
        ({"user_query": "a?", "response": "b"}, "answer", "b"),
        ({"question": "a?", "output": {"answer": "b"}}, "answer", "b"),
        ({"question": "a?", "answer": ""}, "answer", ""),
        ({"question": "a?", "response": ""}, "answer", ""),
        ({"question": "a?", "answer": None}, "answer", None),
        ({"question": "a?", "answer": 42}, "answer", "42"),
        ({"question": 42, "answer": "b"}, "answer", "b"),
        ({"question": "a?", "answer": {"k": 1, "l": 2}}, "answer", None),
        ({"question": "a?", "answer": "b", "error": "False"}, "answer", "b"),
        ({"question": "a?", "answer": "b", "sources": ["http://a/30", "b.md"]}, "chunks", [None, None]),
        ({"question": "a?", "answer": "b", "contexts": "['x', 'y']"}, "chunks", ["x", "y"]),
        ({"question": "a?", "answer": "b", "duration_s": 1.5}, "latency_ms", 1500.0),
        ({"question": "a?", "answer": "b", "llm_model": "m"}, "model", "m"),
        ({"question": "a?", "answer": "b", "tokens_in": "9", "tokens_out": 3}, "usage", (9, 3)),
        ({"question": "a?", "answer": "b", "contexts": '["x", "y"]'}, "chunks", ["x", "y"]),
        ({"question": "a?", "answer": "b", "context": "x"}, "chunks", ["x"]),
        ({"question": "a?", "answer": "b", "documents": [{"id": "d1"}]}, "chunks", [None]),
        ({"question": "a?", "answer": "b", "contexts": []}, "chunks", []),
        ({"question": "a?", "answer": "b"}, "chunks", None),
        ({"question": "a?", "answer": "b", "contexts": [{"k": 1}]}, "chunks", None),
        ({"question": "a?", "answer": "b", "error": "timed out"}, "answer", None),
    ],
)
def test_columns_are_read_by_their_usual_names(
    score: Callable[..., Any], tmp_path: Path, row: Row, field: str, expected: object
) -> None:
    """Lists may be written as JSON; a document that cannot be read leaves the chunks unknown."""
    score([row, {"question": "other?", "answer": "c"}])
    response = records(tmp_path)[0]["response"]
    read = response[field]
    if field == "usage":
        read = (read["prompt_tokens"], read["completion_tokens"])
    if field == "chunks" and read is not None:
        read = [chunk["text"] for chunk in read]
    assert read == expected


def test_a_table_is_read_as_well(evals_cli: Callable[..., Any], tmp_path: Path) -> None:
    """With what else it holds as metadata, and a day by which it is grouped."""
    with (tmp_path / "log.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, ["Question", "Answer", "Contexts", "Time", "Team"])
        table.writeheader()
        given = {"Question": QUESTION, "Answer": "3", "Contexts": json.dumps(TEXTS)}
        table.writerow({**given, "Time": "2026-11-02 23:30", "Team": "a"})
    done = evals_cli("score", tmp_path / "log.csv", "--runs-dir", tmp_path / "runs", "--no-judge", "--json")
    assert done.code == 0, done.err
    assert records(tmp_path)[0]["question"]["metadata"] == {"Team": "a", "day": "2026-11-02"}


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_of_traces_is_a_run(score: Callable[..., Any], tmp_path: Path, name: str) -> None:
    """With its stages, of which `show --question` tells."""
    run = score(EXPORTS[name]())
    assert run["log"] == {
        "kind": "traces",
        "total": 1,
        "read": 1,
        "drawn": 1,
        "without_documents": 0,
        "unreadable": 0,
        "stratify": None,
        "grounds": {},
    }
    (record,) = records(tmp_path)
    assert record["response"]["answer"] == ANSWER
    assert [item["text"] for item in record["response"]["stages"][0]["items"]] == list(TEXTS)
    assert value(run, "latency_p50") == pytest.approx(2000, abs=0.01)


def test_the_first_line_says_what_was_read(score: Callable[..., Any]) -> None:
    """Traces without documents, and those that are pieces."""
    root, steps = otlp()
    alone = json.loads(json.dumps(root).replace("5b8efff798038103d269b633813fc60c", "77"))
    alone["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"] = [attribute("input.value", "Why?")]
    piece = {"traceId": "78", "spanId": "9", "parentSpanId": "8", "attributes": []}
    run = score([root, steps, alone, request(piece)])
    assert run["notes"][0] == "read 2 of 3 traces; 1 without documents; 1 without a root that holds a question"
    assert (run["log"]["read"], run["log"]["without_documents"]) == (2, 1)


def test_questions_that_come_again_are_rows_of_their_own(score: Callable[..., Any], tmp_path: Path) -> None:
    """Users ask the same; ids that a log gives are kept."""
    score([ROW, ROW, {**ROW, "request_id": 7}])
    ids = [record["question"]["id"] for record in records(tmp_path)]
    assert ids[1] == f"{ids[0]}-2"
    assert ids[2] == "7"


def test_columns_of_a_few_rows_and_of_mixed_kinds_are_metadata(score: Callable[..., Any], tmp_path: Path) -> None:
    """A column named as one of our own keys too."""
    more = ({"user": "x", "region": "eu"}, {"user": 3, "sampling": "greedy"}, {"region": {"a": 1}})
    score([{**ROW, **extra} for extra in more])
    kept = [record["question"]["metadata"] for record in records(tmp_path)]
    assert kept == [{"user": "x", "region": "eu"}, {"user": 3, "sampling": "greedy"}, {"region": {"a": 1}}]


def test_an_id_that_was_made_is_no_other_rows(score: Callable[..., Any], tmp_path: Path) -> None:
    """Every row counts."""
    score([{**ROW, "id": name} for name in ("a", "a", "a-2")])
    assert [record["question"]["id"] for record in records(tmp_path)] == ["a", "a-2", "a-2-2"]


@pytest.mark.parametrize(
    ("time", "day"),
    [
        ("2026-11-20", "2026-11-20"),
        (20261120, "2026-11-20"),
        ("20/11/2026", None),
        (1e300, None),
        (-1e15, None),
        (10**400, None),
        ("0001-01-01T00:00:00+14:00", None),
    ],
)
def test_a_time_that_cannot_be_read_is_told(
    score: Callable[..., Any], tmp_path: Path, time: object, day: str | None
) -> None:
    """It gives no day, and no other one."""
    run = score([{**ROW, "timestamp": time}])
    assert records(tmp_path)[0]["question"]["metadata"].get("day") == day
    assert any("time could not be read" in note for note in run["notes"]) == (day is None)


def test_stars_are_no_thumbs(score: Callable[..., Any], tmp_path: Path) -> None:
    """One star of five is not good; two columns of opinions are both kept."""
    score([{**ROW, "rating": stars, "thumbs_up": stars == 5} for stars in (1, 5)])
    kept = [record["question"]["metadata"] for record in records(tmp_path)]
    assert kept == [
        {"rating": "1", "thumbs_up": "bad", "feedback": "1"},
        {"rating": "5", "thumbs_up": "good", "feedback": "5"},
    ]


def test_a_sample_by_feedback_is_weighted_back_to_the_whole(score: Callable[..., Any]) -> None:
    """Its value is near that of all rows, though a quarter of what users disliked is in it."""
    rows = list(rows_of_a_week(2, 0.8))
    whole = score(rows)
    part = score(rows, "--sample", 120, "--stratify", "feedback")
    (metric,) = [metric for metric in part["scorecard"]["metrics"] if metric["name"] == "declined_rate"]
    assert (part["question_count"], metric["whole"]) == (120, 300)
    assert metric["ci"][0] <= value(whole, "declined_rate") <= metric["ci"][1]
    assert any("weighted back to the whole" in note for note in part["notes"])
    assert part["eval_config"]["stratify"] == "feedback"


def test_two_weeks_are_held_against_each_other(
    score: Callable[..., Any], evals_cli: Callable[..., Any], tmp_path: Path
) -> None:
    """Their questions differ: the intervals of both decide."""
    first = score(list(rows_of_a_week(2, 0.95)), name="first.jsonl")["id"]
    worse = score(list(rows_of_a_week(9, 0.6)), name="second.jsonl")["id"]
    same = score(list(rows_of_a_week(16, 0.95)), name="third.jsonl")["id"]
    flags = ("--baseline", first, "--runs-dir", tmp_path / "runs", "--metrics", "unsupported_numbers")
    assert evals_cli("gate", same, *flags).code == 0
    failed = evals_cli("gate", worse, *flags)
    assert (failed.code, "not met" in failed.out) == (1, True)
    compared = evals_cli("compare", first, worse, "--runs-dir", tmp_path / "runs", "--json").json["against"][0]
    (pair,) = [pair for pair in compared["pairs"] if pair["name"] == "latency_p50"]
    assert (pair["test"], pair["verdict"]) == ("independent", "not established")


def test_a_log_that_is_measured_again_is_compared_row_by_row(
    score: Callable[..., Any], evals_cli: Callable[..., Any], tmp_path: Path
) -> None:
    """Its rows are the same."""
    rows = list(rows_of_a_week(2, 0.9))
    runs = [score(rows)["id"], score(rows)["id"]]
    compared = evals_cli("compare", *runs, "--runs-dir", tmp_path / "runs", "--json").json["against"][0]
    assert compared["common"] == len(rows)


def test_days_are_shown_with_their_intervals(
    score: Callable[..., Any], evals_cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seven days are seven rows; nothing is said of right and wrong."""
    monkeypatch.setenv("COLUMNS", "120")
    run = score(list(rows_of_a_week(2, 0.9)))["id"]
    shown = evals_cli("show", run, "--by", "day", "--runs-dir", tmp_path / "runs").out
    days = re.findall(r"^2026-11-0\d \(n=\d+\) .*\d\.\d{3} \(\d\.\d\d–\d\.\d\d\)", shown, re.MULTILINE)
    assert len(days) == 7
    assert "went wrong" not in shown


def test_a_question_of_a_trace_lists_its_stages(
    score: Callable[..., Any], evals_cli: Callable[..., Any], tmp_path: Path
) -> None:
    """What each retrieval found, and how long it took."""
    run = score(EXPORTS["langfuse"]())["id"]
    shown = evals_cli("show", run, "--question", "t1", "--runs-dir", tmp_path / "runs").out
    assert "stage     search (500 ms): d0, d1" in shown
    assert "time      retrieval 500 ms, generation 1250 ms" in shown


def test_what_users_said_is_in_the_sheet_of_labels(
    score: Callable[..., Any], evals_cli: Callable[..., Any], tmp_path: Path
) -> None:
    """As the labels of the metric; other rows are empty."""
    run = score([{**ROW, "feedback": 1}, {**ROW, "feedback": "down"}, ROW])["id"]
    path = tmp_path / "sheet.csv"
    flags = ("--metric", "faithfulness", "--output", path, "--runs-dir", tmp_path / "runs")
    assert evals_cli("review", run, *flags).code == 0
    with path.open(encoding="utf-8-sig", newline="") as file:
        assert sorted(row["verdict"] for row in csv.DictReader(file)) == ["", "no", "yes"]


def test_a_judge_says_whether_the_texts_suffice(evals_cli: Callable[..., Any], judge_api: Any, tmp_path: Path) -> None:
    """The table tells answers without a ground from those that could have been given; of a sample, of the whole."""
    rows = [
        {"question": "How long is notice?", "answer": answer, "contexts": [text]}
        for answer in ("Notice is three months long.", DECLINES)
        for text in ("How long notice is: three months.", "Rent is due in advance.")
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    done = evals_cli("score", tmp_path / "log.jsonl", "--runs-dir", tmp_path / "runs", "--json")
    assert judge_api.log()
    assert done.code == 0, done.err
    grounds = done.json["log"]["grounds"]
    assert grounds == {
        f"{ground} {said}": 1.0 for ground in ("sufficient", "insufficient") for said in ("answered", "declined")
    }
    shown = evals_cli("show", done.json["id"], "--runs-dir", tmp_path / "runs").out
    assert re.search(r"texts insufficient +1 +1 +answered: without a ground", shown)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no"),
        ('{"name": "x"}', "holds no question of a user: read 0 of 1 rows; 1 without a question"),
        ("[1, 2]", "expected an object"),
        ('{"question": "a?", "answer": "b", "latency_ms": -3}', "-3 is no latency"),
        ("no json", "not valid JSON"),
        ('{"query": "a?", "Frage": "b"}', "holds no answer"),
        ('{"Anliegen": "b", "Auskunft": "c"}', "its columns: Anliegen, Auskunft"),
        ('{"resourceSpans": [{"scopeSpans": [{"spans": [{"spanId": "1"}]}]}]}', "names no trace"),
    ],
)
def test_a_file_that_is_no_log_is_one_message(
    evals_cli: Callable[..., Any], tmp_path: Path, text: str, message: str
) -> None:
    """And exit code 2."""
    (tmp_path / "log.jsonl").write_text(text)
    done = evals_cli("score", tmp_path / "log.jsonl", "--runs-dir", tmp_path / "runs", "--no-judge")
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--stratify", "mood"), "no row has the key mood"),
        (("--stratify", "user", "--sample", "1"), "user has 2 values, more than the 1 rows that are drawn"),
        (("--dataset-file", "log.jsonl", "--sample", "3"), "--sample and --stratify are of a log"),
    ],
)
def test_a_flag_that_does_not_fit_is_one_message(
    evals_cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...], message: str
) -> None:
    """And exit code 2."""
    monkeypatch.chdir(tmp_path)
    Path("log.jsonl").write_text("\n".join(json.dumps({**ROW, "id": name, "user": name}) for name in "ab"))
    done = evals_cli("score", "log.jsonl", "--no-judge", *flags)
    assert done.code == 2
    assert message in done.err
