"""The lines of a run's records, as they are saved, by whoever scores them."""

from collections.abc import Iterator, Sequence

from evals.run.scorers.early import EarlyScoring
from evals.run.scorers.how import HowToScore, Scoring
from evals.run.scorers.processes import BATCH, lines_of
from evals.schemas import EvalRecord
from evals.store.journal import record_line


def scoring_of(early: EarlyScoring, how: HowToScore) -> Scoring:
    """The scoring of a run, gone on with where it has begun.

    Args:
        early: What was scored while others were waited for.
        how: To score records, now that all are there.
    """
    evidence = how.settings.evidence
    begun = None if evidence is None else early.scoring(evidence, how.facts)
    return begun or how.scoring()


def scored_lines(
    scoring: Scoring, records: Sequence[EvalRecord], how: HowToScore, jobs: int
) -> Iterator[tuple[str, bytes]]:
    """The lines of all records, each with its question's id: of those that are scored already, then of the others.

    Texts that models compare are remembered by this process, so that it scores them itself.

    Args:
        scoring: Gathers what follows from the records.
        records: All of the run, in the order of their questions.
        how: To score them.
        jobs: How many processes score.

    Raises:
        EngineError: A process ended by itself.
    """
    yield from scoring.lines
    done, conclusion, semantics = len(scoring.lines), scoring.conclusion, how.settings.semantics
    by_models = semantics is not None and semantics.compares
    if jobs > 1 and len(records) - done >= 2 * BATCH and not by_models:
        yield from lines_of(how, records, done, jobs, conclusion)
        return
    rest = conclusion.scored(records[place] for place in range(done, len(records)))
    yield from ((record.question.id, record_line(record)) for record in rest)
