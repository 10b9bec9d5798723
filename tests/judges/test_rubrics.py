"""Rubrics in whole runs: metrics in plain words, from the configuration, from Python, and question by question."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from judges.money_of import Configure, judge_of

from evals import rubric
from evals.compare.conditions import why_not_compared
from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.judges.prompts import load_prompt
from evals.judges.rubrics import RubricConfig, rubric_metric
from evals.metrics import Sample, registry
from evals.metrics.base import Aggregation
from evals.metrics.judged import JudgedMetric
from evals.run.calibrating import scale_of
from evals.runner import run_evaluation
from evals.schemas import Citation, EvalQuestion, EvalResponse, EvalRun, JudgeVerdict, MetricResult, RetrievedChunk
from evals.schemas.results import saved_definitions
from evals.store.runs import RunStore

Cli = Callable[..., Any]
POLITE = "Is the answer polite?"
TONE = {"tone": {"ask": POLITE, "labels": {"polite": 1, "neutral": 0.5, "rude": 0}}}


@pytest.fixture(autouse=True)
def _nothing_is_known_after_a_test() -> Iterator[None]:
    yield
    forgotten("tone", "slangy", "warmth")


@pytest.fixture
def run_of(config: Configure) -> Callable[..., EvalRun]:
    """Evaluate golden questions by rubrics, with a cache."""
    return lambda **keys: run_evaluation(config(suite=[], judge={"cache": True}, **keys))


@pytest.fixture
def cli(evals_cli: Cli, golden_server: str, judge_api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run a command in an empty folder, which has a configuration with a rubric in `c.yml`."""
    monkeypatch.chdir(tmp_path)
    keys = {"judged": TONE, "suite": [], "datasets": ["golden"], "samples_per_dataset": 6}
    Path("c.yml").write_text(json.dumps({**keys, "rag_server_url": golden_server}, indent=1), encoding="utf-8")
    return evals_cli


def write_rows(path: Path | str, rows: Sequence[dict[str, Any]]) -> None:
    Path(path).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def forgotten(*names: str) -> None:
    """Leave this process with what a new one knows of these metrics: nothing."""
    for name in names:
        registry._registered.pop(name, None)
        saved_definitions.pop(name, None)


def of(metric: Any) -> Any:
    """The prompt of a rubric."""
    assert isinstance(metric, JudgedMetric)
    return load_prompt(metric.inquiries[0].prompt)


# One line of configuration, one of Python, one a question.


@pytest.mark.parametrize(
    "keys",
    [{"judged": {"tone": POLITE}}, {"metrics": [rubric("tone", POLITE)]}],
    ids=["in the configuration", "in Python"],
)
def test_a_rubric_of_one_line_is_a_metric_that_is_paid_for_once(
    run_of: Callable[..., EvalRun], keys: dict[str, Any]
) -> None:
    """One call a question, an interval, a hash of its own; the second run asks nothing."""
    first, second = run_of(**keys), run_of(**keys)
    (summary,) = first.scorecard.metrics
    assert None not in (summary.value, summary.ci)
    assert (judge_of(first).calls, judge_of(second).calls, judge_of(second).cached) == (8, 0, 8)
    assert judge_of(first).prompt_hashes == {"tone": of(rubric("tone", POLITE)).hash}
    assert first.eval_config["judged"]["tone"]["ask"] == POLITE


def test_each_question_is_judged_by_its_own_rubric(cli: Cli, golden_server: str) -> None:
    """A column `rubric` with a text or a list; the value is the share that is met, and nothing without a rubric."""
    rows = [
        {"question": "What is covered?", "rubric": "zebra quokka"},
        {"question": "Who is insured?", "criteria": None, "rubric": ["insured", "xylophone zebra"]},
        {"question": "Is it new?"},
    ]
    write_rows("q.jsonl", rows)
    asked = f"eval --dataset-file q.jsonl --metrics rubric --rag-url {golden_server} --runs-dir runs".split()
    assert "2 calls" in cli(*asked, "--dry-run").out
    done = cli(*asked, "--json")
    assert done.code == 0
    scores = [record.scores[0] for record in RunStore("runs").load("last").records()]
    assert [score.value for score in scores] == [0.0, 0.5, None]
    assert scores[2].reason == "the question has no rubric"
    assert scores[1].details["not_met"] == ["xylophone zebra: By shared words."]
    assert done.json["judge"]["calls"] == 2
    assert cli(*asked, "--json").json["judge"]["calls"] == 0


# What every metric can do.


