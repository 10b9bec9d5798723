"""A server looked at and asked one question: `survey` and `ask`."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from evals.client.conversation import rendered
from evals.client.http import REFUSED, ExchangeError, HttpClient, Reply, check_url
from evals.client.profile import about_profile, load_profile
from evals.client.spec import AskSpec, ServerSpec
from evals.errors import ConfigError, ServerRefusedError
from evals.run.probing.passages import says_no
from evals.run.probing.plans import (
    QUESTION,
    USUAL,
    Assent,
    Candidates,
    Plan,
    Sighted,
    Tell,
    at_path,
    built_in,
    fitting,
    is_askable,
    look,
    missing_fields,
    plan_of,
    plans_of,
    sort_out,
    usual,
)
from evals.run.probing.reading import AnswerReader, Target
from evals.secrets import Masker
from evals.text.decoding import parse_json
from evals.text.yaml_files import VARIABLE

_MOST_TRIES = 6

_TIMEOUT_S = 120.0

_HINT_FORM = 'correct the path, or give the form: --body \'{"q": "{{question}}"}\'; --header adds what else it wants'

_HINT_NOTHING = "give the URL with the path that takes the question, such as {}/ask, and --body for an unusual form"

_HINT_LOGIN = 'give the login that it wants: --header "{}"'

_HINT_PROFILE = "evals init --rag-url {} --profile {}"

_HINT_ASSENT = "give the path with the URL, or --yes where each of these may be called"

_HINT_NEVER = "where one of them only answers questions, write server.ask and server.map yourself: docs/profiles.md"

_NEVER = "never called, as its name says that it changes something"


@dataclass(frozen=True, slots=True)
class Surveyed:
    """A server that was looked at, by GET alone.

    Attributes:
        base: Address of the server.
        health: A path that answers; None where none was found.
        profiles: The built-in profiles that can be tried, by name.
        candidates: The requests that may ask the question.
        resembles: The command that uses the profile that the server looks like; None where it looks like none.
    """

    base: str
    health: str | None
    profiles: Mapping[str, ServerSpec]
    candidates: Candidates
    resembles: str | None = None

    def only(self, plan: Plan) -> "Surveyed":
        """The same with one request, for the next question."""
        return replace(self, candidates=Candidates(free=[plan]))

    def way_out(self, hint: str) -> str:
        """What to do instead: by the profile that the server looks like, where it looks like one."""
        return f"use its profile: {self.resembles}; or {hint}" if self.resembles else hint


def survey(target: Target, tell: Tell) -> Surveyed:
    """Look at a server by GET alone, and list the requests that may ask the question.

    Args:
        target: What is to be probed.
        tell: Called with what is looked at.

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
    fits = fitting(seen, profiles, path)
    plans = _plans(seen, filter(is_askable, fits), target, path)
    candidates = sort_out(plans, seen.openapi, {spec.ask.path for spec in known}, path)
    if candidates.never:
        tell(f"{_NEVER}: {candidates.named_never}")
    resembles = _resembles(fits, target.url, tell)
    return Surveyed(base, seen.health, {spec.profile: spec for spec in profiles}, candidates, resembles)


def _transport(base: str, target: Target) -> HttpClient:
    redact = Masker(target.headers.secrets).text
    return HttpClient(base, headers=target.headers.sent, timeout_s=_TIMEOUT_S, redact=redact)


def _split(url: str) -> tuple[str, str | None]:
    """The server's address and the path to ask, if there is one.

    Raises:
        ConfigError: It is no URL of a server, or holds a password.
    """
    parts = urlsplit(check_url(url))
    if "@" in parts.netloc:
        raise ConfigError("the URL holds a login", 'give it as --header "Authorization: Basic …"')
    return urlunsplit(parts._replace(path="")), parts.path or None


def _resembles(fits: Sequence[ServerSpec], url: str, tell: Tell) -> str | None:
    """The command that uses the likeliest of the profiles that fit, and the variables that it reads."""
    like = next((spec.profile for spec in fits if spec.ask.path not in USUAL), None)
    if like is None:
        return None
    tell(f"it looks like {like}: {about_profile(like)}")
    needed = ", ".join(dict.fromkeys(name for name, _ in VARIABLE.findall(str(load_profile(like)))))
    return _HINT_PROFILE.format(url, like) + (f" (it reads {needed})" if needed else "")


def _plans(seen: Sighted, fits: Iterable[ServerSpec], target: Target, path: str | None) -> list[Plan]:
    """The requests that may ask the question, the likeliest first."""
    documented = plans_of(seen.openapi)
    if path is not None:  # or what is below it, of a server behind a prefix
        below = [plan for plan in documented if plan.path.startswith(f"{path.rstrip('/')}/")]
        documented = [plan for plan in documented if plan.path == path] or below
    if target.body is not None:
        at = path or next((plan.path for plan in documented), "/")
        return [Plan("POST", at, target.body, source="the form that was given")]
    guessed = usual(seen)
    if path is not None:
        guessed = at_path(path)
    return [*map(plan_of, fits), *documented, *guessed]


