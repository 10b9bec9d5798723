"""The response of the server. None means not reported; an empty list means none."""

from operator import not_
from typing import Any, Literal

from pydantic import Field

from evals.schemas.base import Finite, Record, is_none

# How the questions of a run ended.


class Outcomes(Record):
    """Outcomes of the questions of a run."""

    answered: int = 0
    abstained: int = 0
    abstention_disputed: int | None = None
    """Answers on whose abstention the model of refusals and the judge disagree; the judge decides. None without a
    judge."""
    abstention_open: int = 0
    """Answers whose abstention the judge should decide, but the verdict is lost: not counted as abstained."""
    abstention_by_judge: int | None = None
    """Answers whose abstention the judge decided. None without a judge."""
    not_asked: int = 0
    stopped: str | None = None
    """Why asking ended early; None where it did not, or where evals itself was interrupted."""
    transport: dict[str, int] = {}
    judge: dict[str, int] = {}
    citations: int | None = None
    """Distinct sources cited; None where the server sends no citations."""
    invalid_citations: int | None = None
    """Of these, how many point to no retrieved chunk: validity, apart from precision and recall."""
    retried: int = 0
    """Questions that needed more than one attempt."""
    median_chunks: Finite | None = None
    """Median number of chunks returned."""
    warmup_ms: list[Finite | None] = []


# The server that was evaluated, as a run knows it.


class ServerRecord(Record):
    """The server that was evaluated."""

    url: str
    """Without credentials."""
    profile: str
    spec_sha256: str | None = None
    """Hash over how questions were asked and answers read, which a profile's file may say otherwise by now."""
    citation_base: int = 1
    """The number of the first chunk in the server's citations."""
    masked: list[str] | None = None
    """Keys of `server` whose credential was given in clear text and is not stored; None in earlier runs."""
    snapshot_start: dict[str, Any] = {}
    snapshot_end: dict[str, Any] | None = None
    missing_documents: list[str] | None = None
    """Gold documents that the server's list of documents lacks; None where it has no list, or one of other names."""
    document_ids: dict[str, str] = {}
    """Names of golds' documents by the server's own ids: chunks that give only an id are recognised by them."""
    changed: bool | None = None
    """Whether the server's configuration differs between start and end; None where it could not be read."""


PART = "server.map."
"""How a note begins of a part of the body that was there and could not be read: it is null."""

ErrorKind = Literal["timeout", "connect", "status", "malformed", "too_large", "not_ok", "broken_off"]


class RetrievedChunk(Record):
    """A chunk that the server retrieved; its place in the list is its rank."""

    chunk_id: str | None = None
    document_id: str | None = None
    document_name: str | None = None
    section: str | None = None
    text: str | None = None
    span: tuple[int, int] | None = None
    """First and one-past-last character in its document, where the server says."""
    score: Finite | None = None
    """As the server gave it. It may be a distance, so nothing is ever sorted by it."""


class Citation(Record):
    """A source that the answer names, in whichever form the server gives it."""

    chunk_id: str | None = None
    document_id: str | None = None
    section: str | None = None
    index: int | None = None
    """Place in the list of chunks, counted from the profile's base."""
    start: int | None = None
    """First character of the answer that it supports."""
    end: int | None = None


class TokenUsage(Record):
    """Tokens of one answer, as the server counted them."""

    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0)
    cached_tokens: int | None = Field(default=None, ge=0, exclude_if=is_none)
    """Of the prompt's tokens, those that came from a cache; a file holds it only where the server said it."""


class ResponseError(Record):
    """Why there is no answer: a failure of transport, never a score."""

    kind: ErrorKind
    status: int | None = None
    message: str
    request: Literal["ask", "retrieve"] = Field(default="ask", exclude_if="ask".__eq__)
    """Which request of the question failed; a file holds it only where it was not the one that asks."""


class EvalResponse(Record):
    """One exchange with the server."""

    answer: str | None = None
    chunks: list[RetrievedChunk] | None = None
    citations: list[Citation] | None = None
    usage: TokenUsage | None = None
    model: str | None = None
    confidence: Finite | None = None
    stages: list[Any] | None = None
    refused: bool | None = Field(default=None, exclude_if=is_none)
    """Whether the server says by a flag of its own that it declined to answer. True settles it; false and None leave
    it to what the answer says. A file holds it only where the server said it."""
    extractive: bool = Field(default=False, exclude_if=not_)
    """Whether the answer is a span of a passage, as an extractive system predicts it: the empty text abstains, and any
    other is what it says. A file holds it only where it is true."""
    latency_ms: Finite | None = None
    """From sending the request to the last byte of the attempt that ended the exchange. Where a first request brings
    the chunks that the second one sends, of both; where a second one brings the chunks of the answer, of the first."""
    total_ms: Finite | None = Field(default=None, exclude_if=is_none)
    """From when the question was meant to be sent to the end of the exchange, with retries and all waiting: what a user
    waits. With `rps` it was meant to be sent at its place in an even sequence, however late there was room for it; a
    file holds it only where it was measured."""
    retrieval_latency_ms: Finite | None = None
    """Of the request that brings the chunks, where the answer does not hold them."""
    generation_latency_ms: Finite | None = Field(default=None, exclude_if=is_none)
    """Of the models of the server, by its own spans; a file holds it only where there were some."""
    time_to_first_token_ms: Finite | None = None
    """Of an answer that comes in pieces: from sending the request to the arrival of the first text that is not empty.
    Where the time was up before, it is that time, which is `latency_ms` then: the first token came later."""
    time_to_last_token_ms: Finite | None = Field(default=None, exclude_if=is_none)
    """The same of the last text; a file holds it only where it was measured."""
    attempts: int = 1
    waited_ms: Finite = 0.0
    """Back-off between attempts: recorded, and in no latency but `total_ms`."""
    error: ResponseError | None = None
    raw: str | None = None
    """The body as received, bounded in size and without secrets, so that a wrong mapping costs no answer."""
    raw_cut: bool = False
    """Whether the body was longer than that bound: `raw` is its beginning, and no longer JSON."""
    raw_retrieval: str | None = Field(default=None, exclude_if=is_none)
    """The body of the request that brings the chunks, bounded as `raw`; a file holds it only where there was one."""
    turns: list["EvalResponse"] = Field(default_factory=list, exclude_if=not_)
    """Of a conversation, the exchanges before this one; a file holds it only of conversations."""
    notes: list[str] = Field(default_factory=list, exclude_if=not_)
    """What of the body could not be read, and why; a file holds it only where there is something to say."""

    def could_not_read(self, part: str) -> bool:
        """Whether a note says that this part of `server.map` was there, and could not be read."""
        return any(note.startswith(f"{PART}{part} ") for note in self.notes)