def test_a_rubric_is_estimated_gated_calibrated_shown_compared_and_measured_again(cli: Cli) -> None:
    """Twenty labels open the gate; what reads a saved run needs no configuration."""
    measuring = ("--config", "c.yml", "--runs-dir", "runs")
    assert "about 6 calls" in cli("eval", *measuring, "--dry-run").out
    gated = cli("eval", *measuring, "--gate", "tone>=0.1")
    assert gated.code == 2
    assert "a gate is on tone, and the judge claude-sonnet-5-5 was never calibrated" in gated.err
    polite = {"question": "When does ferry A sail?", "answer": "Ferry A sails. When does it?", "label": "polite"}
    rude = {**polite, "answer": "Bicycles cost nothing.", "label": "rude"}
    write_rows("labels.jsonl", [{**(polite if n % 4 else rude), "id": str(n)} for n in range(20)])
    calibrated = cli("calibrate", "labels.jsonl", "--metric", "tone", *measuring, "--json")
    assert (calibrated.code, calibrated.json["judge"]["agreement"]["n"]) == (0, 20)
    assert cli("eval", *measuring, "--gate", "tone>=0.1", "--name", "one").code == 0
    forgotten("tone")
    shown = cli("show", "last", "--runs-dir", "runs").out
    assert ("tone" in shown, "judge claude-sonnet-5-5:" in shown) == (True, True)
    assert cli("report", "one", "-o", "one.html", "--runs-dir", "runs").code == 0
    assert "tone" in Path("one.html").read_text(encoding="utf-8")
    assert cli("gate", "one", "--gate", "tone>=0.999", "--runs-dir", "runs").code == 1
    again = cli("rescore", "one", "--runs-dir", "runs", "--name", "two", "--json")
    assert (again.code, again.json["judge"]["calls"]) == (0, 0)
    forgotten("tone")
    compared = cli("compare", "one", "two", "--runs-dir", "runs", "--json")
    assert [pair["name"] for pair in compared.json["against"][0]["pairs"]] == ["answer_rate", "tone"]
    assert not [warning for warning in compared.json["warnings"] if "judged by" in warning or "tone" in warning]


def test_rubrics_of_different_questions_are_not_compared(run_of: Callable[..., EvalRun]) -> None:
    """The words are the same, and so is the prompt; of which answers the value is, is not."""
    runs = [run_of(judged={"tone": {"ask": POLITE, "when": when}}) for when in ("all", "answered", "answered")]
    metric = rubric("tone", POLITE)
    assert why_not_compared(metric, runs[0], runs[1]) == "the metric was changed between the runs"
    assert why_not_compared(metric, runs[1], runs[2]) is None


def test_shards_are_merged_and_a_run_goes_on_without_the_configuration(cli: Cli) -> None:
    """The saved run holds the rubric; what was paid for is not paid again."""
    measuring = ("eval", "--config", "c.yml", "--json", "--runs-dir", "runs")
    shards = [cli(*measuring, "--shard", part).json["id"] for part in ("1/2", "2/2")]
    forgotten("tone")
    merged = cli("merge", *shards, "--runs-dir", "runs", "--json").json
    assert [(one["name"], one["sample_size"]) for one in merged["scorecard"]["metrics"]] == [("tone", 6)]
    partial = cli(*measuring, "--no-judge-cache", "--samples", 12, "--max-cost", 0.009)
    assert partial.code == 4
    assert 0 < partial.json["judge"]["calls"] < 12
    forgotten("tone")
    whole = cli("eval", "--resume", partial.json["id"], "--max-cost", 1, "--runs-dir", "runs", "--json")
    assert (whole.code, whole.json["judge"]["calls"], whole.json["status"]) == (0, 12, "complete")


