"""`evals show`, `runs` and `stats`."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from whole_runs import put_records

from evals import EvalRun
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


def newer_run(build_run: Cli, folder: Path) -> Path:
    """The file of a run that a newer version saved."""
    run, _ = build_run("newer", {})
    folder.mkdir(exist_ok=True)
    path = RunStore(folder).run_path(run)
    path.write_text(json.dumps({**json.loads(run.model_dump_json()), "schema_version": 99}))
    return path


def test_show_prints_the_scorecard_before_failures(show: Cli, golden_run: EvalRun) -> None:
    """What went wrong comes after it; who declined what adds up to the questions; a start of the id is enough."""
    out = show(golden_run.id[:4], "--failures", 2, "--all").out
    assert out.index("recall_at_5") < out.index("went wrong")
    assert out.count("  question  ") == 2
    assert re.search(rf"evals show {golden_run.id} --question \S+ --runs-dir \S+/runs$", out, re.M)
    cells = [int(cell) for row in re.findall(r"^(?:un)?answerable +(\d+) +(\d+)$", out, re.M) for cell in row]
    assert sum(cells) == golden_run.question_count
    assert re.search(r"right to answer or decline, by always answering +\d\.\d{3} \[", out)
    assert show(golden_run.id, "--json").json == golden_run.model_dump(mode="json")


def test_show_lists_the_questions_of_one_link(show: Cli, golden_run: EvalRun) -> None:
    """As many as are asked for and as are counted, nothing else; unasked the first, with the ids of the others."""
    count, link = re.search(r"^  (\d+) × .*: (\w+)$", show(golden_run.id).out, re.M).groups()  # type: ignore[union-attr]
    result = show(golden_run.id, "--failed", link, "--failures", 12)
    assert result.out.count("  question  ") == int(count) > 0
    assert result.out.count(f": {link}: ") == int(count)
    assert "recall_at_5" not in result.out
    none = show(golden_run.id, "--failed", link, "--failures", 0).out
    assert re.search(rf"^{count} more: G\d+.*\nevals show \S+ --failed {link} --failures {count} ", none, re.M)


def test_show_explains_one_question(show: Cli, golden_run: EvalRun) -> None:
    """Its passages, answer, metrics, and every chunk with its match, whole when asked; a start of its id is enough."""
    record = next(each for each in golden_run.records() if each.question.gold_passages)
    ids = [each.question.id for each in golden_run.records()]
    question = record.question
    start = next(
        question.id[:end] for end in range(1, 9) if sum(name.startswith(question.id[:end]) for name in ids) == 1
    )
    out, whole = show(golden_run.id, "--question", start).out, show(golden_run.id, "--question", start, "--all").out
    assert all(words in out for words in (question.question[:40], "recall_at_5", "passage   "))
    assert out.index("recall_at_5") < out.index("    1    ")
    texts = [" ".join((chunk.text or "").split()) for chunk in record.response.chunks]
    assert all(text in " ".join(whole.split()) for text in texts)
    assert not all(text in " ".join(out.split()) for text in texts)
    assert re.search(r"^latency  .* ms$", out, re.M)


def test_show_slices_by_metadata(show: Cli, golden_run: EvalRun) -> None:
    """`--by` gives each metric for each value of a key."""
    out = show(golden_run.id, "--by", "difficulty").out
    assert "by difficulty" in out
    assert "went wrong by difficulty, the worst first" in out


def test_matching_shows_how_much_depends_on_the_threshold(show: Cli, golden_run: EvalRun) -> None:
    """A row a threshold, never more recall with a stricter one, and which rules recognised the gold."""
    out = show(golden_run.id, "--matching", "--failures", 0).out
    rows = [line.split() for line in out.splitlines() if line.strip()[:2] in {"0.", "1."} and "text" in line]
    recalls = [float(row[2] if row[1] == "(used)" else row[1]) for row in rows]
    assert len(rows) == 8
    assert recalls == sorted(recalls, reverse=True)
    assert "0.7 (used)" in out


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
        (["abcd", "--json", "--by", "difficulty", "--matching"], "--json and --matching exclude each other"),
        (["abcd", "--json", "--failures", "3"], "--json and --failures exclude each other"),
        (["abcd", "--failures", "-1"], "--failures"),
    ],
)
def test_what_cannot_be_shown_ends_with_2(show: Cli, golden_run: EvalRun, arguments: list[str], said: str) -> None:
    """An unknown name is answered with the nearest, and no flag is dropped in silence."""
    result = show(*(golden_run.id if word == "RUN" else word for word in arguments))
    assert result.code == 2
    assert said in result.err


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
    for arguments in (["--failures", 12], ["--question", lines[0]["record"]["question"]["id"]]):
        out = show(golden_run.id, *arguments).out
        assert not set("\x1b\x07\u202e") & set(out)
        assert "[bold red]x[/]" in out


def test_the_marks_of_a_question_are_explained(show: Cli, save: Cli) -> None:
    """In words, at the chunks that have them; a passage without a document has no name, an id alone is shown."""
    golds = {"gold_passages": [{"text": "About q."}, {"document_id": "hr.md"}, {"chunk_id": "c9"}]}
    save("abcd", {"q": {"mrr": 1.0}}, questions={"q": golds})
    out = show("abcd", "--question", "q").out
    assert "passage   About q.\npassage   hr.md\npassage   chunk c9\n" in out
    assert "✓   1    ? [holds a reference passage, by the rule text]: About q." in out


def test_an_answer_that_was_not_found_is_shown_with_its_body(show: Cli, build_run: Cli, tmp_path: Path) -> None:
    """Whoever mends a mapping needs to see what it reads; one attempt is one."""
    store = RunStore(tmp_path / "runs")
    store.prepare()
    run, (record,) = build_run("abcd", {"q": "malformed"})
    response = record.response.model_copy(update={"raw": '{"text": "It is \x1b[2J here."}'})
    store.save(run)
    put_records(store, run, [record.model_copy(update={"response": response})])
    out = show("abcd", "--question", "q").out
    assert "no answer after 1 attempt:" in out
    assert 'the body: {"text": "It is \ufffd[2J here."}' in out


def test_show_says_of_what_the_score_is_the_score(show: Cli, build_run: Cli, save: Cli) -> None:
    """Of how much of the weight, from where to where with lost questions, and which metric is not in it for so few."""
    answers: dict[str, Any] = {f"q{n}": {"answer_correctness": 0.5, "citation_recall": 1.0} for n in range(12)}
    answers["q0"] = {**answers["q0"], "section_accuracy": 0.0}
    answers["lost"] = "timeout"
    score = build_run("aaaa", answers)[0].weighted_score.model_copy(update={"bounds": (0.6, 0.8)})
    save("aaaa", answers, weighted_score=score)
    out = " ".join(show("aaaa").out.split())
    assert "weighted score: 0.700 (50 % of it not measured), 0.600 … 0.800 with lost questions" in out
    assert "section_accuracy (1 question, where citation_recall has 12)" in out
    assert "not measured: faithfulness, retrieval, cost, latency; the other parts are scaled up" in out


@pytest.mark.parametrize(
    ("fed", "asked", "note"),
    [
        (9, 14, "based on few questions, and uncertain: accuracy (9 of 14)"),
        (11, 120, "based on few questions, and uncertain: accuracy (11 of 120)"),
        (10, 14, None),
    ],
)
def test_an_objective_of_few_questions_is_named_beside_the_score(
    show: Cli, evals_cli: Cli, save: Cli, tmp_path: Path, fed: int, asked: int, note: str | None
) -> None:
    """Fewer than ten questions, or less than a tenth of the run: a large weight may hang on two."""
    answers = {f"q{n}": {"faithfulness": 1.0, "citation_recall": 0.5} for n in range(asked)}
    for n in range(fed):
        answers[f"q{n}"]["unanswerable_accuracy"] = 0.0
    save("aaaa", answers)
    for result in (show("aaaa"), evals_cli("export", "aaaa", "--format", "markdown", "--runs-dir", tmp_path / "runs")):
        out = " ".join(result.out.split())
        assert (note in out) if note else ("few questions" not in out)


def test_runs_lists_what_is_saved(listed: Cli, save: Cli, build_run: Cli, tmp_path: Path) -> None:
    """A line a run, for people and for programs, and what cannot be read beside them with the way out."""
    assert "evals eval" in listed().out
    assert listed("--json").json == {"runs": [], "unreadable": []}
    path = newer_run(build_run, tmp_path / "runs")
    unread = f"not listed: {path.name} was written by a newer version (schema 99)"
    assert unread in listed().out
    assert "no saved runs" not in listed().out
    save("aaaa", {"q1": {"mrr": 1.0}})
    out = listed().out
    assert all(words in out for words in ("aaaa", "complete", "http://localhost:8001", unread, "upgrade"))
    said = listed("--json").json
    (run,) = said["runs"]
    assert (run["id"], run["status"], run["question_count"]) == ("aaaa", "complete", 1)
    assert run["server"] == {"url": "http://localhost:8001", "profile": "rag-server"}
    assert Path(run["path"]).is_file()
    assert "newer version" in said["unreadable"][0]["message"]


def test_runs_in_a_narrow_terminal_stand_in_lines_uncut(
    listed: Cli, save: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line a run; columns are left out, and nothing is folded within a word."""
    monkeypatch.setenv("COLUMNS", "80")
    for run_id in ("aaaa", "bbbb"):
        save(run_id, {}, name="after the new chunker", completed_at=None)
    lines = listed().out.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert [line.split()[0] for line in lines] == ["id", "aaaa", "bbbb"]
    assert all(" unfinished  " in line and line.rstrip().endswith("after the new chunker") for line in lines[1:])


