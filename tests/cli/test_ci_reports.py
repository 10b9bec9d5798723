"""What commands leave for CI: a JUnit report and a comment however they end, and what GitHub Actions shows."""

import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from junit_reader import read_junit
from servers import wait_until

from evals.cli import ci
from evals.report.markdown import LIMIT, MARKER

Cli = Callable[..., Any]
HOSTILE = (
    "::error::pwned ##[add-mask]x @octocat #1 <script>alert(1)</script> ]]> \x00 | `x` </details> http://evil.example"
)


@pytest.fixture
def asked(ask: Cli, golden_server: str) -> Cli:
    """Run `eval` on twelve questions of the golden set."""
    return lambda *arguments: ask("--rag-url", golden_server, *arguments)


@pytest.fixture
def gate(save: Cli, evals_cli: Cli, tmp_path: Path) -> Cli:
    """Run `gate` on a run of fifty questions, of which half are right."""
    save("aaaa", recall(50, 0.5))
    return lambda *flags: evals_cli("gate", "aaaa", "--runs-dir", tmp_path / "runs", *flags)


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A job of GitHub Actions; returns the file of its summary."""
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    return summary


def recall(n: int, rate: float) -> dict[str, dict[str, float | None]]:
    """Values of n questions, of which so many are 1."""
    return {f"q{place:02}": {"recall_at_5": float(place < rate * n)} for place in range(n)}


def commands_of(out: str) -> list[str]:
    """The lines of an output that GitHub obeys."""
    obeyed, token = [], None
    for line in out.splitlines():
        if token is not None:
            token = None if line == f"::{token}::" else token
        elif line.startswith("::stop-commands::"):
            token = line.removeprefix("::stop-commands::")
        elif line.lstrip().startswith("::") or "##[" in line:
            obeyed.append(line)
    assert token is None, "commands are never taken up again"
    return obeyed


def test_eval_leaves_a_report_and_a_comment_when_a_gate_fails(asked: Cli, tmp_path: Path) -> None:
    """With exit code 1, each gate and each failed question in the report, and the same gates in the comment."""
    junit, comment = tmp_path / "junit.xml", tmp_path / "comment.md"
    gates = ("--gate", "recall_at_5>=0.5", "--gate", "mrr>=1")
    result = asked(*gates, "--junit", junit, "--comment", comment)
    assert result.code == 1
    found = read_junit(junit.read_bytes())
    assert found["run", "complete"][0] == "passed"
    assert found["gates.retrieval", "recall_at_5>=0.5"][0] == "passed"
    assert found["gates.retrieval", "mrr>=1"][:2] == ("failure", "not met")
    assert any(classname == "questions.golden" for classname, _ in found)
    assert found["metrics.generation", "faithfulness"] == ("skipped", "not measured", "no judge was used")
    text = comment.read_text(encoding="utf-8")
    assert text.startswith(f"{MARKER}\n### Evaluation: ")
    rows = ("1 of 2 met**", "| mrr\\>=1 | not met |", "| recall_at_5\\>=0.5 | met |")  # what is not met comes first
    places = [text.index(words) for words in rows]
    assert places == sorted(places)
    assert "::" not in result.out + result.err


@pytest.mark.parametrize(
    ("flags", "code", "kind"),
    [
        (["--rag-url", "http://127.0.0.1:1"], 3, "ServerUnreachableError"),
        (["--rag-url", "http://127.0.0.1:1", "--gate", "nonsense"], 2, "ConfigError"),
        (["--rag-url", "http://127.0.0.1:1", "--suite", "none"], 2, "UnknownNameError"),
    ],
)
def test_reports_say_why_nothing_was_asked(ask: Cli, tmp_path: Path, flags: Any, code: int, kind: str) -> None:
    """A dead server, a gate that is none and an unknown name: the case is an error, and the old report is gone."""
    junit, comment = tmp_path / "junit.xml", tmp_path / "comment.md"
    junit.write_text("of before")
    result = ask(*flags, "--junit", junit, "--comment", comment)
    assert result.code == code
    ((result_of_case, kind_of_case, message),) = read_junit(junit.read_bytes()).values()
    assert (result_of_case, kind_of_case) == ("error", kind)
    assert f"error: {message}" in result.err
    assert comment.read_text(encoding="utf-8").startswith(f"{MARKER}\n### Evaluation\n\n**")


def test_a_command_that_is_killed_leaves_a_report_too(serve_files: Cli, tmp_path: Path) -> None:
    """From the start there is one that says that the command did not come to its end."""
    junit = tmp_path / "junit.xml"
    url = serve_files({"a.md": b"# A\n\nText."}, "slow:30")
    questions = tmp_path / "q.jsonl"
    questions.write_text('{"id": "q1", "question": "Why?", "expected_answer": "x"}\n')
    flags = ["--rag-url", url, "--dataset-file", questions, "--no-judge", "--no-preflight", "--warmup", "0"]
    command = [sys.executable, "-m", "evals.cli", "eval", *flags, "--junit", junit, "--runs-dir", tmp_path / "runs"]
    with subprocess.Popen(list(map(str, command)), stderr=subprocess.DEVNULL) as process:
        wait_until(junit.exists, "the report")
        process.send_signal(signal.SIGKILL)
    assert read_junit(junit.read_bytes())["run", "complete"][1] == "Unfinished"


@pytest.mark.parametrize(("command", "flag"), [("eval", "--junit"), ("score", "--comment"), ("gate", "--junit")])
def test_a_report_that_cannot_be_written_is_refused(evals_cli: Cli, tmp_path: Path, flag: str, command: str) -> None:
    """Told before anything is asked, by the flag that names it."""
    questions = tmp_path / "q.jsonl"
    questions.write_text('{"id": "q1", "question": "Why?"}\n')
    words = {"eval": [], "score": [questions, "--dataset-file", questions]}.get(command, ["aaaa"])
    result = evals_cli(command, *words, "--runs-dir", tmp_path, flag, tmp_path / "none" / "file")
    assert (result.code, "there is no folder" in result.err) == (2, True)
    assert f"change {flag}" in result.err


def test_the_comment_says_what_moved_and_folds_the_rest(save: Cli, evals_cli: Cli, tmp_path: Path) -> None:
    """The verdict first, then each metric with difference, interval and verdict; a gate's outcome comes before."""
    for run_id, rate, mrr in (("bbbb", 1.0, 0.2), ("aaaa", 0.5, 0.9)):
        save(run_id, {key: {**values, "mrr": mrr} for key, values in recall(60, rate).items()})
    comment = tmp_path / "comment.md"
    flags = ("--runs-dir", tmp_path / "runs", "--comment", comment)
    assert evals_cli("compare", "bbbb", "aaaa", *flags).code == 0
    text = comment.read_text(encoding="utf-8")
    assert text.startswith(f"{MARKER}\n### Evaluation\n\n")
    rows = re.findall(
        r"^\| (recall_at_5|mrr) \| ([\d.]+) \| ([\d.]+) \| (\S+) \| .+? … .+? \| (worse|better)", text, re.M
    )
    assert rows == [("recall_at_5", "1.000", "0.500", "-0.500", "worse"), ("mrr", "0.200", "0.900", "+0.700", "better")]
    assert "30 of 60 questions scored worse: q30" in text
    result = evals_cli("gate", "aaaa", "--baseline", "bbbb", "--metrics", "recall_at_5", *flags)
    assert result.code == 1
    gated = comment.read_text(encoding="utf-8")
    assert gated.index("0 of 1 met**") < gated.index("scored worse")


