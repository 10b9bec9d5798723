"""What a reader of a run's numbers must know, as its answers show; gathered one record after the other."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from statistics import median
from typing import NamedTuple

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

# Signs that the citations of a run were read with the wrong `citations.base`, or point to nothing at all.


_FEW = 3
"""Fewer citations than this show nothing by the gold that they hit or miss."""


_SHARE = 0.1
"""Of the indices, so many must lie outside the chunks before another base is named that none lies outside of."""


_LOOKED_AT = 200
"""So many answers are compared with gold; that takes time, and a wrong base shows in fewer."""

_USUAL = (1, 0)

_YEARS = 1000

_NO_BASE = "no citations.base fits (are they ids?)"


class _Few(NamedTuple):
    """The indices that one answer cites, and which of its chunks hold gold."""

    indices: tuple[int, ...]
    hits: Sequence[bool]


class CitationSigns:
    """Gathers what shows that the citations of a run as a whole are wrong.

    That is: not one points to a retrieved chunk, some indices lie outside the chunks that all lie inside of by another
    base, or most miss gold that the neighbouring chunk holds.
    """

    def __init__(self) -> None:
        self._base: int | None = None
        self._indices: Counter[tuple[int, int]] = Counter()
        """How often an index is cited in an answer with so many chunks."""
        self._few: list[_Few] = []
        self._numbered = self._placed = False
        self._sources = 0

    def add(self, case: Sample) -> None:
        """Add an answered question; all of a run have the base that the run was read with."""
        citations, chunks = case.response.citations, case.response.chunks
        if not chunks or not citations:
            return
        self._base = case.citation_base if self._base is None else self._base
        indices = tuple(dict.fromkeys(index for one in citations if (index := _index_of(one)) is not None))
        for index in indices:
            self._indices[index, len(chunks)] += 1
        if indices and len(self._few) < _LOOKED_AT:
            self._few.append(_Few(indices, list(case.matches.hits)))
        if not self._indices:
            self._add_sources(case)

    def extend(self, later: "CitationSigns") -> None:
        """Add what was gathered of the answers that follow."""
        self._base = later._base if self._base is None else self._base
        self._few = [*self._few, *later._few][:_LOOKED_AT]
        if not self._indices:
            self._sources += later._sources
            self._placed = self._placed or later._placed
            self._numbered = self._numbered or later._numbered
        self._indices.update(later._indices)

    def _add_sources(self, case: Sample) -> None:
        self._sources += len(case.cited)
        self._placed = self._placed or any(source.place is not None for source in case.cited)
        self._numbered = self._numbered or any(one.index is not None for one in case.response.citations or ())

    def note(self) -> str | None:
        """What is wrong; None where nothing is."""
        if self._base is None:
            return None
        return self._note_on_base(self._base) if self._indices else self._note_on_ids()

    def _note_on_base(self, base: int) -> str | None:
        total, outside = self._indices.total(), self._outside(base)
        if outside == total:
            fitting = self._fitting()
            way = f"citations.base: {fitting} fits all" if fitting is not None else _NO_BASE
            return f"none of the {total} cited indices is that of a retrieved chunk with citations.base: {base}: {way}"
        for other in (base - 1, base + 1):
            outside_then = self._outside(other)
            if other < 0 or outside_then > outside:
                continue
            if outside >= _SHARE * total and not outside_then:
                return (
                    f"{outside} of {total} cited indices are those of no retrieved chunk with citations.base: {base}, "
                    f"and all are with citations.base: {other}, which seems to be this server's"
                )
            missed, compared = _missed(self._few, base, other)
            if compared >= _FEW and 2 * missed > compared:
                return (
                    f"{missed} of {compared} citations miss the gold by exactly one chunk with citations.base: {base}: "
                    f"citations.base: {other} seems to be this server's"
                )
        return None

    def _outside(self, base: int) -> int:
        """How many indices point to no chunk where the first one has this number."""
        return sum(n for (index, chunks), n in self._indices.items() if not 0 <= index - base < chunks)

    def _fitting(self) -> int | None:
        """The base by which every index is that of a chunk; another than 0 and 1 only where several indices show it."""
        usual = next((base for base in _USUAL if not self._outside(base)), None)
        if usual is not None or self._indices.total() < _FEW:
            return usual
        lowest = min(index for index, _ in self._indices)
        return lowest if not self._outside(lowest) else None

    def _note_on_ids(self) -> str | None:
        if self._numbered or self._placed:
            return None
        return (
            f"none of the {self._sources} cited sources is a retrieved chunk: server.map.citations and "
            "server.map.chunks seem to find different ids (or a citation names a document: map it as document_id)"
        )


def _index_of(citation: Citation) -> int | None:
    return None if citation.chunk_id is not None or _is_year(citation) else citation.index


def _is_year(citation: Citation) -> bool:
    """Whether it was read from the answer's text, where such a number in brackets is no index."""
    return citation.start is not None and citation.index is not None and citation.index >= _YEARS


