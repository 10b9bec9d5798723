"""The rule-following judge of the imitation: what it says to every prompt can be used, and follows shared words."""

from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest
from evals.judges.prompt import load_prompt

from evals.judges.replies import problem_with

PROMPTS = sorted(path.name.removesuffix(".yml") for path in files("evals.judges").joinpath("prompts").iterdir())
Respond = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]
CONTEXTS = [
    {"id": 1, "text": "# Battery\n\nThe battery of the X300 lasts 96 hours. It charges in two hours."},
    {"id": 3, "text": "Snow tyres are stored in the cellar."},
]
ASKED = {"question": "How long does the battery of the X300 last?"}
ANSWERED = {**ASKED, "answer": "The battery lasts 96 hours. [1] Tape rots in attics [1, 3]."}
EXPECTED = {"expected_answer": "The X300 battery lasts 96 hours. Penguins cannot fly."}
BESIDE = {**ANSWERED, **EXPECTED, "accepted_variants": ["96 hours"]}
CLAIMS = [{"id": 1, "text": "The battery lasts 96 hours."}, {"id": 2, "text": "Tape rots in attics."}]
STATEMENTS = [{**CLAIMS[0], "citations": [1, 3]}, {**CLAIMS[1], "citations": [3]}]
DATA: dict[str, dict[str, Any]] = {
    "abstention": ANSWERED,
    "answer_claims": ANSWERED,
    "answer_correctness": BESIDE,
    "answer_relevancy": ANSWERED,
    "citation_support": {**ASKED, "passages": CONTEXTS, "statements": STATEMENTS},
    "claims_compared": {**ANSWERED, **EXPECTED, "answer_claims": CLAIMS, "reference_claims": CLAIMS},
    "claims_in_contexts": {**ASKED, "contexts": CONTEXTS, "claims": CLAIMS},
    "context_relevance": {**ASKED, **EXPECTED, "contexts": CONTEXTS},
    "direct_relevance": ANSWERED,
    "factual_accuracy": BESIDE,
    "faithfulness": {**ANSWERED, "contexts": CONTEXTS},
    "generated_questions": {"answer": ANSWERED["answer"]},
    "gptscore": BESIDE,
    "reference_claims": {**ASKED, **EXPECTED},
    "rubric": {"criteria": [{"id": 1, "text": "says 96 hours"}, {"id": 2, "text": "is rude"}], **EXPECTED, **ANSWERED},
}
"""For every prompt what its judge is given."""


@pytest.fixture(scope="module")
def respond() -> Respond:
    """The responder, without its server."""
    from messages_api.responder import respond as rules  # noqa: PLC0415 - found by the conftest

    return rules  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", PROMPTS)
def test_a_reply_to_every_prompt_passes_its_checks(respond: Respond, name: str) -> None:
    """Form, ids and verbatim quotations; a prompt without data here is one that nobody tried."""
    prompt = load_prompt(name)
    assert problem_with(prompt, respond(prompt.schema, DATA[name]), DATA[name]) is None


@pytest.mark.parametrize("name", PROMPTS)
@pytest.mark.parametrize("answer", ["§ 5 – no.", "Ja", "| a | b |\n|---|---|\n| 1 | 2 |", "[1]"])
def test_odd_answers_are_replied_to_as_well(respond: Respond, name: str, answer: str) -> None:
    """Tables, marks alone, words that stand nowhere: every reply is of the form asked for."""
    prompt, data = load_prompt(name), dict(DATA[name])
    data |= {key: answer for key in ("answer", "expected_answer") if key in data}
    for items in ("claims", "statements", "answer_claims", "reference_claims"):
        if items in data:
            data[items] = [item | {"text": answer} for item in data[items]]
    assert problem_with(prompt, respond(prompt.schema, data), data) is None


@pytest.mark.parametrize(
    ("name", "items", "verdicts"),
    [
        ("faithfulness", "claims", ["supported", "not_said"]),
        ("claims_in_contexts", "claims", ["supported", "not_said"]),
        ("citation_support", "statements", ["supported", "unsupported"]),
        ("context_relevance", "contexts", ["relevant", "irrelevant"]),
        ("claims_compared", "answer_claims", ["correct", "not_stated"]),
        ("claims_compared", "reference_claims", ["conveyed", "conveyed"]),
    ],
)
def test_verdicts_follow_shared_words(respond: Respond, name: str, items: str, verdicts: list[str]) -> None:
    """What stands in the text is there, what does not is not."""
    reply = respond(load_prompt(name).schema, DATA[name])
    assert [item["verdict"] for item in reply[items]] == verdicts


def test_a_passage_that_others_make_needless_is_called_that(respond: Respond) -> None:
    """Alone or without: both are told apart."""
    reply = respond(load_prompt("citation_support").schema, DATA["citation_support"])
    first, second = reply["statements"][0]["citations"]
    assert first == {"id": 1, "alone": True, "without": False}
    assert second == {"id": 3, "alone": False, "without": True}
