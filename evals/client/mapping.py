"""Read the body of an answer: JMESPath expressions, and the parts of an `EvalResponse` that they select.

What is absent or null becomes None, an empty list stays an empty list, and a value of the wrong type becomes None, with
a note where a part of an answer is lost by it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from html import unescape
from itertools import accumulate, islice
from typing import Any, Literal, NamedTuple, TypeVar
from unicodedata import normalize

import jmespath
from jmespath import functions
from jmespath.exceptions import JMESPathError
from jmespath.visitor import TreeInterpreter

from evals.client.spec import ServerSpec
from evals.errors import ConfigError
from evals.schemas.response import PART, Citation, ErrorKind, RetrievedChunk, TokenUsage
from evals.secrets import masked
from evals.text.decoding import parse_json
from evals.text.markup import without_thoughts
from evals.text.numbers import number_or_none

# Expressions.


@dataclass(eq=False)
class UnusableError(Exception):
    """No answer that can be read.

    Attributes:
        message: What happened, for a reader.
        kind: The same as it is recorded.
        status: Of the response, where there is one.
        request: Of the two requests of a question the one that failed.
    """

    message: str
    kind: ErrorKind = "malformed"
    status: int | None = None
    request: Literal["ask", "retrieve"] = "ask"

    def __str__(self) -> str:
        return self.message


class MappingError(UnusableError):
    """The body does not contain what the mapping selects."""


_TEXT: Any = {"types": ["string"]}

_LIST: Any = {"types": ["array"]}


class Functions(functions.Functions):
    """The functions that expressions may call in addition to those of JMESPath, by their names after `_func_`."""

    def call_function(self, function_name: str, resolved_args: Iterable[Any]) -> Any:
        """Each of ours gives null for null: what is missing stays missing."""
        is_ours = f"_func_{function_name}" in Functions.__dict__
        if is_ours and any(argument is None for argument in resolved_args):
            return None
        return super().call_function(function_name, resolved_args)

    @functions.signature({"types": ["object"]})
    def _func_zip(self, lists: Mapping[str, Any]) -> list[dict[str, Any]] | None:
        """The objects made of parallel lists: `zip({text: documents, score: distances})`.

        What is no list is repeated in each object, so that a flattened list keeps its parent's fields:
        `files[].zip({chunk: chunks, file: name})[]`. Null where none is a list.

        Raises:
            ValueError: The lists are of different lengths, so that it is unknown which belong together.
        """
        parallel = {key: value for key, value in lists.items() if isinstance(value, list)}
        if not parallel:
            return None
        if len({len(items) for items in parallel.values()}) > 1:
            lengths = ", ".join(f"{key} {len(items):,}" for key, items in parallel.items())
            raise ValueError(f"zip() got lists of different lengths: {lengths} (`list[].key` leaves out what is null)")
        return [{**lists, **dict(zip(parallel, row, strict=True))} for row in zip(*parallel.values(), strict=True)]

    @functions.signature(_TEXT, _TEXT)
    def _func_split(self, text: str, separator: str) -> list[str]:
        r"""The parts of a text between the matches of a pattern, without empty ones: `split(context, '\n\n')`."""
        pattern = pattern_of(separator)  # what its groups match stands between the parts
        return [part for piece in pattern.split(text)[:: pattern.groups + 1] if (part := piece.strip())]

    @functions.signature(_TEXT, _TEXT)
    def _func_matches(self, text: str, pattern: str) -> list[Any]:
        """What a pattern finds in a text or XML: `matches(@, '(?s)<p id="(?P<chunk_id>.*?)">(?P<text>.*?)</p>')`.

        Objects of its named groups, else texts: its first group, or all of it. Entities of XML are decoded.
        """
        matches = list(pattern_of(pattern).finditer(text))
        if matches and matches[0].groupdict():
            return [{name: text and unescape(text) for name, text in match.groupdict().items()} for match in matches]
        return [unescape(match[min(1, len(match.groups()))] or "") for match in matches]

    @functions.signature({"types": []}, _LIST, _TEXT)
    def _func_lookup(self, keys: Any, objects: Sequence[Any], name: str) -> list[Any]:
        """The objects of a list that have these keys under a name: `lookup(cited_ids, documents, 'id')`.

        In the order of the keys. A key that no object has gives an object with nothing but that key, so that nothing
        is dropped; of several objects with a key the first is taken.
        """
        named = [item for item in objects if isinstance(item, Mapping) and item.get(name) is not None]
        known = {str(item[name]): item for item in reversed(named)}
        return [known.get(str(key), {name: key}) for key in (keys if isinstance(keys, list) else [keys])]

    @functions.signature(_LIST)
    def _func_number(self, values: Sequence[Any]) -> list[dict[str, Any]]:
        """The distinct values of a list as they first occur, counted from 1: `number(names)[].{index: number}`.

        For servers whose markers count documents, not chunks.
        """
        distinct = dict.fromkeys(value for value in values if isinstance(value, str | int | float))
        return [{"number": number, "value": value} for number, value in enumerate(distinct, start=1)]

    @functions.signature(_TEXT)
    def _func_parse_json(self, text: str) -> Any:
        """The value of JSON that stands in a text: `parse_json(output).answer`."""
        try:
            return parse_json(text.encode())
        except ValueError as error:
            raise ValueError(f"parse_json() got no JSON: {text[:60]!r}") from error


_INTERPRETER = TreeInterpreter(jmespath.Options(custom_functions=Functions()))
"""Made once: the library would make one for each value that it looks for."""


@lru_cache(maxsize=256)
def compiled(expression: str) -> Any:
    """The syntax tree of a JMESPath expression.

    Raises:
        ConfigError: It is not valid JMESPath, or calls a function that there is not.
    """
    try:
        tree = jmespath.compile(expression).parsed
        unknown = [name for name in _called(tree) if name not in Functions.FUNCTION_TABLE]
        reason = f"there is no function {unknown[0]}()" if unknown else None
    except JMESPathError as error:
        reason = str(error).partition("\n")[0]
    if reason is not None:
        raise _invalid("JMESPath expression", expression, reason)
    return tree


def pattern_of(text: str) -> re.Pattern[str]:
    """The regular expression of a text.

    Raises:
        ConfigError: It is none.
    """
    try:
        return re.compile(text)
    except re.error as error:
        raise _invalid("pattern", text, error.msg) from error


def _invalid(what: str, text: str, reason: str) -> ConfigError:
    """The error of an expression or a pattern."""
    if masked(text) != text:  # what a library says may hold a part of it
        return ConfigError(f"not a valid {what}: it holds a value of the environment")
    return ConfigError(f"not a valid {what}: {text!r} ({reason})")


def _called(node: Any) -> Iterable[str]:
    """The names of the functions that an expression calls."""
    if isinstance(node, Mapping):
        yield from [node["value"]] if node["type"] == "function_expression" else ()
        for child in node["children"]:
            yield from _called(child)


def find(expression: str | None, body: Any) -> Any:
    """Evaluate the expression over the body; None where there is no expression.

    Raises:
        MappingError: A function in the expression met a value of the wrong type.
    """
    if expression is None:
        return None
    tree = compiled(expression)
    try:
        return _INTERPRETER.visit(tree, body)
    except (ArithmeticError, ConfigError, TypeError, ValueError) as error:
        # The library checks some arguments and trips over others.
        raise MappingError(str(error).partition("\n")[0]) from error


def find_or_none(expression: str | None, body: Any) -> Any:
    """The same, and None where the body has not the shape that the expression expects."""
    try:
        return find(expression, body)
    except MappingError:
        return None


def error_in(body: Any) -> str | None:
    """What a body says that went wrong by GraphQL's `errors` or JSON-RPC's `error`; None without either."""
    given = body if isinstance(body, Mapping) else {}
    errors, error = given.get("errors"), given.get("error") if "jsonrpc" in given else None
    first = errors[0] if isinstance(errors, list) and errors else error
    message = first.get("message") if isinstance(first, Mapping) else None
    return str(message or first) if first is not None else None


# Single values of a body, and what they are called in a message.


_KINDS = {"NoneType": "null", "bool": "true or false", "int": "a number", "float": "a number", "str": "a text"}

_KINDS |= {"list": "a list", "dict": "an object"}


def kind_of(value: Any) -> str:
    """What kind of JSON value it is, in words."""
    return _KINDS.get(type(value).__name__, type(value).__name__)


_MOST_KEYS, _LONGEST_KEY, _LONGEST_SHAPE, _DEEPEST = 12, 40, 300, 4
"""A body may have thousands of keys, and as many levels."""


def shape_of(body: Any) -> str:
    """What a body holds, for somebody who maps it: `it is {answer: a text, sources: [{text: a text}]}`."""
    shape = f"it is {_outline(body, _DEEPEST)}"
    return shape if len(shape) <= _LONGEST_SHAPE else f"{shape[:_LONGEST_SHAPE]}…"


def _outline(value: Any, depth: int) -> str:
    if not value or not depth or not isinstance(value, dict | list):
        return kind_of(value) + (", and empty" if value in ({}, []) else "")
    if isinstance(value, list):
        return f"[{_outline(value[0], depth - 1)}]"
    fields = [f"{key[:_LONGEST_KEY]}: {_outline(item, depth - 1)}" for key, item in islice(value.items(), _MOST_KEYS)]
    return f"{{{', '.join([*fields, *['…'] * (len(value) > _MOST_KEYS)])}}}"


# Chunks, citations, what markers stand for, and tokens.


CHUNK_KEYS = ("chunk_id", "document_id", "document_name", "section", "text", "start", "end", "score")

CITATION_KEYS = tuple(Citation.model_fields)

USAGE_KEYS = tuple(TokenUsage.model_fields)
"""The keys of chunks, citations and usage that are given as objects."""

_NUMBERS = {"score": 1e12, "confidence": 1e12, "start": 1e9, "end": 1e9, "index": 1e9, "tokens": 1e9}
"""The fields that are numbers, all but the first two whole, with what is the most that is plausible."""

_NAMING = ("chunk_id", "document_id", "section", "index")
"""The keys of a citation that say what is cited."""

_ITEMS = {
    "chunks": "a text or an object",
    "citations": "a whole number, a text or an object that names its source",
    "references": "an object",
}
"""What each item of a list is to be."""

Item = TypeVar("Item")


def _value(name: str, given: Any) -> Any:
    """A field by its name: a text, or a number that is plausible; None where it is given as something else."""
    if isinstance(given, str) and name not in _NUMBERS:  # as nearly all are
        return given
    if name not in _NUMBERS:
        return str(given) if kind_of(given) == "a number" else None
    number = number_or_none(given, _NUMBERS[name])
    if number is None or name in {"score", "confidence"}:
        return number
    return int(number) if number.is_integer() else None


def _read_list(name: str, value: Any, read: Callable[[Any], Item | None], notes: list[str]) -> list[Item] | None:
    """What the server lists; None where it says nothing, or nothing that can be read, which is noted."""
    items: list[Item] = []
    if value is None:
        return None
    if not isinstance(value, list):
        notes.append(f"{PART}{name} gives {kind_of(value)}, not a list")
        return None
    for given in value:
        item = read(given)
        if item is None:  # of objects these are only citations that name nothing
            kind = f"an object without {', '.join(_NAMING)}" if isinstance(given, Mapping) else kind_of(given)
            notes.append(f"{PART}{name} gives a list that holds {kind}, where each item is to be {_ITEMS[name]}")
            return None
        items.append(item)
    return items


def _chunk(lost: dict[str, str], item: Any) -> RetrievedChunk | None:
    """A chunk; None for what is neither a text nor an object.

    Args:
        lost: Takes what is given of a field that cannot be read, by its name.
        item: One of a list.
    """
    if not isinstance(item, Mapping):
        return RetrievedChunk(text=item) if isinstance(item, str) else None
    fields: dict[str, Any] = {}
    for name in CHUNK_KEYS:
        given = item.get(name)
        if given is not None:
            fields[name] = _value(name, given)
            if fields[name] is None and not (name in _NUMBERS and isinstance(given, str)):
                kind = kind_of(given)
                lost[name] = f"an impossible {name}" if kind == "a number" else f"{kind} as {name}"
    start, end = fields.pop("start", None), fields.pop("end", None)
    if start is not None and end is not None and 0 <= start < end:
        fields["span"] = (start, end)
    return RetrievedChunk(**fields)


def _citation(numbers_are_ids: bool, item: Any) -> Citation | None:
    """A citation; None for what names no source.

    A number alone is an index, and a text alone the id of a chunk. A number in quotation marks is an index too, unless
    the chunks have such ids.
    """
    if isinstance(item, str) and (numbers_are_ids or not item.strip().isdecimal()):
        return Citation(chunk_id=item)
    given = item if isinstance(item, Mapping) else {"index": item}
    fields = {name: _value(name, given[name]) for name in CITATION_KEYS if given.get(name) is not None}
    # What names nothing would count as a wrong citation, though it is the mapping that finds nothing in it.
    return None if fields.keys().isdisjoint(_NAMING) or fields == {"index": None} else Citation(**fields)


_ALIASES = (
    ("prompt_tokens", "input_tokens", "promptTokenCount"),
    ("completion_tokens", "output_tokens", "candidatesTokenCount"),
    ("cached_tokens", "cache_read_input_tokens", "cachedContentTokenCount"),
)
"""What we, OpenAI, Anthropic and Google call the tokens of the prompt, of the answer and from a cache."""

_APART = ("cache_read_input_tokens", "cache_creation_input_tokens")
"""Anthropic counts what comes from its cache, or goes there, apart from `input_tokens`."""


def token_usage(value: Any, notes: list[str]) -> TokenUsage | None:
    """The tokens of an object with our keys, or with those of a vendor; None without both counts."""
    if not isinstance(value, Mapping):
        return None
    details = value.get("prompt_tokens_details") or value.get("input_tokens_details")
    given = {**details, **value} if isinstance(details, Mapping) else value
    counts: dict[str, Any] = {}
    for names in _ALIASES:
        number = next((given[name] for name in names if given.get(name) is not None), None)
        count = _value("tokens", number)
        counts[names[0]] = count if count is not None and count >= 0 else None
        if counts[names[0]] is None and kind_of(number) == "a number":
            notes.append(f"{PART}usage gives an impossible number of tokens, which is ignored")
    if counts["prompt_tokens"] is None or counts["completion_tokens"] is None:
        return None
    if "prompt_tokens" not in value:
        counts["prompt_tokens"] += sum(_value("tokens", value.get(name)) or 0 for name in _APART)
    return TokenUsage(**counts)


# Citations that stand in the text of an answer as markers, such as `[1]`, `[1, 3]`, `[2-4]`, `[^1]` and `【1】`.


_RANGE = re.compile(r"(\d{1,9})\s*[–-]\s*(\d{1,9})")

_BETWEEN = re.compile(r",|\s*(?:;|&|\band\b)\s*(?=\d)")
"""What stands between numbers; inside an id a semicolon is the id's."""

