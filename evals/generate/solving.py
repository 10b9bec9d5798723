"""Blind solving: a model that has not seen the draft answers the question, and must come to the same."""

from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from typing import Any

from evals.generate.checks import AGREEING, NEAR_MISS, PAIR, CheckedDraft, Rejection
from evals.generate.drafts import Prompts
from evals.generate.passages import PassageSet, content_words
from evals.schemas.verdicts import VerdictRequest
from evals.text.numbers import language_of, numbers
from evals.text.tokens import tokens

KNOWN = "known_without_documents"

FEW, MANY = 5, 10
"""Passages that a question is answered from, and those that must not answer a near miss."""

_SHARED_WORDS = 0.5
"""Share of the words of the expected answer that the same answer has."""

AskModel = Callable[[VerdictRequest], Awaitable[Mapping[str, Any] | None]]
"""Asks a model; None where it gives no usable reply."""


async def solve(draft: CheckedDraft, passages: PassageSet, prompts: Prompts, ask: AskModel) -> Rejection | None:
    """Have the question answered.

    Args:
        draft: That passed its checks; a tag is added where the model knows the answer anyway.
        passages: All passages.
        prompts: What is asked, also without any passage where they say so.
        ask: Asks the solver.

    Returns:
        Why the draft is rejected; None where it is not.
    """
    question, kind, answer = draft.draft.question, draft.draft.kind, draft.draft.answer
    own = list(dict(draft.draft.quotations))
    places = passages_for(passages, question, own, MANY if kind == NEAR_MISS else FEW)
    reply = await ask(prompts.solution("solve", question, [passages.passages[place].text for place in places]))
    if reply is None:
        return Rejection.UNUSABLE
    declined = reply["verdict"] != "answered"
    if kind == NEAR_MISS:
        return None if declined else Rejection.ANSWERABLE
    if declined:
        return Rejection.DECLINED
    if not agrees(answer, reply["answer"]):
        return Rejection.DIFFERS
    used = {places[number - 1] for number in reply["passages"] if 0 < number <= len(places)}
    if not (used >= set(own) if kind == PAIR else used & draft.places):
        return Rejection.ELSEWHERE
    if kind == PAIR:
        for name, place in zip(("solve_a", "solve_b"), own, strict=True):
            alone = await ask(prompts.solution(name, question, [passages.passages[place].text]))
            if alone is None:
                return Rejection.UNUSABLE
            if alone["verdict"] == "answered" and agrees(answer, alone["answer"]):
                return Rejection.ONE_PASSAGE
    if prompts.closed_book:
        known = await ask(prompts.request("closed_book", "closed_book", question=question))
        if known is not None and known["verdict"] == "answered" and agrees(answer, known["answer"]):
            draft.tags.append(KNOWN)
    return None


def passages_for(passages: PassageSet, question: str, own: list[int], count: int) -> list[int]:
    """The passages that best fit a question, its own among them, in an order that tells nothing."""
    best = [place for place in passages.index.best(question, count) if place not in own]
    chosen = [*own, *best[: max(0, count - len(own))]]
    return sorted(chosen, key=lambda place: sha256(f"{question}\0{passages.passages[place].hash}".encode()).digest())


def agrees(expected: str, given: str) -> bool:
    """Whether two answers say the same: yes or no, all numbers of the expected one, and half of its words."""
    language = language_of(expected, given)
    first, second = tokens(expected)[:1], tokens(given)[:1]
    if AGREEING.intersection(first) and AGREEING.intersection(second):
        return first == second
    if not numbers(expected, language, words=False) <= numbers(given, language):
        return False
    words = set(content_words(expected)) or set(tokens(expected))
    return len(words & set(tokens(given))) >= _SHARED_WORDS * len(words)
