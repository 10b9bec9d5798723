"""Parse replies of the judge, check them against the data, and make verdicts."""

import json
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from evals.judges.backends.base import Call, Identity, JudgeReply, objects_in
from evals.judges.cache import JudgeCache, StoredReply
from evals.judges.injection import looks_injected
from evals.judges.prompt import joined, load_prompt
from evals.judges.quotes import Fault, faults_of, problem_of_whole, withdraw, without_marks
from evals.schemas.verdicts import (
    CallSizes,
    JudgeFailure,
    JudgeSpending,
    JudgeUsage,
    JudgeVerdict,
    Prompt,
    VerdictRequest,
)

# What a reply must hold before it counts: the form asked for, every item asked about, and quotations that are
# there.


_Object = Mapping[str, Any]
"""A JSON object: a reply, the data, or an item of one of them."""

_LONGEST_PROBLEM = 200
"""A judge may put megabytes where a label was asked for, and every verdict says what was wrong."""


def problem_with(prompt: Prompt, reply: Any, data: Mapping[str, Any]) -> str | None:
    """Why a reply cannot be used, in a sentence of bounded length; None where it can.

    Args:
        prompt: What was asked.
        reply: The parsed reply.
        data: What the judge was given to examine.
    """
    problem = misfit(prompt.schema, reply, "reply")
    if problem is None:
        checks = [check for check in prompt.checks if check["kind"] in {"ids", "inner_ids", "names"}]
        problem = _first(_ids_problem(check, reply, data) for check in checks)
    if problem is None:
        problem = problem_of_whole(prompt, reply, data)
    if problem is None or len(problem) <= _LONGEST_PROBLEM:
        return problem
    return f"{problem[: _LONGEST_PROBLEM - 1]}…"


def _ids_problem(check: _Object, reply: _Object, data: _Object) -> str | None:
    """What is lacking of the items asked about, or of the parts of each, or is too much."""
    items = reply[check["items"]]
    if check["kind"] == "inner_ids":
        inner = check["list"]
        wanted = {item["id"]: item[inner] for item in data[check["of"]]}
        return _first(
            _differing(f"{inner} of {item['id']}", [part["id"] for part in item[inner]], wanted.get(item["id"], []))
            for item in items
        )
    asked = check["are"] if check["kind"] == "names" else [item["id"] for item in data[check["of"]]]
    return _differing(check["items"], [item["id"] for item in items], asked)


def _differing(what: str, got: Iterable[Any], wanted: Iterable[Any]) -> str | None:
    """How two collections of ids differ; None where they do not."""
    there, asked = Counter(got), Counter(wanted)
    lacking, extra = list((asked - there).elements()), list((there - asked).elements())
    if lacking:
        return f"{what}: nothing on {', '.join(map(str, lacking[:5]))}"
    return f"{what}: too much on {', '.join(map(str, extra[:5]))}" if extra else None


_TYPES: Mapping[str, tuple[type[Any], str]] = {
    "array": (list, "list"),
    "boolean": (bool, "truth value"),
    "integer": (int, "whole number"),
    "string": (str, "text"),
}


def misfit(schema: Mapping[str, Any], value: Any, where: str) -> str | None:
    """Why the value has not the form of the schema: of the part of JSON schema that the prompts use."""
    kind = schema["type"]
    if kind == "object":
        return _object_misfit(schema, value, where)
    expected, name = _TYPES[kind]
    if not isinstance(value, expected) or (kind == "integer" and isinstance(value, bool)):
        return f"{where} is no {name}"
    if isinstance(value, list):
        return _first(misfit(schema["items"], item, f"{where}[{n}]") for n, item in enumerate(value))
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is {value!r}, not one of {', '.join(schema['enum'])}"
    return None


def _object_misfit(schema: Mapping[str, Any], value: Any, where: str) -> str | None:
    if not isinstance(value, dict):
        return f"{where} is no object"
    for name in schema["required"]:
        if name not in value:
            return f"{where} lacks {name!r}"
    unknown = set(value) - set(schema["properties"])
    if unknown:
        return f"{where} has {sorted(unknown)[0]!r}, which was not asked for"
    return _first(misfit(part, value[name], f"{where}.{name}") for name, part in schema["properties"].items())


def _first(problems: Iterable[str | None]) -> str | None:
    return next(filter(None, problems), None)


# What is said to a judge whose reply cannot be used as it is: whole, or in some of its items.


