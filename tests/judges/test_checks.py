"""What a reply must hold before it counts: each kind of check on replies that fit and replies that do not."""

from collections.abc import Mapping
from typing import Any

import pytest

from evals.judges.quotes import faults_of
from evals.judges.replies import problem_with
from evals.schemas.verdicts import Prompt

FOUR = "It lasts 96 hours"
TEXTS = [{"id": 1, "text": "It lasts 96 hours."}, {"id": 2, "text": "Members may appeal."}]


def prompt(schema: dict[str, Any], *checks: Mapping[str, Any]) -> Prompt:
    return Prompt("test", 1, "", schema, 100, [dict(check) for check in checks], "")


def form_of(value: Any) -> dict[str, Any]:
    """The schema that just this value fits, so that only the check decides."""
    if isinstance(value, dict):
        parts = {name: form_of(part) for name, part in value.items()}
        return {"type": "object", "required": list(parts), "properties": parts}
    if isinstance(value, list):
        return {"type": "array", "items": form_of(value[0] if value else "")}
    return {"type": {bool: "boolean", int: "integer", str: "string"}[type(value)]}


def problem(check: Mapping[str, Any], reply: dict[str, Any], data: Mapping[str, Any] | None = None) -> str | None:
    asked = prompt(form_of(reply), check)
    return problem_with(asked, reply, data or {}) or next(iter(wrong_items(asked, reply, data or {})), None)


def wrong_items(asked: Prompt, reply: dict[str, Any], data: Mapping[str, Any]) -> list[str]:
    """What is wrong with the evidence of items."""
    return [fault.problem for fault in faults_of(asked, reply, data)]


def of_form(schema: Mapping[str, Any], value: Any) -> str | None:
    """What is wrong with the form of one value."""
    whole = {"type": "object", "required": ["value"], "properties": {"value": schema}}
    return problem_with(prompt(whole), {"value": value}, {})


@pytest.mark.parametrize(
    ("got", "said"),
    [
        ([1, 2, 3], None),
        ([3, 1, 2], None),
        ([1, 2], "claims: nothing on 3"),
        ([], "claims: nothing on 1, 2, 3"),
        ([1, 2, 3, 4], "claims: too much on 4"),
        ([1, 2, 2, 3], "claims: too much on 2"),
        ([1, 1, 2], "claims: nothing on 3"),
        ([0, 1, 2], "claims: nothing on 3"),
    ],
)
def test_a_reply_must_have_each_item_asked_about_once(got: list[int], said: str | None) -> None:
    """A dropped, an extra and a repeated item each make it unusable; the order is free."""
    check = {"kind": "ids", "items": "claims", "of": "claims"}
    data = {"claims": [{"id": n, "text": "t"} for n in (1, 2, 3)]}
    assert problem(check, {"claims": [{"id": n} for n in got]}, data) == said


def test_only_a_few_of_many_missing_items_are_named() -> None:
    """The message stays short."""
    check = {"kind": "ids", "items": "claims", "of": "claims"}
    data = {"claims": [{"id": n} for n in range(1, 90)]}
    assert problem(check, {"claims": []}, data) == "claims: nothing on 1, 2, 3, 4, 5"


@pytest.mark.parametrize(
    ("got", "said"),
    [
        ({1: [2, 4], 2: [1]}, None),
        ({2: [1], 1: [4, 2]}, None),
        ({1: [2], 2: [1]}, "citations of 1: nothing on 4"),
        ({1: [2, 4], 2: [1, 2]}, "citations of 2: too much on 2"),
        ({1: [2, 4, 4], 2: [1]}, "citations of 1: too much on 4"),
        ({1: [2, 4], 3: [1]}, "citations of 3: too much on 1"),
    ],
)
def test_an_item_must_have_each_of_its_own_parts_once(got: dict[int, list[int]], said: str | None) -> None:
    """Each statement is measured by its own citations, not by those of another."""
    check = {"kind": "inner_ids", "items": "statements", "of": "statements", "list": "citations"}
    reply = {"statements": [{"id": n, "citations": [{"id": part} for part in parts]} for n, parts in got.items()]}
    data = {"statements": [{"id": 1, "citations": [2, 4]}, {"id": 2, "citations": [1]}]}
    assert problem(check, reply, data) == said


