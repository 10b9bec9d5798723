"""Map the body of an answer to an `EvalResponse`.

What is absent or null becomes None, an empty list stays an empty list, and a value of the wrong type becomes None; of
chunks and citations a note says then what stood there.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from evals.client.expressions import compiled
from evals.client.spec import MapSpec, ServerSpec
from evals.client.spec_check import (
    UnreadableListError,
    check_spec,
    chunks_of,
    citations_of,
    is_lost,
    kind_of,
    references_of,
    shape_of,
    text_or_none,
    whole_or_none,
)
from evals.schemas.response import Citation, ErrorKind, RetrievedChunk, TokenUsage
from evals.text.numbers import number_or_none
from evals.text.tokens import fold

# Citations that stand in the text of an answer as markers, such as `[1]`, `[1, 3]`, `[2-4]`, `[^1]` and `【1】`.


_NUMBER = re.compile(r"\d{1,9}")

_RANGE = re.compile(r"(\d{1,9})\s*[–-]\s*(\d{1,9})")


_BETWEEN = re.compile(r",|\s*(?:;|&|\band\b)\s*(?=\d)")
"""What stands between numbers; inside an id a semicolon is the id's."""

_MAX_RANGE = 100


_CODE = r"(?s:```.*?```)|`(?!\\?[\[［【][^`\]］】]*\d[^`\]］】]*[\]］】]`)[^`\n]*+`"
"""A block, or a span that holds more than a marker."""


_LIST = re.compile(
    r"[\s#*_>-]*(?:references?|sources?|citations?|footnotes|bibliography|quellen|r[ée]f[ée]rences|fuentes|referencias|"
    r"fonti|riferimenti|fontes|refer[êe]ncias)[\s*_:]*",
    re.IGNORECASE,
)
"""The heading of a list of what was cited."""

_FOOTNOTE = re.compile(r"\[\^?\d+\]:\s")

_BULLET = " \t-*>"

_LEAST_YEAR = 1000


class MarkerReader:
    """Reads the markers of answers.

    Numbers in brackets are other things too: what stands in code is no marker, nor is a number from 1000 on that is the
    place of no chunk, as in "the charter of [1998]". A pattern that does not read `[1]` is taken at its word.

    Args:
        pattern: Of a marker; its first group holds numbers or an id.
        base: Number of the first chunk.
        labels: Whether markers stand for what a list says, and not for places of chunks.
    """

    def __init__(self, pattern: str, base: int, *, labels: bool) -> None:
        own = re.compile(pattern)
        self._in_brackets = own.fullmatch("[1]") is not None
        self._pattern = re.compile(f"{pattern}|{_CODE}") if self._in_brackets else own
        self._whole = own.groups == 0
        self._base = base
        self._labels = labels

    def read(self, answer: str, chunks: int) -> Iterator[Citation]:
        """What an answer cites, in the order of its text.

        Args:
            answer: Its text.
            chunks: How many chunks there are to be cited.
        """
        for marker in self._markers(answer):
            inside = marker[0] if self._whole else marker[1]
            for part in _BETWEEN.split(inside or ""):
                cited = _from_part(part.strip(), marker.start(), marker.end())
                yield from (one for one in cited if not self._is_year(one, chunks))

    def _markers(self, answer: str) -> Iterator[re.Match[str]]:
        """The markers in the text; those of a list of references behind it where there are no others."""
        if not self._in_brackets:
            yield from self._pattern.finditer(answer)
            return
        end, cites = self._list_at_end(answer), False
        for marker in self._pattern.finditer(answer):
            if marker[0].startswith("`"):
                continue
            if cites and marker.start() >= end:
                return
            cites |= marker.start() < end
            yield marker

    def _list_at_end(self, answer: str) -> int:
        """Where the list of references begins that ends the answer; its length where there is none."""
        at = found = len(answer)
        for line in reversed(answer.splitlines(keepends=True)):
            at -= len(line)
            item = line.strip(_BULLET)
            if item.strip() and not self._pattern.match(item):
                return at if at + len(line) < len(answer) and _LIST.fullmatch(line) else found
            if _FOOTNOTE.match(item):
                found = at
        return found

    def _is_year(self, citation: Citation, chunks: int) -> bool:
        number = citation.index
        if number is None or number < _LEAST_YEAR or self._labels or not self._in_brackets:
            return False
        return number - self._base >= chunks


def _from_part(part: str, start: int, end: int) -> list[Citation]:
    """The citations of one part of a marker: a number, a range such as 2-4, or an id."""
    ranged = _RANGE.fullmatch(part)
    if ranged:
        low, high = int(ranged.group(1)), int(ranged.group(2))
        numbers = range(low, min(high, low + _MAX_RANGE) + 1)
        return [Citation(index=number, start=start, end=end) for number in numbers]
    if _NUMBER.fullmatch(part):
        return [Citation(index=int(part), start=start, end=end)]
    return [Citation(chunk_id=part, start=start, end=end)] if part else []


T = TypeVar("T")


_LONGEST_ANSWER, _LONGEST_CHUNKS = 1 << 19, 1 << 22
"""Characters in compatibility form (NFKC) of an answer, and of all chunks of one answer together."""


