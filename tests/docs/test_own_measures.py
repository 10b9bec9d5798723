"""docs/own-measures.md: its examples run wherever a metric does, with their file and without."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fenced import HOME, blocks

from evals import EvalConfig, run_evaluation
from evals.metrics import registry
from evals.metrics.custom import load_reference
from evals.schemas.results import saved_definitions

PAGE = HOME / "docs" / "own-measures.md"
NAMES = {
    "answer_words": "answer_words",
    "names_a_section": "names_a_section",
    "json_answer": "json_answer",
    "repeats_question": "repeats_question",
    "gold_numbers": "gold_numbers",
    "AnswerSentences": "answer_sentences",
}
"""What the page defines, with the names of the metrics."""
FILES = ",".join(f"./metrics.py:{each}" for each in NAMES)
ASK = ("--samples", 8, "--no-judge", "--quiet")


def forget() -> None:
    """As another process, which has not run the file."""
    registry._registered.clear()
    saved_definitions.clear()


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden_server: str) -> Iterator[None]:
    """A folder with the page's file of metrics; what a test registers is forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_SERVER_URL", golden_server)
    parts = [block for block in blocks(PAGE, "python") if "rubric(" not in block]
    parts.append((HOME / "docs" / "examples" / "metrics.py").read_text(encoding="utf-8"))
    Path("metrics.py").write_text("\n".join(parts), encoding="utf-8")
    yield
    forget()


@pytest.fixture
def saved(evals_cli: Callable[..., Any]) -> Callable[..., Any]:
    """Ask eight questions with the metrics of the page and others; returns what `--json` prints."""

    def ask(*flags: object) -> Any:
        result = evals_cli("eval", "--datasets", "golden", *ASK[:-1], "--json", "--metrics", f"{FILES},mrr", *flags)
        assert result.code == 0, result.err
        forget()
        return result.json

    return ask


def values(run: dict[str, Any]) -> dict[str, float | None]:
    """The values of the metrics of the page."""
    return {one["name"]: one["value"] for one in run["scorecard"]["metrics"] if one["name"] != "mrr"}


def test_all_have_values_and_the_run_says_what_they_are(saved: Callable[..., Any]) -> None:
    """Unit, direction, range and where each was found."""
    run = saved("--gate", "answer_words<=1000", "--gate", "gold_numbers@low>=0")
    assert sorted(values(run)) == sorted(NAMES.values())
    assert None not in values(run).values()
    told = {one["name"]: one for one in run["metric_definitions"]}
    assert sorted(told) == sorted(NAMES.values())
    assert told["repeats_question"]["high"] == 100
    assert told["answer_sentences"]["aggregation"] == "percentile"
    assert told["json_answer"]["labels"] == {"valid": 1, "another form": 0, "no JSON": 0}
    assert told["answer_words"]["source"] == "./metrics.py:answer_words"
    assert {gate["outcome"] for gate in run["gates"]} == {"met"}


def test_a_saved_run_needs_no_file(saved: Callable[..., Any], evals_cli: Callable[..., Any]) -> None:
    """It is shown, gated, compared, reported and exported as it was measured."""
    first, second = saved(), saved("--seed", 42)
    Path("metrics.py").unlink()
    for words in (
        ("show", first["id"]),
        ("gate", first["id"], "--gate", "answer_words<=1000"),
        ("gate", first["id"], "--baseline", second["id"], "--metrics", "answer_words,gold_numbers", "--lenient"),
        ("compare", first["id"], second["id"], "--primary", "gold_numbers"),
        ("report", first["id"], second["id"], "-o", "report.html"),
        ("export", first["id"], "-o", "run.csv"),
        ("export", first["id"], "-o", "comment.md"),
    ):
        result = evals_cli(*words)
        assert result.code == 0, f"{words}: {result.err}"
        forget()
    assert "answer_words" in Path("report.html").read_text(encoding="utf-8")
    assert "gold_numbers" in Path("run.csv").read_text(encoding="utf-8").splitlines()[0]
    assert "json_answer" in Path("comment.md").read_text(encoding="utf-8")
    failed = evals_cli("gate", first["id"], "--gate", "answer_words<=1")
    assert failed.code == 1


