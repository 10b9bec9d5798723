"""How a server is asked and read, found out for `evals init`: by a profile, by OpenAPI, else by one real answer.

At most six requests are sent, to harmless paths alone.
"""

import asyncio
import json
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from http import HTTPStatus
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qsl, urljoin, urlsplit, urlunsplit

from evals.client.conversation import rendered
from evals.client.http import BUSY, REFUSED, ExchangeError, HttpClient
from evals.client.mapping import UnusableError, find_or_none
from evals.client.profile import DEFAULT_PROFILE, list_profiles, load_profile, resolve_spec
from evals.client.rag_client import RAGClient
from evals.client.spec import RequestSpec, StreamSpec
from evals.client.streams import Collector
from evals.errors import ConfigError, ServerRefusedError, ServerUnreachableError
from evals.run.guess import child, failure_in, guess_text, is_of_passages, names, read_events, snake, unread_fields
from evals.schemas.response import EvalResponse, ResponseError
from evals.secrets import is_credential, masked, remember
from evals.text.numbers import counted
from evals.text.yaml_files import VARIABLE, expand_env

QUESTION = "{{question}}"
MOST_REQUESTS = 6
USUAL = ("/query", "/ask", "/chat", "/api/chat", "/api/query", "/api/ask", "/v1/query", "/rag", "/answer", "/search")
"""Paths that ask a question on most servers that have them."""

_CHANGES = names("delete purge drop reset clear remove rebuild train pull upload create update send insert ingest")
"""Words of a path or operationId that changes something: it is never called."""
_CHATTING = names("completion completions response responses chat message messages")
_QUESTION_FIELDS = (
    *("question", "query", "q", "user_query", "query_text", "search_query", "user_input", "input", "message", "prompt"),
    *("text", "content", "ask", "inquiry", "request", "utterance", "search", "term", "frage"),
)
_MESSAGE_LISTS = names("messages conversation turns history chat transcript dialog")
_NO_QUESTIONS = re.compile(
    r"(^|_)(id|ids|model|session|user|lang|language|locale|name|mode|type|format|role|token|key)$"
)
_RETRIEVING = re.compile(r"/(search|retriev\w*|contexts?|chunks|passages|data)$")
_PENDING = names(
    "queued enqueued pending waiting scheduled running processing working executing accepted in_progress created "
    "submitted started new"
)
_STATES = names("state status phase job_state job_status")
_NAMES_JOB = (re.compile(r"(^|_)(job|task|ticket)(_?id|_?uuid)?$"), re.compile(r"(^|_)(id|uuid|handle)$"))
_QUOTED_NAME = re.compile(r"[\"'`„“‚‘«»]([^\W\d][\w.-]{0,40})[\"'`“”‘’«»]")
_NAME_MISSING = re.compile(
    r"([^\W\d][\w.]*)\s+(?:(?:is|was|ist|war|wird)\s+(?:missing|required|absent|erforderlich|notwendig|benötigt)|fehlt)"
    r"\b(?!\s+(?:an?|the|its|any|some|one)\b)",
    re.IGNORECASE,
)
_IS_MISSING = re.compile(
    r"miss|requir|expect|need|lack|absent|must|fehl(?:t|en)|erforderlich|notwendig|benötigt|muss|müssen|pflicht",
    re.IGNORECASE,
)
_NO_FIELDS = names(
    "field parameter key property value it this that body json request error feld parameter wert es das pflichtfeld"
)
_OPEN_HEADERS = names("accept content-type accept-language user-agent")
_HEALTH = ("/health", "/healthz", "/api/health", "/ready", "/ping")
_START_TIMEOUT_S, _LOOK_EVERY_S = 3.0, 1.0
_OVERLOADED = frozenset({*BUSY, 502, 504})
"""Statuses that say nothing about the body; any other 5xx may be what a server makes of a wrong one."""
_OVERLOAD_RANK = 4
"""Above that of each other failure: the server says nothing about the requests."""
_REPEATS, _PAUSE_S, _LONGEST_PAUSE_S = 2, 1.0, 5.0
_USUAL_BODY = "a usual body"
_NO_GIVE = (
    "an empty list was sent as {path}: if a search brings the passages, add give: {{{name}: 'results[].text'}} to "
    'retrieve and write "{{{{{name}}}}}" in ask.json; docs/profiles.md, Two requests'
)
_NO_PASSAGES = (
    "no passages in the answer, so retrieval is not measured. Where a second request brings them, add below server:\n"
    "  retrieve:\n"
    "    path: /search    # url: https://… where it is another server\n"
    '    json: {query: "{{question}}"}\n'
    '    map: {chunks: "results[].{text: text, document_name: source}"}'
)


@dataclass(slots=True)
class Headers:
    """Headers as they are sent and as they are written (`${NAME}`), with the variables to be exported.

    `parameters` has the values of secret parameters of the URL, by what is written for them.
    """

    sent: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    variables: list[str] = field(default_factory=list)
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def without_scheme(self) -> str | None:
        """The name of an Authorization header whose value is a bare token; None: it names a scheme, or is not sent."""
        names = (name for name, value in self.sent.items() if name.lower() == "authorization" and " " not in value)
        return next(names, None)

    def add(self, header: str) -> None:
        """Read a header such as `X-API-Key: abc`; its value is masked in all messages.

        Raises:
            ConfigError: It has no colon, or names a variable that is not set; the message does not hold its value.
        """
        name, _, value = (part.strip() for part in header.partition(":"))
        if not name or not value:
            raise ConfigError("a header has no name or no value", 'write --header "Name: value"')
        self.sent[name] = self.written[name] = value
        secrets: set[str] = set()
        if VARIABLE.search(value):
            self.sent[name] = expand_env(value, secrets, os.environ)
            secrets.add(self.sent[name])
        elif name.lower() not in _OPEN_HEADERS:
            scheme, _, token = value.rpartition(" ")
            variable = "RAG_TOKEN" if name.lower() == "authorization" else re.sub(r"\W", "_", name).upper()
            self.written[name] = f"{scheme} ${{{variable}}}".strip()
            self.variables.append(variable)
            secrets |= {value, token}
        for secret in secrets:
            remember(secret)


