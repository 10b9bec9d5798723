"""What a reader of a run's numbers must know, as its answers show; gathered one record after the other."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from evals.case.case import Case
from evals.metrics.base import BaseMetric, Need
from evals.metrics.performance import LIST_PRICE, CostPerQuery
from evals.schemas import EvalRecord, EvalResponse, RetrievedChunk
from evals.schemas.response import PART
from evals.scoring.gathered.citation_base import CitationSigns
from evals.scoring.settings import ScoreSettings
from evals.stats import percentile
from evals.text.counts import counted, share

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

    def add(self, case: Case) -> None:
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

    def add(self, record: EvalRecord, case: Case) -> None:
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

    def _add_answer(self, response: EvalResponse, case: Case) -> None:
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
