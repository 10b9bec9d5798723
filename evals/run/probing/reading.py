"""What the answer of a server is read as: by a built-in profile, or by its shape."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from evals.client.exchange import stored_body
from evals.client.mapping import MappingError, find
from evals.client.profile import MAX_RAW_CHARS, NO_PROFILE, resolve_spec
from evals.client.rag_client import RAGClient
from evals.client.transport import Reply
from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.metrics.base import Need
from evals.metrics.registry import select
from evals.run.doctor import Computable, computable
from evals.run.probing.fields import Headers, child
from evals.run.probing.guess import Doubt, Guess, guess_body
from evals.run.probing.looking import Sighted
from evals.run.probing.openapi import Plan
from evals.run.probing.pieces import guess_stream, stream_format
from evals.schemas.dataset import EvalQuestion, GoldPassage
from evals.schemas.response import EvalResponse, ResponseError
from evals.secrets import Masker
from evals.text.decoding import parse_json

# The fields of a body that a mapping does not read.


_MOST = 200
"""So many fields are looked at: each takes a reading of the body."""


Path = tuple[str | None, ...]
"""Keys from the root; None stands for every item of a list."""


def unread_fields(raw: str, read: Callable[[str], Any]) -> list[str]:
    """The fields that hold something and without which the same is read, as JMESPath.

    Args:
        raw: JSON, or a stream of lines of it.
        read: Reads such a body.
    """
    pieces = _pieces(raw)
    paths = list(dict.fromkeys(path for _, value in pieces for path in _paths(value)))[:_MOST]
    whole, unread = read(raw), []
    for path in paths:
        lines = (before if value is None else before + json.dumps(_without(value, path)) for before, value in pieces)
        if read("\n".join(lines)) == whole:
            unread.append(reduce(lambda at, step: f"{at}[]" if step is None else child(at, step), path, ""))
    return unread


def _pieces(raw: str) -> list[tuple[str, Any]]:
    """Each line with what stands before its JSON; a line without JSON is nothing but that. A whole body is one line."""
    pieces: list[tuple[str, Any]] = []
    try:
        return [("", parse_json(raw.encode()))]
    except ValueError:
        for line in raw.split("\n"):
            text = line.removeprefix("data:")
            try:
                pieces.append((line.removesuffix(text), parse_json(text.encode())))
            except ValueError:
                pieces.append((line, None))
    return pieces


def _paths(value: Any, at: Path = ()) -> Iterator[Path]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _paths(item, (*at, key))
    elif isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value):
        for item in value:
            yield from _paths(item, (*at, None))
    elif at and value not in (None, "", []):
        yield at


def _without(value: Any, path: Path) -> Any:
    key, *rest = path
    if key is None and isinstance(value, list):
        return [_without(item, tuple(rest)) for item in value]
    if not isinstance(value, Mapping) or key not in value:
        return value
    if rest:
        return {**value, key: _without(value[key], tuple(rest))}
    return {name: item for name, item in value.items() if name != key}


DEFAULT_QUESTION = "What is this about?"


Settle = Callable[[Doubt], str | None]
"""Is given a doubt with alternatives; returns the one that is meant, or None for what was chosen."""


@dataclass(slots=True)
class Probed:
    """What came of it.

    Attributes:
        server: The keys of the section `server:`.
        raw: The body, as text, with secrets masked.
        response: What the section makes of it.
        doubts: What is a guess.
        metrics: Which metrics can be computed of it.
        unread: The fields of the body that the section does not read.
    """

    server: dict[str, Any]
    raw: str
    response: EvalResponse
    doubts: list[Doubt] = field(default_factory=list)
    metrics: Computable = field(default_factory=Computable)
    unread: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be probed.

    Attributes:
        url: Of the server; a path in it is the one to ask, or what stands before those of a profile.
        headers: Sent with every request.
        question: To ask.
        body: The form of the request, with {{question}} in it; None where it is to be found out.
        profiles: Whether built-in profiles are tried.
    """

    url: str
    headers: Headers
    question: str = DEFAULT_QUESTION
    body: Any = None
    profiles: bool = True