_MOST_OF_ONE = 18
"""Characters that one becomes in that form."""


class MappingError(Exception):
    """The body does not contain what the mapping selects.

    Attributes:
        kind: As it is recorded.
    """

    kind: ErrorKind = "malformed"


class TooLongError(MappingError):
    """A text is longer than what is analysed."""

    kind: ErrorKind = "too_large"


@dataclass(frozen=True, slots=True)
class Streamed:
    """The answer that the pieces of a stream make.

    Attributes:
        text: None where no piece had one.
        notes: Remarks on it; why there is no text, if there is none.
    """

    text: str | None
    notes: list[str]


class RetrievalMappingError(MappingError):
    """A mapping error of the second request, which retrieves the chunks."""


def find(expression: str | None, body: Any) -> Any:
    """Evaluate the expression over the body; None where there is no expression.

    Raises:
        MappingError: A function in the expression met a value of the wrong type.
    """
    if expression is None:
        return None
    try:
        return compiled(expression)(body)
    except (ArithmeticError, TypeError, ValueError) as error:  # the library checks some arguments and trips over others
        raise MappingError(str(error).partition("\n")[0]) from error


def find_needed(name: str, expression: str, body: Any) -> Any:
    """The same of what a template needs; nothing there is an error."""
    value = find(expression, body)
    if value is None:
        raise MappingError(f"the body has nothing at `{expression}` to give as {name}")
    return value


def find_or_none(expression: str | None, body: Any) -> Any:
    """The same, and None where the body has not the shape that the expression expects."""
    try:
        return find(expression, body)
    except MappingError:
        return None


