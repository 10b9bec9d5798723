"""How the questions of a run ended, and what a reader of its numbers must know. All of it from records."""

from collections import Counter
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from statistics import median

from evals.metrics.base import BaseMetric, Need
from evals.schemas import EvalRecord, Outcomes
from evals.schemas.results import RunStatus
from evals.scoring.scorecard import ScoreSettings
from evals.version import __version__

MATCHING = "matching: "
"""How a note on matching begins."""


def count_outcomes(
    records: Sequence[EvalRecord], settings: ScoreSettings, warmup_ms: Sequence[float | None]
) -> Outcomes:
    """Count how the questions ended."""
    asked = [(record, record.response) for record in records if record.response is not None]
    failed = [response.error for _, response in asked if response.error is not None]
    cases = [settings.case(record) for record, response in asked if response.error is None]
    chunks = [len(case.response.chunks) for case in cases if case.response.chunks is not None]
    cited = [case for case in cases if case.response.citations is not None]
    sources = [source for case in cited if case.response.chunks is not None for source in case.cited]
    return Outcomes(
        answered=len(cases),
        abstained=sum(case.abstained for case in cases if case.response.answer is not None),
        not_asked=len(records) - len(asked),
        transport=dict(Counter(error.kind for error in failed)),
        judge=dict(Counter(v.failure for record, _ in asked for v in record.verdicts if v.failure is not None)),
        retried=sum(response.attempts > 1 for _, response in asked),
        median_chunks=median(chunks) if chunks else None,
        citations=sum(len(case.cited) for case in cited) if cited else None,
        invalid_citations=sum(source.place is None for source in sources) if cited else None,
        warmup_ms=list(warmup_ms),
    )


def status_of(outcomes: Outcomes, max_error_rate: float, *, ended_early: bool) -> RunStatus:
    """Whether a run is complete, partial (ended early, or over the error rate) or failed (no answer at all)."""
    failed = sum(outcomes.transport.values())
    if not outcomes.answered:
        return "failed"
    too_many = failed / (failed + outcomes.answered) > max_error_rate
    return "partial" if ended_early or outcomes.not_asked or too_many else "complete"


def usage_limit(metrics: Sequence[BaseMetric], limit: int | None) -> int | None:
    """The concurrency above which token counts mix; None where no metric looks at them."""
    return limit if any(Need.USAGE in metric.needs for metric in metrics) else None


def notes_on_answers(records: Sequence[EvalRecord], *, concurrency: int, usage_limit: int | None) -> list[str]:
    """What the answers themselves give reason to say.

    Args:
        records: Of the run.
        concurrency: How many questions were in flight.
        usage_limit: Above this concurrency the server's token counts mix.
    """
    notes = []
    responses = [r.response for r in records if r.response is not None and r.response.error is None]
    if usage_limit is not None and concurrency > usage_limit and any(r.usage for r in responses):
        notes.append(
            "cost is approximate: this kind of server counts tokens of parallel queries together "
            f"(exact with --concurrency {usage_limit})"
        )
    chunks = [chunk for response in responses for chunk in response.chunks or []]
    if responses and all(r.chunks is None for r in responses) and any(r.question.gold_passages for r in records):
        notes.append(
            "no answer brought a list of chunks, so retrieval is not measured: either the server sends none, or "
            "server.map.chunks does not find them"
        )
    if chunks and all(chunk.chunk_id is None for chunk in chunks):
        notes.append("no retrieved chunk has an id: two passages of one document may have come as one")
    if chunks and not any(chunk.text for chunk in chunks):
        named = any(chunk.document_id or chunk.document_name for chunk in chunks)
        how = "its document, so retrieval is of documents" if named else "ids alone, where gold has them"
        notes.append(f"no retrieved chunk carries text: gold is recognised by {how} (is server.map.chunks right?)")
    return notes


def notes_on_matching(records: Sequence[EvalRecord], settings: ScoreSettings) -> list[str]:
    """What became of the names of documents in matching; nothing where they made no difference.

    Args:
        records: Of the run, scored.
        settings: With what the run says about matching.
    """
    details = [[score.details for score in record.scores if "hit_ranks" in score.details] for record in records]
    comparable = settings.evidence.names.comparable if settings.evidence is not None else None
    if comparable is False and any(details):
        share = settings.match.comparable_share
        return [
            f"{MATCHING}names of documents are ignored: of the golds found by their text less than {share:.0%} stand "
            "in a document that is named as theirs"
        ]
    elsewhere = sum(max((found.get("other_documents", 0) for found in some), default=0) for some in details)
    if not elsewhere:
        return []
    return [
        f"{MATCHING}documents of chunks and gold are comparable: hits in other documents are not counted ({elsewhere})"
    ]


def package_versions() -> dict[str, str]:
    """The versions that a run depends on."""
    found = {"python": python_version(), "rag-evals": __version__}
    for name in ("httpx", "pydantic", "datasets", "anthropic", "openai"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