def ask(found: Surveyed, target: Target, tell: Tell, assent: Assent) -> AnswerReader:
    """Ask one question; what comes of it is read when nothing is in flight any more.

    A request that is refused (4xx), or answered by nothing that can be read, is followed by the next likely one, at
    most six. Those that may be sent without assent come first.

    Args:
        found: The server.
        target: What is to be probed.
        tell: Called with each request before it is sent.
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
            raise ConfigError(f"{said}not called without assent: {listed}", found.way_out(_HINT_ASSENT))
        reached = search.first(allowed)
    if reached is not None:
        return reached
    if candidates.never and not search.tried:
        raise ConfigError(f"{_NEVER}: {candidates.named_never}", found.way_out(_HINT_NEVER))
    raise search.unanswered()


class _Search:
    """Sends one request after the other, until an answer can be read.

    Attributes:
        tried: What was sent.
        said: What the last one was answered.
    """

    def __init__(self, found: Surveyed, target: Target, tell: Tell) -> None:
        self._found, self._target, self._tell = found, target, tell
        self.tried: list[dict[str, Any]] = []
        self.said = ""

    def first(self, plans: Sequence[Plan]) -> AnswerReader | None:
        """The first answer that can be read; None where there is none.

        Raises:
            ServerRefusedError: The server wants a login, or does not answer at all.
        """
        return asyncio.run(self._first(list(plans))) if plans else None

    def unanswered(self) -> ServerRefusedError:
        """The error that no request was answered."""
        if not self.tried:
            hint = _HINT_NOTHING.format(self._found.base)
            return ServerRefusedError("nothing was found that takes a question", self._found.way_out(hint))
        said = f"no request was answered; the last one: {self.said}"
        return ServerRefusedError(said, self._found.way_out(_HINT_FORM))

    async def _first(self, waiting: list[Plan]) -> AnswerReader | None:
        most = len(self.tried) + _MOST_TRIES
        by_shape: AnswerReader | None = None
        async with _transport(self._found.base, self._target) as transport:
            while waiting and len(self.tried) < most:
                plan = waiting.pop(0)
                if plan.ask in self.tried:
                    continue
                self.tried.append(plan.ask)
                self._tell(plan.told)
                try:
                    reader = await self._sent(transport, plan)
                except ExchangeError as failure:
                    if by_shape is not None:
                        break
                    waiting = self._after(failure, plan, waiting)
                    continue
                unread = reader.why_unread()
                if unread is not None:
                    self.said = unread
                    self._tell(f"  {unread}")
                elif reader.by_profile or plan.profile is None:
                    return reader
                else:
                    self._tell(f"  the profile {plan.profile} does not read this answer")
                    by_shape = by_shape or reader
        return by_shape

    async def _sent(self, transport: HttpClient, plan: Plan) -> AnswerReader:
        """Send a request, with the second one of its profile.

        Raises:
            ExchangeError: It was not answered; also by a 200 that says so.
        """
        question, found = self._target.question, self._found
        values = {"question": question, "messages": [{"role": "user", "content": question}], "uuid": "probe"}
        reply = await transport.send(**rendered(AskSpec.model_validate(plan.ask), values))
        try:
            no = says_no(parse_json(reply.body))
        except ValueError:
            no = None
        if no is not None:
            said = f"HTTP {reply.status}, but {no}"
            raise ExchangeError("status", said, status=reply.status, body=reply.body)
        retrieved: Reply | None = None
        spec = found.profiles.get(plan.profile or "")
        if spec is not None and spec.retrieve is not None and not spec.retrieve.give:
            self._tell(f"{spec.retrieve.method} {spec.retrieve.path}, the second request of the profile {spec.profile}")
            try:
                retrieved = await transport.send(**rendered(spec.retrieve, values))
            except ExchangeError as failure:
                self._tell(f"  refused: {failure.error.message}")
        health = {"path": found.health} if found.health and not plan.profile else None
        server = {"url": found.base, "headers": dict(self._target.headers.written), "health": health}
        return AnswerReader(plan, reply, self._target, server, retrieved)

    def _after(self, failure: ExchangeError, plan: Plan, waiting: Sequence[Plan]) -> list[Plan]:
        """The requests that a refusal suggests, then those that wait; none to a path that is not there.

        Raises:
            ServerRefusedError: There is no use in another request.
        """
        self.said = failure.error.message
        self._tell(f"  refused: {self.said}")
        if failure.error.status in REFUSED:
            headers = load_profile(plan.profile).get("headers") if plan.profile is not None else None
            name = next(iter(headers or ["Authorization"]))
            hint = _HINT_LOGIN.format(f"{name}: {'Bearer …' if name == 'Authorization' else '…'}")
            said = f"the server refuses us: {self.said}"
            raise ServerRefusedError(said, self._found.way_out(hint)) from failure
        if failure.error.kind != "status":
            raise self.unanswered() from failure
        gone = plan.path if failure.error.status in {404, 405} else None
        named = [plan.at_field(path) for path in missing_fields(failure.body)[:2]]
        return [*named, *(each for each in waiting if each.path != gone)]