def test_a_comment_of_hostile_answers_is_text_and_short_enough(save: Cli, evals_cli: Cli, tmp_path: Path) -> None:
    """Nobody is mentioned, nothing is linked or run, and it stays within what a comment holds."""
    questions = {key: {"question": HOSTILE * 20, "expected_answer": HOSTILE} for key in recall(30, 1.0)}
    for run_id, rate in (("bbbb", 1.0), ("aaaa", 0.0)):
        save(run_id, recall(30, rate), answer=HOSTILE * 100, questions=questions, name=HOSTILE)
    comment, junit = tmp_path / "comment.md", tmp_path / "junit.xml"
    reports = ("--comment", comment, "--junit", junit, "--runs-dir", tmp_path / "runs")
    assert evals_cli("gate", "aaaa", "--baseline", "bbbb", "--metrics", "recall_at_5", *reports).code == 1
    text = comment.read_text(encoding="utf-8")
    assert len(text) <= LIMIT
    bare = re.sub(r"\\[!-/:-@\[-`{-~]", "", text)
    assert not re.search(r"@octocat|#1\b|<script|http://evil|\x00", bare)
    assert bare.count("<details>") == bare.count("</details>") == 1
    read_junit(junit.read_bytes())


def test_a_job_is_told_by_a_summary(asked: Cli, job: Path) -> None:
    """Below what is there already: the gates, the scorecard, and questions that went wrong; GitHub obeys no line."""
    job.write_text("of another command\n")
    result = asked("--gate", "recall_at_5>=0.5", "--gate", "mrr>=1", "--gate", "score>=1")
    assert result.code == 1
    assert commands_of(result.out) == []
    summary = job.read_text(encoding="utf-8")
    assert summary.startswith("of another command\n### Evaluation: ")
    assert summary.index("1 of 3 met") < summary.index("recall_at_5") < summary.index("questions that went wrong")


