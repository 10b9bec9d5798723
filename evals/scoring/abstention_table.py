"""Who declined what: abstention as a two-by-two table, with its rates."""

from collections import Counter
from collections.abc import Mapping
from math import isclose

from evals.schemas import EvalRecord, Scorecard
from evals.schemas.base import Finite, Record
from evals.scoring.settings import Cases
from evals.stats.intervals import wilson

Cell = tuple[bool, bool]
_METRICS = {
    "false_abstention": "abstention_false_positive_rate",
    "missed_abstention": "abstention_false_negative_rate",
    "accuracy": "unanswerable_accuracy",
}
"""The rates that are metrics too."""


class Rate(Record):
    """A share with what it is of."""

    count: int
    of: int
    value: Finite | None
    """None where it is a share of nothing."""
    interval: tuple[Finite, Finite] | None
    """Wilson's; where the scorecard has the same rate, the one that it has."""


class AbstentionTable(Record):
    """The answered questions whose dataset says whether they can be answered, by that and by what the server did."""

    answerable_answered: int
    answerable_abstained: int
    unanswerable_answered: int
    unanswerable_abstained: int
    false_abstention: Rate
    """Abstained of the answerable: over-refusal, `abstention_false_positive_rate`."""
    missed_abstention: Rate
    """Answered of the unanswerable: `abstention_false_negative_rate`."""
    recall: Rate
    """Abstained of the unanswerable."""
    precision: Rate
    """Unanswerable of the abstained."""
    accuracy: Rate
    """Abstained exactly where it should: `unanswerable_accuracy`."""
    always_answering: Rate
    """The accuracy of a server that answers everything: a baseline."""
    always_abstaining: Rate
    """The accuracy of a server that declines everything: a baseline."""


def table_of(counts: Mapping[Cell, int], confidence: float = 0.95, times: int = 1) -> AbstentionTable | None:
    """The table of questions that are counted already; None where there is none.

    Args:
        counts: How many questions each cell has.
        confidence: Of the intervals.
        times: How often each question was asked.
    """
    if not counts:
        return None
    counts = Counter(counts)
    answered, refused = counts[False, False], counts[False, True]
    missed, declined = counts[True, False], counts[True, True]
    answerable, unanswerable = answered + refused, missed + declined
    both = answerable + unanswerable

    def rate(count: int, of: int) -> Rate:
        interval = wilson(count, of, confidence, times=times)
        return Rate(count=count, of=of, value=count / of if of else None, interval=interval)

    return AbstentionTable(
        answerable_answered=answered,
        answerable_abstained=refused,
        unanswerable_answered=missed,
        unanswerable_abstained=declined,
        false_abstention=rate(refused, answerable),
        missed_abstention=rate(missed, unanswerable),
        recall=rate(declined, unanswerable),
        precision=rate(declined, declined + refused),
        accuracy=rate(answered + declined, both),
        always_answering=rate(answerable, both),
        always_abstaining=rate(unanswerable, both),
    )


def beside_scorecard(table: AbstentionTable, card: Scorecard) -> AbstentionTable:
    """The table with the scorecard's intervals of the rates that both have: one number has one interval.

    Those of the scorecard mind that questions about one document are not independent; counts cannot tell.
    """
    known = {summary.name: summary for summary in card.metrics}
    found: dict[str, Rate] = {}
    for name, metric in _METRICS.items():
        rate, summary = getattr(table, name), known.get(metric)
        if summary and summary.ci and rate.value is not None and isclose(summary.value or 0.0, rate.value):
            found[name] = rate.model_copy(update={"interval": summary.ci})
    if "missed_abstention" in found and found["missed_abstention"].interval:
        low, high = found["missed_abstention"].interval
        found["recall"] = table.recall.model_copy(update={"interval": (1 - high, 1 - low)})
    return table.model_copy(update=found)


def cell_of(record: EvalRecord, cases: Cases) -> Cell | None:
    """Where a question counts: whether it cannot be answered, and whether the answer declines; None for nowhere."""
    response, unanswerable = record.response, record.question.is_unanswerable
    if response is None or response.error is not None or response.answer is None or unanswerable is None:
        return None
    case = cases.of(record)
    return None if case.abstention_open else (unanswerable, case.abstained)