def _missed(cited: Iterable[_Few], base: int, other: int) -> tuple[int, int]:
    """How many indices hit gold by the other base alone, and how many there are in answers that retrieved gold."""
    missed = compared = 0
    for one in cited:
        if any(one.hits):
            right = {place for place, hit in enumerate(one.hits) if hit}
            compared += len(one.indices)
            missed += sum(index - base not in right and index - other in right for index in one.indices)
    return missed, compared


# How the questions of a run ended, counted from its records.


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

    def add(self, record: EvalRecord, case: Sample) -> None:
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

    def _add_abstention(self, case: Sample) -> None:
        is_open = case.abstention_open
        self._counts["abstained"] += case.abstained and not is_open
        self._counts["open"] += is_open
        if self._judged:
            self._counts["disputed"] += case.abstention_disputed
            self._counts["by judge"] += case.judges_word is not None

    def _add_citations(self, case: Sample) -> None:
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


_MUCH_WAITING_MS = 50.0


_MUCH_LONGER = 1.5
"""From here on, what a user waits beside the latency is worth a note: so much more, and so many times as much."""


MATCHING = "matching: "
"""How a note on matching begins."""


DISPUTED = "abstention_disputed: "
"""How the note on answers begins of which text rules and judge disagree whether they decline."""


_NAMED = 5
"""So many questions are named in a note."""

_ON_LIST_PRICE = "cost_per_query is by the list prices of genai-prices: name what you pay in `prices:`"


NO_CHUNKS = "no answer brought a list of chunks"
"""How the note begins that says so; where the path that found none is known, another one says more."""


def usage_limit(metrics: Sequence[BaseMetric], limit: int | None) -> int | None:
    """The concurrency above which token counts mix; None where no metric looks at them."""
    return limit if any(Need.USAGE in metric.needs for metric in metrics) else None


class _Lists:
    """Answers with and without a list of a kind; of those that could not be read, something else is said."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._answers = self._without = 0
        self._in_text = False

    def add(self, response: EvalResponse) -> None:
        if response.answer is not None:
            self._answers += 1
            self._in_text = self._in_text or (self._name == "citations" and _cites_in_text(response))
            self._without += getattr(response, self._name) is None and not response.could_not_read(self._name)

    def extend(self, later: "_Lists") -> None:
        self._answers += later._answers
        self._without += later._without
        self._in_text = self._in_text or later._in_text

    def note(self) -> str | None:
        """That some lists are missing: of those answers nothing is measured by them."""
        if not 0 < self._without < self._answers:
            return None
        said = share(self._without, self._answers, "answer", "brings")
        measured = "what is measured by them is of the others"
        if self._in_text:
            return f"{said} no citation: {measured} (with server.citations.given_as: markers they cite nothing)"
        return f"{said} no list of {self._name}: {measured}"


def _cites_in_text(response: EvalResponse) -> bool:
    """Whether citations are markers in the text of the answer, and in no list of the server's."""
    text = response.answer or ""
    return any(
        one.index is not None and one.start is not None and str(one.index) in text[one.start : one.end]
        for one in response.citations or ()
    )


