"""What is read from a reply, and what it must hold before it counts."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from judges.scripted import says

from evals.judges.llm_judge import is_usable
from evals.judges.prompts import load_prompt
from evals.judges.replies import ReplyReading, items_of, read
from evals.schemas.verdicts import Prompt, VerdictRequest
from evals.text.quotes import is_evidence, is_quoted

DATA = os.environ.get("EVALS_REAL_DATA", "")

TEXT, NUMBER, TRUTH = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}


def form(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


def prompt(*checks: dict[str, Any], **properties: Any) -> Prompt:
    made = {"name": "made", "version": 1, "system": "Judge.", "schema": form(**properties), "max_tokens": 3000}
    return Prompt.of({**made, "checks": list(checks)})


def reading(text: Any, asked: Prompt, **data: Any) -> ReplyReading:
    return read(says(text), VerdictRequest(name="made", prompt=asked, data=data))


SUPPORT = prompt(justification=TEXT, verdict={"type": "string", "enum": ["supported", "not_supported"]})
PLAIN = {"justification": 'it says "96 hours"', "verdict": "supported"}
WRITTEN = json.dumps(PLAIN)


@pytest.mark.parametrize(
    "text",
    [
        WRITTEN,
        f"```json\n{WRITTEN}\n```",
        f"Sure! Here it is:\n{WRITTEN}\nLet me know.",
        f"{WRITTEN[:-1]},}}",
        "{'justification': 'it says \"96 hours\"', 'verdict': 'supported'}",
        WRITTEN[:-1],
        f"{WRITTEN}\n{WRITTEN}",
        f"[{WRITTEN}]",
        f'{{"verdict": {WRITTEN}}}',
        WRITTEN.replace("supported", "Supported"),
        WRITTEN.replace('"supported"', '" SUPPORTED. "'),
        f'{WRITTEN[:-1]}, "confidence": 0.9}}',
        f'<think>maybe {{"verdict": "not_supported"}}</think>{WRITTEN}',
        f'<thinking>maybe {{"verdict": "not_supported"}}</thinking>\n{WRITTEN}',
        f"first I look … </think>\n{WRITTEN}",
        f"I look at {{the passage}}. {WRITTEN}",
        f'As in {{"quotes}} {WRITTEN}',
    ],
)
def test_a_verdict_is_read_where_a_person_would_read_one(text: str) -> None:
    """Fences, words around, missing braces, wrappings and case make no difference."""
    assert reading(text, SUPPORT).reply == PLAIN


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON"),
        ("I cannot help with that.", "not JSON"),
        (WRITTEN.replace("supported", "maybe"), "not one of supported, not_supported"),
        ('{"verdict": "supported"}', "lacks 'justification'"),
        ('{"justification": "so", "verdict": 3}', "not one of"),
        ('{"justification": {"a": 1}, "verdict": "supported"}', "is no text"),
        (f"{WRITTEN} or {WRITTEN.replace('supported', 'not_supported')}", "2 replies in one, which differ"),
        (f"I look at {{it}}. {WRITTEN} or {WRITTEN.replace('supported', 'not_supported')}", "2 replies in one"),
        ('"supported"', "not JSON"),
        ("[]", "not JSON"),
        ("{" * 5000, ""),
        ("<think>is it?", "not JSON"),
        (f"<think>maybe {WRITTEN}", "not JSON"),
        (f"<thinking>maybe {WRITTEN}", "not JSON"),
    ],
)
def test_where_none_can_be_read_nothing_is_guessed(text: str, why: str) -> None:
    """Nor in a thought that does not end. The reason is short, and said to the judge with its reply."""
    found = reading(text, SUPPORT)
    assert (found.reply, found.failure) == (None, "unparsable")
    assert why in (found.message or "")
    assert len(found.message or "") <= 200
    assert found.remark.startswith("You were asked this before")


@pytest.mark.parametrize(("length", "shown"), [(20_000, True), (20_001, False)])
def test_a_reply_is_shown_again_unless_it_is_very_long(length: int, shown: bool) -> None:
    """Without end it would be paid for twice more."""
    text = "x" * length
    found = reading(text, SUPPORT)
    assert (text in found.remark, "Your reply was" in found.remark) == (shown, shown)
    assert found.remark.endswith("Reply again, to all of it.")


@pytest.mark.parametrize("said", ["a <think>b</think> c", "a </think> c"])
def test_what_stands_inside_a_reply_is_no_thought(said: str) -> None:
    """An answer on HTML may be quoted."""
    found = reading({**PLAIN, "justification": said}, SUPPORT)
    assert found.reply == {**PLAIN, "justification": said}


def test_half_of_a_letter_in_a_reply_can_be_saved() -> None:
    """A cut emoji, as JSON can hold it, cannot be written to a file."""
    found = reading(r'{"justification": "so \ud83d", "verdict": "supported"}', SUPPORT)
    assert found.reply is not None
    assert found.reply["justification"].encode("utf-8").startswith(b"so ")


@pytest.mark.real_rows
@pytest.mark.skipif(not DATA, reason="EVALS_REAL_DATA names no folder of real rows")
def test_the_forms_of_the_case_file_are_read() -> None:
    """Fourteen forms of real local models; of some the decision is lost, as for a person."""
    file = Path(DATA) / "cases" / "judge_replies.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert {row["form"]: reading(row["reply"], SUPPORT).reply for row in rows} == {
        row["form"]: row["read"] for row in rows
    }


@pytest.mark.parametrize(
    ("part", "said", "read_as"),
    [
        (NUMBER, "3", 3),
        (NUMBER, 3.0, 3),
        (NUMBER, "85%", 85),
        (NUMBER, 3.5, None),
        (NUMBER, True, None),
        (NUMBER, "many", None),
        (TRUTH, "True", True),
        (TRUTH, "no", False),
        (TRUTH, 1, True),
        (TRUTH, "perhaps", None),
        (TEXT, None, ""),
        (TEXT, 7, "7"),
        (TEXT, ["a"], None),
        ({"type": "array", "items": NUMBER}, ["1", 2], [1, 2]),
        ({"type": "array", "items": NUMBER}, 1, None),
        (form(x=TEXT), {"x": "a", "y": "b"}, {"x": "a"}),
        (form(x=TEXT), [], None),
    ],
)
def test_numbers_and_truth_may_be_written_as_text(part: Any, said: Any, read_as: Any) -> None:
    """What is of another kind is unusable."""
    found = reading({"value": said, "other": "x"}, prompt(value=part, other=TEXT))
    assert (found.reply or {}).get("value") == read_as


def test_a_reply_that_says_nothing_of_injections_flags_none() -> None:
    """Small models leave it out."""
    form, given = prompt(verdict=TEXT, other=TEXT, injection_suspected=TRUTH), {"verdict": "x", "other": ""}
    for unsaid in ({}, {"injection_suspected": None}):
        assert reading(given | unsaid, form).reply == given | {"injection_suspected": False}


def items(*ids: Any, **more: Any) -> list[dict[str, Any]]:
    return [{"id": each, **more} for each in ids]


LISTED = {"type": "array", "items": form(id=NUMBER)}


@pytest.mark.parametrize(
    ("got", "said"), [([1, 2], None), ([2, 1], None), ([1], "nothing on 2"), ([1, 2, 2], "too much on 2")]
)
@pytest.mark.parametrize("check", [{"kind": "ids", "of": "claims"}, {"kind": "names", "are": [1, 2]}])
def test_each_item_asked_about_is_there_once(check: dict[str, Any], got: list[int], said: str | None) -> None:
    """By the ids of the data, or a list of the prompt."""
    asked = prompt({**check, "items": "claims"}, claims=LISTED, other=TEXT)
    found = reading({"claims": items(*got), "other": ""}, asked, claims=items(1, 2))
    assert (found.message or "").endswith(said or "")
    assert (found.reply is None) is (said is not None)


@pytest.mark.parametrize(("parts", "good"), [([1, 2], True), ([1], False), ([1, 2, 3], False)])
def test_each_item_has_each_of_its_parts_once(parts: list[int], good: bool) -> None:
    """As the citations of a statement."""
    listed = {"type": "array", "items": form(id=NUMBER, citations=LISTED)}
    asked = prompt({"kind": "inner_ids", "items": "said", "of": "said", "list": "citations"}, said=listed, other=TEXT)
    reply = {"said": items(7, citations=items(*parts)), "other": ""}
    assert (reading(reply, asked, said=items(7, citations=[1, 2])).reply is not None) is good


@pytest.mark.parametrize(
    ("score", "good"), [(0, True), (100, True), ("70", True), (-1, False), (101, False), (70.5, False)]
)
def test_a_score_keeps_to_its_range(score: Any, good: bool) -> None:
    """Of the three criteria of factual accuracy each has one."""
    rating = {"justification": "so", "score": 50}
    said = {"correctness": {**rating, "score": score}, "completeness": rating, "consistency": rating}
    assert (reading(said, load_prompt("factual_accuracy")).reply is not None) is good


@pytest.mark.parametrize(("count", "good"), [(3, True), (2, False), (4, False)])
def test_exactly_three_questions_are_written(count: int, good: bool) -> None:
    """As they are asked for."""
    said = {"questions": ["Why?"] * count, "justification": "so", "verdict": "Committal"}
    assert (reading(said, load_prompt("generated_questions")).reply is not None) is good


# Evidence.

PASSAGES = [
    {"id": 1, "text": "Members may appeal in writing within 14 days."},
    {"id": 2, "text": "The fee is 20 euros."},
]
CLAIM = {"claim": "c", "justification": "j", "verdict": "supported"}


@pytest.mark.parametrize(
    ("quote", "verdict", "counts"),
    [
        ("appeal in writing within 14 days", "supported", True),
        ("[1] Members may appeal in writing", "supported", True),
        ("[Passage 1] 14 days", "supported", False),
        ("appeal in person within 14 days", "supported", False),
        ("within 14 days", "supported", False),
        ("", "supported", False),
        ("appeal in person within 14 days", "contradicted", False),
        ("", "contradicted", False),
        ("", "not_said", True),
        ("", "cannot_tell", True),
    ],
)
def test_a_claim_counts_only_with_words_of_a_passage(quote: str, verdict: str, counts: bool) -> None:
    """Else it is marked, with what the judge gave; the other claims of the reply stay."""
    data = {"contexts": PASSAGES, "question": "q", "answer": "a"}
    request = VerdictRequest(name="f", prompt="faithfulness", data=data)
    good = {**CLAIM, "quote": "Members may appeal in writing"}
    found = read(says({"claims": [{**CLAIM, "quote": quote, "verdict": verdict}, good]}), request)
    assert found.reply is not None
    first, second = found.reply["claims"]
    assert second == good
    assert ("quote_not_found" not in first) is counts
    assert first["verdict"] == (verdict if counts else "cannot_tell")
    assert bool(found.remark) is not counts
    assert is_usable(found.reply, request)
    assert len(list(items_of(found.reply))) == 2


@pytest.mark.parametrize(
    ("numbers", "verdict", "counts"),
    [
        ([1], "supported", True),
        ([2], "supported", False),
        ([3], "supported", False),
        ([], "supported", False),
        ([], "contradicted", False),
        ([], "not_said", True),
    ],
)
def test_a_passage_supports_by_its_own_words(numbers: list[int], verdict: str, counts: bool) -> None:
    """The quotation stands in the very text that it is given for; only that nothing is said needs no passage."""
    data = {"contexts": PASSAGES, "question": "q", "claims": [{"id": 1, "text": "t"}]}
    passages = items(*numbers, quote="Members may appeal in writing")
    reply = {"claims": items(1, passages=passages, justification="j", verdict=verdict)}
    found = read(says(reply), VerdictRequest(name="c", prompt="claims_in_contexts", data=data))
    assert found.reply is not None
    assert found.reply["claims"][0]["verdict"] == (verdict if counts else "cannot_tell")


@pytest.mark.parametrize(("cited", "counts"), [([1], True), ([2], False), ([1, 2], True)])
def test_a_statement_is_supported_by_what_it_cites(cited: list[int], counts: bool) -> None:
    """Not by another passage."""
    data = {"passages": PASSAGES, "question": "q", "statements": [{"id": 1, "text": "t", "citations": cited}]}
    said = {"quote": "Members may appeal in writing", "justification": "j", "verdict": "supported"}
    reply = {"statements": items(1, **said, citations=items(*cited, alone=True, without=False))}
    found = read(says(reply), VerdictRequest(name="s", prompt="citation_support", data=data))
    assert found.reply is not None
    assert (found.reply["statements"][0]["verdict"] == "supported") is counts


# Whether a quotation stands in a text.

ROWS = [json.loads(line) for line in Path(__file__).with_name("quotations.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['kind']}-{row['quote'][:30]}")
def test_a_quotation_is_told_from_an_altered_one(row: dict[str, Any]) -> None:
    """Case, marks, markup and articles make no difference; a word, a number, a sign or a hidden negation does."""
    assert is_quoted(row["quote"], [row["text"]]) is row["found"]


def test_a_quotation_stands_in_one_text() -> None:
    """Quotations that are joined of several are copied from none."""
    one, other = "Members may appeal in writing within 14 days.", "The board meets on the first of May."
    assert is_quoted("Members may appeal … within 14 days", [other, one])
    assert not is_quoted("Members may appeal in writing; The board meets on the first of May", [one, other])


@pytest.mark.parametrize(
    ("quote", "text", "enough"),
    [
        ("within 14 days", "Members may appeal within 14 days.", False),
        ("may appeal within 14 days", "Members may appeal within 14 days.", True),
        ("unconstitutional", "It was found to be unconstitutional.", True),
        ("14 days", "In 14 days.", True),
        ("巴黎首都", "法国的首都巴黎是大城市", True),
    ],
)
def test_what_proves_something_has_four_words_or_fifteen_characters(quote: str, text: str, enough: bool) -> None:
    """Two words stand nearly everywhere; of a text that has no more, they may be all."""
    assert is_evidence(quote, [text]) is enough


@pytest.mark.parametrize(
    "text", ["#" * 50_000, "\n" * 50_000, "(" * 50_000, "the " * 30_000, "1," * 50_000, "[x] " * 30_000]
)
def test_a_strange_text_takes_no_time(text: str) -> None:
    """Nothing is searched in a time that grows by the square; the suite's own limit of time would end it."""
    assert not is_quoted("Members may appeal; in writing and within 14 days", [text])
    assert not is_quoted(f"{text} resign", ["Members may appeal in writing within 14 days."])
