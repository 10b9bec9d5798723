"""Gates where a run is made: `eval`, `rescore` and `score` take the same ones, by flag and by configuration."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
AT_THE_LOW_END = "recall_at_10@low>=0.95"
"""Of the golden set's first twelve questions: the value is above, the end of the interval below."""


@pytest.fixture
def asked(ask: Cli, golden_server: str) -> Cli:
    """Run `eval` on twelve questions of the golden set."""
    return lambda *arguments: ask("--rag-url", golden_server, *arguments)


def outcomes(result: Any) -> dict[str, str]:
    """How each gate of a run ended."""
    return {gate["gate"]: gate["outcome"] for gate in result.json["gates"]}


def test_a_lack_of_evidence_fails_unless_it_is_let_pass(asked: Cli) -> None:
    """With exit code 1 and other words than a gate that is not met."""
    result = asked("--gate", AT_THE_LOW_END)
    assert result.code == 1
    assert "error: not enough evidence: recall_at_10@low>=0.95\n" in result.err
    assert "more questions settle it" in result.out
    assert "gate failed" not in result.err
    lenient = asked("--gate", AT_THE_LOW_END, "--lenient")
    assert (lenient.code, lenient.err.count("error")) == (0, 0)
    assert "recall_at_10@low>=0.95: not enough evidence: " in lenient.out
    assert asked("--gate", AT_THE_LOW_END, "--gate", "recall_at_10>1", "--lenient").code == 1


def test_the_run_holds_how_each_gate_ended(asked: Cli, evals_cli: Cli, tmp_path: Path) -> None:
    """In its JSON, and whenever it is shown."""
    gates = {"recall_at_10>=0": "met", AT_THE_LOW_END: "not enough evidence", "faithfulness>=0.5": "not met"}
    result = asked("--json", *(word for gate in gates for word in ("--gate", gate)))
    assert (result.code, outcomes(result)) == (1, gates)
    told = {gate["gate"]: gate for gate in result.json["gates"]}
    assert told[AT_THE_LOW_END]["more_questions"] > 0
    assert told[AT_THE_LOW_END]["ci"][0] < 0.95 <= told[AT_THE_LOW_END]["value"]
    shown = evals_cli("show", result.json["id"], "--runs-dir", tmp_path / "runs").out
    assert "recall_at_10>=0: met: recall_at_10 is " in shown


def test_rescore_and_score_take_the_same_gates(asked: Cli, evals_cli: Cli, tmp_path: Path) -> None:
    """By flag, and in the configuration."""
    source, where = asked("--json").json["id"], ("--runs-dir", tmp_path / "runs")
    config = tmp_path / "gates.yml"
    config.write_text(f"gate: ['{AT_THE_LOW_END}']\njudge: false\n")
    for how in (("--config", config), ("--gate", AT_THE_LOW_END)):
        result = evals_cli("rescore", source, *where, *how, "--no-judge", "--json")
        assert (result.code, outcomes(result)) == (1, {AT_THE_LOW_END: "not enough evidence"})
        assert evals_cli("rescore", source, *where, *how, "--no-judge", "--lenient").code == 0
    questions, answers = tmp_path / "questions.jsonl", tmp_path / "answers.jsonl"
    questions.write_text(json.dumps({"id": "q1", "question": "How long?", "expected_answer": "14 days"}))
    answers.write_text(json.dumps({"question_id": "q1", "answer": "14 days"}))
    score = ("score", answers, "--dataset-file", questions, "--no-judge", "--metrics", "exact_match", *where)
    gate = ("--gate", "exact_match@low>=0.9")
    result = evals_cli(*score, *gate, "--json")
    assert (result.code, outcomes(result)) == (1, {"exact_match@low>=0.9": "not enough evidence"})
    assert evals_cli(*score, *gate, "--lenient").code == 0


def test_a_gate_on_the_score_of_a_part_is_told_the_part(asked: Cli) -> None:
    """Without a judge the score is of 80 % of the weight; of retrieval alone there is none."""
    result = asked("--gate", "score>=0.99")
    assert " of 80 % of the weight" in result.out
    result = asked("--gate", "score>=0", "--metrics", "recall_at_5")
    assert result.code == 1
    assert "score has no value (only 15 % of the weight is measured: retrieval)" in result.out
