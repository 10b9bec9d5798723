"""How often repeats of one decision disagree, whatever the number of repeats: the chance that two of them do."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any

from evals.schemas import JudgeVerdict


def disagreements(verdicts: Sequence[JudgeVerdict]) -> dict[str, list[float]]:
    """By inquiry, the chance that two verdicts on each thing of one question have different labels.

    Each label of a reply counts, those of a list by their ids; where items have none, as claims that each repeat
    finds anew, the shares of their labels are compared: half the sum of the differences. Replies without labels, and
    decisions made once, are left out.
    """
    found = {request: list(_disagreements(replies)) for request, replies in _by_request(verdicts).items()}
    return {request: each for request, each in found.items() if each}


def pairwise_disagreement(values: Sequence[float]) -> float | None:
    """The share of pairs of values that differ; None where there are fewer than two."""
    pairs = list(combinations(values, 2))
    return sum(one != other for one, other in pairs) / len(pairs) if pairs else None


def _by_request(verdicts: Sequence[JudgeVerdict]) -> dict[str, list[Mapping[str, Counter[str]]]]:
    found: defaultdict[str, list[Mapping[str, Counter[str]]]] = defaultdict(list)
    for verdict in verdicts:
        labels = _labels(verdict.reply or {})
        if labels:
            found[verdict.request].append(labels)
    return found


def _disagreements(replies: Sequence[Mapping[str, Counter[str]]]) -> Iterator[float]:
    """Of each thing that is labelled, the mean disagreement over the pairs of replies."""
    for place in dict.fromkeys(place for reply in replies for place in reply):
        said = [reply[place] for reply in replies if place in reply]
        if len(said) > 1:
            yield fmean(_distance(one, other) for one, other in combinations(said, 2))


def _distance(one: Counter[str], other: Counter[str]) -> float:
    """Half the sum of the differences between shares of labels; 0 or 1 where there is one label each."""
    return sum(abs(one[label] / one.total() - other[label] / other.total()) for label in one | other) / 2


def _labels(reply: Mapping[str, Any]) -> dict[str, Counter[str]]:
    """The labels of a reply by what they are of."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for place, label in _decisions(reply):
        found[place][label] += 1
    return found


def _decisions(part: Any, item: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(part, dict):
        item = f"{item}.{part['id']}" if "id" in part else item
        if "verdict" in part:
            yield item, str(part["verdict"])
        for name, inner in part.items():
            yield from _decisions(inner, f"{item}.{name}")
    elif isinstance(part, list):
        for inner in part:
            yield from _decisions(inner, item)
