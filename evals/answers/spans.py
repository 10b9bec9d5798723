"""`Span`, the common form of five kinds of exports, and `join`: one exchange of the spans of a trace.

The root is question and answer. The chunks are what the last reranker kept, or else what the top-level retrievers
found.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from math import isnan
from typing import Any, Literal

from evals.datasets.columns import ASSISTANT, USER, role_and_content
from evals.schemas.response import PART, EvalResponse, ResponseError, RetrievedChunk, TokenUsage
from evals.text.numbers import counted, number_or_none
from evals.text.tokens import lists_of

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


# Values in foreign data.


NAMES = {
    table: {name: tuple(words.split()) for name, words in row.items()} for table, row in lists_of("traces").items()
}
"""Names of attributes, of kinds of spans, and of keys of objects, the likeliest first."""
_KEYS = NAMES["keys"]
_NAME = re.compile(r"\w+://\S+|\S{1,200}\.[A-Za-z][A-Za-z0-9]{1,4}")
"""A URL, or the name of a file with its ending: no text."""


def decoded(value: Any) -> Any:
    """The value of a text that holds JSON; any other value as it is."""
    if not isinstance(value, str) or value[:1] not in ("{", "[", '"'):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def first_of(holder: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The first value of these names that says something; None where none does."""
    return next((holder[name] for name in names if not is_empty(holder.get(name))), None)


def is_empty(value: Any) -> bool:
    """Whether a value says nothing: None, an empty text or list, or a cell without a number."""
    return value is None or (isinstance(value, float) and isnan(value)) or (isinstance(value, Sized) and not len(value))


def text_of(value: Any, what: Literal["question", "answer"]) -> str | None:
    """The text of a question or an answer; None where none can be told."""
    value = decoded(value)
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, list):
        return _of_messages(value, what)
    if not isinstance(value, Mapping):
        return None
    if not is_empty(messages := first_of(value, _KEYS["messages"])):
        return text_of(messages, what)
    if isinstance(choices := value.get("choices"), list) and choices:
        return text_of([choice.get("message") for choice in choices[:1] if isinstance(choice, Mapping)], what)
    return next((text for key in _KEYS[what] if (text := text_of(value.get(key), what))), None) or _only_text(value)


def _only_text(value: Mapping[str, Any]) -> str | None:
    texts = [item for item in value.values() if isinstance(item, str) and item.strip()]
    return texts[0] if len(texts) == 1 and len(value) == 1 else None


def _of_messages(items: Sequence[Any], what: Literal["question", "answer"]) -> str | None:
    """The text of the last message of the user, or of the assistant; of parts without roles, all their texts."""
    messages = [role_and_content(item) for item in items]
    role = USER if what == "question" else ASSISTANT
    named = [content for whose, content in messages if whose == role]
    if named:
        return text_of(named[-1], what)
    if any(whose for whose, _ in messages):
        return None
    return "\n".join(text for _, content in messages if (text := text_of(content, what))) or None


def documents_of(value: Any) -> Documents | None:
    """The documents of a list, or of an object that holds one; None where nothing says what was retrieved."""
    value = decoded(value)
    if isinstance(value, Mapping):
        held = next((value[name] for name in _KEYS["documents"] if name in value), None)
        return Documents(unreadable=1) if held is None else documents_of(held)
    if value is None:
        return None
    if not isinstance(value, list):
        return Documents(unreadable=1)
    chunks = [chunk_of(item) for item in value]
    return Documents(tuple(chunk for chunk in chunks if chunk is not None), chunks.count(None))


def chunk_of(item: Any) -> RetrievedChunk | None:
    """A retrieved document; one without a text is known by its id. None where it has neither."""
    item = decoded(item)
    if isinstance(item, str):
        named = {"document_id": item.strip()} if _NAME.fullmatch(item.strip()) else {"text": item}
        return RetrievedChunk(**named) if item.strip() else None
    if not isinstance(item, Mapping):
        return None
    for wrapper in ("document", "node"):
        if isinstance(item.get(wrapper), Mapping):
            item = {**item, **item[wrapper]}
    about = decoded(first_of(item, ("document.metadata", "metadata")))
    places = [holder for holder in (about, item) if isinstance(holder, Mapping)]
    text, chunk_id = first_of(item, _KEYS["text"]), first_of(item, _KEYS["id"])
    document = next((place for holder in places if (place := first_of(holder, _KEYS["place"])) is not None), None)
    if not isinstance(text, str) and chunk_id is None and document is None:
        return None
    score = first_of(item, _KEYS["score"])
    return RetrievedChunk(
        chunk_id=None if chunk_id is None else str(chunk_id),
        document_id=None if document is None else str(document),
        text=text if isinstance(text, str) and text.strip() else None,
        score=float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None,
    )


def message_of(value: Any) -> str:
    """What an export says of a failure, as text."""
    return "error" if is_empty(value) else value if isinstance(value, str) else json.dumps(value, default=str)


def name_of(value: Any) -> str | None:
    """The name of a model or the id of a span or a conversation, which may be a number; None where there is none."""
    return None if is_empty(value) else str(value)


def usage_of(holder: Any) -> TokenUsage | None:
    """The tokens that an object counts; None where it counts none."""
    holder = decoded(holder)
    if not isinstance(holder, Mapping):
        return None
    names = (_KEYS[f"{part}_tokens"] for part in ("prompt", "completion", "cached"))
    counts = [_count(first_of(holder, keys)) for keys in names]
    if counts[0] is None and counts[1] is None:
        return None
    return TokenUsage(prompt_tokens=counts[0] or 0, completion_tokens=counts[1] or 0, cached_tokens=counts[2])


def _count(value: Any) -> int | None:
    number = number_of(value)
    return None if number is None or number < 0 else int(number)


def number_of(value: Any) -> float | None:
    """A number, also one that is written as a text, such as a time in nanoseconds; None for anything else."""
    return number_or_none(value, 1e30)


_SCALES = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""From here on a number of time is in nanoseconds, microseconds, milliseconds."""

_EARLIEST, _LATEST = 1e8, 7.3e9
"""Seconds from 1973 to 2201: what lies outside is no time of a log."""


def time_of(value: Any) -> float | None:
    """Seconds since 1970 of a date, of a text in ISO 8601, or of a number in s, ms, µs or ns; None for anything else.

    A time without a zone is one of UTC; eight digits are a date, YYYYMMDD.
    """
    number = number_of(value)
    if number is not None and not 1e7 <= number < _EARLIEST:
        seconds = next((number / scale for least, scale in _SCALES if number >= least), number)
    else:
        try:
            moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value).strip())
            seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (OverflowError, ValueError):
            return None
    return seconds if _EARLIEST <= seconds <= _LATEST else None
