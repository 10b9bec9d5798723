"""Questions that are asked several times: how often the answers agree, and how often all of them are right (pass^k)."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import comb
from statistics import fmean

import numpy as np

from evals.metrics.base import BaseMetric
from evals.schemas.dataset import EvalQuestion
from evals.schemas.results import EvalRecord, RepeatedMetric, RepeatSummary
from evals.scoring.results import REPEAT_OF
from evals.scoring.stats import Interval, mean_interval
from evals.text.tokens import tokens

REPEAT = "repeat"
"""The key of the metadata that counts, from 1: `show --by repeat`."""


def repeated(questions: Sequence[EvalQuestion], times: int) -> Iterator[EvalQuestion]:
    """Each question this many times, round by round; the first keeps its id."""
    for number in range(1, times + 1):
        for question in questions:
            metadata = {**question.metadata, REPEAT: number, REPEAT_OF: question.id}
            key = question.id if number == 1 else f"{question.id}#{number}"
            yield question.model_copy(update={"id": key, "metadata": metadata})


@dataclass
class Repeats:
    """Collects the answers to each question."""

    answers: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    values: dict[str, dict[str, list[float]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    """By metric and question; an exchange that failed counts as a value of NaN, which is never the best."""

    def add(self, record: EvalRecord) -> None:
        """Take in a scored record."""
        key, response = str(record.question.metadata.get(REPEAT_OF, record.question.id)), record.response
        if response is None:
            return
        self.answers[key] += [] if response.answer is None else [" ".join(tokens(response.answer))]
        for score in record.scores:
            if score.value is not None or score.missing == "transport":
                self.values[score.name][key].append(np.nan if score.value is None else score.value)

    def summary(self, repeats: int, metrics: Sequence[BaseMetric], confidence: float) -> RepeatSummary:
        """How stable the answers are.

        Args:
            repeats: How often each question was asked.
            metrics: Of the run.
            confidence: Of the intervals.
        """
        same = [_agreement(answers) for answers in self.answers.values() if len(answers) > 1]
        rows = [self._metric(metric, repeats, confidence) for metric in metrics if metric.best is not None]
        return RepeatSummary(
            repeats=repeats,
            questions=len(self.answers),
            compared=len(same),
            same_answers=fmean(share == 1 for share in same) if same else None,
            agreement=fmean(same) if same else None,
            agreement_ci=_interval(same, confidence),
            metrics=[row for row in rows if row is not None],
        )

    def _metric(self, metric: BaseMetric, repeats: int, confidence: float) -> RepeatedMetric | None:
        tries = [values for values in self.values[metric.name].values() if len(values) > 1]
        tries = [values for values in tries if not all(np.isnan(values))]
        if not tries:
            return None
        passed = [(sum(value == metric.best for value in values), len(values)) for values in tries]
        curve = [_pass_all(passed, k) for k in range(1, repeats + 1)]
        whole = [float(best == count) for best, count in passed if count >= repeats]
        return RepeatedMetric(
            name=metric.name,
            questions=len(tries),
            pass_hat=[share for share in curve if share is not None],
            pass_all_ci=_interval(whole, confidence),
        )


def _agreement(answers: Sequence[str]) -> float:
    """The share of pairs of answers that are the same, but for case, blanks and punctuation."""
    same = sum(count * (count - 1) for count in Counter(answers).values())
    return same / (len(answers) * (len(answers) - 1))


def _pass_all(passed: Sequence[tuple[int, int]], k: int) -> float | None:
    """pass^k: the mean over questions of C(best, k) / C(answers, k); None where no question has k answers."""
    shares = [comb(best, k) / comb(count, k) for best, count in passed if count >= k]
    return fmean(shares) if shares else None


def _interval(shares: Sequence[float], confidence: float) -> Interval | None:
    found = mean_interval(np.array(shares), 0.0, 1.0, confidence)
    return found.interval if found else None
