"""The record of a run's judge: sums and notes over its verdicts, added up question by question."""

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any

from evals.judges.models import Identity
from evals.judges.replies import NOT_FOUND, items_of
from evals.schemas.verdicts import JudgeRecord, JudgeSpending, JudgeVerdict
from evals.text.numbers import agree, counted, share

NOTE = "the judge's"
"""How every note of a run about its judge begins; a resumed run drops these and writes them anew."""

Verdicts = Mapping[str, Sequence[JudgeVerdict]]
"""By question."""

_DATE = re.compile(r"[-@:]?(?:20\d\d-?[01]\d-?[0-3]\d|latest)")


class VerdictTally:
    """Sums and notes over the verdicts of a run."""

    def __init__(self) -> None:
        self._spent = JudgeSpending()
        self._decisions = self._judged = self._cached = self._flagged = self._items = self._withdrawn = 0
        self._failures: Counter[str] = Counter()
        self._models: set[str] = set()
        self._hashes: dict[str, str] = {}
        self._saved_usd = array("d")
        self._flips: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))

    def add(self, verdicts: Sequence[JudgeVerdict]) -> None:
        """Add all verdicts on one question."""
        self._judged += bool(verdicts)
        self._flagged += any(verdict.is_flagged for verdict in verdicts)
        self._decisions += len(verdicts)
        for request, found in disagreements(verdicts).items():
            self._flips[request].extend(found)
        for verdict in verdicts:
            self._spent = self._spent + verdict.spent
            self._cached += verdict.cached
            self._failures.update([verdict.failure] if verdict.failure else [])
            self._models.update([verdict.model] if verdict.model is not None else [])
            items = list(items_of(verdict.reply or {}))
            self._items += len(items)
            self._withdrawn += sum(NOT_FOUND in item for item in items)
            if verdict.saved_usd is not None:
                self._saved_usd.append(verdict.saved_usd)
            if verdict.prompt_hash:
                self._hashes[verdict.request] = verdict.prompt_hash

    @property
    def failed(self) -> tuple[int, int]:
        """How many decisions failed, and of how many."""
        return self._failures.total(), self._decisions

    def record(self, judge: Identity, repeats: int, *, prevented: int, left: int) -> JudgeRecord:
        """The judge as it is saved with the run.

        Args:
            judge: Who judged.
            repeats: How often each decision was to be made.
            prevented: Decisions that the budget did not allow.
            left: Requests that were not waited for.
        """
        spent, cost = self._spent, self._spent.known_cost_usd
        flips = {name: fmean(each) for name, each in sorted(self._flips.items())} if repeats > 1 else {}
        return JudgeRecord(
            model=judge.model,
            origin=judge.origin,
            effort=judge.effort,
            prompt_hashes=dict(sorted(self._hashes.items())),
            repeats=repeats,
            calls=spent.calls,
            cached=self._cached,
            usage=spent.usage,
            cost_usd=cost,
            unpriced=spent.unpriced,
            saved_usd=sum(self._saved_usd) if self._saved_usd else None,
            prevented=prevented,
            left=left,
            cost_per_query_usd=cost / self._judged if cost is not None and self._judged else None,
            flip_rate=fmean(flips.values()) if flips else None,
            flip_rates=flips,
            injections_suspected=self._flagged,
        )

    def notes(self, judge: Identity, *, prevented: int) -> list[str]:
        """Notes on judged metrics; each begins with `NOTE`."""
        return [f"{NOTE} {note}" for note in (*self._on_losses(prevented), *self._on_trust(judge))]

    def _on_losses(self, prevented: int) -> Iterator[str]:
        """What was not decided, and why."""
        if prevented:
            yield f"budget is spent: {counted(prevented, 'decision', 'was')} not made"
        if self._failures:
            named = ", ".join(f"{count} {kind}" for kind, count in self._failures.most_common())
            missing = share(self._failures.total(), self._decisions, "decision")
            yield f"verdict is missing on {missing} ({named}): see counts and bounds"
        if rejected := self._failures["rejected"]:
            yield (
                f"API rejected the requests for {counted(rejected, 'decision')}, at no cost: the message of each "
                "verdict says why; a model with a larger context takes longer requests, a lower "
                "judge.max_input_tokens leaves them out"
            )
        if long := self._failures["too_long"]:
            yield (
                f"requests are too long for {counted(long, 'decision')}: raise judge.max_input_tokens; these losses "
                "are not random, and bias values towards shorter answers and passages"
            )

    def _on_trust(self, judge: Identity) -> Iterator[str]:
        """What to know of the decisions that are there, and of their cost."""
        if lost := self._withdrawn:
            items = share(lost, self._items, "item")
            yield f"quotation was not found for {items}: {agree(lost, 'it counts', 'they count')} as cannot_tell"
        if flagged := self._flagged:
            yield (
                f"data may hold a prompt injection: it says so itself of {counted(flagged, 'question')} "
                "(judge.on_injection)"
            )
        if others := sorted(model for model in self._models if not _same_model(judge.model, model)):
            names = ", ".join(name[:100] for name in others[:3])
            yield f"replies name another model than {judge.model}, which was asked: {names}"
        if self._spent.unpriced and self._spent.known_cost_usd is not None:
            unknown = share(self._spent.unpriced, self._spent.calls, "call")
            yield f"cost is a lower bound: that of {unknown} is not known"


