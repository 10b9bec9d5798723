"""Notes and outcomes of a run, collected one record after the other."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from statistics import median
from typing import Any, NamedTuple, TypeVar

from evals import __version__
from evals.metrics.base import BaseMetric, Need
from evals.metrics.performance import LIST_PRICE, CostPerQuery
from evals.metrics.sample import Sample
from evals.schemas.response import PART, Citation, EvalResponse, Outcomes, RetrievedChunk
from evals.schemas.results import EvalRecord
from evals.schemas.run_parts import RunStatus
from evals.scoring.settings import ScoreSettings
from evals.scoring.stats.intervals import percentile
from evals.text.numbers import counted, share

# What is held of the records of a run is gathered in parts, by several processes, and merged.


T = TypeVar("T")


def merge(mine: Any, later: Any) -> None:
    """Add what was gathered of the records that follow: to dataclasses field by field, to mappings key by key."""
    if hasattr(mine, "extend"):
        mine.extend(later)
    elif isinstance(mine, Counter | set):
        mine.update(later)
    elif isinstance(mine, dict):
        for key, value in later.items():
            merge(mine.setdefault(key, type(value)()), value)
    elif mine is not None:
        for part in fields(mine):
            merge(getattr(mine, part.name), getattr(later, part.name))


class _Cited(NamedTuple):
    """The indices that one answer cites, and the places of its chunks that hold gold."""

    indices: tuple[int, ...]
    hits: frozenset[int]


_LOOKED_AT = 200
"""This many answers are compared with gold; that takes time, and a wrong base of citations shows in fewer."""

_NAMED = 5
"""This many questions are named in a note."""


_KINDS = ("transport", "judge", "unread", "chunks", "base")


@dataclass(slots=True)
class AnswerTally:
    """Counts outcomes of questions, and collects notes on their answers.

    Attributes:
        counts: Of records, answers and citations by what is true of them.
        by: Of kinds of errors ("transport"), failures of the judge ("judge"), notes on bodies ("unread"), numbers of
            chunks ("chunks") and bases of citation indices ("base"): how often each came.
        indices: How often an index is cited in an answer with this many chunks.
        cited: The first answers with indices.
        latency: Milliseconds that answers took.
        total: Milliseconds that users waited for them.
        disputed: The questions of which rules and judge disagree, by whether rules read a refusal.
    """

    counts: Counter[str] = field(default_factory=Counter)
    by: dict[str, Counter[Any]] = field(default_factory=lambda: {kind: Counter() for kind in _KINDS})
    indices: Counter[tuple[int, int]] = field(default_factory=Counter)
    cited: list[_Cited] = field(default_factory=list)
    latency: "array[float]" = field(default_factory=lambda: array("d"))
    total: "array[float]" = field(default_factory=lambda: array("d"))
    disputed: dict[bool, list[str]] = field(default_factory=lambda: {True: [], False: []})

    def add(self, record: EvalRecord, case: Sample) -> None:
        """Add the next record.

        Args:
            record: With or without a response, scored.
            case: It as metrics see it.
        """
        response, count, by = record.response, self.counts, self.by
        count["golds"] += bool(record.question.gold_passages)
        self._add_scores(record)
        if case.abstention_disputed:
            self.disputed[case.reads_as_refusal].append(case.question.id)
        if response is None:
            count["not asked"] += 1
            return
        count["retried"] += response.attempts > 1
        by["judge"].update(verdict.failure for verdict in record.verdicts if verdict.failure is not None)
        if response.error is not None:
            by["transport"][response.error.kind] += 1
            return
        count["answered"] += 1
        by["unread"].update(response.notes)
        if response.latency_ms is not None and response.total_ms:
            self.latency.append(response.latency_ms)
            self.total.append(response.total_ms)
        self._add_chunks(response.chunks)
        if response.answer is not None:
            self._add_answer(response, case)
        if response.citations is not None:
            self._add_citations(response.citations, case)

    def _add_scores(self, record: EvalRecord) -> None:
        elsewhere = 0
        for score in record.scores:
            if score.name == CostPerQuery.name:
                self.counts["costs"] += bool(score.value)
                self.counts["list price"] += score.details.get("price") == LIST_PRICE
            if "hit_ranks" in score.details:
                self.counts["names compared"] += 1
                elsewhere = max(elsewhere, score.details.get("other_documents", 0))
        self.counts["hits elsewhere"] += elsewhere

    def _add_chunks(self, chunks: Sequence[RetrievedChunk] | None) -> None:
        if chunks is None:
            return
        self.by["chunks"][len(chunks)] += 1
        found = self.counts
        found["any chunk"] += bool(chunks)
        found["chunk ids"] += any(chunk.chunk_id is not None for chunk in chunks)
        found["chunk texts"] += any(chunk.text for chunk in chunks)
        found["chunk documents"] += any(chunk.document_id or chunk.document_name for chunk in chunks)

    def _add_answer(self, response: EvalResponse, case: Sample) -> None:
        found, is_open = self.counts, case.abstention_open
        found["abstained"] += case.abstained and not is_open
        found["open"] += is_open
        found["answers disputed"] += case.abstention_disputed
        found["by judge"] += case.judges_word is not None
        found["answers"] += 1
        found["cites in text"] += not found["cites in text"] and _cites_in_text(response)
        found["without chunks"] += response.chunks is None and not response.could_not_read("chunks")
        found["without citations"] += response.citations is None and not response.could_not_read("citations")

    def _add_citations(self, citations: Sequence[Citation], case: Sample) -> None:
        """Where no chunks were sent, nothing is known of whether a citation points to one."""
        found, chunks = self.counts, case.response.chunks
        found["cited"] += 1
        found["citations"] += len(case.cited)
        if chunks is not None:
            found["invalid"] += sum(source.place is None for source in case.cited)
        if chunks and citations:
            self._add_indices(citations, len(chunks), case)

    def _add_indices(self, citations: Sequence[Citation], chunks: int, case: Sample) -> None:
        found = self.counts
        self.by["base"][case.citation_base] += 1
        indices = tuple(dict.fromkeys(index for one in citations if (index := _index_of(one)) is not None))
        self.indices.update((index, chunks) for index in indices)
        if indices and len(self.cited) < _LOOKED_AT:
            hits = frozenset(place for place, hit in enumerate(case.matches.hits) if hit)
            self.cited.append(_Cited(indices, hits))
        found["sources"] += len(case.cited)
        found["sources placed"] += any(source.place is not None for source in case.cited)
        found["sources numbered"] += any(one.index is not None for one in citations)

    def outcomes(self, warmup_ms: Sequence[float | None], *, judged: bool) -> Outcomes:
        """How the questions ended.

        Args:
            warmup_ms: Latencies of the unscored questions.
            judged: Whether a judge takes part: a run without one disputes nothing.
        """
        counts, cited, chunks = self.counts, self.counts["cited"], self.by["chunks"]
        return Outcomes(
            answered=counts["answered"],
            abstained=counts["abstained"],
            abstention_disputed=counts["answers disputed"] if judged else None,
            abstention_open=counts["open"],
            abstention_by_judge=counts["by judge"] if judged else None,
            not_asked=counts["not asked"],
            transport=dict(self.by["transport"]),
            judge=dict(self.by["judge"]),
            retried=counts["retried"],
            median_chunks=median(chunks.elements()) if chunks else None,
            citations=counts["citations"] if cited else None,
            invalid_citations=counts["invalid"] if cited else None,
            warmup_ms=list(warmup_ms),
        )

    def notes(self, *, concurrency: int, usage_limit: int | None) -> list[str]:
        """What the answers give reason to say.

        Args:
            concurrency: How many questions were in flight.
            usage_limit: Above this concurrency the server's token counts mix; None where that does not matter.
        """
        counts = self.counts
        mixed = usage_limit is not None and concurrency > usage_limit and counts["costs"]
        found = (
            _MIXED_USAGE.format(limit=usage_limit) if mixed else None,
            _ON_LIST_PRICE if counts["list price"] else None,
            self._on_waiting(),
            _NO_LISTS if counts["golds"] and counts["answered"] and not self.by["chunks"] else None,
            self._on_lists("chunks"),
            self._on_lists("citations"),
            *self._on_chunks(),
            self._on_citations(),
            *self._on_disputed(),
            *self._on_parts(),
        )
        return [note for note in found if note is not None]

    def notes_on_matching(self, settings: ScoreSettings) -> list[str]:
        """What became of the names of documents in matching; nothing where they made no difference.

        Args:
            settings: With what the run says about matching.
        """
        elsewhere = self.counts["hits elsewhere"]
        if not elsewhere:
            return []
        note = f"documents of chunks and gold are comparable: hits in other documents are not counted ({elsewhere})"
        return [f"{MATCHING}{note}"]

    def _on_waiting(self) -> str | None:
        """That users wait far longer than the latency says, which is of one attempt."""
        if not self.latency:
            return None
        latency, total = percentile(self.latency, 95), percentile(self.total, 95)
        if total - latency < _MUCH_WAITING_MS or total < _MUCH_LONGER * latency:
            return None
        return (
            f"users wait longer than latency_p95 says: {total / 1000:.1f} s with retries and waiting for room, "
            f"{latency / 1000:.1f} s without"
        )

    def _on_lists(self, name: str) -> str | None:
        """That some lists are missing: of those answers nothing is measured by them."""
        without, answers = self.counts[f"without {name}"], self.counts["answers"]
        if not 0 < without < answers:
            return None
        said = share(without, answers, "answer", "brings")
        measured = "metrics of them are over the others"
        if name == "citations" and self.counts["cites in text"]:
            return f"{said} no citation: {measured} (with server.citations.given_as: markers they cite nothing)"
        return f"{said} no list of {name}: {measured}"

    def _on_chunks(self) -> Iterator[str]:
        """What the chunks of a run lack."""
        counts = self.counts
        if counts["any chunk"] and not counts["chunk ids"]:
            yield "no retrieved chunk has an id: two passages of one document may have come as one"
        if counts["any chunk"] and not counts["chunk texts"]:
            named = counts["chunk documents"]
            how = "its document, so retrieval is of documents" if named else "ids alone, where gold has them"
            yield f"no retrieved chunk carries text: gold is recognised by {how} (is server.map.chunks right?)"

    def _on_citations(self) -> str | None:
        """What shows that citations were read with the wrong `citations.base`, or point to nothing at all."""
        if self.indices:  # all of a run have the base that the run was read with
            return _note_on_base(next(iter(self.by["base"])), self.indices, self.cited[:_LOOKED_AT])
        if not self.counts["sources"] or self.counts["sources numbered"] or self.counts["sources placed"]:
            return None
        return (
            f"none of the {self.counts['sources']} cited sources is a retrieved chunk: server.map.citations and "
            "server.map.chunks seem to find different ids (or a citation names a document: map it as document_id)"
        )

    def _on_disputed(self) -> Iterator[str]:
        """Answers of which text rules and judge disagree whether they decline."""
        for reads_as, is_refusal in (("a refusal", True), ("an answer", False)):
            ids = self.disputed[is_refusal]
            if ids:
                named = ", ".join(ids[:_NAMED]) + (", …" if len(ids) > _NAMED else "")
                said = counted(len(ids), "answer", "reads")
                yield f"{DISPUTED}{said} like {reads_as}, and the judge says otherwise: {named}"

    def _on_parts(self) -> Iterator[str]:
        """What of the bodies could not be read, and what else is amiss with them, each once."""
        for note, count in self.by["unread"].items():
            where = "null in" if note.startswith(PART) else "in"
            yield f"{note}: {where} {share(count, self.counts['answered'], 'answer')}"


def _cites_in_text(response: EvalResponse) -> bool:
    """Whether citations are markers in the text of the answer, and in no list of the server's."""
    text = response.answer or ""
    return any(
        one.index is not None and one.start is not None and str(one.index) in text[one.start : one.end]
        for one in response.citations or ()
    )


