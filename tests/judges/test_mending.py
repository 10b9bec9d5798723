"""Items whose quotation is not found: asked for once more by themselves, and lost alone where that does not help."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from evals.judges.backends.base import BackendError, Identity, JudgeReply
from evals.judges.prompt import load_prompt
from judges.test_llm_judge import USAGE, Scripted, decide, says

from evals.judges.cache import JudgeCache
from evals.judges.llm_judge import LLMJudge
from evals.judges.record import tally_of
from evals.judges.replies import is_usable
from evals.schemas import JudgeVerdict
from evals.schemas.verdicts import JudgeUsage, VerdictRequest

CONTEXTS = [
    {"id": 1, "text": "The warranty lasts 96 hours after delivery. It does not cover damage by water."},
    {"id": 2, "text": "Members may appeal in writing within 14 days of the decision."},
]
FAITHFULNESS = VerdictRequest(
    name="faithfulness",
    prompt="faithfulness",
    data={"contexts": CONTEXTS, "question": "How long?", "answer": "96 hours. Appeals take 14 days. It is blue."},
)
RELEVANCE = VerdictRequest(
    name="context_relevance",
    prompt="context_relevance",
    data={"question": "How long?", "expected_answer": "96 hours", "contexts": CONTEXTS},
)
YES = "supported"


def labels(prompt: str, items: str) -> list[str]:
    """The verdicts that a prompt allows."""
    return list(load_prompt(prompt).schema["properties"][items]["items"]["properties"]["verdict"]["enum"])


NO = labels("faithfulness", "claims")[-2]
"""Needs no quotation; behind it stands that the judge could not tell."""


def item_of(prompt: str, items: str, **parts: Any) -> dict[str, Any]:
    """An item of the form that a prompt asks for, with some text in what is not given."""
    names = load_prompt(prompt).schema["properties"][items]["items"]["properties"]
    return {**dict.fromkeys(names, "It says so."), **parts}


def claim(text: str, quote: str, verdict: str = YES, **more: Any) -> dict[str, Any]:
    return item_of("faithfulness", "claims", **more, claim=text, quote=quote, verdict=verdict)


def reply(*claims: dict[str, Any]) -> dict[str, Any]:
    return {"claims": list(claims), "injection_suspected": False}


GOOD = claim("It lasts 96 hours.", "The warranty lasts 96 hours after delivery")
BAD = claim("One may appeal.", "Members may appeal in writing within 15 days")
OTHER = claim("It is blue.", "", NO)
MENDED = claim("One may appeal.", "Members may appeal in writing within 14 days", item=2)
FIRST = says(reply(GOOD, BAD, OTHER))


def lost(item: dict[str, Any]) -> dict[str, Any]:
    return {**item, "verdict": "cannot_tell", "quote_not_found": True, "said": item["verdict"]}


def plain(item: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in item.items() if name != "item"}


def claims_of(verdict: JudgeVerdict) -> list[dict[str, Any]]:
    assert verdict.reply is not None, verdict.message
    return list(verdict.reply["claims"])


def test_the_second_call_names_the_item_and_mends_it_alone() -> None:
    """Only the item is shown and asked for, with what is wrong with it; the others stay as they were."""
    backend = Scripted(FIRST, says(reply(MENDED)))
    verdict = decide(backend, FAITHFULNESS)
    assert claims_of(verdict) == [GOOD, plain(MENDED), OTHER]
    assert (verdict.attempts, verdict.usage, verdict.failure) == (2, USAGE + USAGE, None)
    said = backend.calls[1].remark
    assert "within 15 days" in said
    assert '"item": 2' in said
    assert "96 hours" not in said
    assert "item" in backend.calls[1].schema["properties"]["claims"]["items"]["required"]
    assert "item" not in backend.calls[0].schema["properties"]["claims"]["items"]["properties"]


@pytest.mark.parametrize(
    "second",
    [
        says(reply({**MENDED, "quote": "Members may appeal in writing within 16 days"})),
        says(reply({**MENDED, "quote": ""})),
        says(reply({**MENDED, "item": 7})),
        says(reply(MENDED, MENDED)),
        says(reply()),
        says(reply(plain(MENDED))),
        says("certainly!"),
        says("", stop="refused"),
        says('{"claims": [', stop="truncated"),
        BackendError("gone"),
    ],
)
def test_what_stays_wrong_is_lost_alone(second: JudgeReply | BackendError) -> None:
    """The item bears a mark and the verdict that it had; there is no third call."""
    backend = Scripted(FIRST, second)
    verdict = decide(backend, FAITHFULNESS)
    assert claims_of(verdict) == [GOOD, lost(BAD), OTHER]
    assert (verdict.failure, len(backend.calls)) == (None, 2)


def test_a_judge_may_decide_anew() -> None:
    """Where it finds no words, another verdict needs none."""
    mended = {**MENDED, "quote": "", "verdict": NO}
    verdict = decide(Scripted(FIRST, says(reply(mended))), FAITHFULNESS)
    assert claims_of(verdict) == [GOOD, plain(mended), OTHER]


def test_a_whole_reply_will_do_and_changes_nothing_else() -> None:
    """Of it the items asked for count; what an item is about stays."""
    whole = reply({**GOOD, "item": 1, "verdict": NO}, {**MENDED, "claim": "Another."}, {**OTHER, "item": 3})
    verdict = decide(Scripted(FIRST, says(whole)), FAITHFULNESS)
    assert claims_of(verdict) == [GOOD, plain(MENDED), OTHER]


def test_items_with_ids_are_mended_by_these() -> None:
    """In whatever order they come."""
    label = labels("context_relevance", "contexts")[0]
    one, two = (
        item_of("context_relevance", "contexts", id=n, quote="nowhere to be found", verdict=label) for n in (1, 2)
    )
    fixed = [{**two, "quote": "Members may appeal in writing"}, {**one, "quote": "It does not cover damage by fire"}]
    backend = Scripted(
        says({"contexts": [one, two], "injection_suspected": False}),
        says({"contexts": fixed, "injection_suspected": False}),
    )
    verdict = decide(backend, RELEVANCE)
    assert verdict.reply is not None
    assert verdict.reply["contexts"] == [lost(one), fixed[0]]
    assert "not in contexts 2" in backend.calls[1].remark


def test_the_budget_and_the_end_of_a_run_leave_the_rest_as_it_is() -> None:
    """Nothing is asked, and no decision was prevented: the reply is there."""
    backend = Scripted(FIRST)
    verdict = decide(backend, FAITHFULNESS, max_cost_usd=0.1, price=lambda _model, _usage: 0.1)
    assert claims_of(verdict) == [GOOD, lost(BAD), OTHER]
    assert (verdict.attempts, verdict.cost_usd) == (1, 0.1)


def test_no_second_call_mends_a_second_reply() -> None:
    """One call more is all: after a reply of another form, items without evidence are lost at once."""
    backend = Scripted(says("certainly!"), FIRST)
    assert claims_of(decide(backend, FAITHFULNESS)) == [GOOD, lost(BAD), OTHER]
    assert len(backend.calls) == 2


def test_a_marked_reply_is_kept_and_used_again(tmp_path: Path) -> None:
    """It was paid for twice; asking again would be a third time."""
    cache = JudgeCache(tmp_path)
    first = decide(Scripted(FIRST, says(reply())), FAITHFULNESS, cache=cache)
    again = Scripted(BackendError("must not be called", fatal=True))
    second = decide(again, FAITHFULNESS, cache=cache)
    assert (second.reply, second.cached) == (first.reply, True)
    assert is_usable(first, FAITHFULNESS)


def test_a_note_says_on_how_many_items_that_is_so() -> None:
    """Of all that were judged."""
    verdict = decide(Scripted(FIRST, says(reply())), FAITHFULNESS)
    (note,) = tally_of({"q": [verdict]}).notes(Identity("judge-1-x", "http://judge", ""), prevented=0)
    assert "quotation" in note
    assert "1 of 3 items" in note


def test_what_the_first_call_took_is_logged_before_the_second() -> None:
    """With the reply as it stands, so that a run that is killed between them loses neither."""
    logged: list[JudgeVerdict] = []

    async def run() -> None:
        judge = LLMJudge(Scripted(FIRST, says(reply(MENDED))))
        await judge.decide_once(FAITHFULNESS, 0, on_unusable=logged.append)

    asyncio.run(run())
    (verdict,) = logged
    assert claims_of(verdict) == [GOOD, lost(BAD), OTHER]
    assert (verdict.attempts, verdict.usage) == (1, JudgeUsage(input_tokens=100, output_tokens=10))


PROMPTS = sorted(path.stem for path in (Path(__file__).parents[2] / "evals" / "judges" / "prompts").glob("*.yml"))


@pytest.mark.parametrize("name", PROMPTS)
def test_every_item_that_quotes_can_be_one_on_which_the_judge_could_not_tell(name: str) -> None:
    """Else what is marked would not have the form of the prompt."""
    prompt = load_prompt(name)
    for check in prompt.checks:
        if check["kind"] in {"quotes", "listed"} and check.get("items"):
            item = prompt.schema["properties"][check["items"].partition(".")[0]]["items"]
            assert "cannot_tell" in item["properties"]["verdict"]["enum"]