def _same_model(asked: str, named: str) -> bool:
    """Whether the model that replied is the one asked for; a date at the end of its name does not count."""
    one, other = asked.casefold(), named.casefold()
    return one == other or (other.startswith(one) and _DATE.fullmatch(other[len(one) :]) is not None)


# How often repeats of one decision disagree, whatever the number of repeats: the chance that two of them do.


def disagreements(verdicts: Sequence[JudgeVerdict]) -> dict[str, list[float]]:
    """By request, the chance that two verdicts on each thing of one question have different labels.

    Each label of a reply counts, those of a list by their ids; where items have none, as claims that each repeat
    finds anew, the shares of their labels are compared: half the sum of the differences. Replies without labels, and
    decisions made once, are left out.
    """
    said: defaultdict[str, defaultdict[str, list[Counter[str]]]] = defaultdict(lambda: defaultdict(list))
    for verdict in verdicts:
        labels: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for place, label in _labels(verdict.reply or {}):
            labels[place][label] += 1
        for place, own in labels.items():
            said[verdict.request][place].append(own)
    found: dict[str, list[float]] = {}
    for request, places in said.items():
        pairs = [[_distance(*pair) for pair in combinations(each, 2)] for each in places.values() if len(each) > 1]
        if pairs:
            found[request] = list(map(fmean, pairs))
    return found


def _distance(one: Counter[str], other: Counter[str]) -> float:
    """Half the sum of the differences between shares of labels; 0 or 1 where there is one label each."""
    return sum(abs(one[label] / one.total() - other[label] / other.total()) for label in one | other) / 2


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
    found = _FAMILY.search(model.casefold())
    return found[1] if found else None


def same_family(judge: str, config: Mapping[str, Any]) -> tuple[str, str] | None:
    """The family of the judge and the model of the server that is of it as well; None where none is named.

    Args:
        judge: The judge's model.
        config: The server's configuration, as it says itself: keys with "model" or "llm" in them name its models.
    """
    family = family_of(judge)
    alike = (model for model in _generators(config) if family_of(model) == family)
    model = next(alike, None)
    return None if family is None or model is None else (family, model)


def _generators(config: Mapping[str, Any]) -> Iterator[str]:
    """The names of models that may write answers: not those that embed, or put in order."""
    for key, value in config.items():
        if not re.search("model|llm", key, re.IGNORECASE) or re.search("embed|rank|judge|token", key, re.IGNORECASE):
            continue
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from _generators({f"model.{inner}": each for inner, each in value.items()})
