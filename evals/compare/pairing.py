"""Which questions of several runs are the same, and what makes runs hard to compare."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evals.errors import ConfigError
from evals.schemas import EvalQuestion, EvalRecord, EvalRun
from evals.scoring.settings import score_settings
from evals.text.counts import counted

_APPROXIMATE = "cost is approximate"
"""How the note of a run begins whose server counts the tokens of parallel questions together."""
FEW = 20
"""Fewer common questions than these are worth a warning."""


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A run with its records."""

    run: EvalRun
    records: Sequence[EvalRecord]

    def asked(self) -> dict[str, EvalRecord]:
        """The records of the questions that were asked, by id."""
        return {record.question.id: record for record in self.records if record.response is not None}


@dataclass(frozen=True, slots=True)
class Pairing:
    """The records of several runs, side by side.

    Attributes:
        runs: The runs.
        ids: The questions that all runs asked, in the order of the first run.
        records: A mapping a run, from id to record, of these questions alone.
        reworded: Ids that all runs have, but not with the same question.
        regraded: Common questions whose gold or expected answer is not the same in all runs.
    """

    runs: list[EvalRun]
    ids: list[str]
    records: list[dict[str, EvalRecord]]
    reworded: list[str]
    regraded: list[str]


def pair_up(saved: Sequence[SavedRun]) -> Pairing:
    """Pair the records of runs by question id.

    An id that stands for another question in another run (two files that both number their rows) pairs nothing.

    Raises:
        ConfigError: Fewer than two runs, or no question that all of them asked.
    """
    if len(saved) < 2:
        raise ConfigError("a comparison needs at least two runs", "`evals runs` lists what there is")
    asked = [each.asked() for each in saved]
    shared = [key for key in asked[0] if all(key in records for records in asked[1:])]
    same = [key for key in shared if len({records[key].question.question for records in asked}) == 1]
    if not same:
        why = f" ({counted(len(shared), 'id', 'is')} the same, but no question)" if shared else ""
        raise ConfigError(
            f"the runs have no question in common{why}",
            "compare runs over the same dataset, samples and seed: `evals runs` lists the datasets",
        )
    return Pairing(
        runs=[each.run for each in saved],
        ids=same,
        records=[{key: records[key] for key in same} for records in asked],
        reworded=[key for key in shared if key not in set(same)],
        regraded=[key for key in same if any(_gold(a[key]) != _gold(asked[0][key]) for a in asked[1:])],
    )


def _gold(record: EvalRecord) -> tuple[object, ...]:
    question: EvalQuestion = record.question
    return question.gold_passages, question.expected_answer, question.answers, question.is_unanswerable


def find_warnings(pairing: Pairing) -> list[str]:
    """What a reader must know before believing the comparison."""
    return [*_about_questions(pairing), *_about_conditions(pairing.runs)]


def _about_questions(pairing: Pairing) -> list[str]:
    warnings = []
    common, asked = len(pairing.ids), [run.question_count for run in pairing.runs]
    prints = {tuple(sorted((f.name, f.sha256) for f in run.fingerprints)) for run in pairing.runs}
    if len(prints) > 1:
        counts = ", ".join(f"{run.id} {run.question_count}" for run in pairing.runs)
        warnings.append(f"the runs did not get the same questions (fingerprints differ; questions: {counts})")
    if common < FEW or 2 * common < max(asked):
        warnings.append(
            f"only {counted(common, 'question', 'is')} common: differences are uncertain, and say little of the rest"
        )
    if pairing.reworded:
        warnings.append(f"left out: {counted(len(pairing.reworded), 'id', 'stands')} for different questions")
    if pairing.regraded:
        warnings.append(f"{counted(len(pairing.regraded), 'common question', 'has')} another gold or expected answer")
    return warnings


def _about_conditions(runs: Sequence[EvalRun]) -> list[str]:
    warnings = [f"run {run.id} is {run.status}" for run in runs if run.status != "complete"]
    if len({run.judge is not None and run.rescored_from is None for run in runs}) > 1:
        warnings.append("some runs were judged while they asked, which takes this machine's time: mind it in latency")
    if len({run.concurrency for run in runs}) > 1 or any(run.concurrencies for run in runs):
        widths = ", ".join(f"{run.id} {' and '.join(map(str, run.concurrencies or [run.concurrency]))}" for run in runs)
        warnings.append(f"the runs had different concurrency ({widths}): no verdict on latency")
    if len({score_settings(run).match for run in runs}) > 1:
        warnings.append("the runs recognised gold by different rules (`match`): retrieval and citation are affected")
    judges = [run.judge for run in runs if run.judge]
    several = len({(judge.model, judge.origin) for judge in judges}) > 1
    if several or _disagree([judge.prompt_hashes for judge in judges]):
        warnings.append("the runs were judged by different models, addresses or prompts: judged metrics do not compare")
    for run in runs:
        lost = sum(run.outcomes.judge.values())
        if lost:
            warnings.append(
                f"the judge failed on {counted(lost, 'decision')} of run {run.id}: its judged metrics are of the rest"
            )
    if _disagree([run.semantics for run in runs if run.semantics]):
        warnings.append("the runs compared texts by different models: semantic metrics do not compare")
    approximate = dict.fromkeys(run.id for run in runs if any(note.startswith(_APPROXIMATE) for note in run.notes))
    return [*warnings, *([f"{_APPROXIMATE} in {', '.join(approximate)}"] if approximate else [])]


def _disagree(tables: Sequence[Mapping[str, str]]) -> bool:
    """Whether two of the tables have different values under the same name; runs may have measured different things."""
    known: dict[str, str] = {}
    return any(known.setdefault(name, value) != value for table in tables for name, value in table.items())