class Retrieved(NamedTuple):
    """A request that brings passages, as keys of `retrieve`, with its body, and what it gives to the one that asks."""

    keys: dict[str, Any]
    raw: str
    given: dict[str, Any]


class Wanted(NamedTuple):
    """What a field for passages holds: one text, a list of texts, or a list of objects with these keys."""

    kind: Literal["text", "texts", "objects"]
    keys: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """A request that may ask the question; `made_up` names the values that it invents.

    `prefix` is what stands in the URL before the path. `passages` are the required fields for what a search has found,
    by path in the body, of which nothing real is sent; `retrieved` fills them.
    """

    method: str
    path: str
    body: Any = None
    query: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    made_up: tuple[str, ...] = ()
    profile: str | None = None
    prefix: str = ""
    passages: Mapping[str, "Wanted"] = field(default_factory=dict)
    retrieved: Retrieved | None = None

    @property
    def ask(self) -> dict[str, Any]:
        """As `server.ask` of a configuration."""
        keys: dict[str, Any] = {"path": self.path} if self.method == "POST" else {"method": "GET", "path": self.path}
        keys |= {"query": dict(self.query)} if self.query else {}
        return keys | ({"json": self.body} if self.body is not None else {})

    def __str__(self) -> str:
        sent = dict(self.query) if self.body is None else self.body
        made_up = f"; made up: {', '.join(self.made_up)}" if self.made_up else ""
        return f"{self.method} {self.path} with {json.dumps(sent, ensure_ascii=False)} ({self.source}{made_up})"


class Received(NamedTuple):
    """A response: its status (0: there is none), text, type and location, and why it is no answer (None: it may be).

    `pause_s` is how long the server asks to wait.
    """

    status: int
    text: str = ""
    content_type: str = ""
    location: str = ""
    failure: str | None = None
    pause_s: float | None = None

    @property
    def body(self) -> Any:
        """The JSON of the text; None where it is none."""
        with suppress(ValueError):
            return json.loads(self.text)
        return None


class Job(NamedTuple):
    """A job that a response tells of: its id, the paths that may show it, and its state; no key: the state is unknown.

    The paths hold `{{id}}`, the likeliest first.
    """

    id_key: str
    id: str
    paths: Sequence[str]
    state_key: str | None
    state: str | None


@dataclass(slots=True)
class Discovery:
    """What was found out.

    Attributes:
        server: The keys of `server:`.
        raw: The body that answered.
        response: What the keys read from it.
        unread: The fields that they do not read.
        alternatives: Expressions that may be meant instead, by key of `map`.
        notes: What was made up, and what is left to be written by hand.
    """

    server: dict[str, Any]
    raw: str
    response: EvalResponse
    unread: list[str] = field(default_factory=list)
    alternatives: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def discover(
    url: str,
    questions: Sequence[str],
    headers: Headers,
    tell: Callable[[str], None],
    *,
    body: Any = None,
    login: Callable[[str], str | None] = lambda _: None,
) -> Discovery:
    """Find out how a server is asked and read.

    Args:
        url: Of the server; a path in it is the one that takes the question.
        questions: Asked one after the other until an answer comes with passages.
        headers: Sent with each request; a login is added to them.
        tell: Is called with each step.
        body: The JSON of the request, with {{question}} in it; None: to be found out.
        login: Is asked once for a header where the server refuses (401, 403); gets the name of the header.

    Raises:
        ConfigError: The URL is none, a path changes something, or no path is known that takes a question.
        ServerError: Nothing answers, or no request was answered with anything that can be read.
    """
    if body is not None and QUESTION not in json.dumps(body) and "{{question_json}}" not in json.dumps(body):
        raise ConfigError("--body does not say where the question goes", 'write "{{question}}" in its place')
    with asyncio.Runner() as runner:
        search = _Search(url, headers, tell, login, runner)
        runner.run(search.http.__aenter__())
        try:
            return search.run(questions, body)
        finally:
            runner.run(search.http.__aexit__())


