"""`evals show`, `runs` and the catalogues."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.datasets.registry import list_available
from evals.metrics.registry import metric_classes
from evals.store.runs import RunStore

Cli = Callable[..., Any]


@pytest.fixture
def saved(ask: Cli, golden_server: str) -> dict[str, Any]:
    """A saved run of twelve questions."""
    run: dict[str, Any] = ask("--rag-url", golden_server, "--json", "--name", "first try").json
    return run


def test_show_prints_the_scorecard_before_failures(evals_cli: Cli, saved: dict[str, Any], tmp_path: Path) -> None:
    """What went wrong comes after it, with question, answer and what was retrieved."""
    result = evals_cli("show", saved["id"], "--runs-dir", tmp_path / "runs", "--failures", 2)
    assert result.code == 0
    assert result.out.index("recall_at_5") < result.out.index("ended wrong")
    assert result.out.count("  question  ") == 2
    assert re.search(
        rf"more: evals show {saved['id']} --failures \d+ --runs-dir {tmp_path / 'runs'}$", result.out, re.M
    )


def test_show_lists_the_questions_of_one_link(evals_cli: Cli, saved: dict[str, Any], tmp_path: Path) -> None:
    """As many as are counted, nothing else; a link that does not exist is refused with the nearest name."""
    whole = evals_cli("show", saved["id"], "--runs-dir", tmp_path / "runs").out
    count, link = re.search(r"^  (\d+) × .*: (\w+)$", whole, re.M).groups()  # type: ignore[union-attr]
    result = evals_cli("show", saved["id"], "--failed", link, "--runs-dir", tmp_path / "runs")
    assert result.out.count("  question  ") == int(count) > 0
    assert result.out.count(f": {link}: ") == int(count)
    assert "recall_at_5" not in result.out
    wrong = evals_cli("show", saved["id"], "--failed", "notretrieved", "--runs-dir", tmp_path / "runs")
    assert wrong.code == 2
    assert "did you mean 'not_retrieved'" in wrong.err


def test_show_says_who_declined_what(evals_cli: Cli, saved: dict[str, Any], tmp_path: Path) -> None:
    """The cells add up to the questions, and the baselines stand beside the accuracy."""
    out = evals_cli("show", saved["id"], "--runs-dir", tmp_path / "runs", "--failures", 0).out
    cells = [int(cell) for row in re.findall(r"^(?:un)?answerable +(\d+) +(\d+)$", out, re.M) for cell in row]
    assert len(cells) == 4
    assert sum(cells) == saved["question_count"]
    assert re.search(r"beside: always answering +\d\.\d{3} \[", out)


def test_show_takes_a_prefix_and_gives_json(evals_cli: Cli, saved: dict[str, Any], tmp_path: Path) -> None:
    """A unique start of the id is enough."""
    result = evals_cli("show", saved["id"][:4], "--runs-dir", tmp_path / "runs", "--json")
    assert result.json == saved


def test_show_explains_one_question(evals_cli: Cli, saved: dict[str, Any], tmp_path: Path) -> None:
    """A question is shown whole: gold, answer, every chunk with its match, every metric."""
    (log,) = (tmp_path / "runs").glob("*.jsonl")
    record = next(
        r for line in log.read_text().splitlines() if (r := json.loads(line)["record"])["question"]["gold_passages"]
    )
    result = evals_cli("show", saved["id"], "--question", record["question"]["id"], "--runs-dir", tmp_path / "runs")
    assert record["question"]["question"][:40] in result.out
    assert "recall_at_5" in result.out
    assert "gold      " in result.out


def test_show_slices_by_metadata(evals_cli: Cli, saved: dict[str, Any], tmp_path: Path) -> None:
    """`--by` gives each metric for each value of a key; an unknown key says which there are."""
    result = evals_cli("show", saved["id"], "--by", "difficulty", "--runs-dir", tmp_path / "runs")
    assert "by difficulty" in result.out
    assert "ended wrong by difficulty, the worst first" in result.out
    wrong = evals_cli("show", saved["id"], "--by", "dificulty", "--runs-dir", tmp_path / "runs")
    assert wrong.code == 2
    assert "did you mean 'difficulty'" in wrong.err


@pytest.mark.parametrize("run_id", ["zzzz", "../x", "a/b", ""])
def test_a_run_that_does_not_exist_ends_with_2(
    evals_cli: Cli, saved: dict[str, Any], tmp_path: Path, run_id: str
) -> None:
    """Neither unknown ids nor paths are taken."""
    assert evals_cli("show", run_id, "--runs-dir", tmp_path / "runs").code == 2


def test_runs_lists_what_is_saved(evals_cli: Cli, saved: dict[str, Any], tmp_path: Path) -> None:
    """A line a run, with id, status and score; an empty folder says how to make one."""
    result = evals_cli("runs", "--runs-dir", tmp_path / "runs")
    assert saved["id"] in result.out
    assert "complete" in result.out
    assert "evals eval" in evals_cli("runs", "--runs-dir", tmp_path / "none").out


def test_runs_says_which_server_was_asked_and_as_what(
    evals_cli: Cli, build_run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a line a run where there is room; a name that only repeats the id is left out."""
    monkeypatch.setenv("COLUMNS", "200")
    store = RunStore(tmp_path)
    store.save(build_run("aaaa", {}, name="eval-aaaa")[0])
    store.save(build_run("bbbb", {}, name="eval-bbbb", eval_config={"embedded": True})[0])
    heads, first, second = evals_cli("runs", "--runs-dir", tmp_path).out.splitlines()
    assert heads.split()[5:7] == ["server", "profile"]
    assert first.split()[-3:] == ["http://localhost:8001", "rag-server", "golden"]
    assert first.count("aaaa") == 1
    assert second.split()[-3:] == ["embedded", "rag-server", "golden"]