def test_examples_are_left_out_of_a_calibration(cli: Cli) -> None:
    """The judge knows their labels: agreement with them proves nothing."""
    rows = [{"question": f"Is {n} so?", "answer": f"Yes, {n} is so.", "label": "yes"} for n in range(6)]
    write_rows("all.jsonl", rows)
    write_rows("shown.jsonl", rows[:2])
    Path("c.yml").write_text('{"judged": {"tone": {"ask": "ok", "examples": "shown.jsonl"}}}', encoding="utf-8")
    done = cli("calibrate", "all.jsonl", "--metric", "tone", "--config", "c.yml", "--runs-dir", "runs", "--json")
    assert (done.code, done.json["judge"]["agreement"]["n"]) == (0, 4)
    again = cli("calibrate", "shown.jsonl", "--metric", "tone", "--config", "c.yml", "--runs-dir", "runs")
    assert (again.code, "no row has a label" in again.err) == (2, True)


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        ([{"metric": "tone"}, {"metric": "warmth"}, {}], [True, False, True]),
        ([{}, {"label": "cannot_tell"}, {"label": ""}, {"label": 0}], [True, False, False, True]),
        ([{}] * 30, [True] * 20 + [False] * 10),
    ],
    ids=["of another metric", "left open", "more than twenty"],
)
def test_the_first_twenty_answers_with_labels_on_a_rubric_are_shown(
    columns: list[dict[str, Any]], shown: list[bool], tmp_path: Path
) -> None:
    """A sheet may hold labels on several metrics, and rows that people left open; each example is paid for by call."""
    rows = [{"question": f"Is {n} so?", "answer": f"Yes, {n}.", "label": "yes", **row} for n, row in enumerate(columns)]
    write_rows(tmp_path / "labels.jsonl", rows)
    labels = {"yes": 1, "no": 0.5, "0": 0}
    metric = rubric("tone", POLITE, labels=labels, examples=tmp_path / "labels.jsonl")
    assert [row["answer"] in of(metric).system for row in rows] == shown


# What the judge is given, and what follows from what it says.


def given(sees: Sequence[str], response: EvalResponse, **question: Any) -> dict[str, Any]:
    """What a judge is given by a rubric that sees this."""
    asked = EvalQuestion(question="Is it?", expected_answer="It is.", **question)
    (request,) = rubric("tone", POLITE, sees=sees).requests(Sample(asked, response, judged=True))
    return request.data


@pytest.mark.parametrize(
    ("value", "shown"), [("ground", "ground"), (3, "3"), (False, "false"), ({"floor": [1]}, '{"floor": [1]}')]
)
def test_metadata_is_shown_as_text(value: Any, shown: str) -> None:
    """What is no text, as JSON; a quotation of it can be found."""
    data = given(["metadata.floor"], EvalResponse(answer="Yes."), metadata={"floor": value})
    assert data == {"metadata.floor": shown}


def test_what_a_judge_sees_stands_in_one_order() -> None:
    """What calls share comes first, what it decides on last, in whichever order it was named."""
    sees = ["answer", "metadata.floor", "question", "expected_answer", "contexts"]
    response = EvalResponse(answer="Yes.", chunks=[RetrievedChunk(text="So it is.")])
    data = given(sees, response, metadata={"floor": "ground"})
    assert list(data) == ["contexts", "expected_answer", "question", "metadata.floor", "answer"]
    assert data["contexts"] == [{"id": 1, "text": "So it is."}]


@pytest.mark.parametrize(("sees", "shown"), [(["contexts", "answer"], "Yes [1]."), (["answer"], "Yes [7].")])
def test_an_answer_cites_the_passages_that_a_judge_sees(sees: list[str], shown: str) -> None:
    """By the numbers that these have for the judge; without passages, as it was written."""
    chunks, citations = [RetrievedChunk(chunk_id="c", text="So it is.")], [Citation(index=7, chunk_id="c")]
    assert given(sees, EvalResponse(answer="Yes [7].", chunks=chunks, citations=citations))["answer"] == shown


def test_citations_are_shown_with_their_documents() -> None:
    """In the order of the answer, by the numbers that it names them by; of one without a chunk, nothing is known."""
    first = RetrievedChunk(text="First.", document_name="a.pdf", document_id="d1")
    chunks = [first, RetrievedChunk(text="Second.", document_id="d2")]
    citations = [Citation(index=2), Citation(index=1), Citation(index=9)]
    response = EvalResponse(answer="So [2] and so [1, 9].", chunks=chunks, citations=citations)
    data = given(["citations", "answer"], response)
    second, first_id, lost = [citation["id"] for citation in data["citations"]]
    assert data["answer"] == f"So [{second}] and so [{first_id}]."
    assert (lost, {second, first_id}) == (None, {1, 2})
    named = [(citation["document"], citation["text"]) for citation in data["citations"]]
    assert named == [("d2", "Second."), ("a.pdf", "First."), (None, "")]