class _Search:
    """Sends one request after the other, until an answer can be read."""

    def __init__(
        self,
        url: str,
        headers: Headers,
        tell: Callable[[str], None],
        login: Callable[[str], str | None],
        runner: asyncio.Runner,
    ) -> None:
        self.url, self.headers, self.tell, self.login, self.runner = url, headers, tell, login, runner
        self.base = urlunsplit(urlsplit(url)._replace(path="", query="", fragment=""))
        self.http = HttpClient(self.base, redact=masked)
        self.left = MOST_REQUESTS
        self.document: Mapping[str, Any] = {}

    def run(self, questions: Sequence[str], body: Any) -> Discovery:
        """Ask, read, ask again where the answer shows too little."""
        discovery, plan = self._first_read(self._plans(body), questions[0])
        for question in questions[1:3]:
            if discovery.response.chunks or not self.left:
                break
            self.tell("  no passages: trying the next question")
            reply = self._asked(plan, question)
            if reply.failure is None:
                discovery = self._read(plan, reply, question) or discovery
        return discovery

    def _first_read(self, plans: list[Plan], question: str) -> tuple[Discovery, Plan]:
        """The first answer that can be read, with its request; a guess only where no built-in profile reads one.

        Raises:
            ServerRefusedError: None can be read; the message is that of the most telling failure.
        """
        guessed: tuple[Discovery, Plan] | None = None
        tried: list[dict[str, Any]] = []
        failures = [(-1, "nothing was asked")]
        while plans and self.left:
            plan = plans.pop(0)
            if plan.ask in tried:
                continue
            if plan.passages and self.left > 1 and (filled := self._with_passages(plan, question)) is not None:
                plans.insert(0, replace(plan, passages={}))  # as it was, where the passages are refused
                plan = filled
            reply = self._asked(plan, question)
            is_overloaded = reply.status in _OVERLOADED
            if reply.status < 500 and not is_overloaded:  # else it says nothing about this body
                tried.append(plan.ask)
            discovery = self._read(plan, reply, question) if reply.failure is None else None
            if discovery is not None:
                is_whole = discovery.response.answer or not any(each.passages for each in plans)
                if is_whole and (
                    discovery.server["profile"] == plan.profile or not any(each.profile for each in plans)
                ):
                    return discovery, plan
                guessed = guessed or (discovery, plan)
                continue
            failure = reply.failure or f"the answer holds no text and no passages: {reply.text[:200]}"
            self.tell(f"  {failure}")
            is_gone = reply.status in {404, 405, 501}
            is_telling = reply.status in {400, 422} and _IS_MISSING.search(failure) is not None
            rank = 0 if is_gone else _OVERLOAD_RANK if is_overloaded else 2 + is_telling
            failures.append((rank, f"{plan.method} {plan.path}: {failure}"))
            is_useless = is_gone or is_overloaded  # with any other body too
            plans = [*_amended(plan, reply), *(each for each in plans if not (is_useless and each.path == plan.path))]
        if guessed is not None:
            return guessed
        raise self._refusal(failures)

    def _refusal(self, failures: Sequence[tuple[int, str]]) -> ServerRefusedError:
        """The error of a search that no answer ended, with the most telling of its failures by rank."""
        rank, most_telling = max(failures, key=lambda each: each[0])
        if rank == _OVERLOAD_RANK:
            problem = f"the server is overloaded or not ready; {most_telling}"
            return ServerRefusedError(problem, "try again later: its path and its body may be right")
        hint = 'correct the path, or give the request: --body \'{"question": "{{question}}"}\''
        if "graphql" in self.url:
            form = '{"query": "{ask(question: {{question_json}}) {answer sources {text}}}"}'
            hint = f"give the query with the fields of your schema: --body '{form}'"
        return ServerRefusedError(f"no request was answered; {most_telling}", hint)

    # The requests that may ask the question, the likeliest first.

    def _plans(self, body: Any) -> list[Plan]:
        """All of them.

        Raises:
            ConfigError: None may be sent, or no path is known that takes the question.
        """
        parts = urlsplit(self.url)
        path, params = parts.path.removesuffix("/") and parts.path, parse_qsl(parts.query, keep_blank_values=True)
        if body is not None:
            return self._harmless([Plan("POST", path or "/", body, source="the body that was given")])
        if params:
            return self._harmless([_parametrised(path or "/", params, self.headers)])
        reply = self._repeated(Plan("GET", "/openapi.json"), "")
        if reply.status == 200 and isinstance(reply.body, Mapping) and isinstance(reply.body.get("paths"), Mapping):
            self.document = reply.body
        operations, documented = _operations(self.document), list(operation_plans(self.document))
        self.tell("GET /openapi.json: " + (counted(len(operations), "operation") if self.document else "none"))
        if path:
            bare = path.rstrip("/")
            plans = [plan for plan in documented if plan.path.rstrip("/") == bare]
            return self._harmless([*profile_plans(bare), *(plans or _usual_bodies(path))])
        listed, profiles = {path for _, path in operations}, list(profile_plans(None))
        likely = [plan for plan in profiles if plan.path in listed]
        likely.sort(key=lambda plan: -len(_paths_of(str(plan.profile)) & listed))
        known = {*USUAL, *(each.path for each in profiles)}
        likely += [plan for plan in documented if plan.path in known or plan.passages]
        if documented and not likely:
            urls = ", ".join(f"{self.base}{plan.path}" for plan in documented[:5])
            raise ConfigError("which path takes the question is not known", f"give the URL with it: {urls}")
        usual = [plan for path in USUAL for plan in (*profile_plans(path), _usual_bodies(path)[0])]
        return self._harmless(likely or usual)

    def _harmless(self, plans: Sequence[Plan]) -> list[Plan]:
        """The plans whose path and operationId name no change.

        Raises:
            ConfigError: All of them do.
        """
        operations, kept, refused = _operations(self.document), list[Plan](), dict[str, None]()
        for plan in plans:
            told = f"{plan.path} {operations.get((plan.method, plan.path), {}).get('operationId', '')}"
            words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+", told)}
            if changing := words & _CHANGES - ({"create", "send"} if words & _CHATTING else set()):
                refused[f"{plan.method} {plan.path} ({min(changing)})"] = None
            else:
                kept.append(plan)
        if refused:
            reason = f"as its name says that it changes something: {', '.join(refused)}"
            self.tell(f"never called, {reason}")
            if not kept:
                hint = "where it only answers questions, write server.ask and server.map yourself: docs/profiles.md"
                raise ConfigError(f"not called, {reason}", hint)
        return kept

    # One request, and what comes back.

    def _asked(self, plan: Plan, question: str) -> Received:
        """The response to a question; where a login is wanted, it is asked for once.

        Raises:
            ServerRefusedError: The login is refused.
        """
        self.tell(str(plan))
        reply = self._repeated(plan, question)
        if reply.status not in REFUSED:
            return reply
        schemes = reduce(_below, ("components", "securitySchemes"), self.document) or {}
        named = [each["name"] for each in schemes.values() if each.get("in") == "header" and "name" in each]
        named += (load_profile(plan.profile).get("headers") or ()) if plan.profile else ()
        name = str(next(iter(named), "Authorization"))
        if self.left and (bare := self.headers.without_scheme) is not None:
            self.tell(f"  {reply.failure}; the value of {bare} names no scheme: trying Bearer")
            self.headers.sent[bare] = f"Bearer {self.headers.sent[bare]}"
            self.headers.written[bare] = f"Bearer {self.headers.written[bare]}"
            return self._asked(plan, question)
        login, self.login = self.login, lambda _: None
        if self.left and (header := login(name)):
            self.headers.add(header)
            return self._asked(plan, question)
        shown = "Authorization: Bearer …" if name == "Authorization" else f"{name}: …"
        raise ServerRefusedError(f"the server refuses us: {reply.failure}", f'give its login: --header "{shown}"')

    def _repeated(self, plan: Plan, question: str) -> Received:
        """The response to a request, which is sent up to twice more while the server is overloaded.

        A server error is repeated where the body is no guess: it is not the body that is wrong.
        """
        reply = self._send(plan, question)
        for _ in range(_REPEATS):
            is_broken = reply.status >= 500 and reply.status != 501 and plan.source != _USUAL_BODY
            if not (reply.status in _OVERLOADED or is_broken):
                break
            pause = _PAUSE_S if reply.pause_s is None else reply.pause_s
            if not self.left or pause > _LONGEST_PAUSE_S:
                reason = f"the server asks to wait {pause:.0f} s" if self.left else f"{MOST_REQUESTS} requests are sent"
                self.tell(f"  {reply.failure}; not repeated: {reason}")
                break
            self.tell(f"  {reply.failure}; the same request again in {pause:.0f} s")
            time.sleep(pause)
            reply = self._send(plan, question)
        return reply

    def _send(self, plan: Plan, question: str) -> Received:
        """Send one request of the six.

        Raises:
            ServerUnreachableError: Nothing answers.
        """
        self.left -= 1
        query = {key: self.headers.parameters.get(value, value) for key, value in plan.query.items()}
        spec = RequestSpec.model_validate({**plan.ask, "path": f"{plan.prefix}{plan.path}", "query": query})
        message = {"role": "user", "content": question}
        values = {"question": question, "question_json": json.dumps(question, ensure_ascii=False)}
        given = plan.retrieved.given if plan.retrieved is not None else {}
        request = rendered(spec, {**values, **given, "messages": [message], "uuid": "evals-init"})
        request["headers"] = self.headers.sent
        try:
            # As a stream it ends with [DONE], whether the server then closes or not.
            reply = self.runner.run(self.http.send(**request, stream=Collector(StreamSpec(data="text"))))
        except ExchangeError as failure:
            if failure.kind == "connect" and not self.runner.run(self.http.reaches(None, _START_TIMEOUT_S)):
                raise ServerUnreachableError(
                    f"no server answers at {self.base} ({failure.message})", "check the URL"
                ) from failure
            text = masked(failure.body.decode("utf-8", "replace"))
            return Received(failure.status or 0, text, failure=failure.message, pause_s=failure.retry_after_s)
        text, kind = masked(reply.body.decode("utf-8", "replace")), reply.headers.get("content-type", "")
        received = Received(reply.status, text, kind, reply.headers.get("location", ""))
        problem = "a web page" if "text/html" in kind else None if text.strip() else "an empty body"
        if (error_text := failure_in(received.body)) is not None:
            problem = f"HTTP {reply.status}, but {error_text[:300]}"
        return received._replace(failure=problem)

    # What a response is read as.

    def _read(self, plan: Plan, reply: Received, question: str) -> Discovery | None:
        """The keys that read a response: of the plan's profile, else guessed; None: it holds nothing."""
        where: dict[str, Any] = {"url": f"{self.base}{plan.prefix}"}
        where |= {"headers": dict(self.headers.written)} if self.headers.written else {}
        guess = guess_text(reply.text, reply.content_type, question)
        if plan.profile and (discovery := self._by_profile(plan, where, reply, question, guesses=bool(guess.rows))):
            return discovery
        ask = plan.ask | guess.ask
        notes = [f"made up for the request: {', '.join(plan.made_up)}"] if plan.made_up else []
        empty = [each.removesuffix(": []") for each in plan.made_up if each.endswith(": []")]
        notes += [_NO_GIVE.format(path=path, name=snake(path)) for path in empty if snake(path) not in _MESSAGE_LISTS]
        if not guess.rows and (job := _job(plan, reply, has_answer=bool(guess.answer))) is not None:
            ask["then"], reply = self._job_done(plan, job)
            guess = guess_text(reply.text, reply.content_type, question)
        if not guess.answer and not guess.rows:
            return None
        server: dict[str, Any] = {"profile": "none", **where}
        paths = {path for method, path in _operations(self.document) if method == "GET"}
        if health := next((path for path in _HEALTH if path in paths), None):
            server["health"] = {"path": health}
        server |= {"ask": ask} | ({"stream": guess.stream} if guess.stream is not None else {})
        server |= {"map": guess.map} | ({"citations": guess.citations} if guess.citations else {})
        second = plan.retrieved or (None if guess.rows else self._retrieved(question, plan.path))
        if second is not None:
            server["retrieve"] = {key: part for key, part in second.keys.items() if key != "map" or not guess.rows}
        elif not guess.rows:
            notes.append(_NO_PASSAGES)
        return _discovery(server, reply.text, second and second.raw, guess.alternatives, notes)

    def _by_profile(
        self, plan: Plan, where: dict[str, Any], reply: Received, question: str, *, guesses: bool
    ) -> Discovery | None:
        """What a profile reads; None unless two signs speak for it, as its path alone does not."""
        name, second = str(plan.profile), None
        retrieve = load_profile(name).get("retrieve")
        if retrieve and not retrieve.get("give") and self.left:
            keys = expand_env({key: retrieve.get(key) for key in ("method", "path", "json", "query")}, set(), {})
            method, path, query = keys["method"] or "POST", str(keys["path"]), keys["query"] or {}
            self.tell(f"{method} {path}, the second request of the profile {name}")
            second = self._repeated(
                replace(plan, method=method, path=path, body=keys["json"], query=query), question
            ).text
        discovery = _discovery({"profile": name, **where}, reply.text, second, {}, [])
        response = discovery.response
        listed_paths = {path for _, path in _operations(self.document)} & _paths_of(name) - {plan.path}
        parts = ("answer", "chunks", "citations", "usage", "model", "confidence")
        signs = sum(bool(getattr(response, part)) for part in parts) + bool(listed_paths)
        if signs < 2 or response.error or (guesses and not response.chunks):
            self.tell(f"  the profile {name} does not read this answer")
            return None
        self.tell(f"  it is read by the profile {name}")
        return discovery

    def _job_done(self, plan: Plan, job: Job) -> tuple[dict[str, Any], Received]:
        """The keys of `ask.then`, and the response when the job is done.

        Raises:
            ServerRefusedError: It failed, or is not done within the requests that are left.
        """
        paths, key, state = list(job.paths), job.state_key, job.state
        time.sleep(_LOOK_EVERY_S)
        while paths and self.left:
            self.tell(f"GET {paths[0]}: the job of this question")
            latest = self._repeated(Plan("GET", paths[0].replace("{{id}}", job.id), prefix=plan.prefix), "")
            if latest.status >= 400:
                self.tell(f"  {latest.failure}")
                paths.pop(0)
                continue
            if latest.failure is not None:
                raise ServerRefusedError(f"the job of {plan.path} failed: {latest.failure}")
            fields = latest.body if isinstance(latest.body, Mapping) else {}
            key = key or next((name for name in fields if snake(name) in _STATES), None)
            state = str(fields.get(key, state)) if key else state
            if key is not None and key in fields and not _is_pending(state):
                then = {"path": paths[0]} | ({} if job.id_key == "id" else {"id": child("", job.id_key)})
                until = f"{child('', key)} == '{state}'"
                return {**then, "until": until, "failed": f"{child('', key)} == 'failed'", "every_s": 1}, latest
            time.sleep(_LOOK_EVERY_S)
        unknown = "" if paths else " at a path that is not known"
        path = paths[0] if paths else job.paths[0]
        told = f'ask.then: {{path: "{path}", id: {job.id_key}, until: "{key or "status"} == \'done\'", every_s: 1}}'
        raise ServerRefusedError(
            f"{plan.path} starts a job that was not seen to end{unknown}; its state was {state!r}",
            f"write it yourself, with its state at the end for 'done': {told}",
        )

    def _retrieved(self, question: str, asking: str) -> Retrieved | None:
        """A second request that brings passages, among the usual paths but the one that asks; it gives nothing yet."""
        known = {*USUAL, *(str((load_profile(name).get("retrieve") or {}).get("path")) for name in list_profiles())}
        for plan in operation_plans(self.document):
            is_known = plan.path in known - {urlsplit(self.url).path, asking} and _RETRIEVING.search(plan.path)
            if is_known and self.left and (reply := self._asked(plan, question)).failure is None:
                guess = guess_text(reply.text, "", question)
                if guess.rows:
                    return Retrieved({**plan.ask, "map": {"chunks": guess.map["chunks"]}}, reply.text, {})
        return None

    def _with_passages(self, plan: Plan, question: str) -> Plan | None:
        """The request with the passages of a search in it; None: no search brings what its fields hold."""
        self.left -= 1  # held back for the request that asks
        retrieved = self._retrieved(question, plan.path)
        self.left += 1
        if retrieved is None:
            return None
        body, give, given = plan.body, dict[str, str](), dict[str, Any]()
        for path, wanted in plan.passages.items():
            selected = _given(retrieved, wanted)
            if selected is None:
                self.tell(f"  it brings no passages that {path} can hold")
                return None
            name = re.sub(r"\W", "_", path)
            give[name], given[name] = selected
            body = _placed(body, path.split("."), f"{{{{{name}}}}}")
        made_up = tuple(each for each in plan.made_up if each.partition(": ")[0] not in plan.passages)
        search = Retrieved({**retrieved.keys, "give": give}, retrieved.raw, given)
        return replace(plan, body=body, made_up=made_up, passages={}, retrieved=search)


