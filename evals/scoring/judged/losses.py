"""Whether lost verdicts were lost at random: those of long requests, or of many items, may be lost more often.

Values that are there stand for lost ones (`evals.scoring.strata`), which is right where the loss does not depend on
what was asked. A judge that fails on long answers leaves the short ones, and these may be better or worse.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import Any

from evals.metrics.base import BaseMetric
from evals.metrics.judged import new_requests
from evals.schemas import EvalRecord
from evals.schemas.verdicts import LossBy, VerdictLosses, VerdictRequest
from evals.scoring.settings import Cases
from evals.stats.ranks import mann_whitney_p

LOSSES = "lost verdicts: "
"""How a note on losses begins."""
LEVEL = 0.05
"""Shared by all tests of a run (Bonferroni): a run whose losses are at random has a note in one case of twenty."""
FEWEST = 3
"""With fewer lost, or fewer there, nothing is tested."""

_Sizes = dict[tuple[str, LossBy], tuple[list[float], list[float]]]
"""By request and measure, the sizes of those that are lost, and of those that are there."""


def find_losses(metrics: Sequence[BaseMetric], records: Iterable[EvalRecord], cases: Cases) -> list[VerdictLosses]:
    """Test for each thing that the judge was asked whether what is lost was longer, or of more items, than the rest.

    Args:
        metrics: Of the run.
        records: Scored; they are walked twice.
        cases: They as metrics see them.

    Returns:
        A test for each request and measure; nothing where no verdict is lost.
    """
    sizes: _Sizes = {}
    too_long: Counter[str] = Counter()
    for record in filter(_is_judged, records) if any(map(_lacks_verdicts, filter(_is_judged, records))) else ():
        _add_sizes(sizes, record, new_requests(metrics, cases.of(record), ()))
        too_long.update({verdict.request for verdict in record.verdicts if verdict.failure == "too_long"})
    return _tests(sizes, too_long)


def _tests(sizes: _Sizes, too_long: Counter[str]) -> list[VerdictLosses]:
    tested = {key: both for key, both in sizes.items() if min(map(len, both)) >= _fewest(*key, too_long)}
    return [_test(name, by, *both, LEVEL / len(tested), too_long[name]) for (name, by), both in tested.items()]


def _fewest(name: str, by: LossBy, too_long: Counter[str]) -> int:
    """One that is too long shows already that length decides."""
    return 1 if by == "length" and too_long[name] else FEWEST


def _is_judged(record: EvalRecord) -> bool:
    return any(score.judged_by for score in record.scores)


def _lacks_verdicts(record: EvalRecord) -> bool:
    return any(score.missing == "judge" for score in record.scores)


def _add_sizes(sizes: _Sizes, record: EvalRecord, requests: Iterable[VerdictRequest]) -> None:
    there = {verdict.request for verdict in record.verdicts if verdict.reply is not None}
    for request in requests:
        for by, size in _measures(request):
            sizes.setdefault((request.name, by), ([], []))[request.name in there].append(size)


def _measures(request: VerdictRequest) -> Iterator[tuple[LossBy, float]]:
    """How long a request is, in characters, and of how many items, where it has some."""
    yield "length", float(len(json.dumps(request.data, ensure_ascii=False)))
    lists = [len(part) for part in request.data.values() if _holds_items(part)]
    if lists:
        yield "items", float(max(lists))


def _holds_items(part: Any) -> bool:
    return isinstance(part, list) and bool(part) and isinstance(part[0], dict)


def _test(
    name: str, by: LossBy, lost: Sequence[float], there: Sequence[float], level: float, too_long: int
) -> VerdictLosses:
    p = mann_whitney_p(lost, there)
    of_length = too_long if by == "length" else 0
    return VerdictLosses(
        request=name,
        by=by,
        lost=len(lost),
        obtained=len(there),
        median_lost=median(lost),
        median_obtained=median(there),
        p=p,
        level=level,
        too_long=of_length,
        at_random=p >= level and not of_length,
    )


def notes_on_losses(losses: Iterable[VerdictLosses]) -> list[str]:
    """What a reader must know of losses that are not at random: values lean towards what was not lost."""
    return [f"{LOSSES}{_said(loss)}" for loss in losses if not loss.at_random]


def _said(loss: VerdictLosses) -> str:
    unit = "characters" if loss.by == "length" else "items"
    why = f"p = {loss.p:.2g}, held against {loss.level:.2g}"
    if loss.too_long:
        why = f"{loss.too_long} too long to be asked"
    return (
        f"{loss.request}: not at random: those lost ({loss.lost}) are of a median of {loss.median_lost:,.0f} {unit}, "
        f"those there ({loss.obtained}) of {loss.median_obtained:,.0f} "
        f"({why}); values lean towards what is there, bounds do not"
    )