class _ChunkFacts:
    """What the chunks of a run lack."""

    def __init__(self) -> None:
        self._any = self._ids = self._texts = self._named = False

    def add(self, chunks: Iterable[RetrievedChunk]) -> None:
        for chunk in chunks:
            self._any = True
            self._ids = self._ids or chunk.chunk_id is not None
            self._texts = self._texts or bool(chunk.text)
            self._named = self._named or bool(chunk.document_id or chunk.document_name)

    def extend(self, later: "_ChunkFacts") -> None:
        self._any = self._any or later._any
        self._ids = self._ids or later._ids
        self._texts = self._texts or later._texts
        self._named = self._named or later._named

    def notes(self) -> Iterator[str]:
        if self._any and not self._ids:
            yield "no retrieved chunk has an id: two passages of one document may have come as one"
        if self._any and not self._texts:
            how = "its document, so retrieval is of documents" if self._named else "ids alone, where gold has them"
            yield f"no retrieved chunk carries text: gold is recognised by {how} (is server.map.chunks right?)"


class _Waiting:
    """How long answers took, and how long users waited for them."""

    def __init__(self) -> None:
        self._latency, self._total = array("d"), array("d")

    def add(self, response: EvalResponse) -> None:
        if response.latency_ms is not None and response.total_ms:
            self._latency.append(response.latency_ms)
            self._total.append(response.total_ms)

    def extend(self, later: "_Waiting") -> None:
        self._latency.extend(later._latency)
        self._total.extend(later._total)

    def note(self) -> str | None:
        """That users wait far longer than the latency says, which is of one attempt."""
        if not self._latency:
            return None
        latency, total = percentile(self._latency, 95), percentile(self._total, 95)
        if total - latency < _MUCH_WAITING_MS or total < _MUCH_LONGER * latency:
            return None
        return (
            f"users wait longer than latency_p95 says: {total / 1000:.1f} s with retries and waiting for room, "
            f"{latency / 1000:.1f} s without (metric latency_total_p95)"
        )


class _Disputed:
    """Answers of which text rules and judge disagree whether they decline."""

    def __init__(self) -> None:
        self._counts: Counter[bool] = Counter()
        self._named: dict[bool, list[str]] = {True: [], False: []}

    def add(self, case: Sample) -> None:
        if case.abstention_disputed:
            reads_as = case.reads_as_refusal
            self._counts[reads_as] += 1
            self._named[reads_as] += [case.question.id] if len(self._named[reads_as]) < _NAMED else []

    def extend(self, later: "_Disputed") -> None:
        self._counts.update(later._counts)
        for reads_as, named in later._named.items():
            self._named[reads_as] = [*self._named[reads_as], *named][:_NAMED]

    def notes(self) -> Iterator[str]:
        for reads_as, is_refusal in (("a refusal", True), ("an answer", False)):
            count = self._counts[is_refusal]
            if count:
                named = ", ".join(self._named[is_refusal]) + (", …" if count > _NAMED else "")
                said = counted(count, "answer", "reads")
                yield f"{DISPUTED}{said} like {reads_as}, and the judge says otherwise: {named}"


