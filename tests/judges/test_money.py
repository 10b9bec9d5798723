"""What calls cost, and what a run says of its judge."""

from typing import Any

import pytest
from judges.scripted import GOOD

from evals.judges.models import Identity
from evals.judges.money import PriceConfig, judge_price
from evals.judges.record import NOTE, VerdictTally, disagreements, family_of, same_family
from evals.run.judging import without_cost
from evals.schemas import EvalQuestion, EvalRecord
from evals.schemas.verdicts import JudgeRecord, JudgeSpending, JudgeUsage, JudgeVerdict

USAGE = JudgeUsage(input_tokens=10_000, output_tokens=1_000, cache_read_tokens=4_000, cache_write_tokens=2_000)
FOR_AN_HOUR = {"input_tokens": 100_000, "cache_write_tokens": 100_000, "cache_write_1h_tokens": 100_000}
WHO = Identity("claude-sonnet-5-5", "http://127.0.0.1")


@pytest.mark.parametrize(
    ("model", "usage", "batch", "dollars"),
    [
        ("claude-sonnet-5-5", {"input_tokens": 1_000_000}, False, 2.0),
        ("claude-sonnet-5-5", {"input_tokens": 1_000_000}, True, 1.0),
        ("claude-sonnet-5-5", {"output_tokens": 100_000}, False, 1.0),
        ("claude-sonnet-5-5", {"input_tokens": 100_000, "cache_read_tokens": 100_000}, False, 0.01),
        ("claude-sonnet-5-5", {"input_tokens": 100_000, "cache_write_tokens": 100_000}, False, 0.25),
        ("claude-sonnet-5-5", FOR_AN_HOUR, False, 0.4),
        ("claude-haiku-5-5", {"input_tokens": 100_000}, False, 0.01),
        ("claude-haiku-5-5", {"input_tokens": 100_001}, False, 0.0500005),
        ("a-model-that-is-unknown", {"input_tokens": 1}, False, None),
    ],
)
def test_a_call_costs_what_the_vendor_lists(model: str, usage: dict[str, int], batch: bool, dollars: Any) -> None:
    """Cached tokens at their price, a large call at that of large ones, half of it in a batch."""
    found = judge_price({}, "anthropic", None, batch=batch)(model, JudgeUsage(**usage))
    assert found == (None if dollars is None else pytest.approx(dollars))


@pytest.mark.parametrize(
    ("prices", "dollars"),
    [
        ({"input": 10, "output": 100}, 0.2),
        ({"input": 10, "output": 100, "cache_read": 1}, 0.164),
        ({"input": 10, "output": 100, "cache_read": 1, "cache_write": 20}, 0.184),
        ({"input": 10, "output": 100, "cache_write": 0}, 0.18),
        ({"input": 10, "output": 100, "cache_read": 0}, 0.16),
        ({"input": 0, "output": 0}, 0.0),
    ],
)
@pytest.mark.parametrize("batch", [False, True])
def test_the_users_price_goes_before_the_list(prices: dict[str, float], dollars: float, batch: bool) -> None:
    """What is cached costs as any input where no price of it is named."""
    price = judge_price({"gpt-5.4-mini": PriceConfig(**prices)}, "openai", "http://127.0.0.1:1/v1", batch=batch)
    assert price("gpt-5.4-mini", USAGE) == pytest.approx(dollars / 2 if batch else dollars)


@pytest.mark.parametrize(
    ("url", "known"), [(None, True), ("https://eu.api.openai.com/v1", True), ("http://127.0.0.1/v1", False)]
)
def test_a_server_of_ones_own_has_no_vendors_price(url: str | None, known: bool) -> None:
    """Whatever its model is called."""
    assert (judge_price({}, "openai", url, batch=False)("gpt-4o", USAGE) is not None) is known


