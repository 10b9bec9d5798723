"""A server looked at, asked one question, and read: `probe`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from evals.client import RAGClient
from evals.client.address import check_url
from evals.client.exchange import rendered
from evals.client.login.hints import REFUSED
from evals.client.mapping import MappingError
from evals.client.profile import NO_PROFILE, load_profile, resolve_spec
from evals.client.redaction import MAX_RAW_CHARS
from evals.client.spec import AskSpec, ServerSpec
from evals.client.transport import Reply, Transport, TransportFailure
from evals.config import EvalConfig
from evals.credentials.masker import Masker
from evals.errors import ConfigError, ServerRefusedError
from evals.inputs.json_body import parse_json
from evals.metrics.base import Need
from evals.metrics.registry import select
from evals.run.doctor.computable import Computable, computable
from evals.run.probing.guess import Doubt, Guess, guess_body
from evals.run.probing.looking import Sighted, Tell, built_in, fitting, look, plan_of, usual
from evals.run.probing.openapi import plans_of
from evals.run.probing.pieces import guess_stream, stream_format
from evals.run.probing.requests import QUESTION, Plan, missing_fields, with_field
from evals.run.probing.secrets import Headers
from evals.run.probing.sides import says_no
from evals.schemas import EvalQuestion, EvalResponse, GoldPassage, ResponseError

DEFAULT_QUESTION = "What is this about?"
_MOST_TRIES = 4
_TIMEOUT_S = 120.0
_HINT_FORM = "give --body for the form of the request"
_HINT_PATH = "give the path with the URL, and --body for the form of the request"
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
    """

    server: dict[str, Any]
    raw: str
    response: EvalResponse
    doubts: list[Doubt] = field(default_factory=list)
    metrics: Computable = field(default_factory=Computable)


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


async def probe(target: Target, tell: Tell) -> "Reached":
    """Look at a server and ask one question; what comes of it is read when nothing is in flight any more.

    A request that is refused before it is answered (4xx) is followed by the next likely one, at most four.

    Args:
        target: What is to be probed.
        tell: Is told what is done, each request before it is sent.

    Raises:
        ServerUnreachableError: Nothing answers.
        ServerRefusedError: No request was answered.
        ConfigError: The URL is none, or the body holds no {{question}}.
    """
    if target.body is not None and QUESTION not in str(target.body):
        raise ConfigError(
            "the form of the request does not say where the question goes",
            'write "{{question}}" in its place of --body',
        )
    base, path = _split(target.url)
    masker = Masker(target.headers.secrets)
    async with Transport(base, headers=target.headers.sent, timeout_s=_TIMEOUT_S, redact=masker.text) as transport:
        profiles = built_in() if target.profiles and target.body is None else []
        seen = await look(transport, tell, profiles, only=path is not None)
        plans = _plans(seen, profiles, target, path)
        asking = _Asking(transport, target, tell, {spec.profile: spec for spec in profiles})
        reader = await asking.first(plans)
        probed = reader.by_profile(base)
        for _ in range(_MOST_TRIES):
            if probed is not None or reader.plan.profile is None:
                break
            further = await asking.after(reader.plan, plans)
            if further is None:
                break
            reader, probed = further, further.by_profile(base)
    return Reached(probed, reader, base, seen)


def _split(url: str) -> tuple[str, str | None]:
    """The server's address and the path to ask, if there is one.

    Raises:
        ConfigError: It is no URL of a server, or holds a password.
    """
    parts = urlsplit(check_url(url))
    if "@" in parts.netloc:
        raise ConfigError("the URL holds a login", 'give it as --header "Authorization: Basic …"')
    return urlunsplit(parts._replace(path="")), parts.path or None


def _plans(seen: Sighted, profiles: Sequence[ServerSpec], target: Target, path: str | None) -> list[Plan]:
    """The requests that may ask the question, the likeliest first."""
    documented = plans_of(seen.openapi or {}, path) or _below(path, plans_of(seen.openapi or {}))
    if target.body is not None:
        return [
            Plan(
                "POST",
                path or next((plan.path for plan in documented), "/"),
                target.body,
                source="the form that was given",
            )
        ]
    if path is None:
        return [*fitting(seen, profiles), *documented, *usual(seen)]
    named = Plan("POST", path, {"question": QUESTION}, source="the path of the URL", doubts=("the field is a guess",))
    return [*(plan_of(spec) for spec in profiles if spec.ask.path == path), *documented, named]


def _below(path: str | None, plans: Sequence[Plan]) -> list[Plan]:
    """Those of paths below this one: of a server behind a prefix, or one of several in a process."""
    return [plan for plan in plans if path is not None and plan.path.startswith(f"{path.rstrip('/')}/")]


async def _ask(transport: Transport, plans: list[Plan], target: Target, tell: Tell) -> tuple[Plan, Reply]:
    """Send the requests in their order until one is answered.

    Raises:
        ServerRefusedError: None is.
    """
    if not plans:
        raise ServerRefusedError(
            "nothing was found that takes a question",
            'give the path with the URL, and --body \'{"question": "{{question}}"}\' in the form that it wants',
        )
    waiting, said = list(plans), ""
    tried: list[dict[str, Any]] = []
    while waiting and len(tried) < _MOST_TRIES:
        plan = waiting.pop(0)
        if plan.ask in tried:
            continue
        tried.append(plan.ask)
        tell(plan.told)
        try:
            return plan, await _send(transport, plan, target.question)
        except TransportFailure as failure:
            said = failure.error.message
            tell(f"  refused: {said}")
            if failure.error.status in REFUSED:
                raise ServerRefusedError(
                    f"the server refuses us: {said}",
                    f'give the login that it wants: --header "{_login_header(plan)}"',
                ) from failure
            if failure.error.kind != "status":
                break
            waiting = [with_field(plan, path) for path in missing_fields(failure.body)[:2]] + waiting
    raise ServerRefusedError(
        f"no request was answered; the last one: {said}",
        _form_wanted(target),
    )


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