class AnswerReader:
    """Makes the section of a reply.

    Attributes:
        plan: The request that was answered.
    """

    def __init__(self, plan: Plan, reply: Reply, target: Target, retrieved: Reply | None) -> None:
        self.plan = plan
        self._reply = reply
        self._question = target.question
        masker = Masker(target.headers.secrets)
        self._raw = masker.text(reply.body.decode("utf-8", "replace"))
        self._retrieved = None if retrieved is None else masker.text(retrieved.body.decode("utf-8", "replace"))
        self._headers = target.headers.written

    def by_profile(self, base: str) -> Probed | None:
        """What the profile of the request makes of it; None where there is none, or it finds nothing in it."""
        if self.plan.profile is None:
            return None
        server = {"profile": self.plan.profile, **self._where(base)}
        response = _response(server, self._raw, self._retrieved)
        is_read = response.error is None and (response.answer or response.chunks)
        return self._probed(server, response, []) if is_read else None

    def why_unread(self) -> str | None:
        """Why its shape says nothing; None where it holds a text or passages."""
        try:
            guess = self._guess({})
        except ValueError:
            return f"the answer is neither JSON nor a stream: {self._raw[:200]}"
        return None if guess.answer or guess.rows else f"the answer holds no text and no passages: {self._raw[:200]}"

    def by_shape(self, base: str, seen: Sighted, choose: Settle) -> Probed:
        """What its shape makes of it."""
        guess = self._guess({})
        chosen = _settled(guess, choose)
        guess = self._guess(chosen) if chosen else guess
        server = {"profile": NO_PROFILE, **self._where(base), **self._read_as(guess, seen)}
        doubts = [*(Doubt("ask", "", (), doubt) for doubt in self.plan.doubts), *guess.doubts]
        left = [doubt for doubt in doubts if doubt.key not in chosen]
        return self._probed(server, _response(server, self._raw), left)

    def _guess(self, chosen: Mapping[str, Any]) -> Guess:
        """The mapping of its shape.

        Raises:
            ValueError: It is neither JSON nor a stream.
        """
        form = stream_format(self._reply.headers.get("content-type", ""), self._raw)
        if form is not None:
            return guess_stream(self._raw, form, self._question, chosen)
        return guess_body(parse_json(self._raw.encode()), self._question, chosen)

    def _where(self, base: str) -> dict[str, Any]:
        return {"url": base} | ({"headers": dict(self._headers)} if self._headers else {})

    def _read_as(self, guess: Guess, seen: Sighted) -> dict[str, Any]:
        """The keys that say how the server is asked and read; those that say nothing are left out."""
        keys: dict[str, Any] = {
            "health": {"path": seen.health} if seen.health else None,
            "ask": self.plan.ask | ({"ok_when": guess.ok_when} if guess.ok_when else {}),
            "stream": guess.stream,
            "map": guess.map or None,
            "citations": guess.citations or None,
        }
        return {key: value for key, value in keys.items() if value is not None}

    def _probed(self, server: dict[str, Any], response: EvalResponse, doubts: list[Doubt]) -> Probed:
        raw, second = self._raw, self._retrieved
        unread = unread_fields(raw, lambda body: _response(server, body, second))
        unread += unread_fields(second, lambda body: _response(server, raw, body)) if second else []
        metrics = _metrics(server, response, self._question)
        return Probed(server, raw[:MAX_RAW_CHARS], response, doubts, metrics, unread)


def _settled(guess: Guess, choose: Settle) -> dict[str, Any]:
    """What somebody says is meant, by key."""
    said = {doubt.key: choose(doubt) for doubt in guess.doubts if doubt.others}
    chosen: dict[str, Any] = {key: value for key, value in said.items() if value is not None}
    return chosen | ({"citations.base": int(chosen["citations.base"])} if "citations.base" in chosen else {})


def _response(server: Mapping[str, Any], raw: str, retrieved: str | None = None) -> EvalResponse:
    """What the section makes of the body."""
    try:
        spec = resolve_spec({**server, "headers": {}})
        bodies = [(spec.ask, raw), *([(spec.retrieve, retrieved)] if spec.retrieve and retrieved else [])]
        conditions = [(part.ok_when, stored_body(part, text)) for part, text in bodies if part.ok_when is not None]
        refused = [condition for condition, body in conditions if not find(condition, body)]
        fields = RAGClient(spec, concurrency=1).reread(raw, retrieved)
    except (MappingError, ValueError, ConfigError) as error:
        return EvalResponse(error=ResponseError(kind="malformed", message=str(error)))
    if refused:
        return EvalResponse(error=ResponseError(kind="not_ok", message=f"`{refused[0]}` does not hold"))
    return EvalResponse(**fields)


def _metrics(server: Mapping[str, Any], response: EvalResponse, question: str) -> Computable:
    """Which metrics of the suite core such answers let be computed, of a question with a gold passage and an answer."""
    text = next((chunk.text for chunk in response.chunks or () if chunk.text), "A passage that nobody retrieved.")
    asked = EvalQuestion(id="probe", dataset="probe", question=question, gold_passages=[GoldPassage(text=text)])
    config = EvalConfig.build({"server": dict(server), "judge": False})
    metrics = [metric for metric in select(["core"], []) if Need.JUDGE not in metric.needs]
    applicable = [metric for metric in metrics if not metric.not_applicable_to(asked)]
    return computable(applicable, asked, response, config.score_settings(judged=False))