_HEADING = re.compile(
    r"[\s#*_>-]*(?:references?|sources?|citations?|footnotes|bibliography|quellen|r[ée]f[ée]rences|fuentes|referencias|"
    r"fonti|riferimenti|fontes|refer[êe]ncias)[\s*_:]*",
    re.IGNORECASE,
)
"""Of a list of what was cited."""

_FOOTNOTE, _BULLET = re.compile(r"\[\^?\d+\]:\s"), " \t-*>"

_LONGEST_RANGE, _FIRST_YEAR = 100, 1000

_CODE = r"(?s:```.*?```)|`(?!\\?[\[［【][^`\]］】]*\d[^`\]］】]*[\]］】]`)[^`\n]*+`"
"""A block, or a span that holds more than a marker."""


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
        self._in_brackets, self._group = own.fullmatch("[1]") is not None, min(1, own.groups)
        self._pattern = re.compile(f"{pattern}|{_CODE}") if self._in_brackets else own
        self._base, self._may_hold_years = base, self._in_brackets and not labels

    def read(self, answer: str, chunks: int) -> list[Citation]:
        """What an answer cites, in the order of its text; by a list of references behind it where the text cites none.

        Args:
            answer: Its text.
            chunks: How many chunks can be cited.
        """
        cited, has_cited = list[Citation](), False
        end = self._list_at_end(answer) if self._in_brackets and "\n" in answer else len(answer)
        for marker in self._pattern.finditer(answer):
            if self._in_brackets and marker[0].startswith("`"):
                continue
            if has_cited and marker.start() >= end:
                break
            has_cited = has_cited or marker.start() < end
            for part in _BETWEEN.split(marker[self._group] or ""):
                for source in _sources(part.strip()):
                    number = source.get("index", 0)
                    is_year = number >= max(_FIRST_YEAR, self._base + chunks)
                    if not (is_year and self._may_hold_years):
                        cited.append(Citation(**source, start=marker.start(), end=marker.end()))
        return cited

    def _list_at_end(self, answer: str) -> int:
        """Where the list of references begins that ends the answer; its length without one."""
        at = begin = len(answer)
        for line in reversed(answer.splitlines(keepends=True)):
            at -= len(line)
            item = line.strip(_BULLET)
            if item.strip() and not self._pattern.match(item):
                return at if at + len(line) < len(answer) and _HEADING.fullmatch(line) else begin
            if _FOOTNOTE.match(item):
                begin = at
        return begin