_NUMBER = "item"
"""The name of an item's number, where items have no id."""


_SUBJECT = ("id", "claim")
"""What an item is about: it is not corrected."""


_LONGEST_REPLY = 20_000
"""Characters of a reply that is shown again; a longer one is only told what was wrong."""

_AGAIN = "You were asked this before, and your reply cannot be used: {problem}\n{reply}Reply again, to all of it."

_MEND = """You were asked this before. Some items of your reply cannot be used, because of their quotations:
{items}
Return these items alone, in the same form and with the same {name}; a list none of whose items stands here stays empty.
Copy each quotation word for word from one text, at least four words, nothing changed and nothing left out. Where no
text holds such words, decide anew."""


@dataclass(frozen=True, slots=True)
class Mending:
    """How the items of a reply without evidence may be corrected, by one more call that is about them alone.

    Attributes:
        prompt: By which the reply was asked for.
        reply: As it came.
        faults: What is wrong with which item.
    """

    prompt: Prompt
    reply: Mapping[str, Any]
    faults: Sequence[Fault]

    def call(self, call: Call) -> Call:
        """What is asked: for these items alone, each with what is wrong with it."""
        items = [{"list": each.list, "wrong": each.problem, "your_item": self._numbered(each)} for each in self.faults]
        names = {_key(self._numbered(fault)) for fault in self.faults}
        said = json.dumps(items, ensure_ascii=False)
        return replace(call, schema=self._schema(), remark=_MEND.format(items=said, name=" and ".join(sorted(names))))

    def apply(self, answer: Any, data: Mapping[str, Any]) -> dict[str, Any] | None:
        """The reply with what the judge corrected, and with marks on what is still wrong; None for an answer of no use.

        Args:
            answer: What the judge said; the whole reply, given again, will do.
            data: What the judge was given to examine.
        """
        if misfit(self._schema(), answer, "reply") is not None:
            return None
        mended = {name: list(part) if isinstance(part, list) else part for name, part in self.reply.items()}
        for fault in self.faults:
            mended[fault.list][fault.place] = self._mended(fault, answer)
        if problem_with(self.prompt, mended, data) is not None:
            return None
        left = faults_of(self.prompt, mended, data)
        for fault in left:
            mended[fault.list][fault.place] = self.reply[fault.list][fault.place]
        return withdraw(mended, left)

    def _numbered(self, fault: Fault) -> Mapping[str, Any]:
        """The item with its id, or with its number in the list where it has none."""
        item: Mapping[str, Any] = self.reply[fault.list][fault.place]
        return item if "id" in item else {_NUMBER: fault.place + 1, **item}

    def _schema(self) -> dict[str, Any]:
        """The form of the reply, with a number in items that have no id."""
        schema = deepcopy(self.prompt.schema)
        for name in {fault.list for fault in self.faults}:
            items = schema["properties"][name]["items"]
            if "id" not in items["properties"]:
                items["properties"] = {_NUMBER: {"type": "integer"}, **items["properties"]}
                items["required"] = [_NUMBER, *items["required"]]
        return schema

    def _mended(self, fault: Fault, answer: Mapping[str, Any]) -> Any:
        """The item as it was corrected; as it was where the answer has none for it, or several."""
        old, numbered = self.reply[fault.list][fault.place], self._numbered(fault)
        key = _key(numbered)
        same = [item for item in answer[fault.list] if item[key] == numbered[key]]
        if len(same) != 1:
            return old
        kept = {name: old[name] for name in _SUBJECT if name in old}
        return {name: part for name, part in {**same[0], **kept}.items() if name in old}


def _key(item: Mapping[str, Any]) -> str:
    return "id" if "id" in item else _NUMBER


# What the calls for one decision came to, and the verdict on it.


_LOST = frozenset({"refused", "truncated", "unparsable"})
"""Failures of a model that replied."""


