"""Requests and verdicts of the judge, their cost, its calibration, and the judge as it is saved with a run."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, Self

from pydantic import AwareDatetime, ConfigDict, Field, InstanceOf

from evals.schemas.base import Finite, Record, Sum

# Calibration of a judge by people's labels.


Share = Field(ge=0, le=1)


class _Card(Record):
    model_config = ConfigDict(extra="ignore")  # keys of former versions


class Figure(Record):
    """A number with its interval, or the reason why there is none."""

    value: Finite | None = None
    ci: tuple[Finite, Finite] | None = None
    """None where it cannot be told."""
    n: int = 0
    """Over how many labels."""
    reason: str | None = None


class Agreement(_Card):
    """How far a judge agrees with people; docs/calibrate.md defines each figure."""

    agreement: Figure = Figure()
    """The share of answers that both give the same label."""
    kappa: Figure = Figure()
    sensitivity: Figure = Figure()
    """Of the answers that people call good, the share that the judge does."""
    specificity: Figure = Figure()
    """Of those that they do not, the share that the judge does not either."""


class Disagreement(Record):
    """An answer to which judge and people give different labels."""

    id: str
    """Of the question, with a number where several answers to it are labelled."""
    label: str
    """People's."""
    judged: str
    """The judge's."""
    quote: str | None = None
    """What the judge quotes or says for it; not kept in the file."""


class LabelledAnswer(_Card):
    """An answer with people's label and the judge's score, both from 0 to 1; its texts are not kept."""

    id: str
    label: Finite = Share
    score: Finite | None = None
    """None where the metric has no value."""


class Calibration(_Card):
    """A judge's calibration by one metric, for this very model, effort and wording of the prompts."""

    metric: str
    model: str
    effort: str | None = None
    prompt_hashes: dict[str, str]
    origin: str
    created_at: AwareDatetime
    labels_from: list[str]
    """The files that the labels are from."""
    run: str
    """The run that holds the verdicts."""
    scale: str
    """How labels were read, in words."""
    label_cut: Finite
    """From here on a label counts as good."""
    score_cut: Finite
    """From here on a score does."""
    lost: int = 0
    """Labelled answers for which the metric has no value."""
    unlabelled: int = 0
    """Rows without a label, and those that could not be decided."""
    judge: Agreement
    confusion: dict[str, dict[str, int]] = {}
    """By people's label, how often the judge gave which."""
    disagreements: list[Disagreement] = []
    answers: list[LabelledAnswer]


class JudgeCard(_Card):
    """The calibration of a judge as reports show it."""

    labels: int
    created_at: AwareDatetime
    agreement: Figure
    kappa: Figure
    sensitivity: Figure
    specificity: Figure


JudgeFailure = Literal["refused", "truncated", "unparsable", "transport", "rejected", "spend_limit", "too_long"]

_PASSAGES = ("contexts", "passages", "citations")
"""The lists of a reply whose items bear the ids of passages."""


class JudgeUsage(Sum):
    """Tokens of the judge's calls; input counts everything, cached or not."""

    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    thinking_tokens: int = Field(default=0, ge=0)
    """Output tokens of thinking; 0 if the vendor does not report them."""
    cache_read_tokens: int = Field(default=0, ge=0)
    cache_write_tokens: int = Field(default=0, ge=0)
    cache_write_1h_tokens: int = Field(default=0, ge=0)
    """Of `cache_write_tokens`, those that the vendor keeps for an hour, which cost more."""


class JudgeSpending(Sum):
    """Calls, tokens and cost of the judge."""

    calls: int = Field(default=0, ge=0)
    usage: JudgeUsage = JudgeUsage()
    cost_usd: Finite = 0.0
    """Of the calls whose cost is known."""
    unpriced: int = Field(default=0, ge=0)
    """Calls of unknown cost; if there are any, `cost_usd` is a lower
    bound."""

    @property
    def known_cost_usd(self) -> float | None:
        """The cost; None where no call's is known."""
        return None if self.unpriced and not self.cost_usd else self.cost_usd


@dataclass(frozen=True, slots=True)
class Prompt:
    """The instructions of a judge, and the form of its reply.

    Attributes:
        name: Of the file, and of the verdict.
        version: Raised with every change of meaning.
        system: The instructions; the data to examine never stands in them.
        schema: JSON schema of the reply.
        max_tokens: Enough for the reply and for the model's thinking.
        checks: What a reply must hold in addition to its form (see `judges/replies.py`).
        hash: Over all of it: a changed prompt is another prompt to the cache and to a comparison.
    """

    name: str
    version: int
    system: str
    schema: dict[str, Any]
    max_tokens: int
    checks: list[dict[str, Any]]
    hash: str

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """The prompt of these fields, with its hash."""
        digest = sha256(json.dumps(data, sort_keys=True).encode(errors="surrogatepass")).hexdigest()[:16]
        return cls(**data, hash=digest)


class VerdictRequest(Record):
    """A decision that a metric requests from the judge: prompt and data."""

    name: str
    """Of its verdicts; requests of the same name and repeat about a question are the same."""
    prompt: str | InstanceOf[Prompt]
    """The name of one of ours, or one that a metric or a run brings along."""
    data: dict[str, Any]
    once: bool = False
    """Whether repeats are of no use."""
    repeat: int | None = None
    """The one repeat that it is for, where it builds on a reply that each repeat found anew; None: it is for all."""
    passages: list[int] = []
    """The rank of each passage that has text, in the order in which the judge sees them: the first has the id 1."""

    @property
    def place(self) -> tuple[str, int | None]:
        """The key of the request among those of a question."""
        return self.name, self.repeat