def test_scores_of_different_objectives_do_not_stand_side_by_side_as_if_they_compared(
    listed: Cli, save: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each says of how much of the weight it is, and a letter which others measure the same."""
    monkeypatch.setenv("COLUMNS", "150")
    half = {"answer_correctness": 0.5, "citation_recall": 0.5}
    save("aaaa", {"q": half})
    save("bbbb", {"q": dict.fromkeys(half, 0.7)})
    alike = listed().out
    assert "0.500 (50 % measured) " in alike
    assert "[a]" not in alike
    save("cccc", {"q": {**half, "faithfulness": 1.0}})
    save("dddd", {"q": {"mrr": 1.0}})
    table, _, legend = listed().out.partition("scores with different letters")
    rows = {line.split()[0]: line for line in table.splitlines()}
    marks = {
        "aaaa": "0.500 (50 % measured) [a]",
        "bbbb": "0.700 (50 % measured) [a]",
        "cccc": "0.643 (70 % measured) [b]",
        "dddd": " –",
    }
    assert all(mark in rows[run_id] for run_id, mark in marks.items())
    assert "are made of different parts: do not compare them" in legend


def test_stats_says_what_a_dataset_holds(evals_cli: Cli) -> None:
    """Where --samples cut a dataset, it says how to see all of it; contradictions are refused."""
    assert "--samples 0 for all" in evals_cli("stats", "--datasets", "golden,").out
    whole = evals_cli("stats", "--datasets", "golden", "--samples", 0).out
    assert "--samples 0 for all" not in whole
    assert "golden: from golden_qa.json" in whole
    for wrong in (["--datasets", "golden", "--dataset-file", "q.jsonl"], ["--datasets", ","]):
        result = evals_cli("stats", *wrong)
        assert (result.code, result.out) == (2, "")
        assert "--datasets" in result.err
