"""`evals score`: retrieved passages, and saved answers, without a server."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
Passages = tuple[Path, Path]
QUESTIONS = [
    {"id": "q1", "question": "Cooling-off?", "gold_passages": [{"text": "fourteen days", "document_id": "guide"}]},
    {"id": "q2", "question": "Excess?", "gold_passages": [{"text": "an excess of 300 euros"}]},
]
CHUNK = {"text": "It is fourteen days.", "document_id": "guide"}
ANSWERS = [
    {"question_id": "q1", "answer": "14.", "chunks": [CHUNK], "citations": [{"index": 1}], "latency_ms": 800},
    {"question_id": "q2", "answer": "I don't know.", "chunks": ["nothing", "with an excess of 300 euros"]},
]
BLOCK = """\
Evaluation Results:
==========================
exact_match: 0.0000
span_f1: 0.4000
recall@10: 1.0000
ndcg@10: 1.0000
num_examples: 1.0000
==========================
"""


@pytest.fixture
def passages(tmp_path: Path) -> tuple[Path, Path]:
    """A file of predictions, and one of gold."""
    predictions, gold = tmp_path / "predictions.json", tmp_path / "gold.json"
    predictions.write_text(json.dumps([{"query": "q", "retrieved_passages": ["the deed of sale"]}]))
    gold.write_text(json.dumps({"tests": [{"query": "q", "snippets": [{"answer": "deed"}]}]}))
    return predictions, gold


@pytest.fixture
def score(evals_cli: Cli, tmp_path: Path) -> Callable[..., Any]:
    """Score saved answers to questions, both given as data; the lines may be given as they are."""

    def run(lines: Sequence[Mapping[str, Any] | str], *arguments: object, questions: Any = QUESTIONS) -> Any:
        (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, questions)))
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        (tmp_path / "answers.jsonl").write_text(text)
        flags = ("--dataset-file", tmp_path / "questions.jsonl", "--runs-dir", tmp_path / "runs", "--no-judge")
        return evals_cli("score", tmp_path / "answers.jsonl", *flags, *arguments)

    return run


def values(run: Mapping[str, Any]) -> dict[str, float | None]:
    return {metric["name"]: metric["value"] for metric in run["scorecard"]["metrics"]}


def test_the_block_is_printed_as_documented(evals_cli: Cli, passages: Passages) -> None:
    """Labels, digits and rules to the letter, and nothing else."""
    done = evals_cli("score", *passages)
    assert (done.code, done.out, done.err) == (0, BLOCK, "")


def test_the_means_have_the_same_labels(evals_cli: Cli, passages: Passages, tmp_path: Path) -> None:
    """--output and --json hold the numbers in full; --k is in the labels."""
    done = evals_cli("score", *passages, "--k", 3, "--output", tmp_path / "out.json", "--json")
    expected = {"exact_match": 0.0, "span_f1": 0.4, "recall@3": 1.0, "ndcg@3": 1.0, "num_examples": 1}
    assert done.json == json.loads((tmp_path / "out.json").read_text()) == expected


def test_what_is_missing_is_said_on_stderr(evals_cli: Cli, passages: Passages) -> None:
    """The block stays what it is; the reports go beside it. A broken file is one message, and nothing is printed."""
    passages[0].write_text("[]")
    done = evals_cli("score", *passages)
    assert (done.code, "num_examples: 1.0000" in done.out) == (0, True)
    assert done.err.splitlines() == ["! 0 predictions for 1 query", "! 1 query without a prediction, scored 0: 'q'"]
    passages[0].write_text('[{"query": "q", "retrieved_passages": "text"}]')
    done = evals_cli("score", *passages)
    assert (done.code, done.out) == (2, "")
    assert "error: predictions.json, entry 1: retrieved_passages: must be a list" in done.err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--suite", "core"], "--suite does nothing where retrieved passages are scored"),
        (["--no-judge-cache"], "--no-judge-cache does nothing"),
        (["--lenient"], "--lenient does nothing"),
        (["--comment", "comment.md"], "--comment does nothing"),
        (["--junit", "junit.xml"], "--junit does nothing"),
        (["--config", "x.yml"], "--config does nothing"),
        (["--output", "."], "is a folder"),
        (["--output", "none/out.json"], "there is no folder"),
    ],
)
def test_a_flag_that_passages_lack_is_refused(evals_cli: Cli, passages: Passages, flags: list[str], said: str) -> None:
    """Before anything is scored, named as it was typed, and without a word of runs."""
    done = evals_cli("score", *passages, *flags)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "--resume" not in done.err


def test_each_form_says_both(score: Cli, evals_cli: Cli, tmp_path: Path) -> None:
    """A flag of passages beside answers, and answers without any gold."""
    for done in (score(ANSWERS, "--k", 5), evals_cli("score", tmp_path / "answers.jsonl", "--runs-dir", tmp_path)):
        assert (done.code, done.out) == (2, "")
        assert "score predictions.json gold.json" in done.err
        assert "--dataset-file" in done.err


def test_saved_answers_make_a_run_like_that_of_eval(score: Cli, evals_cli: Cli, tmp_path: Path) -> None:
    """The scorecard is that of the fields given, and the run can be shown and exported."""
    done = score(ANSWERS, "--json", "--name", "offline")
    run = done.json
    assert (done.code, done.err, run["status"], run["name"]) == (0, "", "complete", "offline")
    assert (run["server"]["url"], run["server"]["profile"]) == ("answers.jsonl", "saved answers")
    found = values(run)
    assert (found["recall_at_5"], found["mrr"], found["recall_at_1"]) == (1.0, 0.75, 0.5)
    assert (found["citation_precision"], found["latency_p50"]) == (1.0, 800.0)
    shown = evals_cli("show", run["id"], "--runs-dir", tmp_path / "runs", "--json")
    assert shown.json == run
    exported = evals_cli("export", "--run-id", run["id"], "--format", "json", "--runs-dir", tmp_path / "runs")
    assert [record["question"]["id"] for record in exported.json["records"]] == ["q1", "q2"]


def test_a_missing_answer_makes_the_run_partial(score: Cli) -> None:
    """A question without an answer is noted, in no mean, and exit 4: nobody takes a part for the whole."""
    done = score([ANSWERS[0], {**ANSWERS[1], "question_id": "q9"}], "--json")
    run = done.json
    assert (done.code, run["status"], run["outcomes"]["not_asked"]) == (4, "partial", 1)
    ignored = "1 question answered but not in the dataset, ignored: q9"
    assert run["notes"][:2] == ["1 question without a saved answer: q2", ignored]
    assert values(run)["recall_at_5"] == 1.0
    assert "1 of 2 questions has no saved answer" in done.err


def test_a_gate_that_is_not_met_is_exit_1(score: Cli) -> None:
    """As with eval; the run is saved all the same."""
    assert score(ANSWERS, "--gate", "mrr>=0.7").code == 0
    done = score(ANSWERS, "--gate", "mrr>=0.8")
    assert (done.code, "gate failed: 1 of 1 gate" in done.err) == (1, True)
    assert all(words in done.out for words in ("mrr>=0.8: not met", "saved to"))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "answers.jsonl holds no answers"),
        ([ANSWERS[0], "{"], "answers.jsonl, line 2: not valid JSON"),
        (["", "[]"], "answers.jsonl, line 2: expected an object with `question_id`, not list"),
        ([{"answer": "a"}], "answers.jsonl, line 1: `question_id` must be a text"),
        ([ANSWERS[0], ANSWERS[0]], "answers.jsonl, line 2: question 'q1' is answered at answers.jsonl, line 1 already"),
        ([{"question_id": "q1", "anwser": "a"}], "answers.jsonl, line 1: unknown field 'anwser'"),
        ([{**ANSWERS[0], "latency_ms": -5}], "answers.jsonl, line 1, latency_ms: must be from 0 to"),
        ([{"question_id": "?", "answer": "a"}], "answers.jsonl: none of its 1 answer is to a question of the dataset"),
    ],
)
def test_a_wrong_line_is_named(score: Cli, lines: list[Any], message: str, tmp_path: Path) -> None:
    """One message with the line, exit code 2, and no run is saved."""
    done = score(lines)
    assert (done.code, done.out) == (2, "")
    assert f"error: {message}" in done.err
    assert not list(tmp_path.glob("runs/*.json"))


def test_a_dry_run_says_what_judging_takes(score: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the answers that are there, without a call and without a run."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-never-used")
    done = score(ANSWERS[:1], "--judge", "--metrics", "answer_relevancy", "--dry-run")
    assert done.code == 0, done.err
    assert "1 question without a saved answer: q2" in done.out
    assert "would measure 1 answer to 2 questions of answers.jsonl" in done.out
    assert "about 1 call," in done.out
    failed = {"question_id": "q2", "error": {"kind": "timeout", "message": "60 s passed"}}
    done = score([ANSWERS[0], failed], "--no-judge", "--metrics", "exact_match", "--dry-run")
    assert "would measure 1 answer to 2 questions of answers.jsonl" in done.out
    assert not (tmp_path / "runs").exists()


LOG = {"question": "Excess?", "contexts": ["an excess of 300 euros"]}
REFERENCE_METRICS = "exact_match,squad_f1,squad_em"


@pytest.mark.parametrize(
    ("row", "response", "reference"),
    [
        ({**LOG, "answer": "300 euros"}, "300 euros", None),
        ({**LOG, "output": "300 euros"}, "300 euros", None),
        ({**LOG, "answer": "300 euros", "is_unanswerable": True}, "300 euros", None),
        ({**LOG, "answer": "300", "ground_truth": "300 euros"}, "300", "300 euros"),
        ({**LOG, "answer": "300 euros", "prediction": "300"}, "300", "300 euros"),
    ],
    ids=["answer", "output", "unanswerable", "reference", "prediction"],
)
def test_a_column_of_a_log_is_response_or_reference_never_both(
    evals_cli: Cli, tmp_path: Path, row: dict[str, Any], response: str, reference: str | None
) -> None:
    """Where one file holds questions and answers, `answer` is the response unless another column holds that."""
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps(row))
    flags = ("--dataset-file", log, "--no-judge", "--runs-dir", tmp_path / "runs", "--metrics", REFERENCE_METRICS)
    run = evals_cli("score", log, *flags, "--json").json
    exported = evals_cli("export", "--run-id", run["id"], "--format", "json", "--runs-dir", tmp_path / "runs")
    (record,) = exported.json["records"]
    assert (record["response"]["answer"], record["question"]["expected_answer"]) == (response, reference)
    reasons = {score["reason"] for score in record["scores"] if score["name"] == "exact_match"}
    lacking = "the question is unanswerable" if "is_unanswerable" in row else "the question has no expected answer"
    assert reasons == ({None} if reference else {lacking})


SPANS = {"q1": "her statement suggested a lack of remorse", "q2": "", "q3": "96 hours", "q4": "I do not know."}
"""Predictions of an extractive system: the empty one abstains."""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("squad.json", json.dumps(SPANS)),
        ("squad.json", json.dumps(SPANS, indent=1)),
        ("rows.json", json.dumps([{"id": key, "prediction": span, "extractive": True} for key, span in SPANS.items()])),
    ],
    ids=["SQuAD's form", "indented", "by its key"],
)
def test_extractive_answers_abstain_only_where_empty(evals_cli: Cli, tmp_path: Path, name: str, content: str) -> None:
    """No detector reads the others: a span that sounds like a refusal is the text that it is, also when rescored."""
    asked: list[Any] = [{"id": key, "question": f"{key}?", "is_unanswerable": True} for key in ("q1", "q2", "q4")]
    asked.append({"id": "q3", "question": "How long?", "expected_answer": "96 hours", "is_unanswerable": False})
    (tmp_path / "asked.json").write_text(json.dumps(asked))
    (tmp_path / name).write_text(content)
    runs, metrics = ("--runs-dir", tmp_path / "runs"), ("--metrics", "squad_em,squad_f1,unanswerable_accuracy")
    flags = ("--dataset-file", tmp_path / "asked.json", *metrics, "--no-judge", "--json")
    run = evals_cli("score", tmp_path / name, *flags, *runs).json
    assert values(run) == {"squad_em": 0.5, "squad_f1": 0.5, "unanswerable_accuracy": 0.5}
    assert values(evals_cli("rescore", run["id"], *runs, "--json").json) == values(run)
