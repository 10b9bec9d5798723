"""Performance: how long an answer takes and what it costs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.metrics.sample import Lack, Sample
from evals.schemas.response import TokenUsage
from evals.schemas.results import MetricGroup, MetricResult

RAN_OUT = "ran_out_of_time"
"""In the details of a result whose true value lies above the one that is there."""


LIST_PRICE = "list price (genai-prices)"
"""In the details of a cost for which neither the user nor the server names a price."""


class _Latency(BaseMetric):
    """What the latency percentiles share: a timeout counts as at least the timeout, other failures do not count."""

    group = MetricGroup.PERFORMANCE
    suites: ClassVar[frozenset[str]] = frozenset({"core", "production"})
    unit = "ms"
    high = None
    higher_is_better = False
    aggregation = Aggregation.PERCENTILE
    timed: ClassVar[str] = "latency_ms"
    """The field of the response that holds the milliseconds that count."""
    unrecorded: ClassVar[str] = "no latency was recorded"

    def applies(self, sample: Sample) -> Lack | None:
        error = sample.response.error
        if error is not None and (error.kind != "timeout" or getattr(sample.response, self.timed) is None):
            return Lack(f"no answer: {error.kind}", "transport")
        return None

    def measure(self, sample: Sample) -> MetricResult:
        response, milliseconds = sample.response, getattr(sample.response, self.timed)
        if milliseconds is None:
            return self.undefined(self.unrecorded)
        # The request would have taken longer: a percentile at or above such a time is a lower bound. Of a stream that
        # came too late, the first token has its time.
        is_late = response.error is not None and milliseconds == response.latency_ms
        return self.result(milliseconds, **({RAN_OUT: True} if is_late else {}))


class LatencyP50(_Latency):
    """Median time to answer, in milliseconds, as the client sees it.

    Formula: the ⌈0.5·n⌉-th smallest of the n latencies (nearest rank, so a latency that did occur). A latency is from
    sending the request to the last byte of the body, of the attempt that succeeded; waiting for a free slot, back-off
    and failed attempts are not in it. A request that ran out of time counts with the time that it had: a median at or
    above such a time is a lower bound, printed with ≥. Range from 0, lower is better.
    Reference: as the specification writes it; Hyndman and Fan 1996, type 1.
    """

    name = "latency_p50"
    percentile = 50.0


class LatencyP95(_Latency):
    """95th percentile of the time to answer, in milliseconds, as the client sees it.

    Formula: the ⌈0.95·n⌉-th smallest of the n latencies, measured as for `latency_p50`; with fewer than 20 answers it
    is the slowest one. Range from 0, lower is better.
    Reference: as the specification writes it; Hyndman and Fan 1996, type 1.
    """

    name = "latency_p95"
    percentile = 95.0


class _TimeToFirstToken(_Latency):
    """What the percentiles of the time to the first token share."""

    suites = frozenset()
    of_stream = True
    timed = "time_to_first_token_ms"
    unrecorded = "no first token was timed: the answer did not come in pieces (server.stream), or has no text"


class TimeToFirstTokenP50(_TimeToFirstToken):
    """Median time until an answer begins to arrive, in milliseconds, as the client sees it.

    Formula: the ⌈0.5·n⌉-th smallest of the n times. A time is from sending the request to the arrival of the first
    piece with a text that is not empty, of the attempt that succeeded; it is taken as the bytes arrive. A request that
    ran out of time before counts with the time that it had; of one that ran out later, the first token has its time.
    Other failures do not count. None where the profile has no `stream`, and for an answer without text. Where it has
    one, the suite core has this metric too. Range from 0, lower is better.
    Reference: Hyndman and Fan 1996, type 1.
    """

    name = "time_to_first_token_p50"
    percentile = 50.0


class TimeToFirstTokenP95(_TimeToFirstToken):
    """95th percentile of the time until an answer begins to arrive, in milliseconds, as the client sees it.

    Formula: the ⌈0.95·n⌉-th smallest of the n times, measured as for `time_to_first_token_p50`; with fewer than 20
    answers it is the longest one. Range from 0, lower is better.
    Reference: Hyndman and Fan 1996, type 1.
    """

    name = "time_to_first_token_p95"
    percentile = 95.0


class OutputTokensPerSecond(BaseMetric):
    """Tokens in a second at which an answer arrives once it has begun, as the client sees it.

    Formula: completion tokens / (arrival of the last text − arrival of the first one, in seconds), averaged over the
    answers. The tokens are those that the server counts (`map.usage`), with what it counts besides the text, such as
    thinking. What comes after the text, such as sources, is not in the time, and neither is the time to the first
    token; the tokens of the first piece are counted, as their number is unknown. None where the answer did not come
    in pieces, where all text came at once, and where the server reports no usage. Where the profile has `stream`, the
    suite core has this metric too. Range from 0, higher is better.
    Reference: defined here.
    """

    name = "output_tokens_per_second"
    group = MetricGroup.PERFORMANCE
    unit = "tokens/s"
    high = None
    of_stream = True
    needs = frozenset({Need.USAGE})

    def measure(self, sample: Sample) -> MetricResult:
        response = sample.response
        first, last = response.time_to_first_token_ms, response.time_to_last_token_ms
        if first is None or last is None:
            return self.undefined(_TimeToFirstToken.unrecorded)
        if response.usage is None:
            return self.undefined("the server reported no token usage")
        if last <= first:
            return self.undefined("all text of the answer came at once")
        return self.result(response.usage.completion_tokens / ((last - first) / 1000))


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float
    source: str
    cached: float | None = None
    """Of the prompt's tokens that came from a cache; None: as the others."""

    def cost(self, usage: TokenUsage) -> float:
        """US dollars for the tokens of an answer."""
        cached = usage.cached_tokens or 0
        cached_cost = cached * (self.input if self.cached is None else self.cached)
        prompt_cost = (usage.prompt_tokens - cached) * self.input + cached_cost
        return (prompt_cost + usage.completion_tokens * self.output) / 1e6


