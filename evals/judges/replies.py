"""What a judge's reply must hold before it counts: the form, every item asked about, and quotations that are there.

Replies bound by a schema and replies in text are read alike: json-repair reads fences, trailing commas, Python's
literals and missing braces, and text around an object is passed over.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import reduce
from operator import getitem
from typing import Any

import json_repair
from pydantic import TypeAdapter, ValidationError

from evals.judges.models import JudgeReply
from evals.judges.prompts import load_prompt
from evals.schemas.verdicts import JudgeFailure, Prompt, VerdictRequest
from evals.text.decoding import without_surrogates
from evals.text.quotes import is_evidence, is_quoted

NOT_FOUND, SAID, CANNOT_TELL = "quote_not_found", "said", "cannot_tell"
"""The marks of an item whose evidence is not there: that it is so, and the verdict that the judge gave."""

FLAG = "injection_suspected"
"""Where the judge says that the data tells it what to decide; a reply without it says that it does not."""

_Object = Mapping[str, Any]

_LONGEST_PROBLEM, _LONGEST_REPLY = 200, 20_000
"""Characters of what is said to be wrong, and of a reply that is shown again."""

_AGAIN = "You were asked this before, and your reply cannot be used: {problem}\n{shown}Reply again, to all of it."

_MISQUOTED = """You were asked this before. Some of your reply cannot be used, because of its quotations:
{problem}
{shown}Reply again, to all of it. Copy each quotation word for word from one text, at least four words, nothing changed
and nothing left out. Where no text holds such words, decide anew."""


@dataclass(frozen=True, slots=True)
class ReplyReading:
    """What a reply comes to.

    Attributes:
        reply: The usable reply; items without evidence are marked in it.
        failure: Why there is none.
        message: The same in words.
        remark: What is said when the same is asked once more; empty where that would bring nothing.
        model: The model that replied, as it names itself.
    """

    reply: dict[str, Any] | None = None
    failure: JudgeFailure | None = None
    message: str | None = None
    remark: str = ""
    model: str | None = None

    def replacing(self, earlier: "ReplyReading") -> "ReplyReading":
        """What counts of two replies to one request: the later one, unless the earlier alone is usable."""
        return earlier if self.reply is None and earlier.reply is not None else self


def read(answer: JudgeReply, request: VerdictRequest) -> ReplyReading:
    """Read a reply to a request."""
    unread = ReplyReading(model=answer.model)
    if answer.stop == "refused":
        return replace(unread, failure="refused", message="the model refused to judge")
    if answer.stop == "truncated":
        return replace(unread, failure="truncated", message="the reply was cut off", remark=" ")
    prompt = load_prompt(request.prompt)
    shown = f"Your reply was:\n{answer.text}\n" if len(answer.text) <= _LONGEST_REPLY and answer.text.strip() else ""
    try:
        reply = _single_reply(prompt, answer.text, request.data)
    except ReplyFormatError as error:
        problem = str(error)[:_LONGEST_PROBLEM]
        remark = _AGAIN.format(problem=problem, shown=shown)
        return replace(unread, failure="unparsable", message=problem, remark=remark)
    marked, problems = _with_marks(prompt, reply, request.data)
    told = "\n".join(f"- {problem}" for problem in problems)
    return replace(unread, reply=marked, remark=_MISQUOTED.format(problem=told, shown=shown) if problems else "")


_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)|\A(?:(?!<think).)*?</think(?:ing)?>", re.DOTALL)
"""What some models put before their reply; the beginning may be cut off by the server."""

_MOST_OBJECTS = 300


def _single_reply(prompt: Prompt, text: str, data: _Object) -> dict[str, Any]:
    """The one reply that a text holds. Several that differ are none: neither of them may be a guess.

    Raises:
        ReplyFormatError: It holds none.
    """
    text = text if text.lstrip().startswith("{") else _THOUGHT.sub("", text)
    problem, fitting = ReplyFormatError(f"not JSON: {text[:120]!r}"), list[dict[str, Any]]()
    for values in (_json_objects, _repaired):
        for value in () if fitting else values(text):
            try:
                fitting.append(fitted(prompt, without_surrogates(value), data))
            except ReplyFormatError as error:
                problem = error
    if not fitting:
        raise problem
    if any(reply != fitting[0] for reply in fitting):
        raise ReplyFormatError(f"{len(fitting)} replies in one, which differ")
    return fitting[0]


def _json_objects(text: str) -> Iterator[Any]:
    """The objects of valid JSON in a text."""
    decoder, start = json.JSONDecoder(strict=False), text.find("{")
    for _ in range(_MOST_OBJECTS):
        if start < 0:
            return
        end = start + 1
        with suppress(ValueError, RecursionError):
            value, end = decoder.raw_decode(text, start)
            yield value
        start = text.find("{", end)


def _repaired(text: str) -> list[Any]:
    """What json-repair makes of a text with a brace in it."""
    try:
        value = json_repair.loads(text) if "{" in text else []
    except (ValueError, RecursionError):
        return []
    return value if isinstance(value, list) else [value]


# The form of a reply, by the part of JSON schema that the prompts use.


class ReplyFormatError(ValueError):
    """A reply that cannot be used; the message says why."""


def fitted(prompt: Prompt, value: Any, data: _Object) -> dict[str, Any]:
    """A reply in the form asked for. Case, numbers in text, other keys and a wrapping make no difference.

    Args:
        prompt: What was asked.
        value: The parsed reply, or a saved one: marks of it are left out.
        data: What the judge was given to examine.

    Raises:
        ReplyFormatError: It has not the form, lacks an item that was asked about, or has too many.
    """
    if isinstance(value, dict) and len(value) == 1 and isinstance(inner := next(iter(value.values())), dict):
        value = inner
    reply: dict[str, Any] = _fitted(prompt.schema, value, "reply")
    for check in prompt.checks:
        _check(check, reply, data)
    return reply


def _fitted(schema: _Object, value: Any, where: str) -> Any:
    kind = schema["type"]
    if kind == "object":
        if not isinstance(value, dict):
            raise ReplyFormatError(f"{where} is no object")
        value = {**value, FLAG: False} if value.get(FLAG) is None else value
        if lacking := [name for name in schema["required"] if name not in value]:
            raise ReplyFormatError(f"{where} lacks {lacking[0]!r}")
        known = schema["properties"].items()
        return {name: _fitted(part, value[name], f"{where}.{name}") for name, part in known if name in value}
    if kind == "array":
        if not isinstance(value, list):
            raise ReplyFormatError(f"{where} is no list")
        return [_fitted(schema["items"], item, f"{where}[{n}]") for n, item in enumerate(value)]
    if "enum" in schema:
        labels = {folded(label): label for label in schema["enum"]}
        if not isinstance(value, str) or folded(value) not in labels:
            raise ReplyFormatError(f"{where} is {str(value)[:80]!r}, not one of {', '.join(schema['enum'])}")
        return labels[folded(value)]
    if kind == "string":
        if value is not None and not isinstance(value, str | int | float):
            raise ReplyFormatError(f"{where} is no text")
        return "" if value is None else str(value)
    try:
        return _READERS[kind].validate_python(str(value).strip().rstrip("%"))  # as text, true is no number
    except (ValidationError, KeyError):
        raise ReplyFormatError(f"{where} is no {kind}: {str(value)[:80]!r}") from None


def folded(label: str) -> str:
    """A label as labels are compared: without its case, quotation marks, and what parts its words."""
    return label.strip().strip("\"'.").casefold().replace(" ", "_").replace("-", "_")


_READERS: dict[str, TypeAdapter[Any]] = {"integer": TypeAdapter(int), "boolean": TypeAdapter(bool)}


def _check(check: _Object, reply: _Object, data: _Object) -> None:
    """One of the checks `ids`, `names`, `inner_ids` (every item asked about, once), `count` and `range`."""
    name, items = check.get("items", ""), reply.get(check.get("items", ""), [])
    match check["kind"]:
        case "count" if len(items) != check["number"]:
            raise ReplyFormatError(f"{name}: {len(items)}, not {check['number']}")
        case "range":
            for place in check["of"]:
                number = reduce(getitem, place.split("."), reply)
                if not check["low"] <= number <= check["high"]:
                    raise ReplyFormatError(f"{place} is {number}, not from {check['low']} to {check['high']}")
        case "names":
            _compare(name, items, check["are"])
        case "ids":
            _compare(name, items, [item["id"] for item in data[check["of"]]])
        case "inner_ids":
            wanted = {item["id"]: item[check["list"]] for item in data[check["of"]]}
            for item in items:
                _compare(f"{check['list']} of {item['id']}", item[check["list"]], wanted.get(item["id"], []))


def _compare(what: str, items: Iterable[_Object], wanted: Iterable[Any]) -> None:
    lacking, extra = Counter(wanted), Counter(item["id"] for item in items)
    for difference, amount in ((lacking - extra, "nothing"), (extra - lacking, "too much")):
        if difference:
            raise ReplyFormatError(f"{what}: {amount} on {', '.join(map(str, list(difference)[:5]))}")


# Evidence: an item whose quotation is not there does not count.


def _with_marks(prompt: Prompt, reply: _Object, data: _Object) -> tuple[dict[str, Any], list[str]]:
    """The reply in which items without evidence are marked, and what is wrong with each."""
    marked: dict[str, Any] = deepcopy(dict(reply))
    problems: list[str] = []
    for check in (check for check in prompt.checks if check["kind"] in {"listed", "quotes"}):
        name, _, path = check.get("items", "").partition(".")
        for item in marked[name] if name else [marked]:
            problem = None if item.get("verdict") in {CANNOT_TELL, None} else _problem(check, item, path, data)
            if problem:
                item.update({"verdict": CANNOT_TELL, NOT_FOUND: True, SAID: item["verdict"]})
                problems.append(problem)
    return marked, problems


def _problem(check: _Object, item: _Object, path: str, data: _Object) -> str | None:
    """What is wrong with the evidence of an item, by the checks `listed` and `quotes`."""
    if check["kind"] == "listed":
        lacks = item["verdict"] in check["only"] and not item[check["list"]]
        return f"{item['verdict']} without {check['list']}" if lacks else None
    return next(filter(None, (_misquoted(check, part, item, data) for part in (item[path] if path else [item]))), None)


def _misquoted(check: _Object, part: _Object, item: _Object, data: _Object) -> str | None:
    quote, required = part["quote"], item["verdict"] in check["only"] if "only" in check else check.get("always", False)
    # Where some verdicts must quote, others are free; else a quotation that was not asked for is looked at too.
    if not required and ("only" in check or not quote):
        return None
    within = data.get(check["within"])
    texts = {text["id"]: text["text"] for text in within} if isinstance(within, list) else {"": str(within or "")}
    if check.get("same_id"):
        texts = {number: text for number, text in texts.items() if number == part["id"]}
    elif "one_of" in check:
        cited = {part["id"] for part in item[check["one_of"]]}
        texts = {number: text for number, text in texts.items() if number in cited}
    place = f"{check['within']} {part['id']}" if check.get("same_id") else check["within"]
    bare = re.sub(r"\A\W{0,3}[\[(]\s?(?:\w{1,12}\s)?\d+\s?[\])]", "", quote)  # the id of its text: "[3] Members may"
    if not any(is_quoted(words, texts.values()) for words in {quote, bare}):
        return f"a quotation that is not in {place}: {quote[:120]!r}"
    if required and not is_evidence(bare, texts.values()):
        return f"a quotation of fewer than four words, which proves nothing: {quote[:120]!r}"
    return None


def items_of(reply: _Object) -> Iterator[_Object]:
    """What has a verdict in a reply: its items, or itself."""
    items = [item for part in reply.values() if isinstance(part, list) for item in part if isinstance(item, dict)]
    return (item for item in [reply, *items] if "verdict" in item)
