"""Test whether verdicts were lost at random, or more often for long requests or many items.

Values that are there stand for lost ones (`evals.scoring.scorecard`), which is right where the loss does not depend on
what was asked. A judge that fails on long answers leaves the short ones, and these may be better or worse.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from evals.metrics.base import BaseMetric
from evals.metrics.judged import new_requests
from evals.schemas.results import EvalRecord
from evals.schemas.verdicts import LossBy, VerdictLosses, VerdictRequest
from evals.scoring.settings import ScoringContext
from evals.scoring.stats.agreement import mann_whitney_p
from evals.scoring.stats.intervals import too_many_p
from evals.text.numbers import agree

LOSSES = "lost verdicts: "
"""How a note on losses begins."""


LEVEL = 0.05
"""Shared by all tests of a run (Bonferroni): a run whose losses are at random has a note in one case of twenty."""


FEWEST = 3
"""With fewer lost, or fewer there, nothing is tested."""


_Sizes = tuple[list[float], list[float]]
"""The sizes of those requests that are lost, and of those that are there."""


def find_losses(
    metrics: Sequence[BaseMetric], records: Iterable[EvalRecord], cases: ScoringContext
) -> list[VerdictLosses]:
    """Test for each prompt whether lost requests were longer, or of more items, than the others.

    Args:
        metrics: Of the run, of which some verdict is lost.
        records: Scored.
        cases: They as metrics see them.

    Returns:
        A test for each request and measure.
    """
    sizes: dict[tuple[str, LossBy], _Sizes] = {}
    too_long: Counter[str] = Counter()
    for record in records:
        if any(score.judged_by for score in record.scores):
            for name, by, size in _measures(new_requests(metrics, cases.of(record), ())):
                sizes.setdefault((name, by), ([], []))[name in _obtained(record)].append(size)
            too_long.update({verdict.request for verdict in record.verdicts if verdict.failure == "too_long"})
    found = (_test(name, by, *both, too_long[name]) for (name, by), both in sizes.items())
    tested = list(filter(None, found))
    level = LEVEL / max(1, len(tested))
    return [
        test.model_copy(update={"level": level, "at_random": test.p >= level and not test.too_long}) for test in tested
    ]


def _test(
    name: str, by: LossBy, lost: Sequence[float], obtained: Sequence[float], too_long: int
) -> VerdictLosses | None:
    """One test, whose level is not known yet; None where too few are lost, or there."""
    of_length = too_long if by == "length" else 0
    if min(len(lost), len(obtained)) < (1 if of_length else FEWEST):  # one that is too long shows that length decides
        return None
    return VerdictLosses(
        request=name,
        by=by,
        lost=len(lost),
        obtained=len(obtained),
        median_lost=median(lost),
        median_obtained=median(obtained),
        p=mann_whitney_p(lost, obtained),
        level=LEVEL,
        too_long=of_length,
        at_random=not of_length,
    )


def _obtained(record: EvalRecord) -> set[str]:
    """The requests that the judge replied to."""
    return {verdict.request for verdict in record.verdicts if verdict.reply is not None}


def _measures(requests: Iterable[VerdictRequest]) -> Iterator[tuple[str, LossBy, float]]:
    """How long each request is, in characters, and of how many items, where it has some."""
    for request in requests:
        yield request.name, "length", float(len(json.dumps(request.data, ensure_ascii=False)))
        parts = (part for part in request.data.values() if isinstance(part, list))
        items = [len(part) for part in parts if part and isinstance(part[0], dict)]
        if items:
            yield request.name, "items", float(max(items))


def notes_on_losses(losses: Iterable[VerdictLosses]) -> list[str]:
    """Notes on verdicts that were not lost at random: values are biased towards the others."""
    return [f"{LOSSES}{_said(loss)}" for loss in losses if not loss.at_random]


def _said(loss: VerdictLosses) -> str:
    unit = "characters" if loss.by == "length" else "items"
    why = f"p = {loss.p:.2g}, tested at {loss.level:.2g}"
    if loss.too_long:
        why = f"{loss.too_long} too long to be asked"
    return (
        f"{loss.request}: not at random: lost ones ({loss.lost}) have a median of {loss.median_lost:,.0f} {unit}, "
        f"the others ({loss.obtained}) of {loss.median_obtained:,.0f} "
        f"({why}); values are biased towards the others, bounds are not"
    )


# Whether verdicts were lost in one dataset rather than in the others: then the others stand for it.


def notes_on_datasets(records: Iterable[EvalRecord]) -> list[str]:
    """Notes on datasets that lost more verdicts than the others.

    Args:
        records: Scored.

    Returns:
        A note for each request and dataset of which that holds at 0.05, shared by all these tests.
    """
    needed, lost = _by_request(records)
    tests = [
        (name, dataset, (count, needed[name][dataset], own.total(), needed[name].total()))
        for name, own in lost.items()
        for dataset, count in own.items()
        if count >= FEWEST and len(own) > 1
    ]
    level = LEVEL / max(1, len(tests))
    return [_on_dataset(*test) for test in tests if too_many_p(*test[2]) < level]


def _by_request(records: Iterable[EvalRecord]) -> tuple[dict[str, Counter[str]], dict[str, Counter[str]]]:
    """How many verdicts each dataset needed, and how many of them are lost."""
    needed: defaultdict[str, Counter[str]] = defaultdict(Counter)
    lost: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        there, dataset = _obtained(record), record.question.dataset
        for name in sorted({name for score in record.scores for name in score.judged_by}):
            needed[name][dataset] += 1
            lost[name][dataset] += name not in there
    return needed, lost


def _on_dataset(name: str, dataset: str, counts: tuple[int, int, int, int]) -> str:
    count, own, every, whole = counts
    return (
        f"{LOSSES}{name}: not at random: of {dataset or 'questions without a dataset'} {count} of {own} "
        f"{agree(count, 'is', 'are')} lost, of the others {every - count} of {whole - own}; values are biased "
        "towards the others, bounds are not"
    )