class JudgeVerdict(Record):
    """One reply of the judge about one question, or its failure."""

    model_config = ConfigDict(extra="ignore")  # keys of former versions

    request: str
    """What was asked of the judge, for example "faithfulness"."""
    repeat: int = 0
    """Which of the replies to the same request, from 0."""
    reply: dict[str, Any] | None = None
    failure: JudgeFailure | None = None
    message: str | None = None
    model: str | None = None
    prompt_hash: str | None = None
    attempts: int = 1
    """Calls made for it."""
    usage: JudgeUsage | None = None
    """Over all attempts; None where the vendor does not count, or the reply came from the cache."""
    cost_usd: Finite | None = None
    """Each call at its own price; 0 for a reply from the cache; None where no price is known."""
    unpriced: int = 0
    """Calls of unknown cost: `cost_usd` is that of the others."""
    earlier: JudgeSpending | None = None
    """What was spent on the same decision before, where it is asked for again."""
    cached: bool = False
    """Whether nothing was asked: the reply came from the cache, from a saved run, or from the same request."""
    saved_usd: Finite | None = None
    """What a reply from the cache cost when it was asked for; None if unknown."""
    key: str | None = None
    """Hash over all that decides the reply: model, address, instructions, form, data and repeat."""
    passages: list[int] = []
    """The rank of each passage by the id that it has in the reply: the first is that of 1. Empty where the judge saw
    none, and in earlier runs, where ids are ranks."""
    injection_suspected: bool = False
    """Whether the judge says that the data holds text which tells it what to decide."""

    @property
    def ranked_reply(self) -> dict[str, Any] | None:
        """The reply with the rank of each passage in the place of its id."""
        if self.reply is None or not self.passages:
            return self.reply
        ranks = dict(enumerate(self.passages, start=1))
        return {name: _ranked(name, part, ranks) for name, part in self.reply.items()}

    @property
    def is_flagged(self) -> bool:
        """Whether the judge itself says that the data tells it what to decide."""
        return self.reply is not None and self.reply.get("injection_suspected") is True

    @property
    def spent(self) -> JudgeSpending:
        """What the decision took, earlier tries included."""
        unpriced = self.unpriced or (self.attempts if self.cost_usd is None else 0)
        own = JudgeSpending(
            calls=self.attempts, usage=self.usage or JudgeUsage(), cost_usd=self.cost_usd or 0.0, unpriced=unpriced
        )
        earlier = self.earlier or JudgeSpending()
        return earlier if self.cached else earlier + own


def _ranked(name: str, part: Any, ranks: Mapping[int, int]) -> Any:
    """A part of a reply by the name that it has there; its lists of passages are translated."""
    if isinstance(part, dict):
        return {key: _ranked(key, value, ranks) for key, value in part.items()}
    if not isinstance(part, list):
        return part
    items = [_ranked("", item, ranks) for item in part]
    if name not in _PASSAGES:
        return items
    return [{**item, "id": ranks.get(item["id"], item["id"])} if _has_number(item) else item for item in items]


def _has_number(item: Any) -> bool:
    """Whether an item has the id of a passage; in a file that somebody changed it may be anything."""
    return isinstance(item, dict) and isinstance(item.get("id"), int)


class JudgeRecord(Record):
    """The judge that was used."""

    model_config = ConfigDict(extra="ignore")  # keys of former versions

    model: str
    origin: str
    effort: str | None = None
    """How hard the model should think; None for its default."""
    prompt_hashes: dict[str, str] = {}
    repeats: int = 1
    calls: int = 0
    """All that were made for the run, however often it was interrupted."""
    cached: int = 0
    """Replies that cost nothing, because they were in the cache, in a saved run, or shared by two questions."""
    usage: JudgeUsage = JudgeUsage()
    cost_usd: Finite | None = None
    """None where no price is known; a lower bound where `unpriced` is not 0."""
    unpriced: int = 0
    """Calls of unknown cost: their replies told no tokens, or they were cut off."""
    saved_usd: Finite | None = None
    """What the replies from the cache cost when they were asked for, as far as that is known."""
    prevented: int = 0
    """Decisions that the budget did not allow; they are no failures of the judge."""
    left: int = 0
    """Requests in batches that were not waited for; a resumed run takes the replies."""
    cost_per_query_usd: Finite | None = None
    """`cost_usd` for one judged question: the judge's share, apart from the server's cost_per_query."""
    flip_rate: Finite | None = None
    """The chance that two verdicts on one thing have different labels, over all inquiries; None without repeats. In
    earlier runs: the share of decisions on which not all verdicts agreed."""
    flip_rates: dict[str, Finite] = {}
    """The same by inquiry."""
    injections_suspected: int = 0
    """Questions whose data holds text that tells the judge what to decide, as the judge says."""
    cards: dict[str, JudgeCard | None] = {}
    """By judged metric, the calibration of the judge; None if it was never calibrated."""

    @property
    def uncalibrated(self) -> list[str]:
        """The judged metrics by which it was never calibrated."""
        return [name for name, card in self.cards.items() if card is None]