class AnswerNotes:
    """Gathers what the answers of a run give reason to say."""

    def __init__(self) -> None:
        self._answered = 0
        self._golds = self._usage = self._lists = self._list_price = False
        self._waiting, self._chunks, self._disputed = _Waiting(), _ChunkFacts(), _Disputed()
        self._some_lists = [_Lists("chunks"), _Lists("citations")]
        self._unread: Counter[str] = Counter()
        self._citations = CitationSigns()

    def add(self, record: EvalRecord, case: Sample) -> None:
        """Add the next record.

        Args:
            record: With or without a response.
            case: It as metrics see it.
        """
        response = record.response
        cost = next((score for score in record.scores if score.name == CostPerQuery.name), None)
        self._list_price = self._list_price or (cost is not None and cost.details.get("price") == LIST_PRICE)
        self._golds = self._golds or bool(record.question.gold_passages)
        self._disputed.add(case)
        if response is not None and response.error is None:
            self._add_answer(response, case)

    def _add_answer(self, response: EvalResponse, case: Sample) -> None:
        self._answered += 1
        self._usage = self._usage or bool(response.usage)
        self._lists = self._lists or response.chunks is not None
        if response.notes:
            self._unread.update(response.notes)
        self._waiting.add(response)
        self._chunks.add(response.chunks or ())
        self._citations.add(case)
        for some in self._some_lists:
            some.add(response)

    def extend(self, later: "AnswerNotes") -> None:
        """Add what was gathered of the records that follow."""
        self._answered += later._answered
        self._golds = self._golds or later._golds
        self._usage = self._usage or later._usage
        self._lists = self._lists or later._lists
        self._list_price = self._list_price or later._list_price
        self._unread.update(later._unread)
        self._waiting.extend(later._waiting)
        self._chunks.extend(later._chunks)
        self._disputed.extend(later._disputed)
        self._citations.extend(later._citations)
        for some, others in zip(self._some_lists, later._some_lists, strict=True):
            some.extend(others)

    def notes(self, *, concurrency: int, usage_limit: int | None) -> list[str]:
        """The notes.

        Args:
            concurrency: How many questions were in flight.
            usage_limit: Above this concurrency the server's token counts mix; None where that does not matter.
        """
        found = (
            self._on_usage(concurrency, usage_limit),
            _ON_LIST_PRICE if self._list_price else None,
            self._waiting.note(),
            self._on_no_chunks(),
            *(some.note() for some in self._some_lists),
            *self._chunks.notes(),
            self._citations.note(),
            *self._disputed.notes(),
        )
        return [*(note for note in found if note is not None), *self._on_parts()]

    def _on_usage(self, concurrency: int, limit: int | None) -> str | None:
        if limit is None or concurrency <= limit or not self._usage:
            return None
        return (
            "cost is approximate: this kind of server counts tokens of parallel queries together "
            f"(exact with a concurrency of {limit})"
        )

    def _on_no_chunks(self) -> str | None:
        if not self._golds or not self._answered or self._lists:
            return None
        return (
            f"{NO_CHUNKS}, so retrieval is not measured: either the server sends none, or "
            "server.map.chunks does not find them"
        )

    def _on_parts(self) -> list[str]:
        """What of the bodies could not be read, and what else is amiss with them, each once."""
        return [
            f"{note}: {'null in' if note.startswith(PART) else 'in'} {share(count, self._answered, 'answer')}"
            for note, count in self._unread.items()
        ]


class MatchingNotes:
    """Gathers what became of the names of documents in matching."""

    def __init__(self) -> None:
        self._compared = False
        self._elsewhere = 0

    def add(self, record: EvalRecord) -> None:
        """Add the next record, scored."""
        details = [score.details for score in record.scores if "hit_ranks" in score.details]
        self._compared = self._compared or bool(details)
        self._elsewhere += max((found.get("other_documents", 0) for found in details), default=0)

    def extend(self, later: "MatchingNotes") -> None:
        """Add what was gathered of the records that follow."""
        self._compared = self._compared or later._compared
        self._elsewhere += later._elsewhere

    def notes(self, settings: ScoreSettings) -> list[str]:
        """What there is to say; nothing where names made no difference.

        Args:
            settings: With what the run says about matching.
        """
        comparable = settings.evidence.names.comparable if settings.evidence is not None else None
        if comparable is False and self._compared:
            share = settings.match.comparable_share
            return [
                f"{MATCHING}names of documents are ignored: of the golds found by their text less than {share:.0%} "
                "stand in a document that is named as theirs"
            ]
        if not self._elsewhere:
            return []
        return [
            f"{MATCHING}documents of chunks and gold are comparable: hits in other documents are not counted "
            f"({self._elsewhere})"
        ]
