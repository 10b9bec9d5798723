"""Asking in turn: every question of all variants before the next, in an order that the seed draws."""

import asyncio
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from evals.run.asking import StopRule
from evals.run.notebook import Observer
from evals.schemas import EvalQuestion, EvalResponse, ResponseError
from evals.variants import Variant, ask_in_turn, order_of

REFUSED = EvalResponse(error=ResponseError(kind="status", status=401, message="401"))
ANSWER = EvalResponse(answer="a")
QUESTIONS = [EvalQuestion(id=f"q{number}", question=f"question {number}") for number in range(8)]


class Server:
    """Notes who was asked what."""

    unavailable = None

    def __init__(self, name: str, log: list[tuple[str, str]], response: EvalResponse = ANSWER) -> None:
        self.name, self.log, self.response = name, log, response

    async def ask(self, question: EvalQuestion) -> EvalResponse:
        self.log.append((" / ".join(question.turns or [question.question]), self.name))
        await asyncio.sleep(0)
        return self.response


def variant(name: str, log: list[tuple[str, str]], response: EvalResponse = ANSWER, there: Any = None) -> Variant:
    server, asking = SimpleNamespace(client=Server(name, log, response)), SimpleNamespace(stop=StopRule(1))
    work = SimpleNamespace(responses=dict(there or {}), journal=None)
    return Variant(None, server, asking, work, None, Observer())  # type: ignore[arg-type]


def ask(variants: list[Variant], concurrency: int = 1) -> None:
    asyncio.run(ask_in_turn(variants, QUESTIONS, concurrency=concurrency, seed=7))


def test_all_variants_have_a_question_before_the_next_one() -> None:
    """One at a time: of each question all, in the order that is drawn for it."""
    log: list[tuple[str, str]] = []
    ask([variant(name, log) for name in "abc"])
    assert [question for question, _ in log] == [one.question for one in QUESTIONS for _ in "abc"]
    for place, question in enumerate(QUESTIONS):
        names = [name for _, name in log[3 * place : 3 * place + 3]]
        assert names == ["abc"[one] for one in order_of(3, question.id, 7)]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_each_is_asked_once(concurrency: int) -> None:
    """However many questions are in flight."""
    log: list[tuple[str, str]] = []
    variants = [variant(name, log) for name in "ab"]
    ask(variants, concurrency)
    assert Counter(log) == Counter((one.question, name) for one in QUESTIONS for name in "ab")
    assert all(len(one.work.responses) == len(QUESTIONS) for one in variants)


def test_every_variant_comes_first_about_as_often() -> None:
    """None is always the one that finds the caches cold."""
    first = Counter(order_of(3, f"q{number}", 42)[0] for number in range(3000))
    assert all(900 < first[place] < 1100 for place in range(3))


def test_what_is_answered_is_not_asked_again() -> None:
    """As in a run that goes on."""
    log: list[tuple[str, str]] = []
    ask([variant("a", log, there={"q0": ANSWER}), variant("b", log)])
    assert ("question 0", "a") not in log
    assert ("question 0", "b") in log


def test_a_variant_that_refuses_leaves_the_others_alone() -> None:
    """It is asked no more; they are asked all."""
    log: list[tuple[str, str]] = []
    ask([variant("a", log, REFUSED), variant("b", log)])
    assert Counter(name for _, name in log) == {"a": 1, "b": len(QUESTIONS)}


def test_nobody_is_asked_once_all_refuse() -> None:
    """The rest of the questions is left."""
    log: list[tuple[str, str]] = []
    ask([variant("a", log, REFUSED), variant("b", log, REFUSED)])
    assert len(log) == 2


def test_each_variant_has_a_conversation_of_its_own() -> None:
    """All turns go to one variant before the next one is asked."""
    log: list[tuple[str, str]] = []
    talk = EvalQuestion(id="c", question="And then?", turns=["What first?", "And then?"])
    variants = [variant("a", log), variant("b", log)]
    asyncio.run(ask_in_turn(variants, [talk], concurrency=1, seed=7))
    assert sorted(log) == [("What first? / And then?", "a"), ("What first? / And then?", "b")]