@pytest.mark.parametrize(
    ("labels", "low", "high", "unit", "aggregation"),
    [
        ({"yes": 1, "no": 0}, 0, 1, "ratio", Aggregation.RATE),
        ({"good": 1, "fair": 0.5, "bad": 0}, 0, 1, "ratio", Aggregation.MEAN),
        ({"good": 0.8, "bad": 0.2}, 0, 1, "ratio", Aggregation.MEAN),
        ({"good": 1, "bad": -1}, -1, 1, "points", Aggregation.MEAN),
        ({"good": 2, "bad": 0}, 0, 2, "points", Aggregation.MEAN),
        ({"poor": 1, "fair": 3, "good": 5}, 1, 5, "points", Aggregation.MEAN),
    ],
)
def test_values_from_0_to_1_are_shares_and_others_points(
    labels: dict[str, float], low: float, high: float, unit: str, aggregation: Aggregation
) -> None:
    """Yes and no are counted, as a rate; everything else has a mean."""
    metric = rubric("tone", POLITE, labels=labels)
    assert (metric.low, metric.high, metric.unit, metric.aggregation) == (low, high, unit, aggregation)


@pytest.mark.parametrize(("sees", "asked"), [(["contexts"], True), (["contexts", "answer"], False)])
def test_what_only_retrieves_is_judged_by_its_passages(sees: list[str], asked: bool) -> None:
    """A rubric that does not see the answer needs none."""
    case = Sample(EvalQuestion(question="Is it?"), EvalResponse(chunks=[RetrievedChunk(text="So it is.")]), judged=True)
    assert bool(rubric("tone", POLITE, sees=sees).requests(case)) is asked


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"steps": ["Look for greetings."]}, "1. Look for greetings."),
        ({"sees": ["contexts", "answer"]}, '"contexts" (the passages'),
        ({"sees": ["answer", "metadata.topic"]}, '"metadata.topic" and "answer"'),
        ({"labels": {"kind": 1, "cold": 0}}, '"kind", "cold"'),
        ({"ask": "Is it kind?"}, "Is it kind?"),
    ],
)
def test_all_of_a_rubric_is_in_prompt_and_hash(changed: dict[str, Any], said: str) -> None:
    """Another rubric is another prompt to the cache, to a comparison and to a calibration."""
    plain, other = (of(rubric_metric("tone", RubricConfig(**{"ask": POLITE, **keys}))) for keys in ({}, changed))
    assert said in other.system
    assert said not in plain.system
    assert plain.hash != other.hash


@pytest.mark.parametrize(
    ("keys", "question", "answer", "reason"),
    [
        ({"sees": ["metadata.topic", "answer"]}, {}, "Yes.", "the question has no metadata 'topic'"),
        ({"sees": ["expected_answer"]}, {"is_unanswerable": True}, "Yes.", "the question has no expected answer"),
        ({"sees": ["contexts", "answer"]}, {}, "Yes.", "the server sent no chunks"),
        ({"when": "answerable"}, {"is_unanswerable": True}, "Yes.", "the question is unanswerable"),
        ({"when": "answered"}, {}, "I don't know.", "the answer abstains"),
        ({}, {}, None, "this server only retrieves"),
    ],
)
def test_what_a_rubric_cannot_see_gives_no_value_and_asks_nothing(
    keys: dict[str, Any], question: dict[str, Any], answer: str | None, reason: str
) -> None:
    """The reason is said, as with every metric."""
    metric = rubric("tone", POLITE, **keys)
    chunks = [] if answer is None else None
    asked = EvalQuestion(question="Is it?", **question)
    result = metric.compute(asked, EvalResponse(answer=answer, chunks=chunks), [JudgeVerdict(request="other")])
    assert (result.value, result.reason) == (None, reason)


def labelled(metric: Any, label: str, **question: Any) -> MetricResult:
    """The result where the judge gives this label."""
    reply = {"quote": "", "justification": "So.", "verdict": label, "injection_suspected": False}
    asked = EvalQuestion(question="Is it?", **question)
    verdict = JudgeVerdict(request=metric.name, reply=reply)
    return cast("MetricResult", metric.compute(asked, EvalResponse(answer="Yes."), [verdict]))


@pytest.mark.parametrize("value", [0, False, ""])
def test_metadata_that_is_zero_no_or_empty_is_seen(value: Any) -> None:
    """Only a key that is missing leaves the question out."""
    metric = rubric("tone", POLITE, sees=["metadata.floor", "answer"])
    result = labelled(metric, "yes", metadata={"floor": value})
    assert (result.value, result.reason) == (1, None)


def test_a_label_is_its_value_and_one_that_cannot_tell_is_none() -> None:
    """Whatever the numbers."""
    metric = rubric("stars", "How helpful?", labels={"poor": 1, "fair": 3, "good": 5})
    assert [labelled(metric, label).value for label in ("good", "poor", "cannot_tell")] == [5, 1, None]


