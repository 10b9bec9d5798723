"""`evals show`, `runs` and `stats`."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from whole_runs import kept_run, scored

from evals import EvalRun
from evals.metrics import parse_metric
from evals.store.runs import RunStore

Cli = Callable[..., Any]


@pytest.fixture
def show(evals_cli: Cli, tmp_path: Path) -> Cli:
    """Show a saved run."""
    return lambda *arguments: evals_cli("show", *arguments, "--runs-dir", tmp_path / "runs")


@pytest.fixture
def listed(evals_cli: Cli, tmp_path: Path) -> Cli:
    """List the saved runs."""
    return lambda *flags: evals_cli("runs", *flags, "--runs-dir", tmp_path / "runs")


def test_show_begins_with_score_endings_and_what_went_wrong(show: Cli, golden_run: EvalRun) -> None:
    """Then the scorecard; endings add up to the questions; a start of the id is enough."""
    out = show(golden_run.id[:4], "--all").out
    answered, declined, failed = map(int, re.search(r"(\d+) answered, (\d+) declined, (\d+) failed", out).groups())  # type: ignore[union-attr]
    assert answered + declined + failed == golden_run.question_count
    assert out.index("score 0.") < out.index("answered") < out.index("went wrong") < out.index("recall_at_5")
    assert show(golden_run.id, "--json").json == golden_run.model_dump(mode="json")


def test_show_lists_the_questions_that_ended_in_one_way(show: Cli, golden_run: EvalRun) -> None:
    """As many as are counted, and nothing else."""
    row = re.search(r"^ *(\d+)  +\S.*  (\w+) *$", show(golden_run.id).out, re.M)
    assert row is not None
    result = show(golden_run.id, "--failed", row[2])
    assert len(re.findall(r"^\w+: ", result.out, re.M)) == int(row[1]) > 0
    assert "recall_at_5" not in result.out


def test_more_questions_than_are_shown_are_named(show: Cli, save: Cli) -> None:
    """Three are shown, each of the others is counted and named; `q1` is that question, though `q10` begins so too."""
    save("abcd", {f"q{n}": "timeout" for n in range(12)})
    few, every = show("abcd", "--failed", "failed").out, show("abcd", "--failed", "failed", "--all").out
    assert re.findall(r"^(q\d+): ", few, re.M) == ["q0", "q1", "q2"]
    assert "9 more: q3, q4, q5, q6, q7, q8, q9, q10, q11\n" in few
    assert (len(re.findall(r"^q\d+: ", every, re.M)), " more: " in every) == (12, False)
    assert show("abcd", "--question", "q1").out.startswith("q1 (")
    several = show("abcd", "--question", "q")
    assert (several.code, several.out, "'q'" in several.err) == (2, "", True)


def test_show_explains_one_question(show: Cli, golden_run: EvalRun) -> None:
    """Question, answer, every chunk, whole when asked, and the values; a start of its id is enough."""
    record = next(each for each in golden_run.records() if each.question.gold_passages)
    ids = [each.question.id for each in golden_run.records()]
    question = record.question
    starts = (question.id[:end] for end in range(1, 9))
    start = next(start for start in starts if sum(name.startswith(start) for name in ids) == 1)
    out, whole = show(golden_run.id, "--question", start).out, show(golden_run.id, "--question", start, "--all").out
    assert all(words in out for words in (question.question[:40], "recall_at_5", "expected  "))
    assert record.response is not None
    texts = ["".join((chunk.text or "").split()) for chunk in record.response.chunks or ()]
    assert all(text in "".join(whole.split()) for text in texts)
    assert not all(text in "".join(out.split()) for text in texts)


def test_show_slices_by_metadata(show: Cli, golden_run: EvalRun) -> None:
    """`--by` gives how many went wrong, and a metric of each objective, for each value of a key."""
    out = show(golden_run.id, "--by", "difficulty").out
    assert "by difficulty" in out
    assert re.search(r"^difficulty +went wrong +unanswerable_accuracy", out, re.M)
    assert re.search(r"^easy \(n=(\d+)\) +\d of \1 +\d\.\d{3} \(\d\.\d\d–\d\.\d\d\)", out, re.M)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["RUN", "--failed", "notretrieved"], "did you mean 'not_retrieved'"),
        (["RUN", "--by", "dificulty"], "did you mean 'difficulty'"),
        (["RUN", "--question", "g0011"], "did you mean 'G0"),
        (["zzzz"], "no run 'zzzz'"),
        (["../x"], "no run '../x'"),
        (["abcd", "--question", "G001", "--by", "difficulty"], "--question and --by exclude each other"),
        (["abcd", "--question", "G001", "--json"], "--question and --json exclude each other"),
    ],
)
def test_what_cannot_be_shown_ends_with_2(show: Cli, golden_run: EvalRun, arguments: list[str], said: str) -> None:
    """An unknown name is answered with the nearest, and no flag is dropped in silence."""
    result = show(*(golden_run.id if word == "RUN" else word for word in arguments))
    assert (result.code, said in result.err) == (2, True)


def test_a_run_that_was_killed_says_how_to_go_on(show: Cli, listed: Cli, golden_run: EvalRun) -> None:
    """Its answers are in the log; an empty scorecard would hide them."""
    assert golden_run.path is not None
    killed = {**golden_run.model_dump(mode="json"), "completed_at": None, "scorecard": {}}
    golden_run.path.write_text(json.dumps(killed))
    out = show(golden_run.id).out
    assert f"--resume {golden_run.id}" in out
    assert "12 of 12 answers" in out
    assert "unfinished" in listed().out


def test_hostile_text_in_an_answer_is_printed_as_text(show: Cli, golden_run: EvalRun, tmp_path: Path) -> None:
    """No control character, markup or link of an answer reaches the terminal."""
    (log,) = (tmp_path / "runs").glob("*.jsonl")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        line["record"]["response"]["answer"] = "\x1b[2J\x1b]0;owned\x07[bold red]x[/] \u202egnp"
    log.write_text("\n".join(map(json.dumps, lines)) + "\n")
    for arguments in (["--failed", "declined"], ["--question", lines[0]["record"]["question"]["id"]]):
        out = show(golden_run.id, *arguments).out
        assert not set("\x1b\x07\u202e") & set(out)
        assert "[bold red]x[/]" in out or arguments[0] == "--failed"


def test_gold_is_marked_among_the_chunks_and_what_is_missing_is_named(show: Cli, save: Cli) -> None:
    """A passage without a document has no name, an id alone is shown."""
    golds = {"gold_passages": [{"text": "About q."}, {"document_id": "hr.md"}, {"chunk_id": "c9"}]}
    save("abcd", {"q": {"mrr": 1.0}}, questions={"q": golds})
    out = show("abcd", "--question", "q").out
    assert all(words in out for words in ("✓ gold  1 ?: About q.", "missing   hr.md", "missing   c9"))


def test_an_answer_that_was_not_found_is_shown_with_its_body(show: Cli, build_run: Cli, tmp_path: Path) -> None:
    """Whoever mends a mapping needs to see what it reads; one attempt is one."""
    run, (record,) = build_run("abcd", {"q": "malformed"})
    response = record.response.model_copy(update={"raw": '{"text": "It is \x1b[2J here."}'})
    kept_run(tmp_path / "runs", run, [record.model_copy(update={"response": response})])
    out = show("abcd", "--question", "q").out
    assert "no answer: malformed, no answer came" in out
    assert 'the body: {"text": "It is \ufffd[2J here."}' in out


def test_show_says_of_what_the_score_is_the_score(show: Cli, save: Cli) -> None:
    """Of how much of the weight, and which parts are not measured."""
    answers: dict[str, Any] = {f"q{n}": {"answer_correctness": 0.5, "citation_recall": 1.0} for n in range(12)}
    save("aaaa", answers)
    out = " ".join(show("aaaa", "--all").out.split())
    assert "score 0.700 (50 % of it not measured" in out
    assert "not measured: faithfulness, retrieval, cost, latency" in out


def test_runs_lists_what_is_saved(listed: Cli, save: Cli, build_run: Cli, tmp_path: Path) -> None:
    """A line a run, for people and for programs, and what cannot be read beside them with the way out."""
    assert "evals eval" in listed().out
    assert listed("--json").json == {"runs": [], "unreadable": []}
    newer = kept_run(tmp_path / "runs", *build_run("newer", {})).run
    path = newer.path
    path.write_text(json.dumps({**newer.model_dump(mode="json"), "schema_version": 99}))
    unread = f"not listed: {path.name} was written by a newer version (schema 99)"
    assert unread in listed().out
    assert "no saved runs" not in listed().out
    save("aaaa", {"q1": {"mrr": 1.0}})
    for words in ("aaaa", "complete", "http://localhost:8001", unread, "upgrade"):
        assert words in listed().out
    said = listed("--json").json
    (run,) = said["runs"]
    assert (run["id"], run["status"], run["question_count"]) == ("aaaa", "complete", 1)
    assert run["server"] == {"url": "http://localhost:8001", "profile": "rag-server"}
    assert Path(run["path"]).is_file()
    assert "newer version" in said["unreadable"][0]["message"]
    for minute in range(51):
        kept_run(
            tmp_path / "runs", *build_run(f"b{minute:03}", {}, created_at=datetime(2027, 1, 1, 0, minute, tzinfo=UTC))
        )
    out = listed().out
    assert re.findall(r"^b\d+", out, re.M) == [f"b{minute:03}" for minute in range(1, 51)]
    assert "the newest 50 of 52 runs" in out


def test_runs_in_a_narrow_terminal_stand_uncut(listed: Cli, save: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line a run; columns are left out, and nothing is folded within a word."""
    monkeypatch.setenv("COLUMNS", "80")
    for run_id in ("aaaa", "bbbb"):
        save(run_id, {}, name="after the new chunker", completed_at=None)
    lines = listed().out.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert [line.split()[0] for line in lines] == ["id", "aaaa", "bbbb"]
    assert lines[0].split() == ["id", "status", "questions", "score", "name", "server"]
    assert all(" unfinished  " in line for line in lines[1:])