def test_runs_in_a_narrow_terminal_stand_in_lines_uncut(
    evals_cli: Cli, build_run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few lines a run; nothing is folded within a word."""
    monkeypatch.setenv("COLUMNS", "80")
    store = RunStore(tmp_path)
    for run_id in ("aaaa", "bbbb"):
        store.save(build_run(run_id, {}, name="after the new chunker")[0])
    lines = evals_cli("runs", "--runs-dir", tmp_path).out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == ["aaaa", "bbbb"]
    assert all(len(line) <= 80 for line in lines)
    assert lines[1].endswith("status unfinished; questions 0; score –;")
    assert lines[2] == "  server http://localhost:8001; profile rag-server; datasets golden;"


def test_runs_are_listed_for_programs(evals_cli: Cli, build_run: Callable[..., Any], tmp_path: Path) -> None:
    """The same facts as one object, and what cannot be read beside them."""
    store = RunStore(tmp_path)
    store.save(build_run("aaaa", {"q1": {"mrr": 1.0}}, completed_at="2026-01-15T11:00:00Z")[0])
    (newer, _) = build_run("newer", {})
    store.run_path(newer).write_text(json.dumps({**json.loads(newer.model_dump_json()), "schema_version": 99}))
    said = evals_cli("runs", "--json", "--runs-dir", tmp_path).json
    (run,) = said["runs"]
    assert (run["id"], run["status"], run["question_count"]) == ("aaaa", "complete", 1)
    assert run["server"] == {"url": "http://localhost:8001", "profile": "rag-server"}
    assert Path(run["path"]).is_file()
    assert "newer version" in said["unreadable"][0]["message"]
    assert evals_cli("runs", "--json", "--runs-dir", tmp_path / "none").json == {"runs": [], "unreadable": []}


def save(folder: Path, run: Any, records: Any) -> None:
    """Save a run as one that is finished."""
    store, finished = RunStore(folder), run.model_copy(update={"completed_at": run.created_at})
    store.save(finished)
    store.compact(finished, records)


def test_scores_of_different_objectives_do_not_stand_side_by_side_as_if_they_compared(
    evals_cli: Cli, build_run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each says of how much of the weight it is, and a letter which others measure the same."""
    half = {"answer_correctness": 0.5, "citation_recall": 0.5}
    save(tmp_path, *build_run("aaaa", {"q": half}))
    save(tmp_path, *build_run("bbbb", {"q": dict.fromkeys(half, 0.7)}))
    monkeypatch.setenv("COLUMNS", "150")
    alike = evals_cli("runs", "--runs-dir", tmp_path).out
    assert "0.500 of 50 % " in alike
    assert "[a]" not in alike
    save(tmp_path, *build_run("cccc", {"q": {**half, "faithfulness": 1.0}}))
    save(tmp_path, *build_run("dddd", {"q": {"mrr": 1.0}}))
    table, _, legend = evals_cli("runs", "--runs-dir", tmp_path).out.partition("scores with another letter")
    rows = {line.split()[0]: line for line in table.splitlines()}
    assert "0.500 of 50 % [a]" in rows["aaaa"]
    assert "0.700 of 50 % [a]" in rows["bbbb"]
    assert "0.643 of 70 % [b]" in rows["cccc"]
    assert " –" in rows["dddd"]
    assert "measure different objectives and do not compare" in legend
    assert "[a] accuracy (answer_correctness), citation (citation_recall)" in legend
    assert "[b] as [a], but faithfulness too" in legend


@pytest.mark.parametrize(
    ("fed", "asked", "note"),
    [
        (9, 14, "based on few questions, and uncertain: accuracy (9 of 14)"),
        (11, 120, "based on few questions, and uncertain: accuracy (11 of 120)"),
        (10, 14, None),
        (12, 120, None),
    ],
)
@pytest.mark.parametrize("command", [["show"], ["export", "--format", "markdown", "--run-id"]], ids=["show", "export"])
def test_an_objective_of_few_questions_is_named_beside_the_score(
    evals_cli: Cli,
    build_run: Callable[..., Any],
    tmp_path: Path,
    command: list[str],
    fed: int,
    asked: int,
    note: str | None,
) -> None:
    """Fewer than ten questions, or less than a tenth of the run: a large weight may hang on two."""
    answers = {f"q{n}": {"faithfulness": 1.0, "citation_recall": 0.5} for n in range(asked)}
    for n in range(fed):
        answers[f"q{n}"]["unanswerable_accuracy"] = 0.0
    save(tmp_path, *build_run("aaaa", answers))
    out = " ".join(evals_cli(*command, "aaaa", "--runs-dir", tmp_path).out.split())
    assert (note in out) if note else ("few questions" not in out)


def test_show_says_of_what_the_score_is_the_score(
    evals_cli: Cli, build_run: Callable[..., Any], tmp_path: Path
) -> None:
    """Of how much of the weight, from where to where with lost questions, and which metric is not in it for so few."""
    answers: dict[str, Any] = {f"q{n}": {"answer_correctness": 0.5, "citation_recall": 1.0} for n in range(12)}
    answers["q0"] = {**answers["q0"], "section_accuracy": 0.0}
    run, records = build_run("aaaa", {**answers, "lost": "timeout"})
    score = run.weighted_score.model_copy(update={"bounds": (0.6, 0.8)})
    save(tmp_path, run.model_copy(update={"weighted_score": score}), records)
    out = " ".join(evals_cli("show", "aaaa", "--runs-dir", tmp_path).out.split())
    assert "weighted score: 0.700 of 50 % of the weight, 0.600 … 0.800 with lost questions" in out
    assert "without section_accuracy: 1 question, where citation_recall has 12" in out
    assert "left out, weights renormalised: faithfulness, retrieval, cost, latency" in out


@pytest.mark.parametrize("beside", [True, False])
def test_runs_tells_what_it_cannot_read(
    evals_cli: Cli, build_run: Callable[..., Any], tmp_path: Path, beside: bool
) -> None:
    """A run of a newer version is there, so it is named with the way out, whether other runs are or not."""
    store, (newer, _) = RunStore(tmp_path), build_run("newer", {})
    store.run_path(newer).write_text(json.dumps({**json.loads(newer.model_dump_json()), "schema_version": 99}))
    if beside:
        store.save(build_run("good", {})[0])
    result = evals_cli("runs", "--runs-dir", tmp_path)
    assert result.code == 0
    assert ("good" in result.out) is beside
    assert "no saved runs" not in result.out
    assert f"not listed: {store.run_path(newer).name} was written by a newer version (schema 99)" in result.out
    assert "upgrade" in result.out


def test_hostile_text_in_an_answer_is_printed_as_text(evals_cli: Cli, saved: dict[str, Any], tmp_path: Path) -> None:
    """No control character, markup or link of an answer reaches the terminal."""
    (log,) = (tmp_path / "runs").glob("*.jsonl")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        line["record"]["response"]["answer"] = "\x1b[2J\x1b]0;owned\x07[bold red]x[/] \u202egnp"
    log.write_text("\n".join(map(json.dumps, lines)) + "\n")
    question = lines[0]["record"]["question"]["id"]
    for arguments in (["--failures", 12], ["--question", question]):
        out = evals_cli("show", saved["id"], *arguments, "--runs-dir", tmp_path / "runs").out
        assert "\x1b" not in out
        assert "\x07" not in out
        assert "\u202e" not in out
        assert "[bold red]x[/]" in out


def test_the_catalogues_list_everything(evals_cli: Cli) -> None:
    """Each dataset and metric is listed."""
    datasets, metrics = evals_cli("datasets"), evals_cli("metrics")
    assert all(name in datasets.out for name in list_available())
    assert all(cls.pattern() in metrics.out for cls in metric_classes())


@pytest.mark.parametrize("name", ["mrr", "recall_at_20", "recall_at_K", "abstention_false_negative_rate"])
def test_a_metric_is_explained(evals_cli: Cli, name: str) -> None:
    """Formula, group, range and direction of a metric are printed."""
    result = evals_cli("metrics", name)
    assert result.code == 0
    assert "Formula" in result.out
    assert "is better" in result.out


def test_stats_says_what_a_dataset_holds(evals_cli: Cli) -> None:
    """Questions, answerable share and corpus of the golden set are shown without a network."""
    result = evals_cli("stats", "--datasets", "golden", "--samples", 0)
    assert result.code == 0
    assert "golden" in result.out
    assert "%" in result.out


def test_matching_shows_how_much_depends_on_the_threshold(
    evals_cli: Cli, saved: dict[str, Any], tmp_path: Path
) -> None:
    """A row a threshold, never more recall with a stricter one, and which rules recognised the gold."""
    result = evals_cli("show", saved["id"], "--matching", "--failures", 0, "--runs-dir", tmp_path / "runs")
    rows = [line.split() for line in result.out.splitlines() if line.strip()[:2] in {"0.", "1."} and "text" in line]
    recalls = [float(row[2] if row[1] == "(used)" else row[1]) for row in rows]
    assert len(rows) == 8
    assert recalls == sorted(recalls, reverse=True)
    assert "0.7 (used)" in result.out


def test_a_run_that_was_killed_says_how_to_go_on(evals_cli: Cli, saved: dict[str, Any], tmp_path: Path) -> None:
    """Its answers are in the log; an empty scorecard would hide them."""
    (path,) = (tmp_path / "runs").glob("*Z.json")
    path.write_text(json.dumps({**saved, "completed_at": None, "scorecard": {}}))
    result = evals_cli("show", saved["id"], "--runs-dir", tmp_path / "runs")
    assert f"--resume {saved['id']}" in result.out
    assert "12 of 12 answers" in result.out
    assert "unfinished" in evals_cli("runs", "--runs-dir", tmp_path / "runs").out


def test_a_rescore_that_was_killed_is_not_resumed(evals_cli: Cli, saved: dict[str, Any], tmp_path: Path) -> None:
    """It asked nothing, so `show` names the command that measures again, and resuming is refused."""
    (path,) = (tmp_path / "runs").glob("*Z.json")
    path.write_text(json.dumps({**saved, "completed_at": None, "scorecard": {}, "rescored_from": "ef01"}))
    out = evals_cli("show", saved["id"], "--runs-dir", tmp_path / "runs").out
    assert f"evals rescore ef01 --runs-dir {tmp_path / 'runs'}" in out
    assert "--resume" not in out
    refused = evals_cli("eval", "--resume", saved["id"], "--runs-dir", tmp_path / "runs")
    assert refused.code == 2
    assert "evals rescore ef01" in refused.err


def test_a_narrow_terminal_keeps_the_numbers(
    evals_cli: Cli, saved: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names fold before values vanish, and the id of a run stays whole."""
    monkeypatch.setenv("COLUMNS", "40")
    out = evals_cli("show", saved["id"], "--runs-dir", tmp_path / "runs", "--failures", 0).out
    value = next(m["value"] for m in saved["scorecard"]["metrics"] if m["name"] == "mrr")
    assert f"{value:.3f}" in out
    assert max(map(len, out.splitlines())) <= 40
    assert saved["id"] in evals_cli("runs", "--runs-dir", tmp_path / "runs").out


@pytest.mark.parametrize(
    "arguments",
    [
        ["--question", "G001", "--by", "difficulty"],
        ["--question", "G001", "--matching"],
        ["--question", "G001", "--json"],
        ["--json", "--by", "difficulty", "--matching"],
        ["--json", "--failures", "3"],
        ["--failures", "-1"],
    ],
)
def test_no_flag_of_show_is_dropped_in_silence(evals_cli: Cli, arguments: list[str]) -> None:
    """Flags that exclude each other, and numbers that mean nothing, end with 2 before a run is looked for."""
    result = evals_cli("show", "abcd", *arguments)
    assert result.code == 2
    assert "abcd" not in result.err


def test_an_unknown_question_is_answered_with_the_nearest(
    evals_cli: Cli, build_run: Callable[..., Any], tmp_path: Path
) -> None:
    """Of a hundred ids the like ones are of use, in whichever case they are written."""
    store = RunStore(tmp_path)
    run, records = build_run("abcd", {f"G{n:03}": {"mrr": 1.0} for n in range(100)})
    store.save(run)
    store.compact(run, records)
    result = evals_cli("show", "abcd", "--question", "g1077", "--runs-dir", tmp_path)
    assert result.code == 2
    assert "did you mean 'G077'" in result.err
    assert "G000" not in result.err


def test_the_marks_of_a_question_are_explained(evals_cli: Cli, build_run: Callable[..., Any], tmp_path: Path) -> None:
    """A legend below the chunks; a gold that names no document is not given the name gold, and an id alone is shown."""
    store = RunStore(tmp_path)
    golds = {"gold_passages": [{"text": "About q."}, {"document_id": "hr.md"}, {"chunk_id": "c9"}]}
    run, records = build_run("abcd", {"q": {"mrr": 1.0}}, questions={"q": golds})
    store.save(run)
    store.compact(run, records)
    out = evals_cli("show", "abcd", "--question", "q", "--runs-dir", tmp_path).out
    assert "gold      About q.\ngold      hr.md\ngold      chunk c9\n" in out
    assert "✓    1    ? [text]: About q." in out
    assert "✓ holds gold, by the rule in brackets; c is cited by the answer" in out


def test_an_answer_that_was_not_found_is_shown_with_its_body(
    evals_cli: Cli, build_run: Callable[..., Any], tmp_path: Path
) -> None:
    """Whoever mends a mapping needs to see what it reads; one attempt is one."""
    store = RunStore(tmp_path)
    run, (record,) = build_run("abcd", {"q": "malformed"})
    response = record.response.model_copy(update={"raw": '{"text": "It is \x1b[2J here."}'})
    store.save(run)
    store.compact(run, [record.model_copy(update={"response": response})])
    out = evals_cli("show", "abcd", "--question", "q", "--runs-dir", tmp_path).out
    assert "no answer after 1 attempt:" in out
    assert 'the body: {"text": "It is \ufffd[2J here."}' in out


def test_a_score_that_nothing_feeds_is_said_once(evals_cli: Cli, build_run: Callable[..., Any], tmp_path: Path) -> None:
    """All objectives left out and weights renormalised over none tell nothing."""
    store = RunStore(tmp_path)
    run, records = build_run("abcd", {"q": {"exact_match": 1.0}}, outcomes={"answered": 1})
    run = run.model_copy(update={"completed_at": run.created_at})
    store.save(run)
    store.compact(run, records)
    out = evals_cli("show", "abcd", "--runs-dir", tmp_path).out
    assert "weighted score: – (nothing feeds it)" in out
    assert "renormalised" not in out


def test_stats_says_that_questions_were_drawn(evals_cli: Cli) -> None:
    """Where --samples may have cut a dataset, it says how to see all of it."""
    assert "--samples 0 for all" in evals_cli("stats", "--datasets", "golden,").out
    assert "--samples 0 for all" not in evals_cli("stats", "--datasets", "golden", "--samples", 0).out


@pytest.mark.parametrize("arguments", [["--datasets", "golden", "--dataset-file", "q.jsonl"], ["--datasets", ","]])
def test_stats_drops_no_flag_in_silence(evals_cli: Cli, arguments: list[str]) -> None:
    """A file beside datasets, and a list without a name."""
    result = evals_cli("stats", *arguments)
    assert (result.code, result.out) == (2, "")
    assert "--datasets" in result.err


@pytest.mark.parametrize("command", ["eval", "stats"])
def test_a_number_of_samples_below_0_is_refused_by_the_name_of_its_flag(evals_cli: Cli, command: str) -> None:
    """Both commands say the same, and neither speaks of a key of the configuration."""
    result = evals_cli(command, "--datasets", "golden", "--samples", "-1")
    assert (result.code, result.out) == (2, "")
    assert result.err == "error: --samples must be 0 (all) or more, not -1\n"
