"""A server looked at, asked one question, and read: `probe`."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from evals.client import RAGClient
from evals.client.address import check_url
from evals.client.bodies import stored_body
from evals.client.exchange import rendered
from evals.client.login.hints import REFUSED
from evals.client.mapping import MappingError, find
from evals.client.profile import NO_PROFILE, about_profile, load_profile, resolve_spec
from evals.client.redaction import MAX_RAW_CHARS
from evals.client.spec import AskSpec, RequestSpec, ServerSpec
from evals.client.transport import Reply, Transport, TransportFailure
from evals.config import EvalConfig
from evals.credentials.masker import Masker
from evals.errors import ConfigError, ServerRefusedError
from evals.inputs.json_body import parse_json
from evals.inputs.yaml_layers import VARIABLE
from evals.metrics.base import Need
from evals.metrics.registry import select
from evals.run.doctor.computable import Computable, computable
from evals.run.probing.assent import USUAL, Assent, Candidates, sort_out
from evals.run.probing.guess import Doubt, Guess, guess_body
from evals.run.probing.looking import Sighted, Tell, built_in, fitting, is_askable, look, plan_of, usual
from evals.run.probing.openapi import plans_of
from evals.run.probing.pieces import guess_stream, stream_format
from evals.run.probing.requests import QUESTION, Plan, missing_fields, with_field
from evals.run.probing.secrets import Headers
from evals.run.probing.sides import says_no
from evals.run.probing.unread import unread_fields
from evals.schemas import EvalQuestion, EvalResponse, GoldPassage, ResponseError

DEFAULT_QUESTION = "What is this about?"
_MOST_TRIES = 6
_TIMEOUT_S = 120.0
_HINT_FORM = "give --body for the form of the request"
_HINT_PATH = "give the path with the URL, and --body for the form of the request"
_HINT_NOTHING = 'give the path with the URL, and --body \'{"question": "{{question}}"}\' in the form that it wants'
_HINT_ASSENT = "give the path with the URL, or --yes where each of these may be called"
_HINT_NEVER = "where one of them only answers questions, write server.ask and server.map yourself: docs/profiles.md"
_NEVER = "never called, as its name says that it changes something"
_HINT_OTHER_FORM = 'give another form by --body, or what the server wants beside it: --header "Name: value"'
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


@dataclass(frozen=True, slots=True)
class Found:
    """A server that was looked at, by GET alone.

    Attributes:
        base: Address of the server.
        seen: What was seen of it.
        profiles: The built-in profiles that can be tried, by name.
        candidates: The requests that may ask the question.
        resembles: The command that uses the profile that the server looks like; None where it looks like none.
    """

    base: str
    seen: Sighted
    profiles: Mapping[str, ServerSpec]
    candidates: Candidates
    resembles: str | None = None

    def only(self, plan: Plan) -> "Found":
        """The same with one request, for the next question."""
        return replace(self, candidates=Candidates(free=[plan]))


def survey(target: Target, tell: Tell) -> Found:
    """Look at a server by GET alone, and list the requests that may ask the question.

    Args:
        target: What is to be probed.
        tell: Is told what is looked at.

    Raises:
        ServerUnreachableError: Nothing answers.
        ConfigError: The URL is none, or the body holds no {{question}}.
    """
    if target.body is not None and QUESTION not in str(target.body):
        raise ConfigError(
            "the form of the request does not say where the question goes",
            'write "{{question}}" in its place of --body',
        )
    base, path = _split(target.url)
    known = built_in()
    profiles = known if target.profiles and target.body is None else []

    async def looked() -> Sighted:
        async with _transport(base, target) as transport:
            return await look(transport, tell, profiles, only=path is not None)

    seen = asyncio.run(looked())
    fits = fitting(seen, profiles) if path is None else [spec for spec in profiles if spec.ask.path == path]
    plans = _plans(seen, [spec for spec in fits if is_askable(spec)], target, path)
    candidates = sort_out(plans, seen.openapi or {}, {spec.ask.path for spec in known}, path)
    if candidates.never:
        tell(f"{_NEVER}: {candidates.named_never}")
    like = next((spec.profile for spec in fits if spec.ask.path not in USUAL), None)
    if like is not None:
        tell(f"it looks like {like}: {about_profile(like)}")
    return Found(base, seen, {spec.profile: spec for spec in profiles}, candidates, like and _use_of(like, target.url))


def _use_of(profile: str, url: str) -> str:
    """The command that uses a profile, and the variables of the environment that it reads."""
    needed = ", ".join(dict.fromkeys(name for name, _ in VARIABLE.findall(str(load_profile(profile)))))
    return f"evals init --rag-url {url} --profile {profile}" + (f" (it reads {needed})" if needed else "")


def ask(found: Found, target: Target, tell: Tell, assent: Assent) -> "Reached":
    """Ask one question; what comes of it is read when nothing is in flight any more.

    A request that is refused (4xx), or answered by nothing that can be read, is followed by the next likely one, at
    most six. Those that may be sent without assent come first.

    Args:
        found: The server.
        target: What is to be probed.
        tell: Is told each request before it is sent.
        assent: Says which requests to other paths may be sent; it may wait for somebody.

    Raises:
        ServerRefusedError: No request was answered.
        ConfigError: The requests that are left need an assent that was not given, or are never sent.
    """
    search, candidates = _Search(found, target, tell), found.candidates
    reached = search.first(candidates.free)
    if reached is None and candidates.others:
        allowed = assent(candidates.others)
        if not allowed:
            listed = ", ".join(f"{plan.method} {plan.path}" for plan in candidates.others)
            said = f"no request was answered; the last one: {search.said}; " if search.tried else ""
            raise ConfigError(f"{said}not called without assent: {listed}", _way_out(found, _HINT_ASSENT))
        reached = search.first(allowed)
    if reached is not None:
        return reached
    if candidates.never and not search.tried:
        raise ConfigError(f"{_NEVER}: {candidates.named_never}", _way_out(found, _HINT_NEVER))
    raise search.unanswered()


def _way_out(found: Found, hint: str) -> str:
    return f"use its profile: {found.resembles}; or {hint}" if found.resembles else hint


def _transport(base: str, target: Target) -> Transport:
    redact = Masker(target.headers.secrets).text
    return Transport(base, headers=target.headers.sent, timeout_s=_TIMEOUT_S, redact=redact)


def _split(url: str) -> tuple[str, str | None]:
    """The server's address and the path to ask, if there is one.

    Raises:
        ConfigError: It is no URL of a server, or holds a password.
    """
    parts = urlsplit(check_url(url))
    if "@" in parts.netloc:
        raise ConfigError("the URL holds a login", 'give it as --header "Authorization: Basic …"')
    return urlunsplit(parts._replace(path="")), parts.path or None


def _plans(seen: Sighted, fits: Sequence[ServerSpec], target: Target, path: str | None) -> list[Plan]:
    """The requests that may ask the question, the likeliest first."""
    documented = plans_of(seen.openapi or {}, path) or _below(path, plans_of(seen.openapi or {}))
    if target.body is not None:
        at = path or next((plan.path for plan in documented), "/")
        return [Plan("POST", at, target.body, source="the form that was given")]
    if path is None:
        return [*map(plan_of, fits), *documented, *usual(seen)]
    named = Plan("POST", path, {"question": QUESTION}, source="the path of the URL", doubts=("the field is a guess",))
    return [*map(plan_of, fits), *documented, named]


def _below(path: str | None, plans: Sequence[Plan]) -> list[Plan]:
    """Those of paths below this one: of a server behind a prefix, or one of several in a process."""
    return [plan for plan in plans if path is not None and plan.path.startswith(f"{path.rstrip('/')}/")]


def _form_wanted(target: Target) -> str:
    """What to give beside what was given: the path, the form of the request, or what it may lack."""
    if target.body is not None:
        return _HINT_OTHER_FORM
    return _HINT_FORM if _split(target.url)[1] is not None else _HINT_PATH


def _login_header(plan: Plan) -> str:
    """The header that the profile of the request has for a login, else the usual one."""
    headers = load_profile(plan.profile).get("headers") if plan.profile is not None else None
    usual_header = {"Authorization": "Bearer …"}
    name = next(iter(headers or usual_header))
    return f"{name}: {usual_header.get(name, '…')}"


class _Search:
    """Sends one request after the other, until an answer can be read.

    Attributes:
        tried: What was sent.
        said: What the last one was answered.
    """

    def __init__(self, found: Found, target: Target, tell: Tell) -> None:
        self._found, self._target, self._tell = found, target, tell
        self.tried: list[dict[str, Any]] = []
        self.said = ""

    def first(self, plans: Sequence[Plan]) -> "Reached | None":
        """The first answer that can be read; None where there is none.

        Raises:
            ServerRefusedError: The server wants a login, or does not answer at all.
        """
        return asyncio.run(self._first(list(plans))) if plans else None

    def unanswered(self) -> ServerRefusedError:
        """The error that no request was answered."""
        if not self.tried:
            return ServerRefusedError("nothing was found that takes a question", _way_out(self._found, _HINT_NOTHING))
        said = f"no request was answered; the last one: {self.said}"
        return ServerRefusedError(said, _way_out(self._found, _form_wanted(self._target)))

    async def _first(self, waiting: list[Plan]) -> "Reached | None":
        by_shape: Reached | None = None
        most = len(self.tried) + _MOST_TRIES
        async with _transport(self._found.base, self._target) as transport:
            while waiting and len(self.tried) < most:
                plan = waiting.pop(0)
                if plan.ask in self.tried:
                    continue
                self.tried.append(plan.ask)
                self._tell(plan.told)
                try:
                    reached = await self._reached(transport, plan)
                except TransportFailure as failure:
                    if by_shape is not None:
                        break
                    waiting = [*self._after(failure, plan), *waiting]
                    continue
                if reached is not None and (reached.probed or plan.profile is None):
                    return reached
                by_shape = by_shape or reached
        return by_shape

    async def _reached(self, transport: Transport, plan: Plan) -> "Reached | None":
        """What the answer to a request shows; None where it holds nothing that can be read.

        Raises:
            TransportFailure: It was not answered.
        """
        reply = await _send(transport, plan, self._target.question)
        spec = self._found.profiles.get(plan.profile or "")
        retrieved = await _retrieve(transport, spec, self._target.question, self._tell)
        reader = _Reader(plan, reply, self._target, retrieved)
        probed = reader.by_profile(self._found.base)
        if probed is None and plan.profile is not None:
            self._tell(f"  the profile {plan.profile} does not read this answer")
        unread = None if probed else reader.why_unread()
        if unread is None:
            return Reached(probed, reader, self._found)
        self.said = unread
        self._tell(f"  {unread}")
        return None

    def _after(self, failure: TransportFailure, plan: Plan) -> list[Plan]:
        """The requests that a refusal suggests.

        Raises:
            ServerRefusedError: There is no use in another request.
        """
        self.said = failure.error.message
        self._tell(f"  refused: {self.said}")
        if failure.error.status in REFUSED:
            hint = f'give the login that it wants: --header "{_login_header(plan)}"'
            raise ServerRefusedError(f"the server refuses us: {self.said}", _way_out(self._found, hint)) from failure
        if failure.error.kind != "status":
            raise self.unanswered() from failure
        return [with_field(plan, path) for path in missing_fields(failure.body)[:2]]


async def _send(transport: Transport, plan: Plan, question: str) -> Reply:
    """Send the question.

    Raises:
        TransportFailure: It was not answered; also by a 200 that says so.
    """
    values = {"question": question, "messages": [{"role": "user", "content": question}], "uuid": "probe"}
    reply = await transport.send(**rendered(AskSpec.model_validate(plan.ask), values))
    try:
        no = says_no(parse_json(reply.body))
    except ValueError:
        no = None
    if no is not None:
        refused = ResponseError(kind="status", status=reply.status, message=f"HTTP {reply.status}, but {no}")
        raise TransportFailure(refused, retryable=False, body=reply.body)
    return reply


async def _retrieve(transport: Transport, spec: ServerSpec | None, question: str, tell: Tell) -> Reply | None:
    """Send the second request of a profile that has one; None where it has none, or it is refused."""
    if spec is None or spec.retrieve is None or spec.retrieve.give:
        return None
    tell(f"{spec.retrieve.method} {spec.retrieve.path}, the second request of the profile {spec.profile}")
    try:
        return await transport.send(**rendered(spec.retrieve, {"question": question, "uuid": "probe"}))
    except TransportFailure as failure:
        tell(f"  refused: {failure.error.message}")
        return None


@dataclass(frozen=True, slots=True)
class Reached:
    """A server that answered.

    Attributes:
        probed: What its profile makes of the answer; None where there is none.
        reader: Reads it otherwise.
        found: The server.
    """

    probed: Probed | None
    reader: "_Reader"
    found: Found

    def read(self, choose: Settle) -> Probed:
        """The section that evaluates the server.

        Args:
            choose: Is asked what is meant, where more than one thing may be; it may wait for somebody.
        """
        return self.probed or self.reader.by_shape(self.found, choose)


class _Reader:
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

    def by_shape(self, found: Found, choose: Settle) -> Probed:
        """What its shape makes of it."""
        guess = self._guess({})
        chosen = _settled(guess, choose)
        guess = self._guess(chosen) if chosen else guess
        server = {"profile": NO_PROFILE, **self._where(found.base), **self._read_as(guess, found.seen)}
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
        ask = self.plan.ask | ({"ok_when": guess.ok_when} if guess.ok_when else {})
        health = {"path": seen.health} if seen.health else None
        keys = {"health": health, "ask": ask, "stream": guess.stream, "map": guess.map, "citations": guess.citations}
        return {key: value for key, value in keys.items() if value or (key == "stream" and value is not None)}

    def _probed(self, server: dict[str, Any], response: EvalResponse, doubts: list[Doubt]) -> Probed:
        raw, second = self._raw, self._retrieved
        unread = unread_fields(raw, lambda body: _response(server, body, second))
        unread += unread_fields(second, lambda body: _response(server, raw, body)) if second else []
        metrics = _metrics(server, response, self._question)
        return Probed(server, raw[:MAX_RAW_CHARS], response, doubts, metrics, unread)


def _settled(guess: Guess, choose: Settle) -> dict[str, Any]:
    """What somebody says is meant, by key."""
    chosen: dict[str, Any] = {}
    for doubt in guess.doubts:
        if doubt.others:
            said = choose(doubt)
            if said is not None:
                chosen[doubt.key] = int(said) if doubt.key == "citations.base" else said
    return chosen


def _response(server: Mapping[str, Any], raw: str, retrieved: str | None = None) -> EvalResponse:
    """What the section makes of the body."""
    try:
        spec = resolve_spec({**server, "headers": {}})
        bodies = [(spec.ask, raw), *([(spec.retrieve, retrieved)] if spec.retrieve and retrieved else [])]
        refused = [part.ok_when for part, text in bodies if not _is_well(part, text)]
        fields = RAGClient(spec, concurrency=1).reread(raw, retrieved)
    except (MappingError, ValueError, ConfigError) as error:
        return EvalResponse(error=ResponseError(kind="malformed", message=str(error)))
    if refused:
        return EvalResponse(error=ResponseError(kind="not_ok", message=f"`{refused[0]}` does not hold"))
    return EvalResponse(**fields)


def _is_well(part: RequestSpec, text: str) -> bool:
    return part.ok_when is None or bool(find(part.ok_when, stored_body(part, text)))


def _metrics(server: Mapping[str, Any], response: EvalResponse, question: str) -> Computable:
    """Which metrics of the suite core such answers let be computed, of a question with a gold passage and an answer."""
    text = next((chunk.text for chunk in response.chunks or () if chunk.text), "A passage that nobody retrieved.")
    asked = EvalQuestion(id="probe", dataset="probe", question=question, gold_passages=[GoldPassage(text=text)])
    config = EvalConfig.build({"server": dict(server), "judge": False})
    metrics = [metric for metric in select(["core"], []) if Need.JUDGE not in metric.needs]
    applicable = [metric for metric in metrics if not metric.not_applicable_to(asked)]
    return computable(applicable, asked, response, config.score_settings(judged=False))
