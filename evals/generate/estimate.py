"""What generating will take, known before anything is asked."""

from collections.abc import Iterator
from itertools import islice

from evals.config import EvalConfig
from evals.generate.checks import NEAR_MISS, PAIR
from evals.generate.drafts import Candidate
from evals.generate.journal import QuestionJournal
from evals.generate.passages import PassageSet
from evals.generate.pipeline import TRIES, YIELD, QuestionPlan, quotas_of, stream_of
from evals.generate.solving import FEW, MANY
from evals.judges.money import judge_price, thinking_allowance
from evals.judges.prompts import call_of, usual_usage
from evals.run.estimate import SECONDS_A_CALL, Estimate
from evals.schemas.verdicts import VerdictRequest

_OFF = 0.25
"""By which share sizes of replies may be off."""


def estimate_generation(plan: QuestionPlan, passages: PassageSet, journal: QuestionJournal | None) -> Estimate:
    """Estimate calls, tokens, money and minutes; asks nothing of anybody.

    The lower end holds if every draft is accepted, the upper end if as many are tried as may be.

    Args:
        plan: What is wanted.
        passages: All passages.
        journal: What is there already.
    """
    questions = list(journal.questions.values()) if journal else []
    decided = {*journal.accepted, *journal.verdicts} if journal else set[str]()
    needed, spare = list[_Call](), list[_Call]()
    for stream, quota in quotas_of(plan, passages).items():
        missing = max(0, quota.wanted - sum(stream_of(question) == stream for question in questions))
        undecided = (candidate for candidate in quota.source if candidate.key(passages) not in decided)
        for number, candidate in enumerate(islice(undecided, max(0, quota.most - quota.wanted + missing))):
            calls = needed if number < missing else spare
            calls += [_Call(config, request) for config, request in _requests(candidate, plan, passages)]
    low, middle = sum(call.cost(0) for call in needed), sum(call.cost(0.5) for call in needed) / YIELD
    high = sum(call.cost(1) for call in [*needed, *spare])
    judge, expected = plan.writer.judge, len(needed) / YIELD
    priced = high > 0 or not needed
    usual = f"about ${middle:.2f} and these counts" if priced else "these counts"
    return Estimate(
        calls=round(expected),
        cached=0,
        input_tokens=round(sum(call.usage.input_tokens for call in needed) / YIELD),
        output_tokens=round(sum(call.usage.output_tokens for call in needed) / YIELD),
        cost_low_usd=low * (1 - _OFF) if priced else None,
        cost_high_usd=high * (1 + _OFF) if priced else None,
        minutes=None if judge.batch and needed else expected * SECONDS_A_CALL / judge.concurrency / 60,
        basis=f"{usual} if {YIELD:.0%} of the drafts are accepted; the range is from all of them to one in {TRIES}",
    )


def _requests(
    candidate: Candidate, plan: QuestionPlan, passages: PassageSet
) -> Iterator[tuple[EvalConfig, VerdictRequest]]:
    """What a candidate takes: its passage stands for those that are not chosen yet."""
    yield plan.writer, plan.prompts.draft(candidate, passages)
    text = passages.passages[candidate.places[0]].text
    question, count = text[:100], min(len(passages.passages), MANY if candidate.stream == NEAR_MISS else FEW)
    for number in (count, 1, 1) if candidate.stream == PAIR else (count,):
        yield plan.solver, plan.prompts.solution("solve", question, [text] * number)
    if plan.prompts.closed_book and candidate.stream != NEAR_MISS:
        yield plan.solver, plan.prompts.request("closed_book", "closed_book", question=question)


class _Call:
    """The size of a call in tokens, and what it costs."""

    def __init__(self, config: EvalConfig, request: VerdictRequest) -> None:
        self.usage, self._config = usual_usage(request, call_of(request)), config

    def cost(self, thought: float) -> float:
        """What it costs with a share of the allowance of thinking; without any, the vendor's cache has the prompt."""
        judge, usage = self._config.judge, self.usage
        price = judge_price(self._config.prices, judge.provider, judge.base_url, batch=judge.batch)
        written = usage.output_tokens + round(thought * thinking_allowance(judge.model, judge.effort))
        changed = {"cache_write_tokens": usage.cache_read_tokens, "cache_read_tokens": 0} if thought else {}
        return price(judge.model, usage.model_copy(update={"output_tokens": written, **changed})) or 0.0