def _given(retrieved: Retrieved, wanted: Wanted) -> tuple[str, Any] | None:
    """What selects the passages that a field holds, and what it selects; None: nothing does."""
    chunks = str(retrieved.keys["map"]["chunks"])
    place, brace, fields = chunks.partition("[].{text: ")
    text = re.match(r'"[^"]*"|[^,}]*', fields) if brace else None
    if wanted.kind == "objects":
        expressions = [place, chunks]
        expressions += [f"{place}[].{{{key}: {text[0]}}}" for key in wanted.keys if text and len(wanted.keys) == 1]
    else:
        expressions = [*([f"{place}[].{text[0]}"] if text else []), f"{chunks}.text", chunks]
    with suppress(ValueError):
        body = json.loads(retrieved.raw)
        for expression in expressions:
            items = find_or_none(expression, body)
            is_fitting = isinstance(items, list) and all(
                isinstance(item, Mapping) and set(wanted.keys) <= item.keys()
                if wanted.kind == "objects"
                else isinstance(item, str)
                for item in items
            )
            if items and is_fitting:
                return (
                    (expression, items)
                    if wanted.kind != "text"
                    else (
                        f"join('\n\n', {expression})",
                        "\n\n".join(items),
                    )
                )
    return None


def _discovery(
    server: dict[str, Any], raw: str, second: str | None, alternatives: dict[str, list[str]], notes: list[str]
) -> Discovery:
    """What the keys of a server make of the bodies that were received."""
    discovery = Discovery(server, raw, EvalResponse(), [], alternatives, notes)
    try:
        spec = resolve_spec({**server, "headers": {}})
        discovery.response = EvalResponse(**RAGClient(spec, concurrency=1).reread(raw, second))
    except (UnusableError, ValueError, ConfigError) as error:
        discovery.response = EvalResponse(error=ResponseError(kind="malformed", message=str(error)))
        return discovery
    parts = (spec.map, spec.stream, spec.retrieve, spec.session, spec.ask.ok_when, spec.ask.then)
    expressions = " ".join(part if isinstance(part, str) else part.model_dump_json() for part in parts if part)
    for text in filter(None, (raw, second)):
        with suppress(ValueError):
            discovery.unread += unread_fields(json.loads(text), expressions)
            continue
        discovery.unread += [
            path for event in read_events(text)[1] for path in unread_fields(event["data"], expressions)
        ]
    discovery.unread = list(dict.fromkeys(discovery.unread))
    return discovery


