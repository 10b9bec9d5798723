"""The estimate of a run by the same model and effort as none before: narrowed by its own first replies.

What a model thinks before it writes can treble the cost of a call, and nobody knows how much it will think before it
was asked. So the range said before anything is paid rests on an allowance; a few replies tell more.
"""

from collections.abc import Callable
from dataclasses import replace
from math import sqrt
from statistics import fmean, stdev

from evals.judges.budget import PriceOf
from evals.judges.forecast import SURE, UNSURE
from evals.run.estimate import Estimate, range_around
from evals.schemas.verdicts import JudgeUsage

FIRST_REPLIES = 10
"""Of a shorter run, a third of its calls: the rest of it must be worth knowing."""
_FEWEST = 3
_TOKENS = 1000


class Narrowing:
    """Takes note of the first replies of a run, and says once what the whole will cost by them.

    Args:
        before: The estimate said before anything was paid; one by saved calls, or of a few calls, stays as it is.
        price: Of the judge's tokens.
        model: The judge's.
        tell: Hears of the narrowed estimate, in the thread of the reply.
    """

    def __init__(self, before: Estimate, price: PriceOf, model: str, tell: Callable[[Estimate], None]) -> None:
        self._before = before
        self._token_usd = (price(model, JudgeUsage(output_tokens=_TOKENS)) or 0.0) / _TOKENS
        self._tell = tell
        self._thought: list[int] = []
        known = before.measured or not before.unthought_usd
        self._wanted = 0 if known else min(FIRST_REPLIES, before.calls // 3)

    def add(self, tokens: int) -> None:
        """Take note of a reply.

        Args:
            tokens: What it took beyond a reply of usual size; below 0 where it was shorter.
        """
        if len(self._thought) >= self._wanted or self._wanted < _FEWEST:
            return
        self._thought.append(tokens)
        if len(self._thought) == self._wanted:
            self._tell(narrowed(self._before, self._thought, self._token_usd))


def narrowed(before: Estimate, thought: list[int], token_usd: float) -> Estimate:
    """The estimate by what replies took.

    Args:
        before: As it was, with a known price.
        thought: Tokens of each reply beyond one of usual size; two at least.
        token_usd: What a token of output costs.
    """
    mean = fmean(thought)
    error = max(2 * stdev(thought) / sqrt(len(thought)), SURE * abs(mean))
    sizes = before.unthought_usd or 0.0
    all_tokens_usd = before.calls * token_usd
    middle = max(sizes + mean * all_tokens_usd, 0.0)
    low, high = range_around(middle, error * all_tokens_usd, UNSURE * sizes, before.calls_off * middle)
    return replace(
        before,
        cost_usd=(low + high) / 2,
        cost_low_usd=low,
        cost_high_usd=high,
        thinking_tokens_low=round(max(mean - error, 0.0) * before.calls),
        thinking_tokens_high=round(max(mean + error, 0.0) * before.calls),
        replies=len(thought),
    )
