"""How the questions of a run ended, counted from its records."""

from collections import Counter
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from statistics import median

from evals.case.case import Case
from evals.schemas import EvalRecord, Outcomes
from evals.schemas.merged_shard import RunStatus
from evals.version import __version__


class OutcomeCounts:
    """Counts how questions ended, one record after the other.

    Args:
        judged: Whether a judge takes part: a run without one disputes nothing.
    """

    def __init__(self, *, judged: bool) -> None:
        self._judged = judged
        self._counts: Counter[str] = Counter()
        self._transport: Counter[str] = Counter()
        self._judge: Counter[str] = Counter()
        self._chunks: Counter[int] = Counter()

    def add(self, record: EvalRecord, case: Case) -> None:
        """Add the next record.

        Args:
            record: With or without a response.
            case: It as metrics see it.
        """
        response = record.response
        if response is None:
            self._counts["not asked"] += 1
            return
        self._counts["retried"] += response.attempts > 1
        for verdict in record.verdicts:
            if verdict.failure is not None:
                self._judge[verdict.failure] += 1
        if response.error is not None:
            self._transport[response.error.kind] += 1
            return
        self._counts["answered"] += 1
        if response.chunks is not None:
            self._chunks[len(response.chunks)] += 1
        if response.answer is not None:
            self._add_abstention(case)
        if response.citations is not None:
            self._add_citations(case)

    def extend(self, later: "OutcomeCounts") -> None:
        """Add what was counted of the records that follow."""
        self._counts.update(later._counts)
        self._transport.update(later._transport)
        self._judge.update(later._judge)
        self._chunks.update(later._chunks)

    def _add_abstention(self, case: Case) -> None:
        is_open = case.abstention_open
        self._counts["abstained"] += case.abstained and not is_open
        self._counts["open"] += is_open
        if self._judged:
            self._counts["disputed"] += case.abstention_disputed
            self._counts["by judge"] += case.judges_word is not None

    def _add_citations(self, case: Case) -> None:
        """Where no chunks were sent, nothing is known of whether a citation points to one."""
        self._counts["cited"] += 1
        self._counts["citations"] += len(case.cited)
        if case.response.chunks is not None:
            self._counts["invalid"] += sum(source.place is None for source in case.cited)

    def outcomes(self, warmup_ms: Sequence[float | None]) -> Outcomes:
        """How the questions ended."""
        counts, cited = self._counts, self._counts["cited"]
        return Outcomes(
            answered=counts["answered"],
            abstained=counts["abstained"],
            abstention_disputed=counts["disputed"] if self._judged else None,
            abstention_open=counts["open"],
            abstention_by_judge=counts["by judge"] if self._judged else None,
            not_asked=counts["not asked"],
            transport=dict(self._transport),
            judge=dict(self._judge),
            retried=counts["retried"],
            median_chunks=median(self._chunks.elements()) if self._chunks else None,
            citations=counts["citations"] if cited else None,
            invalid_citations=counts["invalid"] if cited else None,
            warmup_ms=list(warmup_ms),
        )


def status_of(outcomes: Outcomes, max_error_rate: float, *, ended_early: bool) -> RunStatus:
    """Whether a run is complete, partial (ended early, or over the error rate) or failed (no answer at all)."""
    failed = sum(outcomes.transport.values())
    if not outcomes.answered:
        return "failed"
    too_many = failed / (failed + outcomes.answered) > max_error_rate
    return "partial" if ended_early or outcomes.not_asked or too_many else "complete"


def package_versions() -> dict[str, str]:
    """The versions that a run depends on."""
    found = {"python": python_version(), "rag-evals": __version__}
    for name in ("httpx", "pydantic", "datasets", "anthropic", "openai"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
