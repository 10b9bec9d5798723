"""A server looked at, asked one question, and read: `probe`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from evals.client import RAGClient
from evals.client.address import check_url
from evals.client.exchange import rendered
from evals.client.mapping import MappingError
from evals.client.profile import NO_PROFILE, resolve_spec
from evals.client.redaction import MAX_RAW_CHARS
from evals.client.spec import AskSpec, ServerSpec
from evals.client.transport import Reply, Transport, TransportFailure
from evals.config import EvalConfig
from evals.credentials.masker import Masker
from evals.credentials.stored import public_url
from evals.errors import ConfigError, ServerRefusedError
from evals.inputs.json_body import parse_json
from evals.metrics.base import Need
from evals.metrics.registry import select
from evals.run.doctor.computable import Computable, computable
from evals.run.probing.guess import Doubt, Guess, guess_body
from evals.run.probing.looking import Seen, Tell, built_in, fitting, look, usual
from evals.run.probing.openapi import plans_of
from evals.run.probing.pieces import guess_stream, stream_format
from evals.run.probing.requests import QUESTION, Plan, missing_fields, with_field
from evals.run.probing.secrets import Headers
from evals.run.probing.sides import says_no
from evals.schemas import EvalQuestion, EvalResponse, GoldPassage

DEFAULT_QUESTION = "What is this about?"
_MOST_TRIES = 4
_TIMEOUT_S = 120.0
Choose = Callable[[Doubt], str | None]
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
class Wanted:
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


async def probe(wanted: Wanted, tell: Tell, choose: Choose) -> Probed:
    """Look at a server, ask one question, and write the section that evaluates it.

    A request that is refused before it is answered (4xx) is followed by the next likely one, at most four.

    Args:
        wanted: What is to be probed.
        tell: Is told what is done, each request before it is sent.
        choose: Is asked what is meant, where more than one thing may be.

    Raises:
        ServerUnreachableError: Nothing answers.
        ServerRefusedError: No request was answered, or the answer holds no text and no passages.
        ConfigError: The URL is none, or the body holds no {{question}}.
    """
    if wanted.body is not None and QUESTION not in str(wanted.body):
        raise ConfigError("--body does not say where the question goes", 'write "{{question}}" in its place')
    base, path = _split(wanted.url)
    masker = Masker(wanted.headers.secrets)
    async with Transport(base, headers=wanted.headers.sent, timeout_s=_TIMEOUT_S, redact=masker.text) as transport:
        profiles = built_in() if wanted.profiles and wanted.body is None else []
        seen = await look(transport, tell, profiles, only=path is not None)
        plans = _plans(seen, profiles, wanted, path)
        plan, reply = await _ask(transport, plans, wanted, tell)
    return _read(base, plan, reply, seen, wanted, masker, choose)


def _split(url: str) -> tuple[str, str | None]:
    """The server's address and the path to ask, if there is one.

    Raises:
        ConfigError: It is no URL of a server, or holds a password.
    """
    parts = urlsplit(check_url(url))
    if "@" in parts.netloc:
        raise ConfigError("the URL holds a login", 'give it as --header "Authorization: Basic …"')
    return urlunsplit(parts._replace(path="")), parts.path or None


def _plans(seen: Seen, profiles: Sequence[ServerSpec], wanted: Wanted, path: str | None) -> list[Plan]:
    if wanted.body is not None:
        documented = [plan.path for plan in plans_of(seen.openapi or {})]
        return [Plan("POST", path or next(iter(documented), "/"), wanted.body, source="--body")]
    fit = [plan for plan in fitting(seen, profiles) if path in {None, plan.path}]
    documented_plans = plans_of(seen.openapi, path) if seen.openapi is not None else []
    if path is None:
        return [*fit, *documented_plans, *usual(seen)]
    by_path = [
        Plan(spec.ask.method, path, spec.ask.body, spec.ask.query, f"the built-in profile {spec.profile}", spec.profile)
        for spec in profiles
        if path == spec.ask.path
    ]
    named = Plan("POST", path, {"question": QUESTION}, source="the path of the URL", doubts=("the field is a guess",))
    return [*fit, *by_path, *documented_plans, named]


async def _ask(transport: Transport, plans: list[Plan], wanted: Wanted, tell: Tell) -> tuple[Plan, Reply]:
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
        tell(f"{plan.method} {plan.path} with {plan.body if plan.body is not None else dict(plan.query)}")
        tell(f"  of {plan.source}" + (f"; guess: {', '.join(plan.doubts)}" if plan.doubts else ""))
        try:
            return plan, await _send(transport, plan, wanted.question)
        except TransportFailure as failure:
            said = failure.error.message
            tell(f"  refused: {said}")
            if failure.error.kind != "status" or failure.error.status in {401, 403}:
                break
            waiting = [with_field(plan, path) for path in missing_fields(failure.body)[:2]] + waiting
    raise ServerRefusedError(
        f"no request was answered; the last one: {said}",
        "give --header for a login, the path with the URL, and --body for the form of the request",
    )


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
        error = ServerRefusedError(f"HTTP 200, but {no}")
        failed = TransportFailure(_refused(error.message), retryable=False, body=reply.body)
        raise failed
    return reply


def _refused(message: str) -> Any:
    from evals.schemas import ResponseError  # noqa: PLC0415

    return ResponseError(kind="status", status=200, message=message)


def _read(base: str, plan: Plan, reply: Reply, seen: Seen, wanted: Wanted, masker: Masker, choose: Choose) -> Probed:
    raw = masker.text(reply.body.decode("utf-8", "replace"))
    common = {"url": public_url(base)} | ({"headers": dict(wanted.headers.written)} if wanted.headers.written else {})
    if plan.profile is not None:
        server = {"profile": plan.profile, **common}
        response = _response(server, raw)
        if response.error is None:
            return Probed(server, raw[:MAX_RAW_CHARS], response, [], _metrics(server, response, wanted.question))
    guess = _guess(reply, raw, wanted.question, {})
    chosen = _settled(guess, choose)
    if chosen:
        guess = _guess(reply, raw, wanted.question, chosen)
    if not guess.map.get("answer") and not guess.map.get("chunks") and not (guess.stream or {}).get("delta"):
        raise ServerRefusedError(
            f"the answer holds no text and no passages: {raw[:200]}", "ask another question with --question"
        )
    ask = {**plan.ask} | ({"ok_when": guess.ok_when} if guess.ok_when else {})
    server = {"profile": NO_PROFILE, **common}
    if seen.health:
        server["health"] = {"path": seen.health}
    server |= {"ask": ask} | ({"stream": guess.stream} if guess.stream else {}) | {"map": guess.map}
    if guess.citations:
        server["citations"] = guess.citations
    response = _response(server, raw)
    doubts = [*(Doubt("ask", "", (), doubt) for doubt in plan.doubts), *guess.doubts]
    doubts = [doubt for doubt in doubts if doubt.key not in chosen]
    return Probed(server, raw[:MAX_RAW_CHARS], response, doubts, _metrics(server, response, wanted.question))


def _guess(reply: Reply, raw: str, question: str, chosen: Mapping[str, Any]) -> Guess:
    form = stream_format(reply.headers.get("content-type", ""), raw)
    if form is not None:
        return guess_stream(raw, form, question, chosen)
    try:
        body = parse_json(raw.encode())
    except ValueError as error:
        raise ServerRefusedError(f"the answer is neither JSON nor a stream: {raw[:200]}") from error
    return guess_body(body, question, chosen)


def _settled(guess: Guess, choose: Choose) -> dict[str, Any]:
    """What somebody says is meant, by key."""
    chosen: dict[str, Any] = {}
    for doubt in guess.doubts:
        if doubt.others:
            said = choose(doubt)
            if said is not None:
                chosen[doubt.key] = int(said) if doubt.key == "citations.base" else said
    return chosen


def _response(server: Mapping[str, Any], raw: str) -> EvalResponse:
    """What the section makes of the body."""
    from evals.schemas import ResponseError  # noqa: PLC0415

    try:
        spec = resolve_spec({**server, "headers": {}})
        fields = RAGClient(spec, concurrency=1).reread(raw)
    except (MappingError, ValueError, ConfigError) as error:
        return EvalResponse(error=ResponseError(kind="malformed", message=str(error)))
    return EvalResponse(**fields)


def _metrics(server: Mapping[str, Any], response: EvalResponse, question: str) -> Computable:
    """Which metrics of the suite core such answers let be computed, of a question with a gold passage and an answer."""
    text = next((chunk.text for chunk in response.chunks or () if chunk.text), "A passage that nobody retrieved.")
    asked = EvalQuestion(id="probe", dataset="probe", question=question, gold_passages=[GoldPassage(text=text)])
    config = EvalConfig.build({"server": dict(server), "judge": False})
    metrics = [metric for metric in select(["core"], []) if Need.JUDGE not in metric.needs]
    wanted = [metric for metric in metrics if not metric.not_applicable_to(asked)]
    return computable(wanted, asked, response, config.score_settings(judged=False))