@pytest.mark.parametrize(
    ("got", "said"),
    [
        (["topic", "figures"], None),
        (["figures", "topic"], None),
        (["topic"], "criteria: nothing on figures"),
        (["topic", "figures", "topic"], "criteria: too much on topic"),
        (["topic", "figures", "style"], "criteria: too much on style"),
    ],
)
def test_a_fixed_list_of_criteria_must_be_there(got: list[str], said: str | None) -> None:
    """The ids are the prompt's own, whatever the data is."""
    check = {"kind": "names", "items": "criteria", "are": ["topic", "figures"]}
    assert problem(check, {"criteria": [{"id": name} for name in got]}) == said


@pytest.mark.parametrize(
    ("verdict", "passages", "said"),
    [
        ("supported", [{"id": 1}], None),
        ("supported", [], "supported without passages"),
        ("unsupported", [], None),
        ("unsupported", [{"id": 1}], None),
        ("cannot_tell", [], None),
    ],
)
def test_some_verdicts_must_name_what_they_rest_on(verdict: str, passages: list[Any], said: str | None) -> None:
    """Support by nothing is no support; other verdicts may stand alone."""
    check = {"kind": "listed", "items": "claims", "only": ["supported"], "list": "passages"}
    assert problem(check, {"claims": [{"id": 7, "verdict": verdict, "passages": passages}]}) == said


@pytest.mark.parametrize(
    ("rule", "verdict", "quote", "good"),
    [
        ({"only": ["yes"]}, "yes", "It lasts 96 hours", True),
        ({"only": ["yes"]}, "yes", "It lasts 97 hours", False),
        ({"only": ["yes"]}, "yes", "", False),
        ({"only": ["yes"]}, "no", "", True),
        ({"only": ["yes"]}, "no", "It lasts 97 hours", True),
        ({"always": True}, "no", "It lasts 96 hours", True),
        ({"always": True}, "no", "", False),
        ({"only": ["yes"]}, "yes", "lasts 96", False),
        ({"always": True}, "no", "lasts 96", False),
        ({}, "no", "lasts 96", True),
        ({"only": ["yes", "cannot_tell"]}, "cannot_tell", "", True),
        ({}, "yes", "", True),
        ({}, "yes", "It lasts 96 hours", True),
        ({}, "yes", "It lasts 97 hours", False),
    ],
)
def test_a_quotation_that_is_asked_for_must_stand_in_the_data(
    rule: dict[str, Any], verdict: str, quote: str, good: bool
) -> None:
    """For some verdicts, for all, or only where one is given."""
    check = {"kind": "quotes", "items": "claims", "within": "contexts", **rule}
    reply = {"claims": [{"verdict": verdict, "quote": quote}]}
    found = problem(check, reply, {"contexts": TEXTS})
    assert (found is None) is good
    assert good or "a quotation" in (found or "")


@pytest.mark.parametrize(
    ("number", "quote", "good"),
    [
        (1, "It lasts 96 hours", True),
        (2, "It lasts 96 hours", False),
        (2, "Members may appeal", True),
        (3, "It lasts 96 hours", False),
        (1, "[1] It lasts 96 hours.", True),
        (1, "It lasts 96 hours (passage 1)", True),
        (1, "[2] It lasts 96 hours.", False),
    ],
)
def test_a_quotation_must_stand_in_the_very_text_that_is_judged(number: int, quote: str, good: bool) -> None:
    """Words of another passage, or of one that was never given, do not count."""
    check = {"kind": "quotes", "items": "claims.passages", "within": "contexts", "always": True, "same_id": True}
    reply = {"claims": [{"passages": [{"id": 1, "quote": "It lasts 96 hours"}, {"id": number, "quote": quote}]}]}
    assert (problem(check, reply, {"contexts": TEXTS}) is None) is good


