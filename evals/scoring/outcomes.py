"""How the questions of a run ended, and what a reader of its numbers must know. All of it from records."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from statistics import median
from typing import Any

from evals.case.case import Case
from evals.metrics.base import BaseMetric, Need
from evals.schemas import EvalRecord, EvalResponse, Outcomes, RetrievedChunk
from evals.schemas.results import RunStatus
from evals.scoring.citation_base import note_on_citations
from evals.scoring.settings import Cases, ScoreSettings
from evals.stats import percentile
from evals.text.counts import counted, share
from evals.version import __version__

_MUCH_WAITING_MS = 50.0
_MUCH_LONGER = 1.5
"""From here on, what a user waits beside the latency is worth a note: so much more, and so many times as much."""
MATCHING = "matching: "
"""How a note on matching begins."""
DISPUTED = "abstention_disputed: "
"""How the note on answers begins of which text rules and judge disagree whether they decline."""
_NAMED = 5
"""So many questions are named in a note."""


NO_CHUNKS = "no answer brought a list of chunks"
"""How the note begins that says so; where the path that found none is known, another one says more."""


def count_outcomes(records: Sequence[EvalRecord], cases: Cases, warmup_ms: Sequence[float | None]) -> Outcomes:
    """Count how the questions ended."""
    responses = [record.response for record in records if record.response is not None]
    answered = [cases.of(record) for record in records if _is_answered(record)]
    cited = [case for case in answered if case.response.citations is not None]
    return Outcomes(
        answered=len(answered),
        **_abstentions(answered, judged=cases.settings.judged),
        not_asked=len(records) - len(responses),
        transport=dict(Counter(response.error.kind for response in responses if response.error is not None)),
        judge=_judge_failures(records),
        retried=_retried(responses),
        median_chunks=_median_chunks(answered),
        citations=_citations(cited),
        invalid_citations=_invalid_citations(cited),
        warmup_ms=list(warmup_ms),
    )


def _is_answered(record: EvalRecord) -> bool:
    return record.response is not None and record.response.error is None


def _abstentions(cases: Iterable[Case], *, judged: bool) -> dict[str, Any]:
    """How many answers decline, and of how many that is disputed or open; a run without a judge disputes nothing."""
    there = [case for case in cases if case.response.answer is not None]
    return {
        "abstained": sum(case.abstained and not case.abstention_open for case in there),
        "abstention_disputed": sum(case.abstention_disputed for case in there) if judged else None,
        "abstention_open": sum(case.abstention_open for case in there),
    }


def _retried(responses: Iterable[EvalResponse]) -> int:
    return sum(response.attempts > 1 for response in responses)


def _citations(cited: Sequence[Case]) -> int | None:
    return sum(len(case.cited) for case in cited) if cited else None


def _judge_failures(records: Iterable[EvalRecord]) -> dict[str, int]:
    verdicts = (verdict for record in records if record.response is not None for verdict in record.verdicts)
    return dict(Counter(verdict.failure for verdict in verdicts if verdict.failure is not None))


def _median_chunks(cases: Iterable[Case]) -> float | None:
    counts = [len(case.response.chunks) for case in cases if case.response.chunks is not None]
    return median(counts) if counts else None


def _invalid_citations(cited: Sequence[Case]) -> int | None:
    """How many citations point to no chunk, of those that could: where no chunks were sent nothing is known."""
    if not cited:
        return None
    resolved = (case for case in cited if case.response.chunks is not None)
    return sum(source.place is None for case in resolved for source in case.cited)


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


def notes_on_answers(
    records: Sequence[EvalRecord], cases: Cases, *, concurrency: int, usage_limit: int | None
) -> list[str]:
    """What the answers themselves give reason to say.

    Args:
        records: Of the run.
        cases: They as metrics see them.
        concurrency: How many questions were in flight.
        usage_limit: Above this concurrency the server's token counts mix.
    """
    responses = [record.response for record in records if record.response is not None and record.response.error is None]
    chunks = [chunk for response in responses for chunk in response.chunks or []]
    found = (
        _note_on_usage(responses, concurrency, usage_limit),
        _note_on_waiting(responses),
        _note_on_no_chunks(records, responses),
        *_notes_on_some_lists(responses),
        _note_on_no_ids(chunks),
        _note_on_no_texts(chunks),
        note_on_citations(cases.of(record) for record in records if _is_answered(record)),
        _note_on_disputed(records, cases),
    )
    return [*(note for note in found if note is not None), *_notes_on_parts(responses)]


def _notes_on_some_lists(responses: Sequence[EvalResponse]) -> Iterator[str]:
    """Lists that come with some answers alone: of the others nothing is measured by them. Unread ones have notes."""
    answered = [response for response in responses if response.answer is not None]
    for name in ("chunks", "citations"):
        without = sum(getattr(response, name) is None and not response.notes for response in answered)
        if 0 < without < len(answered):
            said = share(without, len(answered), "answer", "brings")
            yield f"{said} no list of {name}: what is measured by them is of the others"


def _notes_on_parts(responses: Sequence[EvalResponse]) -> list[str]:
    """What of the bodies could not be read, each once."""
    unread = Counter(note for response in responses for note in response.notes)
    return [f"{note}: null in {share(count, len(responses), 'answer')}" for note, count in unread.items()]


def _note_on_disputed(records: Iterable[EvalRecord], cases: Cases) -> str | None:
    ids = [record.question.id for record in records if cases.of(record).abstention_disputed]
    if not ids:
        return None
    named = ", ".join(ids[:_NAMED]) + (", …" if len(ids) > _NAMED else "")
    return f"{DISPUTED}{counted(len(ids), 'answer', 'reads')} like a refusal, and the judge says otherwise: {named}"


def _note_on_usage(responses: Sequence[EvalResponse], concurrency: int, limit: int | None) -> str | None:
    if limit is None or concurrency <= limit or not any(response.usage for response in responses):
        return None
    return (
        "cost is approximate: this kind of server counts tokens of parallel queries together "
        f"(exact with a concurrency of {limit})"
    )


def _note_on_waiting(responses: Sequence[EvalResponse]) -> str | None:
    """That users wait far longer than the latency says, which is of one attempt."""
    both = [(one.latency_ms, one.total_ms) for one in responses if one.latency_ms is not None and one.total_ms]
    if not both:
        return None
    latency, total = (percentile(times, 95) for times in zip(*both, strict=True))
    if total - latency < _MUCH_WAITING_MS or total < _MUCH_LONGER * latency:
        return None
    return (
        f"users wait longer than latency_p95 says: {total / 1000:.1f} s with retries and waiting for room, "
        f"{latency / 1000:.1f} s without (metric latency_total_p95)"
    )


def _note_on_no_chunks(records: Iterable[EvalRecord], responses: Sequence[EvalResponse]) -> str | None:
    if not any(record.question.gold_passages for record in records):
        return None
    if not responses or any(response.chunks is not None for response in responses):
        return None
    return (
        f"{NO_CHUNKS}, so retrieval is not measured: either the server sends none, or "
        "server.map.chunks does not find them"
    )


def _note_on_no_ids(chunks: Sequence[RetrievedChunk]) -> str | None:
    if not chunks or any(chunk.chunk_id is not None for chunk in chunks):
        return None
    return "no retrieved chunk has an id: two passages of one document may have come as one"


def _note_on_no_texts(chunks: Sequence[RetrievedChunk]) -> str | None:
    if not chunks or any(chunk.text for chunk in chunks):
        return None
    named = any(chunk.document_id or chunk.document_name for chunk in chunks)
    how = "its document, so retrieval is of documents" if named else "ids alone, where gold has them"
    return f"no retrieved chunk carries text: gold is recognised by {how} (is server.map.chunks right?)"


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
