"""What is said of a run that is not complete: its own cause, and a way out that leads out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.cli.saved import next_command, what_is_undone
from evals.schemas import EvalRecord, EvalRun, Outcomes, ResponseError, ServerRecord
from evals.schemas.results import SAVED_ANSWERS
from evals.schemas.verdicts import JudgeRecord
from evals.store.runs import RunStore

Undone = Callable[..., tuple[EvalRun, list[EvalRecord]]]
FOLDER = Path("else where")
RESUME = "evals eval --resume abcd --runs-dir 'else where'"


@pytest.fixture
def undone(build_run: Callable[..., Any]) -> Undone:
    """A partial run of 40 questions.

    Given are the errors of the first, how many were not asked, failures of the judge, decisions without money, and
    other parts of the run.
    """

    def build(
        *errors: dict[str, Any],
        not_asked: int = 0,
        stopped: str | None = None,
        judge: dict[str, int] | None = None,
        prevented: int = 0,
        **parts: Any,
    ) -> Any:
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
            stopped=stopped,
            transport={error["kind"]: len(errors) for error in errors},
            judge=judge or {},
        )
        changes = {
            "status": "partial",
            "completed_at": run.created_at,
            "question_count": 40,
            "error_count": len(errors),
            "outcomes": outcomes,
            "judge": JudgeRecord(model="m", origin="http://judge", prevented=prevented),
        }
        return run.model_copy(update={**changes, **parts}), records

    return build


def status(code: int) -> dict[str, Any]:
    return {"kind": "status", "status": code, "message": f"HTTP {code}"}


MALFORMED = {"kind": "malformed", "message": "the body has no text at `answr`"}


def test_without_a_judge_none_is_blamed(undone: Undone) -> None:
    """What is undone was ended early; nobody who was not there left it."""
    run, records = undone(judge=None)
    run = run.model_copy(update={"judge": None})
    assert what_is_undone(run, records) == "it was ended early"
    assert next_command(run, records, FOLDER) == f"go on with: {RESUME}"


def test_a_run_that_was_never_finished_tells_what_is_in_its_log(undone: Undone) -> None:
    """Its answers are there, and none is scored: nobody knows of a judge."""
    run, records = undone(completed_at=None, outcomes=Outcomes())
    assert what_is_undone(run, records) == "40 of 40 answers are in its log, none is scored yet"


def test_no_server_is_blamed_where_none_failed(undone: Undone) -> None:
    """Somebody pressed Ctrl-C: there is nothing to wait for."""
    assert next_command(*undone(not_asked=5), FOLDER) == f"go on with: {RESUME}"


def test_the_reason_is_what_stopped_the_asking_and_no_other_note(undone: Undone) -> None:
    """A note on cost is no reason for questions that were not asked."""
    notes = ["cost is approximate: tokens are counted together"]
    assert what_is_undone(*undone(not_asked=29, stopped="the server is gone: refused", notes=notes)) == (
        "29 of 40 questions were not asked; the server is gone: refused"
    )
    assert what_is_undone(*undone(not_asked=29, notes=notes)) == "29 of 40 questions were not asked"


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
    way = next_command(*undone(*[error] * 12), FOLDER)
    assert named in way
    assert "docs/profiles.md" in way
    assert "well again" not in way


@pytest.mark.parametrize("error", [status(503), status(429), {"kind": "timeout", "message": "no answer in 5 s"}])
def test_what_may_pass_is_asked_again(undone: Undone, error: dict[str, Any]) -> None:
    """With the folder of the run, such that the command works as it stands."""
    assert next_command(*undone(*[error] * 12), FOLDER) == f"when the server is well again: {RESUME}"


def test_a_question_to_look_at_is_named(undone: Undone) -> None:
    """One whose body held no answer, in a command that can be run."""
    way = next_command(*undone(*[MALFORMED] * 12), FOLDER)
    assert "evals show abcd --question q0 --runs-dir 'else where'" in way


def test_more_money_is_advised_where_the_budget_ended_and_nowhere_else(undone: Undone) -> None:
    """A judge that cannot be reached or read is not helped by money, and a few failures of the server hide neither."""
    spent = undone(prevented=9, judge={"transport": 1})
    assert "--max-cost" in next_command(*spent, FOLDER)
    gone = undone(status(503), judge={"transport": 9})
    assert what_is_undone(*gone) == "9 decisions of the judge failed (transport: 9)"
    assert next_command(*gone, FOLDER) == f"when the judge can be reached again: {RESUME}"
    unread = undone(judge={"unparsable": 9})
    assert "rescore abcd --judge-model NAME" in next_command(*unread, FOLDER)
    assert "--max-cost" not in next_command(*unread, FOLDER)


def test_a_hint_about_the_data_is_no_reason(undone: Undone) -> None:
    """A suspected injection is worth a note, and ended nothing."""
    notes = ["the judge's data may speak to it: 3 questions"]
    said = "the judge's budget is spent: 9 decisions were not made"
    assert what_is_undone(*undone(prevented=9, notes=notes)) == said


SCORED = ServerRecord(url="answers.jsonl", profile=SAVED_ANSWERS)


@pytest.mark.parametrize(
    ("parts", "way"),
    [
        pytest.param({}, f"go on with: {RESUME}", id="eval"),
        pytest.param(
            {"rescored_from": "ef01"}, "begin again with evals rescore ef01 --runs-dir 'else where'", id="rescore"
        ),
        pytest.param({"server": SCORED}, "score the same answers again", id="score"),
        pytest.param({"server": SCORED, "rescored_from": "ef01"}, "evals rescore ef01", id="rescore of a score"),
    ],
)
def test_a_run_that_was_killed_goes_on_with_the_command_that_made_it(undone: Undone, parts: Any, way: str) -> None:
    """Only a run that asked a server can be resumed."""
    said = next_command(*undone(completed_at=None, **parts), FOLDER)
    assert way in said
    assert ("--resume" in said) is (not parts)


def test_answers_that_a_rescore_lacks_are_asked_for_in_the_run_that_asked(
    undone: Undone, build_run: Callable[..., Any], tmp_path: Path
) -> None:
    """A run that was measured twice has its answers from the first one; an unreadable one is named as it is."""
    store = RunStore(tmp_path)
    lacking = undone(status(404), not_asked=29, rescored_from="second")
    assert f"evals eval --resume second --runs-dir {tmp_path} asks" in next_command(*lacking, tmp_path)
    store.save(build_run("first", {})[0])
    store.save(build_run("second", {}, rescored_from="first")[0])
    assert f"evals eval --resume first --runs-dir {tmp_path} asks" in next_command(*lacking, tmp_path)


def test_a_server_that_answers_nothing_is_the_reason_in_the_run_and_in_the_message(
    ask: Callable[..., Any], start_server: Callable[..., str]
) -> None:
    """The same words stand in `outcomes.stopped`, for programs, and behind the count of questions not asked."""
    url = start_server("--corpus", "golden", "--misbehave", "every:1:status:500")
    result = ask("--rag-url", url, "--concurrency", 1, "--json")
    outcomes = result.json["outcomes"]
    assert outcomes["stopped"].startswith("the first 2 questions all failed: ")
    assert f"10 of 12 questions were not asked; {outcomes['stopped']}" in result.err
