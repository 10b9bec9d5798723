"""What is said of a run that is not complete: its own cause, and a way out that leads out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.asking import STOPPED
from evals.cli.outcome import way_on, what_is_undone
from evals.judging import BUDGET, MISSING, NOTE
from evals.schemas import EvalRecord, EvalRun, Outcomes, ResponseError

Undone = Callable[..., tuple[EvalRun, list[EvalRecord]]]
FOLDER = Path("else where")
RESUME = "evals eval --resume abcd --runs-dir 'else where'"


@pytest.fixture
def undone(build_run: Callable[..., Any]) -> Undone:
    """A partial run of 40 questions; keywords are the errors of the first, how many were not asked, judge and notes."""

    def build(*errors: dict[str, Any], not_asked: int = 0, judge: dict[str, int] | None = None, notes: Any = ()) -> Any:
        values: dict[str, Any] = {
            f"q{n}": "timeout" if n < len(errors) else {"mrr": 1.0} for n in range(40 - not_asked)
        }
        run, records = build_run("abcd", values)
        for place, error in enumerate(errors):
            response = records[place].response.model_copy(update={"error": ResponseError.model_validate(error)})
            records[place] = records[place].model_copy(update={"response": response})
        outcomes = Outcomes(
            answered=40 - not_asked - len(errors),
            not_asked=not_asked,
            transport={error["kind"]: len(errors) for error in errors},
            judge=judge or {},
        )
        changes = {"status": "partial", "question_count": 40, "outcomes": outcomes, "notes": list(notes)}
        return run.model_copy(update=changes), records

    return build


def status(code: int) -> dict[str, Any]:
    return {"kind": "status", "status": code, "message": f"HTTP {code}"}


MALFORMED = {"kind": "malformed", "message": "the body has no text at `answr`"}


def test_the_reason_is_what_stopped_the_asking_and_no_other_note(undone: Undone) -> None:
    """A note on cost is no reason for questions that were not asked."""
    notes = ["cost is approximate: tokens are counted together", f"{STOPPED}the server is gone: refused"]
    assert what_is_undone(*undone(not_asked=29, notes=notes)) == (
        "29 of 40 questions were not asked; the server is gone: refused"
    )
    assert what_is_undone(*undone(not_asked=29, notes=notes[:1])) == "29 of 40 questions were not asked"


def test_the_first_cause_of_failures_is_named(undone: Undone) -> None:
    """The kind with its number says little; what the server said of most of them says more."""
    said = what_is_undone(*undone(status(503), status(404), status(404), *[status(404)] * 9))
    assert said == "12 of 40 questions brought no answer (status: 12; such as HTTP 404)"


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (status(404), "server.ask"),
        (status(400), "server.ask"),
        (MALFORMED, "server.map"),
        (status(401), "server.headers"),
    ],
)
def test_what_no_waiting_mends_points_to_the_configuration(undone: Undone, error: dict[str, Any], named: str) -> None:
    """The key to mend, and where it is explained."""
    way = way_on(*undone(*[error] * 12), FOLDER)
    assert named in way
    assert "docs/profiles.md" in way
    assert "well again" not in way


@pytest.mark.parametrize("error", [status(503), status(429), {"kind": "timeout", "message": "no answer in 5 s"}])
def test_what_may_pass_is_asked_again(undone: Undone, error: dict[str, Any]) -> None:
    """With the folder of the run, such that the command works as it stands."""
    assert way_on(*undone(*[error] * 12), FOLDER) == f"when the server is well again: {RESUME}"


def test_a_question_to_look_at_is_named(undone: Undone) -> None:
    """One whose body held no answer, in a command that can be run."""
    way = way_on(*undone(*[MALFORMED] * 12), FOLDER)
    assert "evals show abcd --question q0 --runs-dir 'else where'" in way


def test_more_money_is_advised_where_the_budget_ended_and_nowhere_else(undone: Undone) -> None:
    """A judge that cannot be reached or read is not helped by money, and a few failures of the server hide neither."""
    spent = undone(notes=[f"{BUDGET}: 9 decisions were not made"], judge={"transport": 1})
    assert "--max-cost" in way_on(*spent, FOLDER)
    gone = undone(status(503), notes=[f"{MISSING} on 9 of 9 decisions (9 transport)"], judge={"transport": 9})
    assert what_is_undone(*gone) == f"{MISSING} on 9 of 9 decisions (9 transport)"
    assert way_on(*gone, FOLDER) == f"when the judge can be reached again: {RESUME}"
    unread = undone(notes=[f"{MISSING} on 9 of 9 decisions (9 unparsable)"], judge={"unparsable": 9})
    assert "rescore abcd --judge-model NAME" in way_on(*unread, FOLDER)
    assert "--max-cost" not in way_on(*unread, FOLDER)


def test_a_hint_about_the_data_is_no_reason(undone: Undone) -> None:
    """A suspected injection is worth a note, and ended nothing."""
    notes = [f"{NOTE} data may speak to it: 3 questions", f"{BUDGET}: 9 decisions were not made"]
    assert what_is_undone(*undone(notes=notes)) == f"{BUDGET}: 9 decisions were not made"