@dataclass(slots=True)
class Outcome:
    """The result of the attempts at one decision.

    Attributes:
        request: What is decided.
        repeat: Which one of the repeats.
        key: Of the reply in the cache.
        earlier: What was spent on the decision before.
        on_unusable: Called before the decision is asked for once more, with the failed verdict as it stands by then.
        reply: The usable reply, parsed.
        failure: Why there is none.
        message: The same in words.
        last: The last reply as it came, usable or not.
        spent: By all attempts.
        sizes: Of those attempts that told their tokens.
        remark: What is said of an unusable reply when it is asked for again.
        mending: How items without evidence can be corrected.
        in_parts: Whether several calls were made for parts of the request; each is kept by itself.
        prevented: Whether the budget did not hold a call.
        unkept: Replies to parts of the request, by their keys, that shall be kept with the verdict.
    """

    request: VerdictRequest
    repeat: int
    key: str
    earlier: JudgeSpending | None = None
    on_unusable: Callable[[JudgeVerdict], None] = lambda _verdict: None
    reply: dict[str, Any] | None = None
    failure: JudgeFailure | None = None
    message: str | None = None
    last: JudgeReply | None = None
    spent: JudgeSpending = field(default_factory=JudgeSpending)
    sizes: CallSizes = field(default_factory=CallSizes)
    remark: str = ""
    mending: Mending | None = None
    in_parts: bool = False
    prevented: bool = False
    unkept: list[tuple[str, StoredReply]] = field(default_factory=list)

    def take_parts(self, parts: Sequence["Outcome"]) -> None:
        """Be what the parts of the request came to so far: their joined reply, or why there is none."""
        self.spent = sum((part.spent for part in parts), JudgeSpending())
        self.sizes = sum((part.sizes for part in parts), CallSizes())
        self.last = next((part.last for part in parts if part.last is not None), None)
        self.in_parts = True
        self._join(parts)

    def _join(self, parts: Sequence["Outcome"]) -> None:
        replies = [part.reply for part in parts if part.reply is not None]
        failed = [part for part in parts if part.failure is not None]
        if len(replies) == len(parts):
            self.reply, self.failure, self.message = joined(replies), None, None
        elif failed:
            self.failure, self.message = failed[0].failure, failed[0].message or ""
        elif self.spent.calls:
            self.fail("transport", f"{len(replies)} of {len(parts)} parts of this were answered when the run ended")

    def fail(self, kind: JudgeFailure, message: str) -> None:
        """Note why there is no usable reply."""
        self.failure, self.message = kind, message

    def log(self) -> None:
        """Have what was paid for recorded, before more is."""
        self.on_unusable(self.verdict())

    def verdict(self) -> JudgeVerdict:
        """The verdict that calls came to, or their failure."""
        spent = self.spent
        return self._verdict(
            self.reply,
            failure=self.failure,
            message=self.message,
            model=self.last.model if self.last is not None else None,
            attempts=spent.calls,
            usage=spent.usage if spent.usage != JudgeUsage() else None,
            counted=self.sizes.calls,
            characters=self.sizes.characters,
            cost_usd=spent.known_cost_usd,
            unpriced=spent.unpriced,
        )

    def cached(self, stored: StoredReply, saved_usd: float | None) -> JudgeVerdict:
        """The verdict by a reply or a failure that is there already, so that no call is made."""
        return self._verdict(
            stored.reply,
            failure=stored.failure,
            message=stored.message,
            model=stored.model,
            attempts=0,
            cost_usd=0.0,
            cached=True,
            saved_usd=saved_usd,
        )

    def _verdict(self, reply: dict[str, Any] | None, **facts: Any) -> JudgeVerdict:
        request = self.request
        suspected = looks_injected(request.data) or bool(reply and reply.get("injection_suspected"))
        return JudgeVerdict(
            request=request.name,
            repeat=self.repeat,
            reply=reply,
            prompt_hash=load_prompt(request.prompt).hash,
            key=self.key,
            earlier=self.earlier,
            passages=request.passages,
            injection_suspected=suspected,
            **facts,
        )

    def stored(self, *, failed: bool = False) -> StoredReply | None:
        """What the cache shall keep; None where there is nothing to keep, as of parts, each of which is kept.

        Args:
            failed: Whether to keep an unusable decision too.
        """
        said, is_lost = self.last, failed and self.failure in _LOST
        if said is None or (self.in_parts if self.reply is not None else not is_lost):
            return None
        return StoredReply(
            reply=self.reply,
            failure=self.failure,
            message=self.message,
            model=said.model,
            usage=said.usage,
            cost_usd=self.spent.known_cost_usd,
            stop=said.stop,
            request_id=said.request_id,
            asked_at=datetime.now(UTC).replace(microsecond=0),
        )

    def read(self, said: JudgeReply) -> bool:
        """Parse and check a reply.

        Returns:
            Whether that is final: False where asking once more may bring a usable reply, or a better one.
        """
        self.remark, self.mending = "", None
        if said.stop == "refused":
            self.fail("refused", "the model refused to judge")
            return True
        if said.stop == "truncated":
            self.fail("truncated", "the reply was cut off")
            return False
        prompt, data = load_prompt(self.request.prompt), self.request.data
        reply, problem = _fitting(objects_in(said.text), lambda value: problem_with(prompt, value, data))
        if reply is None:
            problem = problem or f"not JSON: {said.text[:120]!r}"
            self.fail("unparsable", problem)
            shown = f"Your reply was:\n{said.text}\n" if said.text.strip() and len(said.text) <= _LONGEST_REPLY else ""
            self.remark = _AGAIN.format(problem=problem, reply=shown)
            return False
        faults = faults_of(prompt, reply, data)
        self.reply, self.failure, self.message = withdraw(reply, faults), None, None
        if faults:
            self.mending = Mending(prompt, reply, faults)
        return not faults

    def read_mended(self, said: JudgeReply) -> None:
        """Take what the judge corrected; what is not corrected stays as it is."""
        if self.mending is not None and said.stop == "end":
            answers = (self.mending.apply(answer, self.request.data) for answer in reversed(objects_in(said.text)))
            self.reply = next((mended for mended in answers if mended is not None), self.reply)


