"""Whether lost verdicts were lost at random: those of long requests, or of many items, may be lost more often.

Values that are there stand for lost ones (`evals.scoring.strata`), which is right where the loss does not depend on
what was asked. A judge that fails on long answers leaves the short ones, and these may be better or worse.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any

from evals.judges.record import pairwise_disagreement
from evals.metrics.base import BaseMetric
from evals.metrics.judged import REPEATS, new_requests
from evals.metrics.registry import known_metric
from evals.schemas.calibration import Figure
from evals.schemas.results import EvalRecord, EvalRun
from evals.schemas.verdicts import LossBy, VerdictLosses, VerdictRequest
from evals.scoring.calibration import asks_judge
from evals.scoring.run_columns import cluster_of
from evals.scoring.settings import ScoringContext, score_settings
from evals.scoring.stats.agreement import mann_whitney_p, spearman
from evals.scoring.stats.differences import jackknife_interval
from evals.scoring.stats.intervals import too_many_p
from evals.text.numbers import agree

LOSSES = "lost verdicts: "
"""How a note on losses begins."""


LEVEL = 0.05
"""Shared by all tests of a run (Bonferroni): a run whose losses are at random has a note in one case of twenty."""


FEWEST = 3
"""With fewer lost, or fewer there, nothing is tested."""


_Sizes = dict[tuple[str, LossBy], tuple[list[float], list[float]]]
"""By request and measure, the sizes of those that are lost, and of those that are there."""


def find_losses(
    metrics: Sequence[BaseMetric], records: Iterable[EvalRecord], cases: ScoringContext
) -> list[VerdictLosses]:
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


# Whether verdicts were lost in one dataset rather than in the others: then the others stand for it.


@dataclass
class _Verdicts:
    """Those on one request, by dataset."""

    needed: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)


def notes_on_datasets(records: Iterable[EvalRecord]) -> list[str]:
    """What a reader must know of datasets of which more verdicts are lost than of the others.

    Args:
        records: Scored.

    Returns:
        A note for each request and dataset of which that holds at 0.05, shared by all these tests.
    """
    found = _by_request(records)
    tests = [(name, each, dataset) for name, each in found.items() for dataset in _tested(each)]
    return [
        _said_datasets_of_losses(name, each, dataset)
        for name, each, dataset in tests
        if _p(each, dataset) < LEVEL / len(tests)
    ]


def _by_request(records: Iterable[EvalRecord]) -> Mapping[str, _Verdicts]:
    found: dict[str, _Verdicts] = {}
    for record in records:
        there = {verdict.request for verdict in record.verdicts if verdict.reply is not None}
        for name in sorted({name for score in record.scores for name in score.judged_by}):
            each = found.setdefault(name, _Verdicts())
            each.needed[record.question.dataset] += 1
            each.lost[record.question.dataset] += name not in there
    return found


def _tested(each: _Verdicts) -> Iterator[str]:
    """The datasets that can have more than their share: with three lost, beside others."""
    return (dataset for dataset, lost in each.lost.items() if lost >= FEWEST and len(each.needed) > 1)


def _p(each: _Verdicts, dataset: str) -> float:
    return too_many_p(each.lost[dataset], each.needed[dataset], each.lost.total(), each.needed.total())


def _said_datasets_of_losses(name: str, each: _Verdicts, dataset: str) -> str:
    lost, needed = each.lost[dataset], each.needed[dataset]
    elsewhere, others = each.lost.total() - lost, each.needed.total() - needed
    return (
        f"{LOSSES}{name}: not at random: of {dataset or 'questions without a dataset'} {lost} of {needed} "
        f"{agree(lost, 'is', 'are')} lost, of the others {elsewhere} of {others}; values lean towards the others, "
        "bounds do not"
    )


# What the scores of a judged run say of its judge: whether length pays, and how often repeats change a score.


_GROUPS = 50


def with_facts(run: EvalRun, records: Sequence[EvalRecord]) -> EvalRun:
    """The run with what its scored records say of its judge; itself where none took part."""
    if run.judge is None:
        return run
    judged = [summary.name for summary in run.scorecard.metrics if asks_judge(summary.name)]
    facts = {
        "length_correlations": {name: found for name in judged if (found := _length(run, records, name)) is not None},
        "score_flip_rates": _flips(records, judged),
    }
    return run.model_copy(update={"judge": run.judge.model_copy(update=facts)})


def _length(run: EvalRun, records: Sequence[EvalRecord], name: str) -> Figure | None:
    """Spearman's correlation of score and number of words; None for a metric that is not of the answer."""
    metric = known_metric(name)
    if metric is None or not metric.of_answer:
        return None
    settings = score_settings(run)
    values, words, clusters = list[float](), list[float](), list[str]()
    for record in records:
        value = _value(record, name)
        if value is not None and record.response is not None and record.response.answer:
            values.append(value)
            words.append(len(record.response.answer.split()))
            clusters.append(cluster_of(record.question, settings.cluster))
    return _correlated(values, words, clusters, settings.confidence)


def _correlated(values: Sequence[float], words: Sequence[float], clusters: Sequence[str], confidence: float) -> Figure:
    n = len(values)
    found = spearman(values, words)
    if found is None:
        return Figure(n=n, reason="scores or lengths are all the same" if n else "no answer has a score")

    def of_places(places: Sequence[int]) -> float | None:
        return spearman([values[at] for at in places], [words[at] for at in places])

    ci = jackknife_interval(of_places, n, clusters, confidence=confidence, correlation=True, groups=_GROUPS)
    return Figure(value=found, ci=ci, n=n)


def _value(record: EvalRecord, name: str) -> float | None:
    return next((score.value for score in record.scores if score.name == name), None)


def _flips(records: Sequence[EvalRecord], judged: Sequence[str]) -> dict[str, float]:
    """By metric, the chance that two repeats give one answer different scores."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for record in records:
        for score in record.scores:
            repeated = score.details.get(REPEATS)
            share = pairwise_disagreement(repeated) if isinstance(repeated, list) else None
            if share is not None:
                found[score.name].append(share)
    return {name: fmean(found[name]) for name in judged if name in found}
