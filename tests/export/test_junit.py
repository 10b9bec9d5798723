"""`junit`: what every reader of test reports takes, whatever a server said."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from junit_reader import read_junit, suites_of
from lxml import etree
from whole_runs import kept_run

from evals.report import junit
from evals.report.junit import junit_of, to_junit
from evals.report.markdown import CommandEnd, CommandProblem
from evals.schemas import GateOutcome

Build = Callable[..., Any]
HOSTILE = "\x00\x1b[31m ]]> <failure/> & \"'\ud800 \ufffe\uffff \u202eevil\r\n<![CDATA[ &#0; " + "x" * 1_000_000
GATES = [
    GateOutcome(gate="recall_at_5>=0.8", outcome="met", message="recall_at_5 is 0.9"),
    GateOutcome(gate="mrr@low>=0.8", outcome="not enough evidence", message="mrr is 0.85 (interval 0.7 … 0.95)"),
    GateOutcome(gate="score>=0.9", outcome="not met", message="score is 0.7"),
    GateOutcome(gate="recall_at_5 at most 0.03 below bbbb", outcome="not met", message="0.5, was 0.9"),
    GateOutcome(gate="gone_metric>=1", outcome="not met", message="gone_metric has no value"),
]


def test_every_gate_is_a_case_of_the_group_of_its_metric(build_run: Build, tmp_path: Path) -> None:
    """Met passes, the others fail with what they are; lacking evidence is skipped where it is let pass."""
    run, records = build_run("a", {"q1": {"recall_at_5": 1.0, "mrr": 1.0}}, gates=GATES)
    document = "".join(to_junit(kept_run(tmp_path, run, records)))
    found = read_junit(document)
    assert found["gates.retrieval", "recall_at_5>=0.8"] == ("passed", "", "")
    assert found["gates.retrieval", "mrr@low>=0.8"] == ("failure", "not enough evidence", GATES[1].message)
    assert found["gates.score", "score>=0.9"] == ("failure", "not met", "score is 0.7")
    assert found["gates.retrieval", "recall_at_5 at most 0.03 below bbbb"][0] == "failure"
    assert found["gates.other", "gone_metric>=1"][0] == "failure"
    assert suites_of(document)[:2] == ["run", "gates.retrieval"]
    gated = kept_run(tmp_path, run.model_copy(update={"gates": GATES}), records)
    lenient = "".join(junit_of(CommandEnd([gated], lenient=True)))
    assert read_junit(lenient)["gates.retrieval", "mrr@low>=0.8"][0] == "skipped"


def test_what_went_wrong_failed_or_was_not_measured(build_run: Build, tmp_path: Path) -> None:
    """Each with its kind and its reason; questions that ended right are no cases."""
    known = {"q1": {"is_unanswerable": True}, "q2": {"is_unanswerable": False}}
    values: dict[str, Any] = {"q1": {"mrr": 1.0, "faithfulness": None}, "q2": {"mrr": 1.0}, "q3": "timeout"}
    run, records = build_run("a", values, questions=known)
    document = "".join(to_junit(kept_run(tmp_path, run, records)))
    found = read_junit(document)
    *ending, message = found["questions.golden", "q1"]
    assert (ending, bool(message)) == (["failure", "answered_unanswerable"], True)
    *ending, message = found["questions.golden", "q3"]
    assert (ending, "no answer came" in message) == (["error", "timeout"], True)
    assert found["metrics.generation", "faithfulness"] == ("skipped", "not measured", "it does not apply")
    assert ("questions.golden", "q2") not in found
    assert {"questions.answered_unanswerable", "questions.failed", "metrics.generation"} < set(suites_of(document))
    assert "question: What is q1?\nanswer: It is q1." in document


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ("passed", "", "")),
        ({"status": "partial"}, ("error", "incomplete", "run a is partial")),
        ({"status": "failed"}, ("error", "incomplete", "run a is failed")),
    ],
)
def test_a_run_that_is_not_whole_is_an_error(build_run: Build, tmp_path: Path, changes: Any, expected: Any) -> None:
    """One case says whether it is, so that no report is without cases."""
    run, records = build_run("a", {"q1": {"mrr": 1.0}}, **changes)
    assert read_junit("".join(to_junit(kept_run(tmp_path, run, records))))["run", "complete"] == expected


def test_where_there_is_no_run_the_report_says_why() -> None:
    """The error with the way out; without one, that nothing was asked."""
    problem = CommandProblem("ServerUnreachableError", "nothing answers", "start one")
    document = "".join(junit_of(CommandEnd(problem=problem)))
    assert read_junit(document) == {("run", "complete"): ("error", "ServerUnreachableError", "nothing answers")}
    assert "start one" in document
    assert read_junit("".join(junit_of(CommandEnd())))["run", "complete"] == ("skipped", "skipped", "nothing was asked")


def test_hostile_text_is_text_and_bounded(build_run: Build, tmp_path: Path) -> None:
    """Control characters, half surrogate pairs, ends of sections and a megabyte: the report is valid and small."""
    run, records = build_run("a", {"q1": "timeout", "q2": {"mrr": 1.0}}, questions={"q2": {"is_unanswerable": True}})
    text = HOSTILE.replace("\ud800", "\0")
    question = records[1].question.model_copy(update={"question": text, "expected_answer": text})
    response = records[1].response.model_copy(update={"answer": text})
    records[1] = records[1].model_copy(update={"response": response, "question": question})
    gates = [GateOutcome(gate="mrr>=1" + HOSTILE, outcome="not met", message=HOSTILE)]
    gated = kept_run(tmp_path, run, records)
    gated.run = gated.run.model_copy(update={"gates": gates})
    ended = CommandEnd([gated], problem=CommandProblem("ConfigError", HOSTILE, HOSTILE))
    document = "".join(junit_of(ended)).encode()
    assert len(document) < 20_000
    assert len(read_junit(document)) == 4
    text = etree.fromstring(document).findtext(".//testcase[@name='q2']/failure")
    assert "]]> <failure/> & \"'\ufffd" in text
    assert "\u202e" not in text


def test_failures_are_listed_to_a_bound(build_run: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest is counted in one case."""
    monkeypatch.setattr(junit, "MOST_QUESTIONS", 20)
    run, records = build_run("a", {"right": {"mrr": 1.0}, **{f"q{n}": "timeout" for n in range(23)}})
    found = read_junit("".join(to_junit(kept_run(tmp_path, run, records))))
    assert sum(classname == "questions.golden" for classname, _ in found) == 20
    assert found["questions.more", "more questions"][2].startswith("3 more questions went wrong")


def test_several_runs_are_told_apart(build_run: Build, tmp_path: Path) -> None:
    """The suites and classes of each begin with its name."""
    runs = [build_run(key, {"q1": {"mrr": 1.0}}, gates=GATES[:1]) for key in ("a", "b")]
    ended = CommandEnd([kept_run(tmp_path, run, records) for run, records in runs])
    found = read_junit("".join(junit_of(ended)))
    assert {("run a.gates.retrieval", "recall_at_5>=0.8"), ("run b.gates.retrieval", "recall_at_5>=0.8")} < set(found)
