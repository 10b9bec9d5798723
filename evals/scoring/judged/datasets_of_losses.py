"""Whether verdicts were lost in one dataset rather than in the others: then the others stand for it.

A run of several datasets has one value of a metric. Where the judge failed on one of them (its language, its answers),
that value is of the others, whatever the lengths of the requests.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from evals.schemas import EvalRecord
from evals.scoring.judged.losses import FEWEST, LEVEL, LOSSES
from evals.stats.hypergeometric import too_many_p
from evals.text.counts import agree


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
    return [_said(name, each, dataset) for name, each, dataset in tests if _p(each, dataset) < LEVEL / len(tests)]


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


def _said(name: str, each: _Verdicts, dataset: str) -> str:
    lost, needed = each.lost[dataset], each.needed[dataset]
    elsewhere, others = each.lost.total() - lost, each.needed.total() - needed
    return (
        f"{LOSSES}{name}: not at random: of {dataset or 'questions without a dataset'} {lost} of {needed} "
        f"{agree(lost, 'is', 'are')} lost, of the others {elsewhere} of {others}; values lean towards the others, "
        "bounds do not"
    )