def _fitting(found: Sequence[Any], problem_of: Callable[[Any], str | None]) -> tuple[dict[str, Any] | None, str | None]:
    """The reply among the values found, or what is wrong with the last one: None of them may be a guess."""
    problems = [problem_of(value) for value in found]
    fitting = [value for value, problem in zip(found, problems, strict=True) if problem is None]
    if not fitting:
        return None, problems[-1] if problems else None
    if any(value != fitting[-1] for value in fitting):
        return None, f"{len(fitting)} replies in one, which differ"
    return fitting[-1], None


# When a saved reply can be used again: where the request is exactly the same.


def call_of(request: VerdictRequest, *, repeats: int = 1, shared: Container[str] = ()) -> Call:
    """What is sent to a model for a request.

    Args:
        request: What is wanted.
        repeats: How often decisions are made in the run: the same data is sent each time.
        shared: The prompts by which a question is asked about more than once in the run, with all data but the last.
    """
    prompt = load_prompt(request.prompt)
    content = _dump(request.data)
    ends = [_beginning(request.data)] if prompt.name in shared else []
    ends += [len(content)] if len(repeats_of(request, repeats)) > 1 else []
    return Call(prompt.system, content, prompt.schema, prompt.max_tokens, tuple(ends))


def _beginning(data: Mapping[str, Any]) -> int:
    """How many characters of the data come before its last key."""
    first = dict(islice(data.items(), len(data) - 1))
    return len(_dump(first)) - len("}") if first else 0


def _dump(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False)


def repeats_of(request: VerdictRequest, repeats: int) -> Sequence[int]:
    """Which repeats a request is made for, where each decision is made so often; samples count as repeats."""
    decisions = range(1 if request.once else repeats) if request.repeat is None else (request.repeat,)
    return [decision * request.samples + sample for decision in decisions for sample in range(request.samples)]


def is_usable(saved: JudgeVerdict | StoredReply, request: VerdictRequest) -> bool:
    """Whether what was saved holds a reply that can be read as one to the request, whoever gave it.

    Items may be marked.
    """
    prompt = load_prompt(request.prompt)
    return saved.reply is not None and problem_with(prompt, without_marks(saved.reply), request.data) is None


def fits(verdict: JudgeVerdict, request: VerdictRequest, judge: Identity) -> bool:
    """Whether a saved verdict is what this judge said to this very request.

    Runs of former versions say less of their verdicts: there the prompt counts alone.
    """
    if verdict.prompt_hash != load_prompt(request.prompt).hash:
        return False
    if verdict.key is not None and verdict.key != JudgeCache.key(judge, call_of(request), verdict.repeat):
        return False
    return is_usable(verdict, request)


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict to record, and the reply to put into the cache.

    Attributes:
        verdict: To be recorded.
        stored: The new reply or failure; None where there is none, or it came from the cache.
        parts: New replies to parts of what was asked, by their keys, where they are not in the cache yet.
    """

    verdict: JudgeVerdict
    stored: StoredReply | None = None
    parts: tuple[tuple[str, StoredReply], ...] = ()