def test_answers_are_measured_again(saved: Callable[..., Any], evals_cli: Callable[..., Any]) -> None:
    """By the file that the run names; without it that is an error, and by another one a difference."""
    first = saved()
    same = evals_cli("rescore", first["id"], "--no-judge", "--json").json
    assert values(same) == values(first)
    code = Path("metrics.py").read_text(encoding="utf-8")
    Path("metrics.py").write_text(code.replace("len(sample.response", "2 * len(sample.response"), encoding="utf-8")
    other = evals_cli("rescore", first["id"], "--no-judge", "--json").json
    assert values(other)["answer_words"] == 2 * (values(first)["answer_words"] or 0)
    compared = evals_cli("compare", first["id"], other["id"], "--all")
    assert re.search(r"answer_words .*not compared", compared.out)
    reason = "not compared, the metric was changed between the runs: answer_words"
    assert reason in " ".join(compared.out.split())
    Path("metrics.py").unlink()
    result = evals_cli("rescore", first["id"], "--no-judge")
    assert (result.code, result.err.splitlines()[0]) == (
        2,
        "error: cannot read ./metrics.py, of which a metric is named: No such file or directory",
    )
    result = evals_cli("rescore", first["id"], "--no-judge", "--metrics", "answer_words,mrr")
    assert result.code == 0, "the metric that another command of this process registered"
    forget()
    result = evals_cli("rescore", first["id"], "--no-judge", "--metrics", "answer_words,mrr")
    assert result.err.splitlines()[0] == "error: the code of metric 'answer_words' is not there"


def test_shards_are_merged_by_their_values(saved: Callable[..., Any], evals_cli: Callable[..., Any]) -> None:
    """The merged run is the same as one that asked all questions, and runs no file."""
    whole = saved()
    parts = [saved("--shard", f"{number}/2")["id"] for number in (1, 2)]
    Path("metrics.py").unlink()
    merged = evals_cli("merge", *parts, "--json", "--gate", "answer_words<=1000")
    assert merged.code == 0, merged.err
    assert values(merged.json) == values(whole)
    assert merged.json["metric_definitions"] == whole["metric_definitions"]


def test_shards_of_different_code_are_not_merged(saved: Callable[..., Any], evals_cli: Callable[..., Any]) -> None:
    """Half of the values would mean something else."""
    first = saved("--shard", "1/2")["id"]
    with Path("metrics.py").open("a", encoding="utf-8") as file:
        file.write("LATER = 1\n")
    result = evals_cli("merge", first, saved("--shard", "2/2")["id"])
    assert result.code == 2
    assert "in the code of its metric answer_words" in result.err