def _is_pending(state: object) -> bool:
    return re.sub(r"[\s-]+", "_", str(state).lower()) in _PENDING


def _job(plan: Plan, reply: Received, *, has_answer: bool) -> Job | None:
    """The job that a response tells of, by a word of its state or the status 202, with an id; None: it is no job's."""
    fields = reply.body if isinstance(reply.body, Mapping) else {}
    state_key = next((key for key, value in fields.items() if _is_pending(value)), None)
    ids = {key: str(value) for key, value in fields.items() if isinstance(value, str | int) and key != state_key}
    ids = {key: value for key, value in ids.items() if re.fullmatch(r"[^\s/]+", value)}
    id_key = next((key for name in _NAMES_JOB for key in ids if name.search(snake(key))), None)
    is_accepted = reply.status == HTTPStatus.ACCEPTED
    if id_key is None and (is_accepted or not has_answer):  # under any name
        id_key = next((key for key in ids if snake(key) not in _STATES), None)
    if id_key is None or not (state_key or is_accepted):
        return None
    identity = ids[id_key]
    links = [value for value in (reply.location, *fields.values()) if isinstance(value, str) and "/" in value]
    linked = [urlsplit(urljoin("http://host", link)).path.removeprefix(plan.prefix) for link in links]
    paths = [link.replace(identity, "{{id}}") for link in linked if identity in link]
    paths += [f"{plan.path.rstrip('/')}/{{{{id}}}}", "/jobs/{{id}}"]
    state = str(fields[state_key]) if state_key is not None else None
    return Job(id_key, identity, list(dict.fromkeys(paths)), state_key, state)