def test_a_server_cannot_speak_to_the_job(save: Cli, evals_cli: Cli, job: Path, tmp_path: Path) -> None:
    """Its answers, printed on lines of their own, are no commands; nor are they in a message."""
    question = {"q00": {"is_unanswerable": True, "question": "::add-mask::x\n::error::pwned"}}
    save("aaaa", recall(1, 1.0), answer="::set-output name=a::b\n::error::pwned ##[add-mask]y", questions=question)
    where = ("--runs-dir", tmp_path / "runs")
    result = evals_cli("rescore", "aaaa", "--no-judge", *where)
    assert result.code == 0
    assert commands_of(result.out) == []
    result = evals_cli("gate", "##[add-mask]x", *where)
    assert ("##[" in result.err, commands_of(result.err)) == (False, [])


def test_a_summary_stays_within_what_github_shows(gate: Cli, job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no room left it says so once; a job does not fail by its summary, and other machines have none."""
    met = ("--gate", "recall_at_5>=0.1")
    monkeypatch.setattr(ci, "MOST_BYTES", 1_000)
    job.write_bytes(b"x" * 900)
    assert gate(*met).code == 0
    assert "the summary of the job is full" in gate(*met).err
    assert job.stat().st_size <= 1_000
    job.unlink()
    job.mkdir()
    result = gate(*met)
    assert (result.code, "! no summary of the job" in result.err) == (0, True)
    monkeypatch.setenv("GITHUB_ACTIONS", "false")
    result = gate(*met)
    assert ("::" in result.out, result.err) == (False, "")


def test_json_keeps_the_output_clean(gate: Cli, job: Path) -> None:
    """There is a summary alone."""
    assert gate("--gate", "recall_at_5>=1", "--json").json["outcome"] == "not met"
    assert "0 of 1 met" in job.read_text(encoding="utf-8")


def test_the_commands_of_the_page_run(
    save: Cli, evals_cli: Cli, golden_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of docs/ci.md, in a folder with a configuration, two runs and a baseline; each leaves its file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_SERVER_URL", golden_server)
    (tmp_path / "eval_config.yml").write_text("datasets: [golden]\nsamples_per_dataset: 4\njudge: false\n")
    for run_id in ("a1b2", "c3d4"):
        save(run_id, recall(50, 0.5), "data/eval_runs")
    page = (Path(__file__).resolve().parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")
    lines = re.search(r"```bash\n(.*?)```", page, re.DOTALL)[1].splitlines()  # type: ignore[index]  # it has one
    for line in lines:
        program, *arguments = shlex.split(line, comments=True)
        assert program == "evals"
        result = evals_cli(*arguments)
        assert result.code == 0, (line, result.err)
        for name in {"junit.xml", "comment.md"} & set(arguments):
            (tmp_path / name).unlink()
    assert len(lines) == 4


def test_every_variant_is_in_the_reports(asked: Cli, tmp_path: Path) -> None:
    """The suites of each begin with its name, and the comment says how they compare."""
    junit, comment = tmp_path / "junit.xml", tmp_path / "comment.md"
    flags = ("--vary", "ask.json.top_k=1,5", "--gate", "recall_at_5>=0.9", "--junit", junit, "--comment", comment)
    assert asked(*flags).code == 1
    found = read_junit(junit.read_bytes())
    assert found["top_k=1.gates.retrieval", "recall_at_5>=0.9"][0] == "failure"
    assert found["top_k=5.gates.retrieval", "recall_at_5>=0.9"][0] == "passed"
    text = comment.read_text(encoding="utf-8")
    assert text.count("<summary>run ") == 2
    assert "over 16 common questions" in text or "common question" in text