@dataclass(frozen=True, slots=True)
class _Asking:
    """Asks the question by one request or another."""

    transport: Transport
    target: Target
    tell: Tell
    profiles: Mapping[str, ServerSpec]

    async def first(self, plans: list[Plan]) -> "_Reader":
        """The answer to the first of these requests that has one.

        Raises:
            ServerRefusedError: None has.
        """
        plan, reply = await _ask(self.transport, plans, self.target, self.tell)
        spec = self.profiles.get(plan.profile or "")
        retrieved = await _retrieve(self.transport, spec, self.target.question, self.tell)
        return _Reader(plan, reply, self.target, retrieved)

    async def after(self, plan: Plan, plans: list[Plan]) -> "_Reader | None":
        """The answer to what comes after a request whose profile cannot read what came; None where there is none."""
        self.tell(f"  the profile {plan.profile} does not read this answer")
        rest = [each for each in plans[plans.index(plan) + 1 :] if each.ask != plan.ask]
        try:
            return await self.first(rest) if rest else None
        except ServerRefusedError:
            return None


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
        base: Address of the server.
        seen: What was seen of it before.
    """

    probed: Probed | None
    reader: "_Reader"
    base: str
    seen: Sighted

    def read(self, choose: Settle) -> Probed:
        """The section that evaluates the server.

        Args:
            choose: Is asked what is meant, where more than one thing may be; it may wait for somebody.

        Raises:
            ServerRefusedError: The answer holds no text and no passages.
        """
        return self.probed or self.reader.by_shape(self.base, self.seen, choose)


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
        """What the profile of the request makes of it; None where there is none, or it cannot read it."""
        if self.plan.profile is None:
            return None
        server = {"profile": self.plan.profile, **self._where(base)}
        response = _response(server, self._raw, self._retrieved)
        return self._probed(server, response, []) if response.error is None else None

    def by_shape(self, base: str, seen: Sighted, choose: Settle) -> Probed:
        """What its shape makes of it.

        Raises:
            ServerRefusedError: It holds no text and no passages.
        """
        guess = _guess(self._reply, self._raw, self._question, {})
        chosen = _settled(guess, choose)
        guess = _guess(self._reply, self._raw, self._question, chosen) if chosen else guess
        if not (guess.answer or guess.rows):
            said = f"the answer holds no text and no passages: {self._raw[:200]}"
            raise ServerRefusedError(said, "ask another question: --question")
        server = {"profile": NO_PROFILE, **self._where(base), **self._read_as(guess, seen)}
        doubts = [*(Doubt("ask", "", (), doubt) for doubt in self.plan.doubts), *guess.doubts]
        left = [doubt for doubt in doubts if doubt.key not in chosen]
        return self._probed(server, _response(server, self._raw), left)

    def _where(self, base: str) -> dict[str, Any]:
        return {"url": base} | ({"headers": dict(self._headers)} if self._headers else {})

    def _read_as(self, guess: Guess, seen: Sighted) -> dict[str, Any]:
        """The keys that say how the server is asked and read; those that say nothing are left out."""
        ask = self.plan.ask | ({"ok_when": guess.ok_when} if guess.ok_when else {})
        health = {"path": seen.health} if seen.health else None
        keys = {"health": health, "ask": ask, "stream": guess.stream, "map": guess.map, "citations": guess.citations}
        return {key: value for key, value in keys.items() if value or (key == "stream" and value is not None)}

    def _probed(self, server: dict[str, Any], response: EvalResponse, doubts: list[Doubt]) -> Probed:
        return Probed(server, self._raw[:MAX_RAW_CHARS], response, doubts, _metrics(server, response, self._question))


def _guess(reply: Reply, raw: str, question: str, chosen: Mapping[str, Any]) -> Guess:
    form = stream_format(reply.headers.get("content-type", ""), raw)
    if form is not None:
        return guess_stream(raw, form, question, chosen)
    try:
        body = parse_json(raw.encode())
    except ValueError as error:
        raise ServerRefusedError(f"the answer is neither JSON nor a stream: {raw[:200]}") from error
    return guess_body(body, question, chosen)


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
        fields = RAGClient(spec, concurrency=1).reread(raw, retrieved)
    except (MappingError, ValueError, ConfigError) as error:
        return EvalResponse(error=ResponseError(kind="malformed", message=str(error)))
    return EvalResponse(**fields)


def _metrics(server: Mapping[str, Any], response: EvalResponse, question: str) -> Computable:
    """Which metrics of the suite core such answers let be computed, of a question with a gold passage and an answer."""
    text = next((chunk.text for chunk in response.chunks or () if chunk.text), "A passage that nobody retrieved.")
    asked = EvalQuestion(id="probe", dataset="probe", question=question, gold_passages=[GoldPassage(text=text)])
    config = EvalConfig.build({"server": dict(server), "judge": False})
    metrics = [metric for metric in select(["core"], []) if Need.JUDGE not in metric.needs]
    applicable = [metric for metric in metrics if not metric.not_applicable_to(asked)]
    return computable(applicable, asked, response, config.score_settings(judged=False))