# Signs that the citations of a run were read with the wrong `citations.base`.


_FEW = 3
"""Fewer citations than this show nothing by the gold that they hit or miss."""


_SHARE = 0.1
"""Of the indices, this many must lie outside the chunks before another base is named that none lies outside of."""


_USUAL = (1, 0)

_YEARS = 1000

_NO_BASE = "no citations.base fits (are they ids?)"


def _note_on_base(base: int, indices: Counter[tuple[int, int]], cited: Sequence[_Cited]) -> str | None:
    """That some indices lie outside the chunks that all lie inside of by another base, or most miss gold by one."""
    total, outside = indices.total(), _outside(indices, base)
    if outside == total:
        fitting = _fitting(indices)
        way = f"citations.base: {fitting} fits all" if fitting is not None else _NO_BASE
        return f"none of the {total} cited indices is that of a retrieved chunk with citations.base: {base}: {way}"
    for other in (base - 1, base + 1):
        outside_then = _outside(indices, other)
        if other < 0 or outside_then > outside:
            continue
        if outside >= _SHARE * total and not outside_then:
            return (
                f"{outside} of {total} cited indices are those of no retrieved chunk with citations.base: {base}, "
                f"and all are with citations.base: {other}, which seems to be this server's"
            )
        missed, compared = _missed(cited, base, other)
        if compared >= _FEW and 2 * missed > compared:
            return (
                f"{missed} of {compared} citations miss the gold by exactly one chunk with citations.base: {base}: "
                f"citations.base: {other} seems to be this server's"
            )
    return None