# Requests that may ask: of profiles, with usual bodies, with what a refusal names, of OpenAPI.


def _paths_of(name: str) -> set[str]:
    """All paths of a profile."""
    profile = load_profile(name)
    parts = [*profile.values(), *(profile.get("info") or ())]
    return {part["path"] for part in parts if isinstance(part, Mapping) and "path" in part}


def profile_plans(path: str | None) -> Iterator[Plan]:
    """The requests of built-in profiles that need nothing of the environment: to a path, or all (None)."""
    for name in sorted(list_profiles(), key=lambda each: each != DEFAULT_PROFILE):
        with suppress(ConfigError):
            profile = load_profile(name)
            ask = expand_env({key: profile["ask"].get(key) for key in ("method", "path", "json", "query")}, set(), {})
            own, method = str(ask["path"]), ask["method"] or "POST"
            prefix = "" if path is None else path.removesuffix(own)
            if VARIABLE.search(json.dumps(ask)) or profile.get("stream") or (prefix and prefix == path):
                continue
            yield Plan(method, own, ask["json"], ask["query"] or {}, f"the profile {name}", (), name, prefix)


def _usual_bodies(path: str) -> list[Plan]:
    if "graphql" in path:
        body = {"query": "{ask(question: {{question_json}})}"}
        return [Plan("POST", path, body, source="GraphQL", made_up=("the field ask(question)",))]
    chat = {"messages": [{"role": "user", "content": QUESTION}]}
    fields: list[dict[str, Any]] = [{name: QUESTION} for name in ("question", "query", "message", "input", "prompt")]
    bodies = [chat, *fields] if re.search(r"completions|messages|converse", path) else [*fields[:2], chat, *fields[2:]]
    return [Plan("POST", path, body, source=_USUAL_BODY) for body in bodies]