class ResponseReader:
    """Reads the bodies of one kind of server."""

    def __init__(self, spec: ServerSpec) -> None:
        self._map: MapSpec = spec.map
        self._only_retrieves = not spec.gives_answers
        self._retrieved = None if spec.retrieve is None else spec.retrieve.map
        self._citations = spec.citations
        self._most = spec.max_chunks
        self.document_names: Mapping[str, str] = {}
        """Names of documents by the server's ids: what a chunk that has an id alone is recognised by."""
        check_spec(spec)
        self._clean = [re.compile(pattern) for pattern in spec.clean]
        self._markers = MarkerReader(
            spec.citations.markers, spec.citations.base, labels=spec.map.references is not None
        )

    def read(self, body: Any, retrieved: Any = None, streamed: Streamed | None = None) -> dict[str, Any]:
        """Read the fields of an `EvalResponse` from the body.

        Args:
            body: Of the request that asks.
            retrieved: The body of the request that retrieves, of a server that has one.
            streamed: The answer, where the pieces of a stream make it; `body` is the list of all pieces then.

        Raises:
            MappingError: There is no answer in it; of what only retrieves, no list of chunks.
        """
        notes: list[str] = []
        said = find(self._map.refused, body)
        refused = said if isinstance(said, bool) else None
        if said is not None and refused is None:
            notes.append(f"server.map.refused found {kind_of(said)}, not true or false")
        answer = self._read_answer(body, streamed, notes, refused=refused)
        chunks, stages = self._read_retrieval(body, retrieved, notes)
        citations = self._read_citations(body, answer, chunks, notes)
        usage = _usage(find(self._map.usage, body), notes)
        given = find(self._map.confidence, body)
        confidence = number_or_none(given)
        if is_lost(given, confidence):
            notes.append("server.map.confidence gives an impossible number, which is ignored")
        return {
            "answer": answer,
            "chunks": chunks,
            "citations": citations,
            "usage": usage,
            "model": text_or_none(find(self._map.model, body)),
            "confidence": confidence,
            "stages": stages,
            "refused": refused,
            "notes": notes,
        }

    def _read_retrieval(
        self, body: Any, retrieved: Any, notes: list[str]
    ) -> tuple[list[RetrievedChunk] | None, list[Any] | None]:
        """Chunks and stages: of the request that retrieves, where there is one, else of the answer's body."""
        if self._retrieved is None:
            chunks = self._read_chunks(self._map.chunks, body, notes, needed=self._only_retrieves)
            return chunks, _stages(find(self._map.stages, body))
        try:
            chunks = self._read_chunks(self._retrieved.chunks, retrieved, notes, needed=True)
            stages = find(self._retrieved.stages, retrieved)
        except MappingError as error:
            raise RetrievalMappingError(str(error)) from error
        return chunks, _stages(find(self._map.stages, body) if stages is None else stages)

    def _read_chunks(
        self, expression: str | None, body: Any, notes: list[str], *, needed: bool
    ) -> list[RetrievedChunk] | None:
        chunks = self._listed("chunks", find(expression, body), chunks_of, notes)
        if chunks is None and needed:
            raise MappingError(notes[0] if notes else f"the body has no list at `{expression}`; {shape_of(body)}")
        beyond = _first_beyond([chunk.text or "" for chunk in chunks or ()], _LONGEST_CHUNKS)
        if chunks is not None and beyond is not None:
            said = f"longer than {_LONGEST_CHUNKS:,} characters in all"
            notes.append(f"chunks: {said}, and those from number {beyond + 1} on are left out")
            chunks = chunks[:beyond]
        return chunks and self._named(chunks)

    def _named(self, chunks: list[RetrievedChunk]) -> list[RetrievedChunk]:
        """The chunks, with the names of their documents where the server gives only ids that are known."""
        if not self.document_names:
            return chunks
        names = (chunk.document_name or self.document_names.get(chunk.document_id or "") for chunk in chunks)
        both = zip(chunks, names, strict=True)
        return [chunk.model_copy(update={"document_name": name}) for chunk, name in both]

    def _read_answer(
        self, body: Any, streamed: Streamed | None, notes: list[str], *, refused: bool | None
    ) -> str | None:
        """The answer's text, cleaned; None where the server is not asked for one. A refusal may come without a text."""
        if streamed is not None:
            if streamed.text is None and not refused:
                raise MappingError("; ".join(streamed.notes))
            notes += streamed.notes if streamed.text is not None else []
            answer = streamed.text or ""
        elif self._map.answer is None:
            return None
        else:
            found = find(self._map.answer, body)
            answer = "" if found is None and refused else found
            if not isinstance(answer, str):
                raise MappingError(f"the body has no text at `{self._map.answer}`; {shape_of(body)}")
        for pattern in self._clean:
            answer = pattern.sub("", answer)
        if _first_beyond([answer], _LONGEST_ANSWER) is not None:
            raise TooLongError(f"the answer is longer than {_LONGEST_ANSWER:,} characters: not analysed")
        return answer

    def _read_citations(
        self, body: Any, answer: str | None, chunks: list[RetrievedChunk] | None, notes: list[str]
    ) -> list[Citation] | None:
        if answer is None:
            return None
        given_as = self._citations.given_as
        if given_as in {"list", "auto"}:
            found = find(self._map.citations, body)
            if found is not None or given_as == "list":
                return self._listed("citations", found, lambda value, _: citations_of(value, chunks), notes)
        if given_as == "none":
            return None
        marked = self._read_markers(body, answer, len(chunks or ()), notes)
        # Without a list, no marker may mean that this server never cites: that is "did not say", not "none".
        return marked or (None if given_as == "auto" else [])

    def _read_markers(self, body: Any, answer: str, chunks: int, notes: list[str]) -> list[Citation]:
        """What the markers of the text cite: places of chunks, or what `map.references` says that they stand for."""
        found = list(islice(self._markers.read(answer, chunks), self._most + 1))
        marked: list[Citation] = self._bounded("citations", found, notes)
        if self._map.references is None:
            return marked
        references = dict(self._listed("references", find(self._map.references, body), references_of, notes) or ())
        return [_referred(citation, references) for citation in marked]

    def _listed(
        self, name: str, value: Any, read: Callable[[Any, list[str]], list[T]], notes: list[str]
    ) -> list[T] | None:
        """What the server lists; None where it says nothing, or nothing that can be read, which is noted."""
        if value is None:
            return None
        try:
            return read(self._bounded(name, value, notes), notes)
        except UnreadableListError as error:
            notes.append(f"server.map.{name} {error}")
            return None

    def _bounded(self, name: str, value: Any, notes: list[str]) -> Any:
        """A list without what is beyond its longest, which is noted; what is no list as it is."""
        if not isinstance(value, list) or len(value) <= self._most:
            return value
        notes.append(f"{name}: more than {self._most:,}, and those beyond are left out (server.max_chunks)")
        return value[: self._most]


def _first_beyond(texts: Sequence[str], most: int) -> int | None:
    """The place of the text with which texts become longer than this many characters; None where they do not."""
    if _MOST_OF_ONE * sum(map(len, texts)) <= most:
        return None
    total = 0
    for place, text in enumerate(texts):
        total += len(text) if text.isascii() or len(text) > most else len(fold(text))
        if total > most:
            return place
    return None


def _referred(citation: Citation, references: Mapping[str, Citation]) -> Citation:
    """What a marker stands for; one that is not among the references cites what there is not."""
    label = citation.chunk_id if citation.index is None else str(citation.index)
    known = references.get(label or "")
    if known is None:
        return citation.model_copy(update={"chunk_id": label, "index": None})
    return known.model_copy(update={"start": citation.start, "end": citation.end})


def _usage(value: Any, notes: list[str]) -> TokenUsage | None:
    if not isinstance(value, Mapping):
        return None
    given = {key: value.get(key) for key in TokenUsage.model_fields}
    whole = {key: whole_or_none(count) for key, count in given.items()}
    counts = {key: count for key, count in whole.items() if count is not None and count >= 0}
    if any(is_lost(count, counts.get(key)) for key, count in given.items()):
        notes.append("server.map.usage gives an impossible number of tokens, which is ignored")
    return TokenUsage(**counts) if len(counts) == len(given) else None


def _stages(value: Any) -> list[Any] | None:
    """A list of stages; lists by the names of their stages become one."""
    if isinstance(value, Mapping):
        return [{"name": name, "items": items} for name, items in value.items()]
    return value if isinstance(value, list) else None