@pytest.mark.parametrize(
    ("cited", "quote", "good"),
    [([1], FOUR, True), ([2], FOUR, False), ([2, 1], FOUR, True), ([], FOUR, False)],
)
def test_a_statement_is_supported_by_words_of_what_it_cites(cited: list[int], quote: str, good: bool) -> None:
    """A passage that says so but is not cited is no support."""
    check = {"kind": "quotes", "items": "statements", "within": "passages", "only": ["yes"], "one_of": "citations"}
    reply = {"statements": [{"verdict": "yes", "quote": quote, "citations": [{"id": n} for n in cited]}]}
    assert (problem(check, reply, {"passages": TEXTS}) is None) is good


@pytest.mark.parametrize(
    ("data", "good"),
    [
        ({"answer": "It lasts 96 hours."}, True),
        ({"answer": "For ever."}, False),
        ({"answer": None}, False),
        ({}, False),
    ],
)
def test_a_reply_without_items_quotes_a_single_text(data: dict[str, Any], good: bool) -> None:
    """Where there is no text, nothing can be quoted from it."""
    check = {"kind": "quotes", "within": "answer"}
    assert (problem(check, {"quote": "96 hours"}, data) is None) is good
    assert problem(check, {"quote": ""}, data) is None


def test_a_long_invented_quotation_is_cut_in_the_message() -> None:
    """It goes into records and tables."""
    found = problem({"kind": "quotes", "within": "answer"}, {"quote": "never said " * 100}, {"answer": "96 hours"})
    assert len(found or "") < 200


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "enum": ["yes", "no"]}, "y" * 2_000_000),
        ({"type": "object", "required": [], "properties": {}}, {"k" * 2_000_000: 1}),
    ],
)
def test_what_a_judge_made_up_is_cut_in_the_message(schema: dict[str, Any], value: Any) -> None:
    """A label of megabytes would be in every verdict."""
    said = of_form(schema, value) or ""
    assert "value" in said
    assert len(said) == 200


def test_the_first_check_that_fails_is_reported() -> None:
    """The form comes before the checks, and these in their order."""
    checks = [{"kind": "names", "items": "claims", "are": are} for are in (["a"], ["b"], ["c"])]
    reply = {"claims": [{"id": "a"}]}
    assert problem_with(prompt(form_of(reply), *checks), reply, {}) == "claims: nothing on b"
    assert problem_with(prompt(form_of(reply), *checks), {"claims": [{"id": 1}]}, {}) == "reply.claims[0].id is no text"


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ({"type": "integer"}, 1, None),
        ({"type": "integer"}, True, "reply.value is no whole number"),
        ({"type": "integer"}, 1.0, "reply.value is no whole number"),
        ({"type": "integer"}, "1", "reply.value is no whole number"),
        ({"type": "boolean"}, False, None),
        ({"type": "boolean"}, 0, "reply.value is no truth value"),
        ({"type": "boolean"}, None, "reply.value is no truth value"),
        ({"type": "string"}, "", None),
        ({"type": "string"}, None, "reply.value is no text"),
        ({"type": "string", "enum": ["yes", "no"]}, "no", None),
        ({"type": "string", "enum": ["yes", "no"]}, "No", "reply.value is 'No', not one of yes, no"),
        ({"type": "array", "items": {"type": "string"}}, [], None),
        ({"type": "array", "items": {"type": "string"}}, "yes", "reply.value is no list"),
        ({"type": "array", "items": {"type": "string"}}, {}, "reply.value is no list"),
        ({"type": "array", "items": {"type": "integer"}}, [1, 2, True], "reply.value[2] is no whole number"),
        (form_of({"id": 1}), [], "reply.value is no object"),
        (form_of({"id": 1}), {}, "reply.value lacks 'id'"),
        (form_of({"id": 1}), {"id": 1, "score": 5}, "reply.value has 'score', which was not asked for"),
        (form_of({"id": 1}), {"id": True}, "reply.value.id is no whole number"),
    ],
)
def test_a_reply_of_another_form_is_told_where_it_differs(schema: Any, value: Any, said: str | None) -> None:
    """A value of the wrong kind, a lacking one and one that nobody asked for."""
    assert of_form(schema, value) == said


@pytest.mark.parametrize("reply", [None, [], "yes", 1, True])
def test_a_reply_that_is_no_object_is_unusable(reply: Any) -> None:
    """JSON can be any value; nothing is looked up in one without keys."""
    assert problem_with(prompt(form_of({"id": 1})), reply, {}) == "reply is no object"