def _parametrised(path: str, params: Iterable[tuple[str, str]], headers: Headers) -> Plan:
    """A GET with the parameters of the URL, of which one is the question; a secret is written as `${NAME}`."""
    query = dict(params)
    likely = [name for name in query if snake(name) in _QUESTION_FIELDS]
    name = min(likely, key=lambda each: _QUESTION_FIELDS.index(snake(each)), default=next(iter(query)))
    for key, value in list(query.items()):
        if is_credential(key):
            remember(value)
            headers.variables.append(re.sub(r"[^0-9A-Za-z]", "_", key).upper())
            query[key] = f"${{{headers.variables[-1]}}}"
            headers.parameters[query[key]] = value
    return Plan("GET", path, None, {**query, name: QUESTION}, "the parameters of the URL")


def _amended(plan: Plan, reply: Received) -> list[Plan]:
    """The request again, with the fields that a refusal misses."""
    missing = [path for path in missing_fields(reply.text) if path] if reply.status in {400, 422} else []
    if not missing or (plan.profile is not None and plan.body is None):
        return []
    asks = [path for path in missing if snake(str(path[-1])) in {*_QUESTION_FIELDS, *_MESSAGE_LISTS}]
    body: Any = {} if asks or not isinstance(plan.body, Mapping) or plan.source == _USUAL_BODY else plan.body
    if not asks:
        asks = [path for path in missing if not _NO_QUESTIONS.search(snake(str(path[-1])))][:1]
        if not asks and plan.source == _USUAL_BODY:
            body = plan.body
    made_up = []
    for path in missing:
        value: Any = QUESTION if path in asks[:1] else "probe"
        if snake(str(path[-1])) in _MESSAGE_LISTS:
            value = [{"role": "user", "content": QUESTION}]
        elif value == "probe":
            made_up.append(f"{'.'.join(map(str, path))}: probe")
        body = _placed(body, path, value)
    named = ", ".join(".".join(map(str, path)) for path in missing)
    changed = replace(plan, body=body, source=f"the server named {named}", made_up=tuple(made_up), profile=None)
    if plan.method == "GET":
        changed = replace(changed, body=None, query={**plan.query, str(asks[0][-1] if asks else "q"): QUESTION})
    return [] if changed.ask == plan.ask else [changed]


def _placed(body: Any, path: Sequence[str | int], value: Any) -> Any:
    """The body with a value at a path of keys and positions."""
    if not path:
        return value
    step, *rest = path
    if isinstance(step, int):
        items = list(body) if isinstance(body, list) else []
        items += [{}] * (step + 1 - len(items))
        items[step] = _placed(items[step], rest, value)
        return items
    held = body if isinstance(body, Mapping) else {}
    return {**held, step: _placed(held.get(step), rest, value)}


def missing_fields(message: str) -> list[tuple[str | int, ...]]:
    """The fields that a refusal says it misses: `detail[].loc` of FastAPI, else names in its texts."""
    try:
        body = json.loads(message)
    except ValueError:
        body = message
    details: Any = body.get("detail") if isinstance(body, Mapping) else None
    located = [each for each in details or () if isinstance(each, Mapping) and each.get("loc")]
    if located:
        return list(dict.fromkeys(tuple(each["loc"][1:]) for each in located))
    named: list[str] = []
    for text in (text for text in _strings(body) if _IS_MISSING.search(text)):
        # A sentence begins with a capital, as a German noun does, where the name of a field does not.
        words = (name.lower() if name.lower() in _QUESTION_FIELDS else name for name in _NAME_MISSING.findall(text))
        named += _QUOTED_NAME.findall(text) or words
    return [tuple(name.split(".")) for name in dict.fromkeys(named) if name.lower() not in _NO_FIELDS]


def _strings(body: Any) -> Iterator[str]:
    if isinstance(body, str):
        yield body
    for item in body.values() if isinstance(body, Mapping) else body if isinstance(body, list) else ():
        yield from _strings(item)


Schema = Mapping[str, Any]
Invented = dict[str, tuple[Any, Schema]]
"""By path in a body, a value that is made up, and the schema of its items where it is a list."""


def _operations(document: Schema) -> dict[tuple[str, str], Schema]:
    """Every operation of an OpenAPI document by method and path."""
    return {
        (method.upper(), path): operation
        for path, methods in (document.get("paths") or {}).items()
        for method, operation in dict(methods or {}).items()
        if isinstance(operation, Mapping)
    }