def test_scores_of_different_objectives_have_a_note(listed: Cli, save: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each says of how much of the weight it is, and a note that they are made of different parts."""
    monkeypatch.setenv("COLUMNS", "150")
    half = {"answer_correctness": 0.5, "citation_recall": 0.5}
    save("aaaa", {"q": half})
    save("bbbb", {"q": dict.fromkeys(half, 0.7)})
    note = "the scores are made of different parts: `evals compare` says whether two compare"
    assert "0.500 (50 % measured) " in listed().out
    assert note not in listed().out
    save("cccc", {"q": {**half, "faithfulness": 1.0}})
    save("dddd", {"q": {"mrr": 1.0}})
    rows = {line.split()[0]: line for line in listed().out.splitlines()}
    marks = {"aaaa": "0.500 (50 % measured)", "cccc": "0.643 (70 % measured)", "dddd": " –"}
    assert all(mark in rows[run_id] for run_id, mark in marks.items())
    assert note in listed().out


def test_stats_says_what_a_dataset_holds(evals_cli: Cli, tmp_path: Path) -> None:
    """Where --samples cut a dataset, it says how to see all of it; contradictions are refused."""
    questions = tmp_path / "q.csv"
    questions.write_text("question,is_unanswerable\na?,yes\nb?,no\nc?,no\nd?,\ne?,\nf?,\ng?,\nh?,\n")
    assert "25%, 62% unknown" in " ".join(evals_cli("stats", questions).out.split())
    assert "--samples 0 for all" in evals_cli("stats", "--datasets", "golden,").out
    whole = evals_cli("stats", "--datasets", "golden", "--samples", 0).out
    assert "--samples 0 for all" not in whole
    assert "golden: from golden_qa.json" in whole
    for wrong in (["--datasets", "golden", "--dataset-file", "q.jsonl"], ["--datasets", ","]):
        result = evals_cli("stats", *wrong)
        assert (result.code, result.out) == (2, "")
        assert "--datasets" in result.err


@pytest.mark.parametrize("width", [80, 110])
def test_values_of_a_key_fit_the_width(save: Cli, evals_cli: Cli, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """A row a value, with its number of questions; of very many the biggest are shown, and the others counted."""
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
def partly(save: Cli) -> RunStore:
    """A run whose questions are of two kinds, of which one easy one has no value; and one that did not finish."""
    values = {"q1": {"mrr": 1.0}, "q2": {"mrr": None}, "q3": {"mrr": 0.5}}
    kinds = {name: {"metadata": {"kind": kind}} for name, kind in (("q1", "easy"), ("q2", "easy"), ("q3", "hard"))}
    save("beef", values, questions=kinds, completed_at=None)
    return save("abcd", values, questions=kinds)


def test_each_value_is_over_the_questions_that_have_one(partly: RunStore, evals_cli: Cli) -> None:
    """Two easy questions, and a mean over one of them, also for programs; a run that did not finish has no slices."""
    by_kind = ("--by", "kind", "--runs-dir", partly.folder)
    assert re.search(r"^easy \(n=2\) .*1\.000", evals_cli("show", "abcd", *by_kind).out, re.M)
    said = evals_cli("show", "abcd", *by_kind, "--json").json
    assert (said["id"], said["by"], list(said["slices"])) == ("abcd", "kind", ["easy", "hard"])
    easy = said["slices"]["easy"]
    (mrr,) = (metric for metric in easy["scorecard"]["metrics"] if metric["name"] == "mrr")
    assert (easy["questions"], mrr["value"], mrr["sample_size"]) == (2, 1.0, 1)
    refused = evals_cli("show", "beef", *by_kind, "--json")
    assert (refused.code, refused.out, "evals eval --resume beef" in refused.err) == (2, "", True)


def test_show_prints_the_hints_that_apply(ask: Cli, show: Cli, golden_server: str, tmp_path: Path) -> None:
    """A hint stands below the scorecard with the metrics that it rests on, and only where its pattern shows."""
    saved = ask("--rag-url", golden_server, "--metrics", "source_citation_quality", "--json").json
    (path,) = (tmp_path / "runs").glob("*Z.json")
    (metric,) = (m for m in saved["scorecard"]["metrics"] if m["name"] == "source_citation_quality")
    saved["outcomes"]["citations"] = 0  # the hint is for answers that come without
    for value in (0.1, 0.9):
        metric["value"] = value
        path.write_text(json.dumps(saved))
        out = show(saved["id"], "--all").out
        assert ("(source_citation_quality 0.10)" in " ".join(out.split())) is (value == 0.1)
        assert ("→ The answers rarely say where they come from" in out) is (value == 0.1)


def test_a_question_shows_what_its_checks_found(show: Cli, build_run: Cli, tmp_path: Path) -> None:
    """The share of the facts that hold, and of a list that is named."""
    facts = [{"name": "has_red", "any": ["red"]}, {"name": "has_7", "numbers": ["7"]}]
    checks = [
        {"kind": "facts", "facts": facts},
        {"kind": "list", "name": "rules", "items": [{"name": "a red rule", "any": ["red"]}, *facts[:1]]},
    ]
    run, (record,) = build_run("a1", {"q": {}}, questions={"q": {"checks": checks}})
    metrics = [parse_metric(name) for name in ("fact_score", "rules_coverage")]
    response = record.response.model_copy(update={"answer": "It is red."})
    kept_run(tmp_path / "runs", run, scored(metrics, [record.model_copy(update={"response": response})]))
    out = " ".join(show("a1", "--question", "q").out.split())
    assert "fact_score 0.5 rules_coverage 1" in out