def _outside(indices: Counter[tuple[int, int]], base: int) -> int:
    """How many indices point to no chunk where the first one has this number."""
    return sum(n for (index, chunks), n in indices.items() if not 0 <= index - base < chunks)


def _fitting(indices: Counter[tuple[int, int]]) -> int | None:
    """The base by which every index is that of a chunk; another than 0 and 1 only where several indices show it."""
    usual = next((base for base in _USUAL if not _outside(indices, base)), None)
    if usual is not None or indices.total() < _FEW:
        return usual
    lowest = min(index for index, _ in indices)
    return lowest if not _outside(indices, lowest) else None


def _index_of(citation: Citation) -> int | None:
    """The index that a citation gives; one read from the answer's text may be a year in brackets."""
    is_year = citation.start is not None and citation.index is not None and citation.index >= _YEARS
    return None if citation.chunk_id is not None or is_year else citation.index


def _missed(cited: Iterable[_Cited], base: int, other: int) -> tuple[int, int]:
    """How many indices hit gold by the other base alone, and how many there are in answers that retrieved gold."""
    missed = compared = 0
    for one in cited:
        if one.hits:
            compared += len(one.indices)
            missed += sum(index - base not in one.hits and index - other in one.hits for index in one.indices)
    return missed, compared


_MUCH_WAITING_MS = 50.0