def operation_plans(document: Schema) -> Iterator[Plan]:
    """The operations of an OpenAPI document that take a question, those first whose names ask."""
    plans: list[tuple[int, Plan]] = []
    for (method, path), operation in _operations(document).items():
        words = set(re.findall(r"[a-z]+", f"{path} {operation.get('operationId', '')}".lower()))
        rank = len(words & {"ask", "query", "chat", "answer", "rag", "completions", "search", "generate"})
        rank -= 3 * len(words & {"upload", "ingest", "feedback", "login", "token", "documents", "embed", "evaluate"})
        if "{" in path:
            continue
        if method == "POST":
            schema = reduce(lambda at, key: _resolved(document, at.get(key)), _JSON_SCHEMA, operation)
            invented: Invented = {}
            body, has_question = _body_for(document, schema, invented)
            made_up = tuple(
                f"{at}: {value if isinstance(value, str) else json.dumps(value)}" for at, (value, _) in invented.items()
            )
            passages = {at: wanted for at, made in invented.items() if (wanted := _wanted(at, *made)) is not None}
            if has_question:
                plans.append((rank, Plan("POST", path, body, {}, "OpenAPI", made_up, passages=passages)))
        elif method == "GET":
            given = [str(each.get("name")) for each in operation.get("parameters", ()) if isinstance(each, Mapping)]
            if name := next((name for name in _QUESTION_FIELDS if name in given), None):
                plans.append((rank - 1, Plan("GET", path, None, {name: QUESTION}, "OpenAPI")))
    yield from (plan for _, plan in sorted(plans, key=lambda each: -each[0]))


def _wanted(path: str, value: Any, items: Schema) -> Wanted | None:
    """What a required field of a body holds of passages, by its name and the value that is made up for it."""
    kind = items.get("type")
    if not is_of_passages(path) or value not in ([], "probe") or kind not in {None, "string", "object"}:
        return None
    if value == "probe":
        return Wanted("text")
    return Wanted("objects", items.get("required") or ()) if kind == "object" else Wanted("texts")


_JSON_SCHEMA = ("requestBody", "content", "application/json", "schema")


def _resolved(document: Schema, schema: Any) -> Schema:
    """The schema behind references, and the first of alternatives that is not null."""
    for _ in range(5):
        if not isinstance(schema, Mapping):
            return {}
        several = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
        if str(schema.get("$ref")).startswith("#/"):
            schema = reduce(_below, str(schema["$ref"])[2:].split("/"), document)
        elif several:
            schema = next((each for each in several if each.get("type") != "null"), {})
        else:
            return schema
    return {}


def _below(schema: Any, step: str) -> Any:
    return schema.get(step) if isinstance(schema, Mapping) else None


def _body_for(
    document: Schema, schema: Schema, invented: Invented, depth: int = 5, at: str = "", *, asked: bool = False
) -> tuple[dict[str, Any], bool]:
    """A body with the question in it and all that is required, and whether the question has found a place.

    Args:
        document: OpenAPI, for references.
        schema: Of an object.
        invented: Gets what is made up, by path: the value, and the schema of the items of a list.
        depth: Objects within objects that are entered.
        at: Path of the object.
        asked: Whether the question stands elsewhere already.
    """
    fields = {key: _resolved(document, each) for key, each in (schema.get("properties") or {}).items()}
    required: Collection[str] = schema.get("required") or ()
    name = None if asked else _question_field(fields, required)
    body: dict[str, Any] = {}
    has_question = asked or name is not None
    for key, each in sorted(fields.items(), key=lambda item: item[0] not in required):
        kind, items = each.get("type"), _resolved(document, each.get("items"))
        is_wanted = key in required or (not has_question and snake(key) in _MESSAGE_LISTS)
        if key == name:
            body[key] = QUESTION
        elif kind == "boolean" and (key == "stream" or snake(key).startswith(("include", "return", "with"))):
            body[key] = key != "stream"
        elif is_wanted and snake(key) in _MESSAGE_LISTS and kind == "array" and not has_question and _are_turns(items):
            body[key], has_question = [{"role": "user", "content": QUESTION}], True
        elif is_wanted and depth and each.get("properties"):
            body[key], has_question = _body_for(document, each, invented, depth - 1, f"{at}{key}.", asked=has_question)
        elif is_wanted and depth and kind == "array" and items.get("properties") and not has_question:
            inner, has_question = _body_for(document, items, invented, depth - 1, f"{at}{key}[].")
            body[key] = [inner]
        elif key in required:
            body[key] = _default(each)
            if not {"default", "const", "enum"} & set(each):
                invented[f"{at}{key}"] = body[key], items
    order = [key for key in fields if key in body]
    return {key: body[key] for key in order}, has_question


def _are_turns(items: Schema) -> bool:
    """Whether the items of a list are `{role, content}`, or may be anything."""
    return set(items.get("properties") or {"role", "content"}) >= {"role", "content"}


def _question_field(fields: Mapping[str, Schema], required: Collection[str]) -> str | None:
    """The property that is the question: by its name, else the only text that may be; never an id or a model."""
    texts = [key for key, each in fields.items() if each.get("type") == "string" and not {"enum", "format"} & set(each)]
    by_name = {snake(key): key for key in texts}
    if named := next((by_name[name] for name in _QUESTION_FIELDS if name in by_name), None):
        return named
    free = [key for key in texts if not _NO_QUESTIONS.search(snake(key))]
    needed = [key for key in free if key in required]
    return next(iter(needed or (free if len(free) == 1 and len(fields) == 1 else [])), None)


def _default(schema: Schema) -> Any:
    for key in ("default", "example", "const"):
        if key in schema:
            return schema[key]
    if choices := schema.get("enum"):
        return "user" if "user" in choices else choices[0]
    return {"string": "probe", "boolean": False, "array": [], "object": {}}.get(str(schema.get("type")), 1)
