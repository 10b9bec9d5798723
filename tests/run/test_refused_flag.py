"""A server that says by a flag of its own that it declined: neither the refusal model nor a judge are asked then."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from other_servers import loopback

from evals.client import ServerSpec
from evals.config import EvalConfig
from evals.metrics.sample import Sample
from evals.runner import run_evaluation
from evals.schemas import EvalQuestion, EvalResponse, EvalRun
from evals.store.runs import RunStore

FACT = "The battery of the pump lasts for 96 hours when it is new."
REFUSAL = "I cannot tell how long the battery of the pump lasts, as no document says it."
QUESTION = "How long does the battery of the pump last?"
BODIES: dict[str, dict[str, Any]] = {
    "true": {"answer": FACT, "declined": True},
    "textless": {"answer": None, "declined": True},
    "false": {"answer": REFUSAL, "declined": False},
    "unset": {"answer": FACT, "declined": None},
    "absent": {"answer": FACT},
    "odd": {"answer": FACT, "declined": "yes"},
}


def questions_to(messages_api: Any) -> list[Any]:
    """What the judge was asked; whether its model is there is no question."""
    return [entry["body"] for entry in messages_api.log() if entry["method"] == "POST"]


@pytest.fixture(scope="module")
def rag_server() -> Iterator[str]:
    """Answers a question by the body that its first word names."""
    say = {("POST", "/query"): lambda request: BODIES.get(request.body["query"].split(":")[0], BODIES["absent"])}
    with loopback.serving(say) as url:
        yield url


@pytest.fixture
def judged(
    rag_server: str, messages_api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[EvalRun, dict[str, EvalResponse]]]:
    """Ask the questions named and have the answers judged: the run, and the responses by name."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    messages_api.script({"then": {"python": "judge"}})

    def run(*names: str, refused: str | None = "declined") -> tuple[EvalRun, dict[str, EvalResponse]]:
        rows = [{"id": name, "question": f"{name}: {QUESTION}", "expected_answer": FACT} for name in names]
        (tmp_path / "q.json").write_text(json.dumps(rows))
        config = EvalConfig(
            dataset_file=tmp_path / "q.json",
            metrics=["answer_correctness", "abstention_false_positive_rate", "dont_know_answers_count"],
            runs_dir=tmp_path / "runs",
            preflight=False,
            warmup=0,
            server={
                "url": rag_server,
                "health": None,
                "info": [],
                "ask": {"path": "/query", "json": {"query": "{{question}}"}},
                "map": {"answer": "answer", "chunks": None, "citations": None, "usage": None, "refused": refused},
            },
            judge={"base_url": messages_api.url, "cache": False},
        )
        found = run_evaluation(config)
        records = RunStore(config.runs_dir).records(found)
        return found, {record.question.id: record.response for record in records if record.response}

    return run


def values(run: EvalRun, name: str) -> dict[str, float | None]:
    """A metric's values by question."""
    records = RunStore(run.eval_config["runs_dir"]).records(run)
    return {r.question.id: s.value for r in records for s in r.scores if s.name == name}


def test_a_true_flag_settles_it_without_the_judge(judged: Callable[..., Any], messages_api: Any) -> None:
    """Whatever the text is, the right answer included, and also where there is none: that is no failure."""
    run, responses = judged("true", "textless")
    assert {name: (said.refused, said.answer, said.error) for name, said in responses.items()} == {
        "true": (True, FACT, None),
        "textless": (True, "", None),
    }
    assert questions_to(messages_api) == []
    assert run.outcomes.abstained == 2
    assert values(run, "answer_correctness") == {"true": 0.0, "textless": 0.0}


def test_false_null_and_no_flag_leave_it_to_the_judge(judged: Callable[..., Any], messages_api: Any) -> None:
    """False makes no answer of a clear refusal; what is neither true nor false says nothing, and is noted."""
    run, responses = judged("false", "unset", "absent", "odd")
    assert {name: said.refused for name, said in responses.items()} == {
        "false": False,
        "unset": None,
        "absent": None,
        "odd": None,
    }
    assert responses["odd"].notes == ["server.map.refused found a text, not true or false"]
    assert len(questions_to(messages_api)) == 3
    assert run.outcomes.abstained == 1
    assert values(run, "answer_correctness") == {"false": 0.0, "unset": 1.0, "absent": 1.0, "odd": 1.0}


def test_without_the_key_a_flag_is_not_looked_at(judged: Callable[..., Any], messages_api: Any) -> None:
    """And a body without a text for an answer is a failure, as before."""
    _, responses = judged("true", "textless", refused=None)
    assert responses["true"].refused is None
    assert responses["textless"].error is not None
    assert responses["textless"].error.kind == "malformed"
    assert len(questions_to(messages_api)) == 1


def test_a_flag_is_kept_only_where_the_server_said_it() -> None:
    """A record of before has none, and one without a flag is written as before."""
    assert "refused" not in EvalResponse(answer="a").model_dump(mode="json")
    for said in (True, False):
        kept = EvalResponse(answer="a", refused=said).model_dump(mode="json")
        assert EvalResponse.model_validate(kept).refused is said
    assert EvalResponse.model_validate({"answer": "a"}).refused is None


def test_a_profile_that_reads_a_flag_has_another_fingerprint() -> None:
    """One that says of a key what holds without it has the same."""
    asked = {"path": "/ask"}
    plain = ServerSpec.model_validate({"ask": asked, "map": {"answer": "answer"}})
    flagged = ServerSpec.model_validate({"ask": asked, "map": {"answer": "answer", "refused": "declined"}})
    silent = ServerSpec.model_validate({"ask": {**asked, "form": {}}, "map": {"answer": "answer", "refused": None}})
    assert silent.fingerprint() == plain.fingerprint()
    assert flagged.fingerprint() != plain.fingerprint()


def test_a_saved_verdict_does_not_outweigh_the_flag() -> None:
    """Nothing is open and nothing disputed."""
    case = Sample(EvalQuestion(id="q", question=QUESTION), EvalResponse(answer=FACT, refused=True), judged=True)
    assert case.abstained
    assert not case.reads_as_refusal
    assert (case.decision.by_judge, case.decision.lost, case.decision.is_disputed) == (False, None, False)


@pytest.mark.parametrize(
    ("name", "said"), [("true", "the server says that it declined"), ("false", "did not decline"), ("unset", None)]
)
def test_a_question_shows_the_flag(
    judged: Callable[..., Any], evals_cli: Callable[..., Any], name: str, said: str | None
) -> None:
    """As the server said it."""
    run, _ = judged(name)
    out = evals_cli("show", run.id, "--question", name, "--runs-dir", run.eval_config["runs_dir"]).out
    shown = next((line for line in out.splitlines() if "the server says" in line), None)
    assert (said in (shown or "")) if said else shown is None
