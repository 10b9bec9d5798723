"""What the answer of a server is read as: by a built-in profile, or by its shape."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from evals.client.http import Reply
from evals.client.mapping import CHUNK_KEYS, CITATION_KEYS, MappingError, find
from evals.client.profile import NO_PROFILE, resolve_spec
from evals.client.rag_client import MAX_RAW_CHARS, RAGClient, stored_body
from evals.client.spec import ServerSpec
from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.metrics.base import Need
from evals.metrics.registry import select
from evals.run.doctor import Computable, computable
from evals.run.probing.fields import Headers, child, last_name
from evals.run.probing.guess import Doubt, Guess, guess_body
from evals.run.probing.pieces import guess_stream, stream_format
from evals.run.probing.plans import Plan
from evals.schemas.dataset import EvalQuestion, GoldPassage
from evals.schemas.response import EvalResponse, ResponseError
from evals.secrets import Masker
from evals.text.decoding import parse_json

# The fields of a body that a mapping does not read.


_NAME = re.compile(r"\w+")


def unread_fields(raw: str, spec: ServerSpec) -> list[str]:
    """The fields of a body that hold something and that no expression names, as JMESPath.

    Args:
        raw: JSON, or a stream of lines of it.
        spec: Of the expressions.
    """
    parts = spec.model_dump(include={"map", "stream", "session"}), spec.retrieve, spec.ask.ok_when
    named = {*_NAME.findall(str(parts)), *CHUNK_KEYS, *CITATION_KEYS}
    paths = dict.fromkeys(path for value in _values(raw) for path in _paths(value))
    return [path for path in paths if not named.issuperset(_NAME.findall(last_name(path)))]


def _values(raw: str) -> Iterator[Any]:
    """The JSON of a body, or of each line that holds some."""
    for text in (raw, *(line.removeprefix("data:") for line in raw.split("\n"))):
        with suppress(ValueError):
            yield parse_json(text.encode())
            if text is raw:
                return


def _paths(value: Any, at: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _paths(item, child(at, key))
    elif isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value):
        for item in value:
            yield from _paths(item, f"{at}[]")
    elif at and value not in (None, "", []):
        yield at


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
    """Makes the section of a reply: by the profile of the request, else by the shape of the reply.

    Args:
        plan: The request that was answered.
        reply: The answer to it.
        target: What is probed.
        server: Keys of the section that no answer decides.
        retrieved: The answer to a second request of the profile; None where there was none.

    Attributes:
        by_profile: What the profile makes of it; None where there is none, or it finds nothing in it.
    """

    def __init__(
        self, plan: Plan, reply: Reply, target: Target, server: Mapping[str, Any], retrieved: Reply | None
    ) -> None:
        self.plan = plan
        self._server, self._question = server, target.question
        self._type = reply.headers.get("content-type", "")
        masker = Masker(target.headers.secrets)
        self._raw = masker.text(reply.body.decode("utf-8", "replace"))
        self._second = None if retrieved is None else masker.text(retrieved.body.decode("utf-8", "replace"))
        self.by_profile = None if plan.profile is None else self._probed({"profile": plan.profile, **self._where()}, [])
        if self.by_profile and not (self.by_profile.response.answer or self.by_profile.response.chunks):
            self.by_profile = None

    def why_unread(self) -> str | None:
        """Why nothing can be read; None where a profile reads it, or it holds a text or passages."""
        if self.by_profile is not None:
            return None
        try:
            guess = self._guess({})
        except ValueError:
            return f"the answer is neither JSON nor a stream: {self._raw[:200]}"
        return None if guess.answer or guess.rows else f"the answer holds no text and no passages: {self._raw[:200]}"

    def read(self, choose: Settle) -> Probed:
        """The section that evaluates the server.

        Args:
            choose: Is asked what is meant, where more than one thing may be; it may wait for somebody.
        """
        if self.by_profile is not None:
            return self.by_profile
        guess = self._guess({})
        chosen = _settled(guess, choose)
        guess = self._guess(chosen) if chosen else guess
        ask = {**self.plan.ask, "ok_when": guess.ok_when}
        read = {"ask": ask, "stream": guess.stream, "map": guess.map, "citations": guess.citations}
        server = {"profile": NO_PROFILE, **self._where(), **_without_unsaid(read)}
        doubts = [*(Doubt("ask", "", (), doubt) for doubt in self.plan.doubts), *guess.doubts]
        return self._probed(server, [doubt for doubt in doubts if doubt.key not in chosen])

    def _guess(self, chosen: Mapping[str, Any]) -> Guess:
        """The mapping of its shape.

        Raises:
            ValueError: It is neither JSON nor a stream.
        """
        form = stream_format(self._type, self._raw)
        if form is not None:
            return guess_stream(self._raw, form, self._question, chosen)
        return guess_body(parse_json(self._raw.encode()), self._question, chosen)

    def _where(self) -> dict[str, Any]:
        return {key: value for key, value in self._server.items() if value}

    def _probed(self, server: dict[str, Any], doubts: list[Doubt]) -> Probed:
        response, unread = _response(server, self._raw, self._second), list[str]()
        with suppress(ConfigError):
            spec = resolve_spec({**server, "headers": {}})
            unread = [path for body in (self._raw, self._second) if body for path in unread_fields(body, spec)]
        metrics = _metrics(server, response, self._question)
        return Probed(server, self._raw[:MAX_RAW_CHARS], response, doubts, metrics, unread)


def _settled(guess: Guess, choose: Settle) -> dict[str, Any]:
    """What somebody says is meant, by key."""
    said = {doubt.key: choose(doubt) for doubt in guess.doubts if doubt.others}
    return {key: int(value) if key == "citations.base" else value for key, value in said.items() if value is not None}


def _without_unsaid(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of a section without those that say nothing; a stream of the usual form has no keys of its own."""
    said = {key: _without_unsaid(value) if key == "ask" else value for key, value in keys.items()}
    return {key: value for key, value in said.items() if value or (key in {"stream", "json"} and value is not None)}


def _response(server: Mapping[str, Any], raw: str, retrieved: str | None = None) -> EvalResponse:
    """What the section makes of the body."""
    try:
        spec = resolve_spec({**server, "headers": {}})
        bodies = [(spec.ask, raw), *([(spec.retrieve, retrieved)] if spec.retrieve and retrieved else [])]
        conditions = [
            (part.ok_when, stored_body(part, text.encode())) for part, text in bodies if part.ok_when is not None
        ]
        refused = [condition for condition, body in conditions if not find(condition, body)]
        fields = RAGClient(spec, concurrency=1).reread(raw, retrieved)
    except (MappingError, ValueError, ConfigError) as error:
        return EvalResponse(error=ResponseError(kind="malformed", message=str(error)))
    if refused:
        return EvalResponse(error=ResponseError(kind="not_ok", message=f"`{refused[0]}` does not hold"))
    return EvalResponse(**fields)


def _metrics(server: Mapping[str, Any], response: EvalResponse, question: str) -> Computable:
    """Which metrics of the suite core such answers let be computed, of a question with a gold passage and an answer."""
    text = next((chunk.text for chunk in response.chunks or () if chunk.text), "A passage that was not retrieved.")
    asked = EvalQuestion(id="probe", dataset="probe", question=question, gold_passages=[GoldPassage(text=text)])
    config = EvalConfig.build({"server": dict(server), "judge": False})
    metrics = [metric for metric in select(["core"], []) if Need.JUDGE not in metric.needs]
    applicable = [metric for metric in metrics if not metric.not_applicable_to(asked)]
    return computable(applicable, asked, response, config.score_settings(judged=False))
