"""What is said of a run that is not complete: its own cause, and a way out that leads out."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evals.cli.saved import next_command, what_is_undone
from evals.schemas import Outcomes, ResponseError, ServerRecord
from evals.schemas.results import SAVED_ANSWERS
from evals.schemas.verdicts import JudgeRecord

Undone = Callable[..., Any]
FOLDER = Path("else where")
RESUME = "evals eval --resume abcd --runs-dir 'else where'"


@pytest.fixture
def undone(build_run: Callable[..., Any]) -> Undone:
    """A partial run of 40 questions: the errors of the first, how many were not asked, and what else is said of it."""

    def build(*errors: dict[str, Any], not_asked: int = 0, judge: Any = None, prevented: int = 0, **parts: Any) -> Any:
        values = {f"q{n}": "timeout" if n < len(errors) else {"mrr": 1.0} for n in range(40 - not_asked)}
        run, records = build_run("abcd", values)
        for place, error in enumerate(errors):
            response = records[place].response.model_copy(update={"error": ResponseError.model_validate(error)})
            records[place] = records[place].model_copy(update={"response": response})
        outcomes = {"answered": 40 - not_asked - len(errors), "not_asked": not_asked, "judge": judge or {}}
        outcomes |= {"stopped": parts.pop("stopped", None), "transport": {each["kind"]: len(errors) for each in errors}}
        changes = {
            "status": "partial",
            "completed_at": run.created_at,
            "question_count": 40,
            "error_count": len(errors),
            "outcomes": Outcomes.model_validate(outcomes),
            "judge": JudgeRecord(model="m", origin="http://judge", prevented=prevented),
        }
        return SimpleNamespace(run=run.model_copy(update={**changes, **parts}), records=lambda: records)

    return build


def status(code: int) -> dict[str, Any]:
    return {"kind": "status", "status": code, "message": f"HTTP {code}"}


MALFORMED = {"kind": "malformed", "message": "the body has no text at `answr`"}
TIMEOUT = {"kind": "timeout", "message": "no answer in 5 s"}
SCORED = ServerRecord(url="answers.jsonl", profile=SAVED_ANSWERS)


@pytest.mark.parametrize(
    ("errors", "parts", "said"),
    [
        ([], {"judge": None}, "it was ended early"),
        ([], {"completed_at": None}, "40 of 40 answers are in its log, none is scored yet"),
        ([], {"not_asked": 29}, "29 of 40 questions were not asked"),
        ([], {"not_asked": 29, "stopped": "gone"}, "29 of 40 questions were not asked; gone"),
        ([status(503), *[status(404)] * 11], {}, "12 of 40 questions brought no answer (status: 12; such as HTTP 404)"),
        (
            [TIMEOUT] * 2,
            {"not_asked": 29},
            "2 of 11 questions brought no answer (timeout: 2; such as no answer in 5 s); "
            "29 of 40 questions were not asked",
        ),
        ([], {"not_asked": 1, "server": SCORED}, "1 of 40 questions has no saved answer"),
        ([], {"prevented": 9}, "the judge's budget is spent: 9 decisions were not made"),
        (
            [status(503)],
            {"judge": {"transport": 9}},
            "1 of 40 questions brought no answer (status: 1; such as HTTP 503); "
            "9 decisions of the judge failed (transport: 9)",
        ),
    ],
)
def test_what_is_undone_is_its_own_cause(undone: Undone, errors: Any, parts: Any, said: str) -> None:
    """What stopped the asking, what the server said of most, or what the judge could not do; no note is a reason."""
    assert what_is_undone(undone(*errors, **parts, notes=["cost is approximate"])) == said


@pytest.mark.parametrize(
    ("errors", "parts", "ways"),
    [
        ([], {"not_asked": 5}, [f"continue with: {RESUME}"]),
        ([status(404)] * 12, {}, ["correct server.ask", "docs/profiles.md"]),
        ([status(401)] * 12, {}, ["server.headers", f"then continue with: {RESUME}"]),
        ([MALFORMED] * 12, {}, ["evals show abcd --question q0 --runs-dir 'else where'", "server.map", "--remap"]),
        ([status(503)] * 12, {}, [f"when the server is well again: {RESUME}"]),
        ([status(429)] * 12, {}, [f"when the server is well again: {RESUME}"]),
        ([TIMEOUT] * 12, {}, [f"when the server is well again: {RESUME}"]),
        ([], {"prevented": 9, "judge": {"transport": 1}}, [f"continue with: {RESUME} (--max-cost for more money)"]),
        ([], {"judge": {"unparsable": 9}}, [f"try again: {RESUME}", "rescore abcd --judge-model NAME"]),
        ([], {"not_asked": 1, "server": SCORED}, ["complete the file of answers"]),
        ([status(404)], {"not_asked": 29, "rescored_from": "ef01"}, ["eval --resume ef01"]),
        ([], {"completed_at": None}, [f"continue with: {RESUME}"]),
        ([], {"completed_at": None, "rescored_from": "ef01"}, ["evals rescore ef01 --runs-dir 'else where'"]),
        ([], {"completed_at": None, "server": SCORED}, ["score the same answers again"]),
    ],
)
def test_the_way_out_leads_out(undone: Undone, errors: Any, parts: Any, ways: list[str]) -> None:
    """A command that works as it stands, or the key to mend; only a run that asked a server is resumed."""
    said = next_command(undone(*errors, **parts), FOLDER)
    assert [way for way in ways if way not in said] == []
