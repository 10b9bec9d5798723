"""`Span`, the common form of five kinds of exports, and `join`: one exchange of the spans of a trace.

The root is question and answer. The chunks are what the last reranker kept, or else what the top-level retrievers
found.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from evals.schemas.response import PART, EvalResponse, ResponseError, RetrievedChunk, TokenUsage
from evals.text.numbers import counted

_LONGEST_S = 7 * 24 * 3600


class SpanKind(StrEnum):
    """What a span did, as far as it matters here."""

    RETRIEVER = "retriever"
    RERANKER = "reranker"
    LLM = "llm"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Documents:
    """What a retriever or a reranker returned, best first.

    Attributes:
        chunks: Those that could be read; one without a text is known by its id alone.
        unreadable: How many could not be read.
    """

    chunks: tuple[RetrievedChunk, ...] = ()
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """A step of a trace.

    Attributes:
        trace: The id of its trace.
        id: Its own id.
        parent: The id of the span that it is part of; None for a root.
        kind: What it did.
        name: As the server calls it.
        start: In seconds since 1970; None where it is not known, as with all that follows.
        end: The same.
        input: What it was given, as text.
        output: What it returned, as text.
        documents: What it retrieved or kept.
        usage: Tokens of a model.
        model: The model that answered.
        first_token_s: Seconds from its start to the first token.
        error: Why it failed.
        session: The conversation that it belongs to.
        feedback: What people said of it, by the name of what they were asked.
    """

    trace: str
    id: str
    parent: str | None = None
    kind: SpanKind = SpanKind.OTHER
    name: str = ""
    start: float | None = None
    end: float | None = None
    input: str | None = None
    output: str | None = None
    documents: Documents | None = None
    usage: TokenUsage | None = None
    model: str | None = None
    first_token_s: float | None = None
    error: str | None = None
    session: str | None = None
    feedback: Mapping[str, Any] = field(default_factory=dict)

    @property
    def duration_ms(self) -> float | None:
        """From its start to its end; None where one of them is not known, or it never ended."""
        if self.start is None or self.end is None or not 0 <= self.end - self.start <= _LONGEST_S:
            return None
        return (self.end - self.start) * 1000


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question that somebody asked, with what the server did.

    Attributes:
        id: Of the trace, or of the row of a log.
        question: What was asked.
        response: The answer, with the chunks that it was made of.
        time: When it was asked, in seconds since 1970; None where nothing says it.
        feedback: What the user thought of the answer, by the name of what was asked.
        metadata: What else is known.
    """

    id: str
    question: str
    response: EvalResponse
    time: float | None = None
    feedback: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)


def join(spans: Sequence[Span]) -> Exchange | None:
    """The exchange that the spans of one trace make; None where they have no root with a question.

    A root that was called with a trace of the client names a parent that no span is: it is the one span without a
    parent among the spans. Where the root itself holds no texts (a web framework's), the next spans below it do.
    """
    tree = _Tree(spans)
    root = tree.root
    if root is None:
        return None
    inner = list(tree.below(root))
    question = next((span.input for span in inner if span.input and not _retrieves(span)), None)
    question = question or next((span.input for span in inner if span.input), None)
    if question is None:
        return None
    retrievals = [span for span in _in_time(tree.topmost(root, _RETRIEVING)) if span.documents is not None]
    documents = _documents_of_answer(retrievals)
    models = [span for span in inner if span.kind is SpanKind.LLM]
    answered = next((span for span in inner if span.output and not _retrieves(span)), None)
    response = EvalResponse(
        answer=None if root.error or answered is None else answered.output,
        chunks=None if documents is None or documents.unreadable else list(documents.chunks),
        usage=_usage(root, tree),
        model=next((span.model for span in reversed(_in_time(models)) if span.model), root.model),
        stages=[_stage(span) for span in retrievals] or None,
        latency_ms=root.duration_ms,
        retrieval_latency_ms=_total_ms(retrievals),
        generation_latency_ms=_total_ms(tree.topmost(root, (SpanKind.LLM,))),
        time_to_first_token_ms=_first_token_ms(root, models),
        error=ResponseError(kind="not_ok", message=root.error[:200]) if root.error else None,
        notes=_notes(documents),
    )
    feedback = {name: value for span in spans for name, value in span.feedback.items()}
    session = next((span.session for span in inner if span.session), None)
    return Exchange(
        root.trace, question, response, root.start, feedback, {} if session is None else {"session": session}
    )