def test_saved_answers_are_scored(evals_cli: Callable[..., Any]) -> None:
    """Without a server, by a configuration in another folder, which names the file from where it lies."""
    Path("inner").mkdir()
    shutil.move("metrics.py", "inner/metrics.py")
    Path("inner/eval.yml").write_text(f"metrics: [{FILES}]\njudge: false\n", encoding="utf-8")
    rows = [{"id": "1", "question": "What does it cost?", "gold_passages": [{"text": "It costs 20 dollars."}]}]
    Path("questions.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    answers = [{"question_id": "1", "answer": '{"price": 20}', "chunks": []}]
    Path("answers.jsonl").write_text("\n".join(map(json.dumps, answers)), encoding="utf-8")
    command = ("score", "answers.jsonl", "--dataset-file", "questions.jsonl", "--config", "inner/eval.yml", "--json")
    run = evals_cli(*command).json
    assert values(run) | {"answer_words": 2.0, "json_answer": 1.0, "gold_numbers": 1.0} == values(run)
    assert run["eval_config"]["metrics"][0] == "inner/metrics.py:answer_words"


def test_variants_and_a_resumed_run_have_them(saved: Callable[..., Any], evals_cli: Callable[..., Any]) -> None:
    """Each variant, and a run of which all answers were there already."""
    words = ("eval", "--datasets", "golden", *ASK, "--metrics", FILES)
    assert evals_cli(*words, "--vary", "ask.json.top_k=3,5", "--gate", "answer_words<=1000").code == 0
    first = saved()
    resumed = evals_cli("eval", "--resume", first["id"], "--json")
    assert resumed.code == 0, resumed.err
    assert values(resumed.json) == values(first)


def test_a_function_is_passed_from_python(golden_server: str) -> None:
    """Beside names; the run says what it is."""
    given = [load_reference(f"metrics.py:{name}") for name in NAMES]
    asked: dict[str, Any] = {"datasets": ["golden"], "samples_per_dataset": 4, "rag_server_url": golden_server}
    run = run_evaluation(EvalConfig(**asked, judge=False, metrics=[*given, "mrr"]))
    assert {one.name for one in run.scorecard.metrics} == {*NAMES.values(), "mrr"}
    assert [one.sha256 is not None for one in run.metric_definitions] == [True] * len(NAMES)
    assert run.eval_config["metrics"] == [*NAMES.values(), "mrr"]


@pytest.fixture
def _judge(messages_api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that labels by shared words, on loopback."""
    messages_api.script({"then": {"python": "judge"}})
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_api.url)


@pytest.mark.usefixtures("_judge")
@pytest.mark.parametrize("number", [0, 1], ids=["one line", "long"])
def test_a_rubric_of_the_page_is_judged(evals_cli: Callable[..., Any], number: int) -> None:
    """Answers have a value, and the second run pays for none."""
    Path("eval_config.yml").write_text(blocks(PAGE, "yaml")[number], encoding="utf-8")
    command = ("eval", "--config", "eval_config.yml", "--datasets", "golden", "--samples", 6, "--suite", "passage")
    first, second = (evals_cli(*command, "--json").json for _ in range(2))
    tone = next(one for one in first["scorecard"]["metrics"] if one["name"] == "tone")
    assert tone["sample_size"] > 0
    assert (first["judge"]["calls"] > 0, second["judge"]["calls"]) == (True, 0)


@pytest.mark.usefixtures("_judge")
def test_the_criteria_of_the_page_are_judged(evals_cli: Callable[..., Any]) -> None:
    """Each of the question's own."""
    row = json.loads(next(block for block in blocks(PAGE, "json") if "rubric" in block))
    Path("questions.jsonl").write_text(json.dumps(row), encoding="utf-8")
    run = evals_cli("eval", "--dataset-file", "questions.jsonl", "--metrics", "rubric", "--json").json
    (summary,) = run["scorecard"]["metrics"]
    assert (summary["name"], summary["sample_size"]) == ("rubric", 1)


@pytest.mark.usefixtures("_judge")
def test_a_rubric_in_a_file_is_a_metric_of_it(evals_cli: Callable[..., Any]) -> None:
    """Judged as one of the configuration, and shown where the file is not there."""
    Path("own.py").write_text("from evals import rubric\ntone = rubric('tone', 'Is it polite?')\n", encoding="utf-8")
    command = ("eval", "--datasets", "golden", "--samples", 4, "--metrics", "./own.py:tone", "--json")
    run = evals_cli(*command).json
    assert run["scorecard"]["metrics"][0]["sample_size"] == 4
    assert run["metric_definitions"][0]["labels"] == {"yes": 1, "no": 0}
    assert evals_cli("rescore", run["id"], "--json").json["judge"]["calls"] == 0
    forget()
    Path("own.py").unlink()
    assert "tone" in evals_cli("show", run["id"]).out


@pytest.mark.usefixtures("_judge")
def test_the_example_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """With a rubric and a function."""
    example = next(block for block in blocks(HOME / "README.md", "python") if "rubric(" in block)
    names: dict[str, Any] = {}
    exec(compile(example.replace("=50", "=5"), "README.md", "exec"), names)  # noqa: S102 - our own example
    assert "name='answer_words'" in capsys.readouterr().out
    assert names["run"].scorecard.get("tone").sample_size == 5


def test_a_metric_is_explained_and_planned(evals_cli: Callable[..., Any]) -> None:
    """By `evals metrics`, and in a plan."""
    told = evals_cli("metrics", "./metrics.py:gold_numbers")
    assert "Share of the numbers of the gold passages" in told.out
    assert "needs: gold passages" in told.out
    assert evals_cli("eval", "--datasets", "golden", *ASK, "--metrics", FILES, "--dry-run").code == 0


def test_what_a_metric_does_wrong_costs_its_value_only(evals_cli: Callable[..., Any]) -> None:
    """The type of the error and the line in the file, not in the library that raised it; and what takes long."""
    code = (
        "import json, time\nfrom evals import metric\n\n@metric\ndef broken(sample):\n    return json.loads('{')\n\n"
        "@metric\ndef slow(sample):\n    time.sleep(0.13)\n    return 0.5\n"
    )
    Path("own.py").write_text(code, encoding="utf-8")
    names = "./own.py:broken,./own.py:slow,mrr"
    run = evals_cli("eval", "--datasets", "golden", *ASK[:-1], "--json", "--metrics", names).json
    broken, slow = (one for one in run["scorecard"]["metrics"] if one["name"] != "mrr")
    assert broken["reason"] == "a fault of the metric broken: JSONDecodeError (own.py, line 6)"
    assert (broken["counts"]["fault"], slow["value"], run["status"]) == (8, 0.5, "complete")
    assert any(note.startswith("slow metric: slow took 1.") for note in run["notes"])