def test_a_verdict_that_is_taken_over_costs_nothing_and_keeps_what_it_saved() -> None:
    """What a run paid is what the next one saves; of a kept reply, what was paid once."""
    paid = verdict(earlier=JudgeSpending(calls=1, cost_usd=0.5))
    cached = verdict(attempts=0, cost_usd=0.0, usage=None, cached=True, saved_usd=0.03)
    unknown = verdict(cost_usd=None, unpriced=1)
    question = EvalQuestion(question="When?")
    taken = without_cost(EvalRecord(question=question, verdicts=[paid, cached, unknown, verdict(reply=None)]))
    assert [one.saved_usd for one in taken] == [0.01, 0.03, None]
    found = record(list(taken))
    assert (found.calls, found.cost_usd, found.cached, found.saved_usd) == (0, 0.0, 3, pytest.approx(0.04))


# The record of a run's judge.


def verdict(request: str = "answer_relevancy", **fields: Any) -> JudgeVerdict:
    usual = {"reply": GOOD, "cost_usd": 0.01, "usage": USAGE, "prompt_hash": "h"}
    return JudgeVerdict(**{"request": request, **usual, **fields})


def lost(failure: str) -> JudgeVerdict:
    return verdict(reply=None, failure=failure)


def record(*questions: list[JudgeVerdict], repeats: int = 1) -> JudgeRecord:
    return VerdictTally(questions).record(WHO, repeats, prevented=0, left=0)


def notes(*verdicts: JudgeVerdict, prevented: int = 0) -> list[str]:
    return VerdictTally([verdicts]).notes(WHO, prevented=prevented)


def test_a_record_sums_what_was_paid() -> None:
    """Retries, failures and earlier tries included; a cached reply costs nothing and says what it saved."""
    earlier = JudgeSpending(calls=1, usage=USAGE, cost_usd=0.01)
    useless = verdict(reply=None, failure="unparsable", attempts=2, cost_usd=0.02, usage=USAGE + USAGE)
    cached = verdict(attempts=0, cost_usd=0.0, usage=None, earlier=earlier, cached=True, saved_usd=0.03)
    found = record([verdict(), useless], [verdict(earlier=earlier), cached], [])
    assert (found.calls, found.cached, found.cost_usd, found.saved_usd) == (6, 1, pytest.approx(0.06), 0.03)
    assert (found.usage.output_tokens, found.unpriced, found.cost_per_query_usd) == (6000, 0, pytest.approx(0.03))


def test_a_record_says_who_judged_by_what_and_what_is_missing() -> None:
    """A question counts once as suspected, however many of its verdicts are."""
    who, flagged = Identity("m", "http://o", "openai", "high"), {**GOOD, "injection_suspected": True}
    questions = [[verdict(reply=flagged), verdict("faithfulness", prompt_hash="f", reply=flagged)], [verdict()]]
    found = VerdictTally(questions).record(who, 2, prevented=3, left=4)
    assert (found.model, found.origin, found.effort) == ("m", "http://o", "high")
    assert found.prompt_hashes == {"answer_relevancy": "h", "faithfulness": "f"}
    assert (found.repeats, found.prevented, found.left, found.injections_suspected) == (2, 3, 4, 1)


@pytest.mark.parametrize(
    ("failed", "most", "above"), [(1, 0.1, False), (2, 0.1, True), (0, 0.0, False), (1, 0.0, True), (10, 1.0, False)]
)
def test_losses_are_too_many_above_their_share(failed: int, most: float, above: bool) -> None:
    """Of ten decisions; a share that is reached exactly is allowed."""
    tally = VerdictTally([[*[lost("transport")] * failed, *[verdict()] * (10 - failed)]])
    assert tally.failed_above(most) is above
    assert not VerdictTally([]).failed_above(most)