def server_times(spans: Sequence[Span]) -> dict[str, float]:
    """How long the server retrieved and generated by its own spans, in milliseconds; empty where they do not say."""
    tree = _Tree(spans)
    if tree.root is None:
        return {}
    times = {
        "retrieval_latency_ms": _total_ms(tree.topmost(tree.root, _RETRIEVING)),
        "generation_latency_ms": _total_ms(tree.topmost(tree.root, (SpanKind.LLM,))),
    }
    return {name: time for name, time in times.items() if time is not None}


class _Tree:
    """The spans of a trace by their parents."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._by_id: dict[str | None, Span] = {
            span.id: span for span in spans
        }  # one that was exported again is more complete
        self._children: dict[str | None, list[Span]] = defaultdict(list)
        for span in _in_time(self._by_id.values()):
            self._children[span.parent if span.parent in self._by_id and span.parent != span.id else None].append(span)
        tops = self._children[None]
        without_parent = [span for span in tops if span.parent is None]
        tops = without_parent or [span for span in tops if span.kind is SpanKind.OTHER]
        self.root = tops[0] if len(tops) == 1 else None

    def below(self, root: Span) -> Iterator[Span]:
        """The root and all spans below it, level by level, each level in the order of time."""
        level = [root]
        while level:
            yield from level
            level = [child for span in level for child in self._children[span.id]]

    def topmost(self, root: Span, kinds: Collection[SpanKind]) -> Iterator[Span]:
        """The spans of these kinds that are part of no other one of them."""
        level = [root]
        while level:
            yield from (span for span in level if span.kind in kinds)
            level = [child for span in level if span.kind not in kinds for child in self._children[span.id]]

    def with_usage(self, root: Span) -> Iterator[Span]:
        """The lowest spans that count tokens: one above them counts the same tokens again."""
        counting = [span for span in self.below(root) if span.usage is not None]
        above: set[str | None] = set()
        for span in counting:
            parent = span.parent
            while parent in self._by_id and parent not in above:
                above.add(parent)
                parent = self._by_id[parent].parent
        yield from (span for span in counting if span.id not in above)


_RETRIEVING = frozenset({SpanKind.RETRIEVER, SpanKind.RERANKER})


def _retrieves(span: Span) -> bool:
    return span.kind in _RETRIEVING


def _in_time(spans: Iterable[Span]) -> list[Span]:
    return sorted(spans, key=lambda span: span.start or 0.0)


def _documents_of_answer(retrievals: Sequence[Span]) -> Documents | None:
    """What the last reranker kept, or else all that the retrievers found, each chunk once; None where nothing says."""
    kept = [span.documents for span in retrievals if span.kind is SpanKind.RERANKER and span.documents is not None]
    if kept:
        return kept[-1]
    every = [span.documents for span in retrievals if span.documents is not None]
    if not every:
        return None
    chunks = dict.fromkeys((chunk.chunk_id, chunk.document_id, chunk.text) for one in every for chunk in one.chunks)
    first = {(chunk.chunk_id, chunk.document_id, chunk.text): chunk for one in reversed(every) for chunk in one.chunks}
    return Documents(tuple(first[key] for key in chunks), sum(one.unreadable for one in every))


def _stage(span: Span) -> dict[str, Any]:
    documents = span.documents or Documents()
    items = [chunk.model_dump(exclude_none=True) for chunk in documents.chunks]
    stage = {"name": span.name or span.kind.value, "items": items}
    return stage if span.duration_ms is None else {**stage, "ms": round(span.duration_ms, 3)}


def _usage(root: Span, tree: _Tree) -> TokenUsage | None:
    usages = [span.usage for span in tree.with_usage(root) if span.usage is not None]
    if not usages:
        return None
    return TokenUsage(
        prompt_tokens=sum(usage.prompt_tokens for usage in usages),
        completion_tokens=sum(usage.completion_tokens for usage in usages),
        cached_tokens=sum(usage.cached_tokens or 0 for usage in usages) or None,
    )


def _total_ms(spans: Iterable[Span]) -> float | None:
    """How long any of the spans ran: what ran side by side counts once."""
    times = sorted((span.start or 0.0, span.end or 0.0) for span in spans if span.duration_ms is not None)
    total, until = 0.0, float("-inf")
    for start, end in times:
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total * 1000 if times else None


def _first_token_ms(root: Span, models: Sequence[Span]) -> float | None:
    """From the start of the root to the first token of the last model that streamed."""
    for span in reversed(_in_time(models or [root])):
        if span.first_token_s is not None and span.start is not None and root.start is not None:
            return (span.start - root.start + span.first_token_s) * 1000
    return None


def _notes(documents: Documents | None) -> list[str]:
    if documents is None or not documents.unreadable:
        return []
    return [f"{PART}chunks could not be read: {counted(documents.unreadable, 'document')} without text and id"]
