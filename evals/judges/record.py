"""The record of a run's judge: sums and notes over its verdicts, added up question by question."""

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from statistics import fmean
from typing import Any

from evals.judges.models import Identity
from evals.judges.replies import NOT_FOUND, items_of
from evals.schemas.verdicts import JudgeRecord, JudgeSpending, JudgeVerdict
from evals.text.numbers import agree, counted, share

NOTE = "the judge's"
"""How every note of a run about its judge begins; a resumed run drops these and writes them anew."""


class VerdictTally:
    """Sums and notes over the verdicts of a run.

    Args:
        questions: The verdicts on each.
    """

    def __init__(self, questions: Iterable[Sequence[JudgeVerdict]]) -> None:
        self._spent = JudgeSpending()
        self._counts, self._failures = Counter[str](), Counter[str]()
        self._models, self._hashes = set[str](), dict[str, str]()
        self._saved_usd = array("d")
        self._flips: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))
        for verdicts in questions:
            self._add(verdicts)

    def _add(self, verdicts: Sequence[JudgeVerdict]) -> None:
        flagged = any(verdict.is_flagged for verdict in verdicts)
        self._counts.update(judged=bool(verdicts), flagged=flagged, decisions=len(verdicts))
        for request, rates in disagreements(verdicts).items():
            self._flips[request].extend(rates)
        for verdict in verdicts:
            items = list(items_of(verdict.reply or {}))
            withdrawn = sum(NOT_FOUND in item for item in items)
            self._counts.update(cached=verdict.cached, items=len(items), withdrawn=withdrawn)
            self._spent = self._spent + verdict.spent
            self._failures.update(filter(None, [verdict.failure]))
            self._models.update(filter(None, [verdict.model]))
            self._saved_usd.extend([] if verdict.saved_usd is None else [verdict.saved_usd])
            self._hashes.update({verdict.request: verdict.prompt_hash} if verdict.prompt_hash else {})

    def failed_above(self, rate: float) -> bool:
        """Whether more of the decisions failed than this share."""
        return self._failures.total() > rate * self._counts["decisions"]

    def record(self, judge: Identity, repeats: int, *, prevented: int, left: int) -> JudgeRecord:
        """The judge as it is saved with the run.

        Args:
            judge: Who judged.
            repeats: How often each decision was to be made.
            prevented: Decisions that the budget did not allow.
            left: Requests that were not waited for.
        """
        spent, cost, judged = self._spent, self._spent.known_cost_usd, self._counts["judged"]
        flips = {name: fmean(rates) for name, rates in sorted(self._flips.items())} if repeats > 1 else {}
        return JudgeRecord(
            **asdict(judge),
            prompt_hashes=dict(sorted(self._hashes.items())),
            repeats=repeats,
            calls=spent.calls,
            cached=self._counts["cached"],
            usage=spent.usage,
            cost_usd=cost,
            unpriced=spent.unpriced,
            saved_usd=sum(self._saved_usd) if self._saved_usd else None,
            prevented=prevented,
            left=left,
            cost_per_query_usd=cost / judged if cost is not None and judged else None,
            flip_rate=fmean(flips.values()) if flips else None,
            flip_rates=flips,
            injections_suspected=self._counts["flagged"],
        )

    def notes(self, judge: Identity, *, prevented: int) -> list[str]:
        """Notes on judged metrics; each begins with `NOTE`."""
        counts, failures, spent = self._counts, self._failures, self._spent
        lost, rejected, long = counts["withdrawn"], failures["rejected"], failures["too_long"]
        missing = share(failures.total(), counts["decisions"], "decision")
        kinds = ", ".join(f"{count} {kind}" for kind, count in failures.most_common())
        same = re.compile(rf"{re.escape(judge.model)}(?:[-@:]?(?:20\d\d-?[01]\d-?[0-3]\d|latest))?", re.IGNORECASE)
        models = sorted(model[:100] for model in self._models if not same.fullmatch(model))
        unknown = spent.unpriced if spent.known_cost_usd is not None else 0
        notes = {
            f"budget is spent: {counted(prevented, 'decision', 'was')} not made": prevented,
            f"verdict is missing on {missing} ({kinds}): see counts and bounds": failures,
            f"API rejected the requests for {counted(rejected, 'decision')}, at no cost: the message of each verdict "
            "says why; a model with a larger context takes longer requests, a lower judge.max_input_tokens leaves them "
            "out": rejected,
            f"requests are too long for {counted(long, 'decision')}: raise judge.max_input_tokens; these losses are "
            "not random, and bias values towards shorter answers and passages": long,
            f"quotation was not found for {share(lost, counts['items'], 'item')}: "
            f"{agree(lost, 'it counts', 'they count')} as cannot_tell": lost,
            f"data may hold a prompt injection: it says so itself of {counted(counts['flagged'], 'question')} "
            "(judge.on_injection)": counts["flagged"],
            f"replies name another model than {judge.model}, which was asked: {', '.join(models[:3])}": models,
            f"cost is a lower bound: that of {share(unknown, spent.calls, 'call')} is not known": unknown,
        }
        return [f"{NOTE} {note}" for note, holds in notes.items() if holds]


