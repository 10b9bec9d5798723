"""Which questions of several runs are the same."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from evals.compare.answering import abstentions
from evals.errors import ConfigError
from evals.schemas import EvalQuestion, EvalRecord, EvalRun
from evals.scoring.clusters import cluster_of
from evals.scoring.diagnosis import Link, diagnose, facts_of
from evals.scoring.settings import cases_of, score_settings
from evals.text.counts import counted


@dataclass(frozen=True)
class SavedRun:
    """A run with its records."""

    run: EvalRun
    records: Sequence[EvalRecord]

    @cached_property
    def asked(self) -> dict[str, EvalRecord]:
        """The records of the questions that were asked, by id."""
        return {record.question.id: record for record in self.records if record.response is not None}

    @cached_property
    def abstained(self) -> dict[str, bool]:
        """Whether each answer declines, by id; questions without an answer are left out."""
        return abstentions(self.run, self.records)

    @cached_property
    def links(self) -> dict[str, Link]:
        """The first link that broke of each question that has one, by id."""
        found = diagnose(self.records, cases_of(self.run, self.records), facts_of(self.run, self.records))
        return {finding.record.question.id: finding.link for finding in found}


@dataclass(frozen=True, slots=True)
class Pairing:
    """The records of several runs, side by side.

    Attributes:
        runs: The runs.
        ids: The questions that all runs asked, in the order of the first run.
        records: A mapping a run, from id to record, of these questions alone.
        abstained: A mapping a run, from id to whether the answer declines.
        reworded: Ids that all runs have, but not with the same question.
        regraded: By what differs ("gold passages"), the common questions for which it is not the same in all runs.
    """

    runs: list[EvalRun]
    ids: list[str]
    records: list[dict[str, EvalRecord]]
    abstained: list[dict[str, bool]]
    reworded: list[str]
    regraded: dict[str, list[str]]

    def questions(self, ids: Sequence[str]) -> list[EvalQuestion]:
        """The questions of these ids, as the first run asked them."""
        return [self.records[0][key].question for key in ids]

    def clusters(self, ids: Sequence[str]) -> list[str]:
        """What each of these questions belongs to, by the configuration of the first run."""
        by = score_settings(self.runs[0]).cluster
        return [cluster_of(question, by) for question in self.questions(ids)]


def pair_up(saved: Sequence[SavedRun], *, may_be_empty: bool = False) -> Pairing:
    """Pair the records of runs by question id.

    An id that stands for another question in another run (two files that both number their rows) pairs nothing.

    Args:
        saved: The runs.
        may_be_empty: Whether it is no error where no question was asked by all of them.

    Raises:
        ConfigError: Fewer than two runs, or no question that all of them asked.
    """
    if len(saved) < 2:
        raise ConfigError("a comparison needs at least two runs", "`evals runs` lists what there is")
    asked = [each.asked for each in saved]
    shared, same = _common(asked)
    if not same and not may_be_empty:
        raise _nothing_in_common(saved, len(shared))
    return Pairing(
        runs=[each.run for each in saved],
        ids=same,
        records=[{key: records[key] for key in same} for records in asked],
        abstained=[each.abstained for each in saved],
        reworded=sorted(set(shared).difference(same)),
        regraded=_regraded(asked, same),
    )


def _common(asked: Sequence[dict[str, EvalRecord]]) -> tuple[list[str], list[str]]:
    """The ids that all runs have, and those of them that stand for the same question."""
    shared = [key for key in asked[0] if all(key in records for records in asked[1:])]
    return shared, [key for key in shared if len({records[key].question.question for records in asked}) == 1]


def _nothing_in_common(saved: Sequence[SavedRun], ids: int) -> ConfigError:
    why = f" ({counted(ids, 'id', 'is')} the same, but no question)" if ids else ""
    named = " and ".join(each.run.id for each in saved)
    return ConfigError(
        f"the runs have no question in common{why}: {named}",
        "compare runs over the same dataset, samples and seed: `evals runs` lists the datasets",
    )


GOLD: dict[str, Callable[[EvalQuestion], object]] = {
    "gold passages": lambda question: question.gold_passages,
    "expected answers": lambda question: (question.expected_answer, question.answers),
    "answerability": lambda question: question.is_unanswerable,
    "key sentences": lambda question: question.key_sentences,
    "checks": lambda question: question.checks,
}
"""What is known of a question's answer, by name."""


def _regraded(asked: Sequence[dict[str, EvalRecord]], ids: Sequence[str]) -> dict[str, list[str]]:
    found = {}
    for name, part in GOLD.items():
        others = [key for key in ids if any(part(a[key].question) != part(asked[0][key].question) for a in asked[1:])]
        if others:
            found[name] = others
    return found