@dataclass(eq=False)
class CostPerQuery(BaseMetric):
    """US dollars for one answer, from the server's token usage.

    Formula: (prompt tokens × input price + completion tokens × output price) / 1,000,000; of the prompt's tokens, those
    that the server reports as cached at the price of cached ones (`cache_read`). Prices: yours (`prices:`; the one of
    `model` is that of `vendor/model` too), else the server's own, else the list prices of genai-prices for the model
    that the server or its answer names, at the provider that the server names, else at the model's vendor; a note marks
    them. None where the server reports no usage or the price is unknown: never 0 for unknown.
    Range from 0, lower is better.
    Reference: as the specification writes it.
    """

    name = "cost_per_query"
    group = MetricGroup.PERFORMANCE
    suites: ClassVar[frozenset[str]] = frozenset({"core", "production"})
    unit = "USD"
    high = None
    higher_is_better = False
    needs = frozenset({Need.USAGE})

    prices: Mapping[str, Price] = field(default_factory=dict)
    default: Price | None = None
    """The price of a model that `prices` does not name: what the server says of itself."""
    listed: Callable[[str | None, TokenUsage], float | None] | None = None
    """What a list of prices says that this many tokens of the model cost; None where it does not know."""
    model: str | None = None
    """The model that the server says it uses, where its answers name none."""

    def measure(self, sample: Sample) -> MetricResult:
        usage = sample.response.usage
        if usage is None:
            return self.undefined("the server reported no token usage")
        model, own = sample.response.model, self.model
        price = self.prices.get(model or "") or self.prices.get((model or "").rpartition("/")[2])
        # The answer is of the model whose price is the default, as far as anybody says.
        if model is None or own is None or model.startswith(own) or own.endswith(model):
            price = price or self.default
        if price is not None:
            return self.result(price.cost(usage), price=price.source)
        listed, named = self.listed and self.listed(model, usage), model or own
        if listed is not None:
            return self.result(listed, price=LIST_PRICE)
        if named is None:
            return self.undefined("no price is known: neither the answer nor the server names a model")
        return self.undefined(f"no price is known for model {named} (give one under `prices:`)")
