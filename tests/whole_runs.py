"""What is gathered record by record, of all records of a run at once."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from evals.datasets.answers import each_answer
from evals.judges.record import disagreements
from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.sample import Sample
from evals.schemas import EvalRecord, EvalResponse, EvalRun, JudgeVerdict, MetricGroup, MetricResult
from evals.schemas.response import Outcomes
from evals.scoring.abstention import AbstentionTable, RiskCoverage, cell_of, confidence_and_loss, curve_of, table_of
from evals.scoring.diagnosis.counts import WrongSlice, wrong_slices
from evals.scoring.diagnosis.outcome import Finding
from evals.scoring.diagnosis.stages import StageRecall, StagesSeen, add_stages, library_of, recalls_of
from evals.scoring.notes import AnswerTally
from evals.scoring.scorecard import score_record, slice_value
from evals.scoring.settings import ScoringContext


class Quality(BaseMetric):
    """A metric of which the tests write the results themselves."""

    name = "quality"
    group = MetricGroup.GENERATION
    suites = frozenset()

    def measure(self, case: Sample) -> MetricResult:
        raise NotImplementedError


class Count(Quality):
    """The same, where values are added up."""

    name = "count"
    aggregation = Aggregation.SUM


def run_to_conclude(count: int) -> EvalRun:
    """A run of so many questions, before anything is known of its answers."""
    return EvalRun.model_validate(
        {
            "id": "0123abcd",
            "name": "to conclude",
            "created_at": "2026-01-01T00:00:00Z",
            "question_count": count,
            "datasets": ["file"],
            "seed": 1,
            "concurrency": 4,
            "server": {"url": "http://127.0.0.1", "profile": "none"},
        }
    )


def abstention_table(
    records: Iterable[EvalRecord], cases: ScoringContext, confidence: float = 0.95
) -> AbstentionTable | None:
    """Who declined what."""
    return table_of(Counter(cell for record in records if (cell := cell_of(record, cases))), confidence)


def risk_coverage(records: Iterable[EvalRecord], cases: ScoringContext) -> RiskCoverage | None:
    """The curve of a run."""
    return curve_of([found for record in records if (found := confidence_and_loss(record, cases)) is not None])


def notes_on_answers(records: Iterable[EvalRecord], cases: ScoringContext) -> list[str]:
    """What the answers of records give reason to say."""
    notes = AnswerTally()
    for record in records:
        notes.add(record, cases.of(record))
    return notes.notes(concurrency=1, usage_limit=None)


def count_outcomes(records: Iterable[EvalRecord], cases: ScoringContext, warmup_ms: Sequence[float | None]) -> Outcomes:
    """How the questions ended."""
    counts = AnswerTally()
    for record in records:
        counts.add(record, cases.of(record))
    return counts.outcomes(warmup_ms, judged=cases.settings.judged)


def flip_rates(verdicts: Mapping[str, Sequence[JudgeVerdict]]) -> dict[str, float]:
    """By inquiry, the chance that two verdicts on one thing have different labels."""
    found: dict[str, list[float]] = {}
    for of_question in verdicts.values():
        for request, each in disagreements(of_question).items():
            found.setdefault(request, []).extend(each)
    return {request: fmean(each) for request, each in sorted(found.items())}


def read_answers(path: Path, columns: Mapping[str, str] | None = None) -> dict[str, EvalResponse]:
    """Saved answers by the ids of their questions."""
    return dict(each_answer(path, columns))


def wrong_by(
    findings: Iterable[Finding], records: Sequence[EvalRecord], key: str, confidence: float = 0.95
) -> list[WrongSlice]:
    """The share of questions that ended wrong for each value of `dataset` or of a key of the metadata."""
    links = {one.record.question.id: one.link for one in findings}
    by_number = {n: links[one.question.id] for n, one in enumerate(records) if one.question.id in links}
    asked = ((n, slice_value(one.question, key)) for n, one in enumerate(records) if one.response is not None)
    return wrong_slices(by_number, asked, confidence)


def recall_by_stage(records: Sequence[EvalRecord], cases: ScoringContext) -> list[StageRecall]:
    """The recall at each stage, in the order in which the stages come."""
    library, seen = library_of(records), StagesSeen()
    for record in records:
        add_stages(seen, record, cases, library)
    return recalls_of(seen)


def score_records(
    metrics: Sequence[BaseMetric], records: Iterable[EvalRecord], cases: ScoringContext
) -> list[EvalRecord]:
    """Measure every record that has a response; the others stay as they are."""
    return [score_record(metrics, record, cases) for record in records]
