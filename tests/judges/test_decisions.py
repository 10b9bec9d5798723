"""From a request to a verdict: cache, budget, one call, at most a second one, and what is lost."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from judges.scripted import GOOD, USED, Said, Scripted, asks, decide, decide_at_once, penny, says

from evals.errors import JudgeError
from evals.judges.cache import JudgeCache
from evals.judges.llm_judge import LLMJudge
from evals.judges.models import Call, CallFailed, JudgeReply
from evals.judges.money import Ahead, Budget, BudgetSpent, cost_ahead
from evals.judges.prompts import CHARACTERS_A_TOKEN, call_of
from evals.runtime import run_anywhere
from evals.schemas.verdicts import JudgeUsage, JudgeVerdict, VerdictRequest

MADE_UP = {**GOOD, "quote": "at midnight, as everybody knows"}


def test_a_verdict_says_what_was_replied_and_what_it_took() -> None:
    """Reply, model, tokens, cost, and the hash of all that decides it."""
    (verdict,) = decide(LLMJudge(Scripted(), price=penny))
    assert (verdict.reply, verdict.failure, verdict.model) == (GOOD, None, "scripted")
    assert (verdict.attempts, verdict.usage, verdict.cost_usd, verdict.unpriced) == (1, USED, 0.01, 0)
    assert verdict.key
    assert verdict.prompt_hash


def test_a_kept_reply_costs_nothing_and_says_what_it_cost(tmp_path: Path) -> None:
    """The second judge makes no call."""
    first, second = (LLMJudge(Scripted(), price=penny, cache=JudgeCache(tmp_path)) for _ in range(2))
    logged: list[JudgeVerdict] = []
    decide(first)
    (verdict,) = decide(second, log=logged.append)
    assert logged == [verdict]
    assert second.model.calls == []  # type: ignore[attr-defined]
    assert (verdict.reply, verdict.cached, verdict.attempts) == (GOOD, True, 0)
    assert (verdict.cost_usd, verdict.saved_usd, verdict.usage) == (0.0, 0.01, None)


def test_a_kept_reply_of_unknown_cost_saves_what_its_tokens_cost_now(tmp_path: Path) -> None:
    """Where no price is known even now, it is unknown what it saved: that is not nothing."""
    decide(LLMJudge(Scripted(), cache=JudgeCache(tmp_path)))
    priced, unpriced = (LLMJudge(Scripted(), cache=JudgeCache(tmp_path), **price) for price in ({"price": penny}, {}))
    assert [decide(judge)[0].saved_usd for judge in (priced, unpriced)] == [0.01, None]


@pytest.mark.parametrize(
    ("judge", "request_"),
    [
        ({"origin": "http://127.0.0.2"}, asks()),
        ({"model": "another"}, asks()),
        ({"effort": "high"}, asks()),
        ({}, asks("Another?")),
        ({}, asks(prompt="direct_relevance")),
    ],
)
def test_whatever_decides_a_reply_makes_it_another(tmp_path: Path, judge: Any, request_: VerdictRequest) -> None:
    """Address, model, effort, data and prompt are in the key of the cache."""
    decide(LLMJudge(Scripted(), cache=JudgeCache(tmp_path)))
    other = Scripted()
    vars(other).update(judge)
    decide(LLMJudge(other, cache=JudgeCache(tmp_path)), request_)
    assert len(other.calls) > 0


@pytest.mark.parametrize("content", ["", "{", '{"reply": 3}', '{"reply": {"verdict": "relevant"}}', "null"])
def test_a_damaged_file_of_the_cache_costs_a_call_and_no_run(tmp_path: Path, content: str) -> None:
    """It is asked for anew, and kept whole."""
    cache = JudgeCache(tmp_path)
    (verdict,) = decide(LLMJudge(Scripted(), cache=cache))
    cache.path(verdict.key or "").write_text(content)
    (again,) = decide(LLMJudge(Scripted(), cache=cache))
    assert (again.reply, again.cached) == (GOOD, False)
    assert decide(LLMJudge(Scripted(), cache=cache))[0].cached


def test_a_cache_that_fills_the_disk_is_said_once_and_ends_nothing(tmp_path: Path) -> None:
    """The verdicts are there; no further reply is kept."""
    judge = LLMJudge(Scripted(), cache=JudgeCache(tmp_path / "cache"))
    (tmp_path / "cache").write_text("in the way")
    heard: list[str] = []
    judge.on_remark = heard.append
    verdicts = decide(judge, asks("One?"), asks("Two?"))
    assert [verdict.reply for verdict in verdicts] == [GOOD, GOOD]
    assert len(heard) == 1
    assert "replies are no longer kept" in heard[0]


def test_equal_requests_at_the_same_time_are_paid_for_once() -> None:
    """The others take the reply of the first; a failure is not shared."""
    model = Scripted()
    verdicts = decide_at_once(LLMJudge(model, price=penny), *[asks()] * 5)
    assert len(model.calls) == 1
    assert sum(verdict.cost_usd or 0.0 for verdict in verdicts) == 0.01
    assert [verdict.cached for verdict in verdicts].count(True) == 4
    lost = decide_at_once(LLMJudge(Scripted(CallFailed("gone"), says(GOOD))), *[asks()] * 5)
    assert sorted(verdict.failure or "" for verdict in lost) == ["", "", "", "", "transport"]


@pytest.mark.parametrize("first", ["no JSON", {**GOOD, "verdict": "so so"}, {"verdict": "relevant"}, [GOOD, MADE_UP]])
def test_an_unusable_reply_is_asked_for_once_more_and_told_why(first: Any) -> None:
    """Both calls count; the second is told what was wrong and shown what was said."""
    model = Scripted(says(first), says(GOOD))
    logged: list[JudgeVerdict] = []
    (verdict,) = decide(LLMJudge(model, price=penny), log=logged.append)
    assert (verdict.reply, verdict.attempts, verdict.cost_usd) == (GOOD, 2, 0.02)
    assert verdict.usage == USED + USED
    assert "cannot be used" in model.calls[1].remark
    assert says(first).text in model.calls[1].remark
    assert model.calls[0].remark == ""
    assert model.calls[0].max_tokens == model.calls[1].max_tokens
    assert [(each.failure, each.attempts) for each in logged] == [("unparsable", 1), (None, 2)]


def test_a_second_unusable_reply_loses_the_decision_and_is_not_kept(tmp_path: Path) -> None:
    """It is counted, and asked for again by the next run."""
    (verdict,) = decide(LLMJudge(Scripted(says("nothing")), cache=JudgeCache(tmp_path)))
    assert list(tmp_path.rglob("*.json")) == []
    assert (verdict.reply, verdict.failure, verdict.attempts) == (None, "unparsable", 2)
    assert "not JSON" in (verdict.message or "")
    assert decide(LLMJudge(Scripted(), cache=JudgeCache(tmp_path)))[0].reply == GOOD


def test_a_reply_that_was_cut_off_gets_twice_the_room() -> None:
    """Once; and where it is cut off again, that is why the decision is lost."""
    model = Scripted(says("{", stop="truncated"), says(GOOD))
    assert decide(LLMJudge(model))[0].reply == GOOD
    assert model.calls[1].max_tokens == 2 * model.calls[0].max_tokens
    assert model.calls[1].message == model.calls[0].message
    assert decide(LLMJudge(Scripted(says("{", stop="truncated"))))[0].failure == "truncated"


@pytest.mark.parametrize(
    ("second", "verdict"), [(GOOD, "relevant"), (MADE_UP, "cannot_tell"), ("no JSON", "cannot_tell")]
)
def test_a_quotation_that_is_nowhere_is_asked_for_once_more_and_then_marked(second: Any, verdict: str) -> None:
    """What the judge gave stays with the mark, so that nothing is hidden."""
    model = Scripted(says(MADE_UP), says(second))
    (found,) = decide(LLMJudge(model))
    assert found.failure is None
    assert found.reply is not None
    assert (found.reply["verdict"], found.attempts) == (verdict, 2)
    assert "a quotation that is not in answer" in model.calls[1].remark
    if verdict == "cannot_tell":
        assert (found.reply["quote_not_found"], found.reply["said"]) == (True, "relevant")


def test_a_call_without_a_reply_is_lost_and_priced_by_whether_it_was_sent() -> None:
    """What was refused costs nothing; of what was sent nothing is known."""
    model = Scripted(CallFailed("HTTP 400: no", kind="rejected"), CallFailed("cut", sent=True))
    refused, torn = decide(LLMJudge(model, price=penny), asks("One?"), asks("Two?"))
    assert (refused.failure, refused.message) == ("rejected", "HTTP 400: no")
    assert (refused.spent.unpriced, refused.cost_usd) == (0, 0)
    assert (torn.failure, torn.spent.unpriced, torn.cost_usd) == ("transport", 1, None)


@pytest.mark.parametrize(("kind", "hint"), [("transport", "check the key"), ("spend_limit", "credit")])
def test_a_judge_that_cannot_be_used_ends_the_judging(kind: str, hint: str) -> None:
    """The first call says so, with the way out; the verdict is logged all the same."""
    logged: list[JudgeVerdict] = []
    judge = LLMJudge(Scripted(CallFailed("HTTP 401: no", kind=kind, fatal=True)))
    with pytest.raises(JudgeError, match="cannot be used") as raised:
        decide(judge, log=logged.append)
    assert hint in (raised.value.hint or "")
    assert [verdict.attempts for verdict in logged] == [1]
    assert judge.over


def test_the_first_reason_why_a_judge_cannot_be_used_is_the_one_that_is_said() -> None:
    """What fails after it fails for its sake."""
    model = Scripted(CallFailed("HTTP 401: no such key", fatal=True), CallFailed("HTTP 404: gone", fatal=True))
    judge = LLMJudge(model)
    assert decide_at_once(judge, asks("One?"), asks("Two?")) == []
    assert len(model.calls) == 2
    assert "HTTP 401: no such key" in str(judge.unusable)


def test_eight_failures_in_a_row_end_the_judging_and_seven_do_not() -> None:
    """A reply between them begins the count anew."""
    requests = [asks(f"{n}?") for n in range(8)]
    judge = LLMJudge(Scripted(*([*[CallFailed("gone")] * 7, says(GOOD)] * 2), *[CallFailed("gone")] * 8))
    assert decide(judge, *requests, *requests)[-1].reply == GOOD
    with pytest.raises(JudgeError, match="8 calls in a row failed, the last: gone"):
        decide(judge, *requests)


def test_repeats_are_decisions_of_their_own_and_know_the_data_again(tmp_path: Path) -> None:
    """Each has a call and a key; what is asked once has one."""
    model = Scripted()
    judge = LLMJudge(model, repeats=3, cache=JudgeCache(tmp_path))
    verdicts = decide(judge)
    assert [verdict.repeat for verdict in verdicts] == [0, 1, 2]
    assert len({verdict.key for verdict in verdicts}) == len(model.calls) == 3
    assert all(call.again for call in model.calls)
    assert len(decide(judge, asks("Once?", once=True))) == 1
    assert not model.calls[-1].again
    assert [verdict.repeat for verdict in decide(judge, asks("Third?", repeat=2))] == [2]


@pytest.mark.parametrize("most", [1, 3])
def test_no_more_calls_are_in_flight_than_were_set(most: int) -> None:
    """`judge.concurrency`: vendors and small servers refuse more, or slow down."""
    counts, in_flight = list[int](), set[str]()

    async def counting(call: Call) -> JudgeReply:
        in_flight.add(call.content)
        counts.append(len(in_flight))
        await asyncio.sleep(0.001)
        in_flight.remove(call.content)
        return says(GOOD)

    decide_at_once(LLMJudge(Scripted(counting), concurrency=most), *(asks(f"{n}?") for n in range(7)))
    assert (len(counts), max(counts)) == (7, most)


@pytest.mark.parametrize(("room", "failure"), [(0, None), (-1, "too_long")])
def test_instructions_count_for_the_length_of_a_request(room: int, failure: str | None) -> None:
    """They are most of a short one, and are read and paid for like the data."""
    call, model = call_of(asks()), Scripted()
    size = (len(call.system) + len(call.content)) // CHARACTERS_A_TOKEN
    assert size > 2 * len(call.content) // CHARACTERS_A_TOKEN
    (verdict,) = decide(LLMJudge(model, max_input_tokens=size + room))
    assert (verdict.failure, verdict.attempts) == (failure, len(model.calls))
    assert ("judge.max_input_tokens" in (verdict.message or "")) is bool(failure)


def test_known_verdicts_are_taken_where_all_that_decides_them_is_the_same() -> None:
    """Of others, the cost is carried along; so is that of a failure that is asked for again."""
    (known,) = decide(LLMJudge(Scripted(), price=penny))
    model = Scripted()
    assert decide(LLMJudge(model), known=[known]) == [known]
    assert model.calls == []
    (other,) = decide(LLMJudge(model, price=penny), asks("Other?"), known=[known])
    assert (other.earlier, len(model.calls)) == (known.spent, 1)
    elsewhere = known.model_copy(update={"request": "another", "key": "another"})
    assert decide(LLMJudge(model), asks("Other?"), known=[elsewhere])[0].earlier is None
    lost = known.model_copy(update={"reply": None, "failure": "transport"})
    (again,) = decide(LLMJudge(model, price=penny), known=[lost])
    assert (again.spent.calls, again.spent.cost_usd) == (2, 0.02)


def test_what_a_lost_repeat_cost_is_carried_along_by_that_repeat_alone() -> None:
    """Else a resumed run counts it once for each repeat."""
    before = decide(LLMJudge(Scripted(CallFailed("gone", sent=True), says(GOOD)), price=penny, repeats=3))
    lost = [verdict for verdict in before if verdict.reply is None]
    assert len(lost) == 1
    after = decide(LLMJudge(Scripted(), price=penny, repeats=3), known=before)
    assert [verdict.spent.calls for verdict in after] == [2 if verdict in lost else 1 for verdict in before]
    assert sum(verdict.spent.cost_usd for verdict in after) == pytest.approx(0.03)
    failures = [verdict.model_copy(update={"reply": None, "failure": "transport"}) for verdict in before]
    again = decide(LLMJudge(Scripted(), price=penny, repeats=3), known=failures)
    assert [verdict.spent.calls for verdict in again] == [2, 2, 2]


def cut_off(*said: Said, requests: int = 1) -> list[JudgeVerdict]:
    """What is logged of requests, one call after the other, where the run ends in the first call after these."""
    logged: list[JudgeVerdict] = []

    async def main() -> None:
        begun = asyncio.Event()

        async def slow(_call: Call) -> JudgeReply:
            begun.set()
            await asyncio.sleep(60)
            return says(GOOD)

        judge = LLMJudge(Scripted(*said, slow), price=penny, concurrency=1)
        tasks = [asyncio.ensure_future(judge.decide(asks(f"{n}?"), log=logged.append)) for n in range(requests)]
        await begun.wait()
        judge.closing = True
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    run_anywhere(main())
    return logged


def test_what_is_cut_off_is_logged_at_unknown_cost() -> None:
    """A call in flight may have to be paid for; one that was not made is not counted."""
    logged = cut_off(requests=3)
    assert [(each.failure, each.spent.calls, each.spent.unpriced) for each in logged] == [("transport", 1, 1)]


def test_a_judge_that_closes_asks_nothing_more() -> None:
    """Nor does it say that anything was lost: a resumed run asks."""
    logged: list[JudgeVerdict] = []
    judge = LLMJudge(Scripted())
    judge.closing = True
    assert decide(judge, log=logged.append) == []
    assert (judge.model.calls, logged) == ([], [])  # type: ignore[attr-defined]


def test_a_second_call_that_is_cut_off_leaves_the_cost_of_the_first() -> None:
    """The last verdict of a decision replaces the one before it, so it holds what both calls took."""
    spent = cut_off(says("no JSON"))[-1].spent
    assert (spent.calls, spent.unpriced, spent.cost_usd, spent.usage) == (2, 1, 0.01, USED)


def test_a_first_reply_of_a_batch_is_counted_by_the_run_that_reads_the_second() -> None:
    """It is still at the vendor then: counted twice, it would be paid for twice."""

    class Batched(Scripted):
        batched = True

    logged: list[JudgeVerdict] = []
    judge = LLMJudge(Batched(says("no JSON"), TimeoutError()), price=penny)
    assert decide(judge, log=logged.append) == []
    assert (logged, judge.left, judge.over) == ([], 1, True)


# The budget: no call starts beyond it.


async def starts(budget: Budget, ahead: Ahead) -> bool:
    """Whether a call starts at once."""
    try:
        async with asyncio.timeout(0.05), budget.hold(ahead):
            return True
    except (TimeoutError, BudgetSpent):
        return False


def test_calls_go_together_while_there_is_money_for_the_most_that_they_can_cost() -> None:
    """One alone starts by what it is expected to cost, and the next one waits for it."""

    async def together() -> list[bool]:
        budget = Budget(1.0)
        async with budget.hold(Ahead(0.1, 0.6)):
            begun = [await starts(budget, Ahead(0.1, most)) for most in (0.4, 0.5)]
        return [*begun, await starts(budget, Ahead(0.1, 5.0))]

    assert run_anywhere(together()) == [True, False, True]


@pytest.mark.parametrize(("expected", "allowed"), [(0.4, True), (0.41, False)])
def test_estimates_follow_what_calls_have_cost(expected: float, allowed: bool) -> None:
    """Calls that cost twice what was expected will do so again; a budget is full once it is reached."""
    budget = Budget(1.0)
    budget.bill(0.2, Ahead(0.1, 1.0))
    budget.bill(None, Ahead(0.0, 1.0))
    assert run_anywhere(starts(budget, Ahead(expected, 2.0))) is allowed


@pytest.mark.parametrize("letter", ["a", "ж", "水", "🌊"])
def test_the_most_that_a_call_can_cost_is_by_its_bytes(letter: str) -> None:
    """A token has two bytes at least, and most letters of the world have two and more."""
    call = Call("", letter * 1000, {}, max_tokens=0)
    most = cost_ahead(call, 0, lambda usage: float(usage.input_tokens)).most
    assert most == len(letter.encode()) * 500


@pytest.mark.parametrize("limit", [0.05, 0.5])
def test_no_call_starts_beyond_the_budget(limit: float) -> None:
    """Calls of a cent each: as many as it holds are made, the others are prevented and leave no verdict."""
    judge = LLMJudge(Scripted(), price=penny, max_cost_usd=limit)
    made = decide(judge, *(asks(f"{n}?") for n in range(60)))
    assert judge.budget.spent_usd <= limit + 1e-9
    assert judge.budget.spent_usd > limit - 0.03
    assert judge.prevented == 60 - len(made)


def test_a_second_call_beyond_the_budget_leaves_the_first_reply() -> None:
    """A decision that has one was not prevented."""
    judge = LLMJudge(Scripted(says(MADE_UP, usage=JudgeUsage(input_tokens=20_000))), price=penny, max_cost_usd=0.2)
    (verdict,) = decide(judge)
    assert (verdict.attempts, verdict.failure, judge.prevented) == (1, None, 0)


@pytest.mark.parametrize("count", [100, 3000])
def test_calls_at_the_same_time_exceed_it_by_one_misestimate_at_most(count: int) -> None:
    """What is in flight is held back."""
    judge = LLMJudge(Scripted(says(GOOD, usage=JudgeUsage(input_tokens=count))), price=penny, max_cost_usd=0.2)
    decide_at_once(judge, *(asks(f"{n}?") for n in range(100)))
    assert judge.budget.spent_usd <= 0.2 + count / 100_000
    assert judge.prevented > 0 or judge.budget.spent_usd == pytest.approx(100 * count / 100_000)


@pytest.mark.parametrize(
    ("price", "usage", "said"),
    [(penny, None, "counts calls of unknown cost at the estimate"), (lambda *_: None, USED, "no price of the model")],
)
def test_a_budget_that_cannot_be_counted_is_said(price: Any, usage: JudgeUsage | None, said: str) -> None:
    """Once, where replies tell no tokens, or no price is known."""
    judge = LLMJudge(Scripted(says(GOOD, usage=usage)), price=price, max_cost_usd=1)
    verdicts = decide(judge, asks("One?"), asks("Two?"))
    assert [said in remark for remark in judge.remarks] == [True]
    assert [verdict.spent.unpriced for verdict in verdicts] == [1, 1]
    assert (judge.budget.spent_usd > 0) is (price is penny)
