"""The inquiries that several suites share: claims of answer and reference, and what supports them.

Claims are found for an answer and for a reference, then checked; whoever needs the same check shares it. Each repeat
finds claims anew and checks its own. What is grounded is judged without sight of the reference.
"""

import itertools
from collections.abc import Sequence
from typing import Any

from evals.case.case import Case
from evals.case.inquiry import (
    Inquiry,
    ReplyData,
    answer_beside_reference,
    answer_in_contexts,
    numbered_contexts,
    question_and_answer,
)
from evals.case.refusal import CORRECTNESS


def _numbered(reply: ReplyData) -> list[dict[str, Any]]:
    return [{"id": n, "text": claim["claim"]} for n, claim in enumerate(reply["claims"], start=1)]


ANSWER_CORRECTNESS = Inquiry(CORRECTNESS, CORRECTNESS, answer_beside_reference)
"""Whether the answer says what the expected one says, or declines to."""

FAITHFULNESS = Inquiry("faithfulness", "faithfulness", answer_in_contexts)
"""The claims that the answer makes, each against the chunks, in one call."""


def says_nothing(case: Case) -> bool:
    """Whether the answer abstains or is empty: no claim is made, and nobody need be asked."""
    return case.abstained or not (case.response.answer or "").strip()


ANSWER_CLAIMS = Inquiry(
    "answer_claims",
    "answer_claims",
    question_and_answer,
    given=lambda case: {"claims": []} if says_nothing(case) else None,
    heeds_abstention=True,
)
"""The claims that the answer makes."""

REFERENCE_CLAIMS = Inquiry(
    "reference_claims",
    "reference_claims",
    lambda case: {"question": case.asked, "expected_answer": case.question.expected_answer},
    given=lambda case: None if (case.question.expected_answer or "").strip() else {"claims": []},
)
"""The claims of the expected answer, each vital or okay."""


def _in_contexts(claims: Inquiry, name: str) -> Inquiry:
    def data(case: Case) -> dict[str, Any]:
        texts = _numbered(claims.reply(case))
        return {"contexts": numbered_contexts(case), "question": case.asked, "claims": texts}

    def given(case: Case) -> ReplyData | None:
        found = claims.reply(case)["claims"]
        if found and numbered_contexts(case):
            return None
        return {"claims": [{"id": n, "passages": [], "verdict": "not_said"} for n in range(1, len(found) + 1)]}

    return Inquiry(name, "claims_in_contexts", data, after=(claims,), given=given, merge=_merged_claims)


_STRENGTH = {"supported": 3, "contradicted": 2, "cannot_tell": 1}
"""What counts of a claim on which blocks of passages say different things; anything else says nothing of it."""


def _merged_claims(replies: Sequence[ReplyData]) -> ReplyData:
    """One item a claim: the word of the block that says most, with the passages of all blocks that say it."""
    said: dict[int, list[ReplyData]] = {}
    for item in itertools.chain.from_iterable(reply["claims"] for reply in replies):
        said.setdefault(item["id"], []).append(item)
    return {"claims": [_merged_claim(items) for items in said.values()]}


def _merged_claim(items: Sequence[ReplyData]) -> ReplyData:
    first = max(items, key=lambda item: _STRENGTH.get(item["verdict"], 0))
    alike = (item["passages"] for item in items if item["verdict"] == first["verdict"])
    return {**first, "passages": list(itertools.chain.from_iterable(alike))}


def _merged_contexts(replies: Sequence[ReplyData]) -> ReplyData:
    return {"contexts": list(itertools.chain.from_iterable(reply["contexts"] for reply in replies))}


ANSWER_IN_CONTEXTS = _in_contexts(ANSWER_CLAIMS, "answer_in_contexts")
"""Which of the answer's claims which chunks support."""

REFERENCE_IN_CONTEXTS = _in_contexts(REFERENCE_CLAIMS, "reference_in_contexts")
"""Which of the reference's claims which chunks support."""


def _compared_data(case: Case) -> dict[str, Any]:
    return {
        "question": case.asked,
        "expected_answer": case.question.expected_answer,
        "answer": case.response.answer,
        "answer_claims": _numbered(ANSWER_CLAIMS.reply(case)),
        "reference_claims": _numbered(REFERENCE_CLAIMS.reply(case)),
    }


def _compared_given(case: Case) -> ReplyData | None:
    wanted = REFERENCE_CLAIMS.reply(case)["claims"]
    if wanted and not says_nothing(case):
        return None
    if not wanted and ANSWER_CLAIMS.reply(case)["claims"]:
        return None
    missing = [{"id": n, "verdict": "missing"} for n in range(1, len(wanted) + 1)]
    return {"answer_claims": [], "reference_claims": missing}


COMPARED = Inquiry(
    "claims_compared",
    "claims_compared",
    _compared_data,
    after=(REFERENCE_CLAIMS, ANSWER_CLAIMS),  # without claims of the reference some metrics have no value
    given=_compared_given,
)
"""The answer's claims against the reference, and the reference's claims against the answer."""

CONTEXT_RELEVANCE = Inquiry(
    "context_relevance",
    "context_relevance",
    lambda case: {
        "contexts": numbered_contexts(case),
        "question": case.asked,
        "expected_answer": case.question.expected_answer,
    },
    given=lambda case: None if numbered_contexts(case) else {"contexts": []},
    merge=_merged_contexts,
)
"""Which chunks help to answer the question."""


def in_order(items: Sequence[ReplyData]) -> list[ReplyData]:
    """The items of a reply by their ids."""
    return sorted(items, key=lambda item: int(item["id"]))