# How often repeats of one decision disagree, whatever the number of repeats: the chance that two of them do.


def disagreements(verdicts: Sequence[JudgeVerdict]) -> dict[str, list[float]]:
    """By request, the chance that two verdicts on each thing of one question have different labels.

    Each label of a reply counts, those of a list by their ids; where items have none, as claims that each repeat
    finds anew, the shares of their labels are compared: half the sum of the differences. Replies without labels, and
    decisions made once, are left out.
    """
    repeats: defaultdict[tuple[str, str], list[Counter[str]]] = defaultdict(list)
    for verdict in verdicts:
        labels: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for place, label in _labels(verdict.reply or {}):
            labels[place][label] += 1
        for place, counts in labels.items():
            repeats[verdict.request, place].append(counts)
    rates: defaultdict[str, list[float]] = defaultdict(list)
    for (request, _), replies in repeats.items():
        if len(replies) > 1:
            rates[request].append(fmean(_distance(*pair) for pair in combinations(replies, 2)))
    return rates


def _distance(first: Counter[str], second: Counter[str]) -> float:
    """Half the sum of the differences between shares of labels; 0 or 1 where there is one label each."""
    return sum(abs(first[label] / first.total() - second[label] / second.total()) for label in first | second) / 2


def _labels(part: Any, item: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(part, dict):
        item = f"{item}.{part['id']}" if "id" in part else item
        if "verdict" in part:
            yield item, str(part["verdict"])
        for name, inner in part.items():
            yield from _labels(inner, f"{item}.{name}")
    elif isinstance(part, list):
        for inner in part:
            yield from _labels(inner, item)


# Whether the judge is of the family of models whose answers it judges: models tend to favour their own.

_FAMILY = re.compile(
    r"(?<![a-z0-9])(claude|gpt|gemini|gemma|llama|mistral|mixtral|qwen|deepseek|command|grok|phi|nova)(?![a-z])"
)


def family_of(model: str) -> str | None:
    """The family that a model's name speaks of; None where it speaks of none that is known."""
    match = _FAMILY.search(model.casefold())
    return match[1] if match else None


def same_family(judge: str, config: Mapping[str, Any]) -> tuple[str, str] | None:
    """The family of the judge and the model of the server that is of it as well; None where none is named.

    Args:
        judge: The judge's model.
        config: The server's configuration, as it says itself: keys with "model" or "llm" in them name its models.
    """
    family = family_of(judge)
    alike = (model for model in _generators(config) if family and family_of(model) == family)
    return next(((str(family), model) for model in alike), None)


def _generators(config: Mapping[str, Any]) -> Iterator[str]:
    """The names of models that may write answers: not those that embed, or put in order."""
    for key, value in config.items():
        if not re.search("model|llm", key, re.IGNORECASE) or re.search("embed|rank|judge|token", key, re.IGNORECASE):
            continue
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from _generators({f"model.{inner}": model for inner, model in value.items()})