def test_labels_of_people_are_read_on_the_scale_of_the_rubric() -> None:
    """Whatever their case and their numbers."""
    stars = rubric("stars", "How good?", labels={"Very poor": 1, "fair": 3, "good": 5})
    scale = scale_of(["very_poor", "good"], stars, None)
    assert [scale.worth(label) for label in ("very_poor", "fair", "good")] == [0, 0.5, 1]


# Wrong ones.


@pytest.mark.parametrize(
    ("rubric", "said"),
    [
        ("ask: ' '", "judged.tone.ask: must not be empty"),
        ("ask: ok\n    sees: [answr]", "judged.tone.sees: a judge cannot see 'answr'"),
        ("ask: ok\n    labels: {good: high, bad: 0}", "judged.tone.labels.good: must be a number, not 'high'"),
        ("ask: ok\n    labels: {Polite: 1, polite: 0}", "judged.tone.labels: must differ in more than case"),
        ("ask: ok\n    labels: {off-topic: 1, off topic: 0}", "judged.tone.labels: must differ in more than case"),
        ("ask: ok\n    labels: {off-topic: 1, cannot tell: 0}", "and none be 'cannot_tell'"),
        ("ask: ok\n    labels: {good: 1, Unsure: 0}", "and none be 'cannot_tell'"),
        ("ask: ok\n    labels: {good: 1}", "judged.tone.labels: must be two labels or more, with different values"),
        ("ask: ok\n    labels: {good: 1, fine: 1}", "must be two labels or more, with different values"),
        ("ask: ok\n    labels: {'': 1, bad: 0}", "must be two labels or more"),
        ("ask: ok\n    sees: []", "judged.tone.sees: a judge cannot see ''"),
        ("ask: ok\n    sees: [metadata.]", "judged.tone.sees: a judge cannot see 'metadata.'"),
        ("ask: ok\n    when: never", "judged.tone.when: must be 'all', 'answered' or 'answerable'"),
        ("ask: ok\n    examples: labels.csv", "judged.tone.examples: labels.csv, row 1 (line 2): no label 'rude'"),
        ("ask: ok\n    examples: open.csv", "judged.tone.examples: open.csv has no labelled answer to show for tone"),
        ("ask: ok\n    examples: none.csv", "judged.tone.examples: cannot read none.csv"),
        ("asks: ok", "unknown configuration key 'judged.tone.asks'"),
    ],
)
def test_a_wrong_rubric_is_one_error(rubric: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key is named."""
    monkeypatch.chdir(tmp_path)
    Path("labels.csv").write_text("question,answer,label\nWhat?,That.,rude\n", encoding="utf-8")
    Path("open.csv").write_text("question,answer,label\nWhat?,That.,\nWhat?,,yes\n", encoding="utf-8")
    Path("c.yml").write_text(f"judged:\n  tone:\n    {rubric}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        EvalConfig.from_file("c.yml")
    assert said in caught.value.message


@pytest.mark.parametrize(
    "name",
    [*("faithfulness", "answer_claims", "abstention", "rubric", "recall_at_K"), *("my tone", "9lives", "a" * 62)],
)
def test_a_rubric_has_a_name_of_its_own(name: str) -> None:
    """Verdicts and metrics are known by it."""
    with pytest.raises(ConfigError, match="the name of a rubric"):
        rubric(name, POLITE)
    assert rubric("a" * 61, POLITE).name == "a" * 61


def test_a_wrong_rubric_in_python_is_named_with_its_key() -> None:
    """Like one in a file."""
    with pytest.raises(ConfigError, match=r"rubric tone: sees: a judge cannot see 'answr'") as caught:
        rubric("tone", POLITE, sees=["answr"])
    assert "answer" in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize(
    ("labels", "meant"),
    [
        ("{yes: 0, no: 1}", {"yes": 0, "no": 1}),
        ("{true: 0, no: 1}", {"yes": 0, "no": 1}),
        ('{"yes": 0, no: 1}', {"yes": 0, "no": 1}),
        ("{0: 0, 1: 0.5, 2: 1}", {"0": 0, "1": 0.5, "2": 1}),
    ],
)
def test_labels_may_be_what_yaml_takes_for_something_else(labels: str, meant: dict[str, float], tmp_path: Path) -> None:
    """Yes and no for true and false, and grades for numbers, of which 1 is not true."""
    (tmp_path / "c.yml").write_text(f"judged: {{tone: {{ask: ok, labels: {labels}}}}}", encoding="utf-8")
    assert EvalConfig.from_file(tmp_path / "c.yml").judged["tone"].labels == meant