def _sources(part: str) -> list[dict[str, Any]]:
    """What a part of a marker names: a number, those of a range such as 2-4, or an id."""
    if ranged := _RANGE.fullmatch(part):
        low, high = int(ranged[1]), int(ranged[2])
        return [{"index": number} for number in range(low, min(high, low + _LONGEST_RANGE) + 1)]
    if part.isdecimal() and part.isascii() and len(part) < 10:
        return [{"index": int(part)}]
    return [{"chunk_id": part}] if part else []


# A whole answer.


_LONGEST_ANSWER, _LONGEST_CHUNKS, _MOST_OF_ONE = 1 << 19, 1 << 22, 18
"""Characters in compatibility form (NFKC) of an answer, and of all its chunks; how many one becomes in that form."""

_CUT_OFF = re.compile(
    rb'"(?:finish_?reason|stop_?reason|done_reason)"\s*:\s*"(length|max_tokens|max_output_tokens)"', re.IGNORECASE
)
"""How servers say that an answer stopped at the limit of its length."""


class Streamed(NamedTuple):
    """The answer that the pieces of a stream make: None where no piece had a text, and the notes say why."""

    text: str | None
    notes: list[str]


READ = ("answer", "chunks", "citations", "usage", "model", "confidence", "stages", "refused", "notes")
"""The fields of an `EvalResponse` that bodies hold."""