_MUCH_LONGER = 1.5
"""From here on, waiting in addition to the latency is worth a note: this much more, and this many times as much."""


MATCHING = "matching: "
"""How a note on matching begins."""


DISPUTED = "abstention_disputed: "
"""How the note on answers begins of which text rules and judge disagree whether they decline."""


NO_CHUNKS = "no answer brought a list of chunks"
"""How the note begins that says so; where the path that found none is known, another one says more."""


_NO_LISTS = (
    f"{NO_CHUNKS}, so retrieval is not measured: either the server sends none, or server.map.chunks does not find them"
)

_ON_LIST_PRICE = "cost_per_query is by the list prices of genai-prices: name what you pay in `prices:`"

_MIXED_USAGE = (
    "cost is approximate: this kind of server counts tokens of parallel queries together "
    "(exact with a concurrency of {limit})"
)


SLOW = "slow metric: "
"""How the note begins of a metric of one's own that takes long."""

_SLOW_S = 0.05
"""For one question."""

_SLOW_SHARE, _SLOW_LEAST_S = 0.1, 1.0
"""The share of the time of a run that counts as slow, from this many seconds on."""


def slow_metrics(seconds: Mapping[str, float], questions: int, duration_s: float) -> list[str]:
    """A note on each metric that is not built in and takes long.

    Args:
        seconds: How long each took.
        questions: How many it measured.
        duration_s: Of the run.
    """
    return [
        f"{SLOW}{name} took {took:.1f} s, {1000 * took / questions:.0f} ms a question"
        for name, took in seconds.items()
        if took > _SLOW_S * questions or took > max(_SLOW_SHARE * duration_s, _SLOW_LEAST_S)
    ]


def usage_limit(metrics: Sequence[BaseMetric], limit: int | None) -> int | None:
    """The concurrency above which token counts mix; None where no metric looks at them."""
    return limit if any(Need.USAGE in metric.needs for metric in metrics) else None


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