@pytest.mark.parametrize(
    ("verdicts", "cost", "unpriced"),
    [
        ([verdict(cost_usd=None)], None, 1),
        ([verdict(cost_usd=None), verdict(repeat=1)], 0.01, 1),
        ([verdict(cost_usd=0.01, unpriced=1, attempts=2)], 0.01, 1),
        ([], 0.0, 0),
    ],
)
def test_a_cost_of_which_nothing_is_known_is_none(verdicts: list[JudgeVerdict], cost: Any, unpriced: int) -> None:
    """Where a part is known, it is a lower bound, and a note says so."""
    found = record(verdicts)
    assert (found.cost_usd, found.unpriced) == (cost, unpriced)
    assert any("cost is a lower bound" in note for note in notes(*verdicts)) is bool(cost and unpriced)


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        (
            [lost("refused"), lost("truncated"), lost("truncated"), verdict()],
            "missing on 3 of 4 decisions (2 truncated, 1",
        ),
        ([lost("rejected")], "API rejected the requests for 1 decision"),
        ([lost("too_long")], "requests are too long for 1 decision"),
        ([verdict(reply={**GOOD, "quote_not_found": True})], "quotation was not found for 1 of 1 item"),
        ([verdict(reply={**GOOD, "injection_suspected": True})], "data may hold a prompt injection"),
        ([verdict(model=model) for model in "dcba"], "another model than claude-sonnet-5-5, which was asked: a, b, c"),
    ],
)
def test_what_a_reader_must_know_is_a_note(verdicts: list[JudgeVerdict], said: str) -> None:
    """Each begins with whose it is; what is most frequent comes first, and three other models are enough to name."""
    assert any(said in note and note.startswith(NOTE) for note in notes(*verdicts))


@pytest.mark.parametrize("named", [None, "claude-sonnet-5-5", "claude-sonnet-5-5-20261001", "Claude-Sonnet-5-5-latest"])
def test_a_date_makes_no_other_model(named: str | None) -> None:
    """Nor does case."""
    assert notes(verdict(model=named)) == []
    assert notes(prevented=3) == [f"{NOTE} budget is spent: 3 decisions were not made"]


@pytest.mark.parametrize(("labels", "rate"), [("aa", 0.0), ("ab", 1.0), ("aab", 2 / 3), ("aaab", 0.5), ("a", None)])
def test_a_flip_is_a_pair_of_repeats_that_disagree(labels: str, rate: float | None) -> None:
    """Whatever their number; one decision says nothing of flips."""
    verdicts = [verdict(repeat=n, reply={"verdict": label}) for n, label in enumerate(labels)]
    found = record(verdicts, repeats=3)
    assert found.flip_rate == (None if rate is None else pytest.approx(rate))
    assert record(verdicts).flip_rates == {}


def test_labels_of_a_list_are_compared_by_ids_or_shares() -> None:
    """Claims that each repeat finds anew have none. In the mean, each kind of decision weighs the same."""
    by_id = [{"claims": [{"id": 1, "verdict": x}, {"id": 2, "verdict": "a"}]} for x in "ab"]
    by_share = [{"claims": [{"verdict": x} for x in labels]} for labels in ("ab", "aaab")]
    kinds = {"relevancy": by_id, "claims": by_share}
    verdicts = [verdict(kind, repeat=n, reply=reply) for kind, said in kinds.items() for n, reply in enumerate(said)]
    assert disagreements(verdicts) == {"relevancy": [1.0, 0.0], "claims": [0.25]}
    assert record(verdicts, repeats=2).flip_rate == (0.5 + 0.25) / 2


@pytest.mark.parametrize(
    ("judge", "config", "model"),
    [
        ("claude-sonnet-5-5", {"llm_model": "anthropic/claude-haiku-4-5"}, "anthropic/claude-haiku-4-5"),
        ("gpt-5.4-mini", {"models": {"chat": "openai:gpt-4o"}}, "openai:gpt-4o"),
        ("qwen3:8b", {"llm_model": "Qwen/Qwen2.5-7B-Instruct"}, "Qwen/Qwen2.5-7B-Instruct"),
        ("claude-sonnet-5-5", {"llm_model": "gemma3:4b"}, None),
        ("claude-sonnet-5-5", {"embedding_model": "claude-embed", "name": "claude"}, None),
        ("a-model-of-ours", {"llm_model": "a-model-of-ours"}, None),
    ],
)
def test_a_judge_of_the_servers_own_family_is_known(judge: str, config: dict[str, Any], model: str | None) -> None:
    """Models favour their own kind; those that embed do not write answers."""
    found = same_family(judge, config)
    assert (found and found[1]) == model
    assert family_of("Meta-Llama-3.1-8B") == "llama"