class ResponseReader:
    """Reads the bodies of one kind of server.

    Args:
        spec: Of the server.

    Attributes:
        document_names: Names of documents by the server's ids: what a chunk that has an id alone is recognised by.
    """

    def __init__(self, spec: ServerSpec) -> None:
        self._map, self._citing = spec.map, spec.citations.given_as
        self._own = None if spec.retrieve is None else spec.retrieve.map
        self._only_retrieves, self._keeps_thoughts = not spec.gives_answers, spec.clean == []
        self._clean = [re.compile(pattern) for pattern in spec.clean or ()]
        has_labels = spec.map.references is not None
        self._markers = MarkerReader(spec.citations.markers, spec.citations.base, labels=has_labels)
        self.document_names: Mapping[str, str] = {}

    def read(
        self, body: Any, retrieved: Any = None, streamed: Streamed | None = None, raw: bytes = b""
    ) -> dict[str, Any]:
        """Read the fields of an `EvalResponse` from the body.

        Args:
            body: Of the request that asks.
            retrieved: The body of the request that retrieves, of a server that has one.
            streamed: The answer, where the pieces of a stream make it; `body` is the list of all pieces then.
            raw: The body as it was received.

        Raises:
            MappingError: There is no answer in it; of what only retrieves, no list of chunks.
        """
        notes: list[str] = []
        refused = find(self._map.refused, body)
        if refused is not None and not isinstance(refused, bool):
            notes.append(f"{PART}refused found {kind_of(refused)}, not true or false")
            refused = None
        answer = self._answer(body, streamed, notes, refused=refused)
        if cut := _CUT_OFF.search(raw):
            notes.append(f"the answer was cut off: the server says {cut[0].decode()}")
        stages = find(self._map.stages, body)
        if self._own is None:
            chunks = self._chunks(self._map.chunks, body, notes)
        else:
            try:
                chunks = self._chunks(self._own.chunks, retrieved, notes)
                own = find(self._own.stages, retrieved)
            except MappingError as error:
                raise replace(error, request="retrieve") from error
            stages = stages if own is None else own
        if isinstance(stages, Mapping):  # lists by the names of their stages
            stages = [{"name": name, "items": items} for name, items in stages.items()]
        given = find(self._map.confidence, body)
        confidence = _value("confidence", given)
        if confidence is None and kind_of(given) == "a number":
            notes.append(f"{PART}confidence gives an impossible number, which is ignored")
        return {
            "answer": answer,
            "chunks": chunks,
            "citations": self._citations(body, answer, chunks, notes),
            "usage": token_usage(find(self._map.usage, body), notes),
            "model": _value("model", find(self._map.model, body)),
            "confidence": confidence,
            "stages": stages if isinstance(stages, list) else None,
            "refused": refused,
            "notes": notes,
        }

    def _answer(self, body: Any, streamed: Streamed | None, notes: list[str], *, refused: bool | None) -> str | None:
        """The answer's text, cleaned; None where the server is not asked for one. A refusal may come without a text."""
        if streamed is None and self._map.answer is None:
            return None
        text = find(self._map.answer, body) if streamed is None else streamed.text
        if streamed is not None and text is not None:
            notes += streamed.notes
        answer = "" if text is None and refused else text
        if not isinstance(answer, str):
            missing = f"the body has no text at `{self._map.answer}`; {shape_of(body)}"
            raise MappingError(missing if streamed is None else "; ".join(streamed.notes))
        if not self._keeps_thoughts:
            answer, thoughts = without_thoughts(answer)
            if thoughts:
                notes.append(f"thoughts of {len(thoughts):,} characters are taken off the answer (server.clean)")
        for pattern in self._clean:
            answer = pattern.sub("", answer)
        if _lengths([answer], _LONGEST_ANSWER)[0] > _LONGEST_ANSWER:
            raise MappingError(f"the answer is longer than {_LONGEST_ANSWER:,} characters: not analysed", "too_large")
        return answer

    def _chunks(self, at: str | None, body: Any, notes: list[str]) -> list[RetrievedChunk] | None:
        """The chunks of the body that holds them; None where the server says nothing, and need not."""
        lost: dict[str, str] = {}
        chunks = _read_list("chunks", find(at, body), partial(_chunk, lost), notes)
        if chunks is None:
            if self._own is not None or self._only_retrieves:
                raise MappingError(notes[-1] if notes else f"the body has no list at `{at}`; {shape_of(body)}")
            return None
        notes += [f"{PART}chunks gives {what}, which is ignored" for what in lost.values()]
        sizes = accumulate(_lengths([chunk.text or "" for chunk in chunks], _LONGEST_CHUNKS))
        if (kept := sum(size <= _LONGEST_CHUNKS for size in sizes)) < len(chunks):
            longer = f"longer than {_LONGEST_CHUNKS:,} characters in all"
            notes.append(f"chunks: {longer}, and those from number {kept + 1} on are left out")
            chunks = chunks[:kept]
        if names := self.document_names:
            for number, chunk in enumerate(chunks):
                name = chunk.document_name or names.get(chunk.document_id or "")
                chunks[number] = chunk.model_copy(update={"document_name": name})
        return chunks

    def _citations(
        self, body: Any, answer: str | None, chunks: list[RetrievedChunk] | None, notes: list[str]
    ) -> list[Citation] | None:
        if answer is None or self._citing == "none":
            return None
        given = find(self._map.citations, body) if self._citing in {"list", "auto"} else None
        if given is not None or self._citing == "list":
            numbers_are_ids = any((chunk.chunk_id or "").isdecimal() for chunk in chunks or ())
            return _read_list("citations", given, partial(_citation, numbers_are_ids), notes)
        marked = self._markers.read(answer, len(chunks or ()))
        if self._map.references is not None:
            marked = _referred(marked, find(self._map.references, body), notes)
        # Without a list, no marker may mean that this server never cites: that is "did not say", not "none".
        return marked or (None if self._citing == "auto" else [])


def _referred(marked: list[Citation], references: Any, notes: list[str]) -> list[Citation]:
    """What markers stand for; one that is not among the references cites what there is not."""
    listed = _read_list("references", references, lambda item: item if isinstance(item, Mapping) else None, notes)
    known: dict[str | None, Citation] = {}
    for item in listed or ():
        label, source = _value("label", item.get("index")), _citation(False, {**item, "index": None})
        known |= {label: source} if label is not None and source is not None else {}
    labels = [mark.chunk_id if mark.index is None else str(mark.index) for mark in marked]
    sources = [known.get(label) or Citation(chunk_id=label) for label in labels]
    places = [{"start": mark.start, "end": mark.end} for mark in marked]
    return [source.model_copy(update=place) for source, place in zip(sources, places, strict=True)]


def _lengths(texts: Sequence[str], most: int) -> list[int]:
    """The characters of texts; in compatibility form where those may be more than this."""
    if _MOST_OF_ONE * sum(map(len, texts)) <= most:
        return [len(text) for text in texts]
    return [len(text) if text.isascii() or len(text) > most else len(normalize("NFKC", text)) for text in texts]
