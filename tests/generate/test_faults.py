"""Drafts with one planted fault each: every one is rejected, and for its own reason."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from generate.conftest import GOOD, GOOD_PAIR, drafted, solved
from servers import HOME

from evals.generate.checks import Rejection

NEAR_MISS: dict[str, Any] = {
    "quotation": "Forty people work in the yard",
    "attribute": "wage of the carpenters",
    "question": "What does a carpenter of the yard in Carrow earn in a month?",
    "verdict": "question",
    "injection_suspected": False,
}

SINGLE, PAIR, NEAR = "1/0/0", "0/1/0", "0/0/1"

OF_FERRY = "What else does the ferry Heron with 90 passengers carry between Oare and Brennick?"
"""By the words of the other document, of which the rule-following solver finds enough."""

Fault = tuple[str, str, dict[str, Any], list[dict[str, Any]]]

BY_REASON: dict[Rejection, list[Fault]] = {
    Rejection.QUOTATION: [
        ("a changed word", SINGLE, {"quotations": ["A day ticket costs $14.50 in tariff code HX-7."]}, []),
        ("a changed number", SINGLE, {"quotations": ["A day ticket costs $15.50 under tariff code HX-7."]}, []),
        ("an invented quotation of a near miss", NEAR, {"quotation": "Fifty people work in the yard"}, []),
    ],
    Rejection.SHORT_QUOTATION: [("a quotation of two words", SINGLE, {"quotations": ["costs $14.50"]}, [])],
    Rejection.VALUE: [
        ("a number that is not in the passage", SINGLE, {"answer": "$16.00"}, []),
        ("a code that is not in the passage", SINGLE, {"answer": "$14.50 under HX-9"}, []),
        ("a name that is not in the quotations", SINGLE, {"answer": "$14.50 to Mara Quill"}, []),
    ],
    Rejection.UNQUOTED: [("an answer of other words", SINGLE, {"answer": "rather expensive"}, [])],
    Rejection.INCOMPLETE: [
        ("no answer", SINGLE, {"answer": " "}, []),
        ("no question", SINGLE, {"question": "?"}, []),
        ("no quotation", SINGLE, {"quotations": []}, []),
    ],
    Rejection.GIVEN_AWAY: [
        ("the answer in the question", SINGLE, {"question": "Does the day ticket to Brennick cost $14.50?"}, [])
    ],
    Rejection.POINTS_TO_TEXT: [
        ("a question about this document", SINGLE, {"question": "Which price does this document give for a day?"}, [])
    ],
    Rejection.SKIPPED: [("a skip", SINGLE, {"verdict": "skip"}, [])],
    Rejection.INJECTION: [("a passage that gives orders", SINGLE, {"injection_suspected": True}, [])],
    Rejection.DECLINED: [("a solver without an answer", SINGLE, {}, [solved("")])],
    Rejection.DIFFERS: [("a solver with another answer", SINGLE, {}, [solved("$62", 1, 2)])],
    Rejection.ELSEWHERE: [
        ("a solver with no passage", SINGLE, {}, [solved("$14.50")]),
        ("a solver with one of two passages", PAIR, {}, [solved("90 passengers, 1998", 1)]),
    ],
    Rejection.ANSWERABLE: [("a near miss that another document answers", NEAR, {"question": OF_FERRY}, [])],
    Rejection.BRIDGE: [("a bridge of one passage", PAIR, {"bridge": "Plover"}, [])],
    Rejection.BRIDGE_NAMED: [
        ("a named bridge", PAIR, {"question": "How many fit on the Heron, and how old is it?"}, [])
    ],
    Rejection.ONE_QUOTATION: [("an answer in one quotation", PAIR, {"answer": "90 passengers"}, [])],
    Rejection.ONE_PASSAGE: [("a pair that one passage answers", PAIR, {}, [solved("90 passengers, 1998", 1, 2)])],
}

FAULTS = [pytest.param(*fault[1:], reason, id=fault[0]) for reason, faults in BY_REASON.items() for fault in faults]


@pytest.mark.parametrize(("mix", "change", "rules", "reason"), FAULTS)
def test_each_fault_is_rejected_by_its_own_reason(
    mix: str,
    change: dict[str, Any],
    rules: list[dict[str, Any]],
    reason: Rejection,
    generate: Callable[..., Any],
    messages_api: Any,
    docs: Path,
) -> None:
    """A draft that passes everything but for one change: nothing is written, and one reason is counted."""
    base = {SINGLE: GOOD, PAIR: GOOD_PAIR, NEAR: NEAR_MISS}[mix]
    yard = {"match": "The yard built"} if mix == NEAR else {}
    skip = drafted(**{**base, "verdict": "skip"})
    messages_api.script({**drafted(**{**base, **change}), **yard}, skip, *rules, {"then": {"python": "judge"}})
    done = generate(docs if mix != SINGLE else docs / "ferry.md", "-n", 1, "--mix", mix, "--json")
    assert done.code == 4
    assert done.json["questions"] == 0
    assert set(done.json["rejected"]) - ({Rejection.SKIPPED.value} if mix == NEAR else set()) == {reason.value}


def test_the_page_lists_every_reason() -> None:
    """In the order in which drafts are checked, so that a new reason is documented."""
    page = (HOME / "docs" / "generate.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| ([^|]+) \|", page.partition("| a draft is rejected because")[2].partition("\n\n")[0], re.MULTILINE
    )
    assert rows == [reason.value for reason in Rejection]


@pytest.mark.parametrize(
    ("mix", "draft", "rules"),
    [
        (SINGLE, GOOD, [solved("It is $14.50 for a day", 1, 2)]),
        (PAIR, GOOD_PAIR, [{**solved("90 passengers, 1998", 1, 2), "times": 1}, solved("")]),
        (NEAR, NEAR_MISS, [solved("")]),
    ],
)
def test_the_same_drafts_without_a_fault_are_accepted(
    mix: str, draft: dict[str, Any], rules: list[Any], generate: Callable[..., Any], messages_api: Any, docs: Path
) -> None:
    """Else the table above would prove nothing."""
    messages_api.script(drafted(**draft), *rules)
    done = generate(docs, "-n", 1, "--mix", mix, "--json")
    assert (done.code, done.json["questions"]) == (0, 1), done.json["rejected"]


def test_a_reply_that_cannot_be_used_is_counted_and_not_paid_for_again(
    generate: Callable[..., Any], messages_api: Any, docs: Path
) -> None:
    """Two calls for each of the five kinds, and none when the command is given again."""
    messages_api.script({"then": {"text": "I would rather not."}})
    command = (docs / "ferry.md", "-n", 1, "--mix", SINGLE, "--json")
    first, again = generate(*command), generate(*command)
    assert first.json["rejected"] == again.json["rejected"] == {Rejection.UNUSABLE.value: 5}
    assert messages_api.stats()["requests"] == 10
