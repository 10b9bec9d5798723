"""How a server is asked and read, found out for `evals init`: by a profile, by OpenAPI, else by one real answer.

At most six requests are sent, to harmless paths alone.
"""

import asyncio
import json
import math
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import yaml

from evals.client.conversation import Conversation
from evals.client.http import BUSY, REFUSED, ExchangeError, HttpClient, Reply
from evals.client.mapping import UnusableError
from evals.client.profile import list_profiles, load_profile, resolve_spec
from evals.client.rag_client import RAGClient
from evals.client.spec import RequestSpec, StreamSpec
from evals.client.streams import Collector
from evals.errors import ConfigError, ServerRefusedError, ServerUnreachableError
from evals.run import plans
from evals.run.guess import NAMES, child, failure_in, guess_text, json_or, read_events, snake, unread_fields
from evals.run.plans import QUESTION, OpenApi, Plan
from evals.schemas.response import EvalResponse, ResponseError
from evals.secrets import is_credential, masked, remember
from evals.text.numbers import counted
from evals.text.yaml_files import VARIABLE, expand_env

MOST_REQUESTS = 6
_RETRIEVING = re.compile(r"/(search|retriev\w*|contexts?|chunks|passages|data)$")
_NAMES_JOB = re.compile(r"(^|_)(job|task|ticket)(_?id|_?uuid)?$")
_NAMES_ID = re.compile(r"(^|_)(id|uuid|handle)$")
_START_TIMEOUT_S, _LOOK_EVERY_S, _MOST_SHOWN = 3.0, 1.0, 12
_REFUSES_BODY = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
_NO_PATH = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED})
"""No body is taken at this path."""
_OVERLOADED = BUSY | {HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT}
"""The request may be right."""
_GRAPHQL = '{"query": "{ask(question: {{question_json}}) {answer sources {text}}}"}'
_NO_GIVE = (
    "an empty list was sent as {path}: if a search brings the passages, add give: {{{name}: '{texts}'}} to retrieve "
    'and write "{{{{{name}}}}}" in ask.json; docs/profiles.md, Two requests'
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
    """Headers as they are written, with `${NAME}` for each secret, and the secrets by the variables to be exported."""

    written: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)

    def add(self, header: str) -> None:
        """Read a header such as `X-API-Key: abc`; its value is masked in all messages.

        Raises:
            ConfigError: It has no colon, or names a variable that is not set; the message does not hold its value.
        """
        name, _, value = (part.strip() for part in header.partition(":"))
        if not name or not value:
            raise ConfigError("a header has no name or no value", 'write --header "Name: value"')
        sent = self.filled(value)
        scheme, _, token = sent.rpartition(" ")
        if name.lower() not in NAMES["open_headers"]:
            remember(sent)
            remember(token)
            if not VARIABLE.search(value):
                variable = "RAG_TOKEN" if name.lower() == "authorization" else name
                value = f"{scheme} {self.hide(variable, token)}".strip()
        self.written[name] = value

    def hide(self, name: str, secret: str) -> str:
        """What is written for a secret; it is masked in all messages."""
        remember(secret)
        variable = re.sub(r"\W", "_", name, flags=re.ASCII).upper()
        self.variables[variable] = secret
        return f"${{{variable}}}"

    def filled(self, template: Any) -> Any:
        """What is sent for what is written.

        Raises:
            ConfigError: A variable is not set.
        """
        return expand_env(template, set(), {**os.environ, **self.variables})


class Received(NamedTuple):
    """A response: its status (0: there is none), text, type and location, and why it is no answer (None: it may be)."""

    status: int
    text: str = ""
    content_type: str = ""
    location: str = ""
    failure: str | None = None

    @property
    def fields(self) -> Mapping[str, Any]:
        """Those of its JSON; none where it is no object."""
        body = json_or(None, self.text)
        return body if isinstance(body, Mapping) else {}


@dataclass(slots=True)
class Discovery:
    """What was found out.

    Attributes:
        server: The keys of `server:`.
        raw: The body that answered.
        response: What the keys read from it.
        unread: The fields that they do not read.
        notes: What was made up, and what is left to be written by hand.
    """

    server: dict[str, Any]
    raw: str
    response: EvalResponse = field(default_factory=EvalResponse)
    unread: list[str] = field(default_factory=list)
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
    if body is not None and not re.search(r"\{\{question(_json)?\}\}", json.dumps(body)):
        raise ConfigError("--body does not say where the question goes", 'write "{{question}}" in its place')
    base = urlunsplit(urlsplit(url)._replace(path="", query="", fragment=""))
    search = _Search(url, headers, tell, login, HttpClient(base, redact=masked))
    discovery, plan = search.first_read(search.candidates(body), questions[0])
    for question in questions[1:3]:
        if not discovery.response.chunks and search.left:
            tell("  no passages: trying the next question")
            discovery = search.read(plan, search.asked(plan, question), question) or discovery
    return discovery


@dataclass(slots=True)
class _Search:
    """Asks a server in one form after the other, by six requests at most, until an answer can be read."""

    url: str
    headers: Headers
    tell: Callable[[str], None]
    login: Callable[[str], str | None]
    http: HttpClient
    left: int = MOST_REQUESTS
    api: OpenApi = field(default_factory=lambda: OpenApi({}))

    def first_read(self, candidates: list[Plan], question: str) -> tuple[Discovery, Plan]:
        """The first answer that can be read, with its request; a guess only where no built-in profile reads one.

        Raises:
            ServerRefusedError: None can be read; the message is that of the most telling failure.
        """
        guessed, asks, failures = list[tuple[Discovery, Plan]](), list[Any](), {-2: "nothing was asked"}
        while candidates and self.left:
            plan = candidates.pop(0)
            if plan.ask in asks:
                continue
            asks.append(plan.ask)
            reply = self.asked(plan, question)
            if (discovery := self.read(plan, reply, question)) is not None:
                guessed.append((discovery, plan))
                if discovery.server["profile"] == plan.profile:
                    return discovery, plan
                candidates = [other for other in candidates if other.profile]
                continue
            failure = reply.failure or f"the answer holds no text and no passages: {reply.text[:200]}"
            self.tell(f"  {failure}")
            telling = 2 if reply.failure is None else 0
            if reply.status in _NO_PATH:
                telling, candidates = -1, [other for other in candidates if other.path != plan.path]
            elif reply.status in _REFUSES_BODY:
                telling = int(plans.says_lacking(failure))
                candidates[:0] = plans.amended(plan, reply.text)
            failures.setdefault(telling, f"{plan.name}: {failure}")
        if guessed:
            return guessed[0]
        hint = 'correct the path, end it with a parameter (?q=), or give --body \'{"question": "{{question}}"}\''
        if 2 in failures:
            hint = "write server.map yourself; where it starts a job, ask.then too (docs/profiles.md)"
        elif "graphql" in self.url:
            hint = f"give the query with the fields of your schema: --body '{_GRAPHQL}'"
        message = f"no request brought an answer that can be read; {failures[max(failures)]}"
        raise ServerRefusedError(message, hint)

    # Sending.

    def asked(self, plan: Plan, question: str) -> Received:
        """The response to a question; where a login is wanted, it is asked for once.

        Raises:
            ServerRefusedError: The login is refused, or the server is overloaded.
        """
        self.tell(str(plan))
        reply = self._send(plan, question)
        if reply.status in _OVERLOADED:
            message = f"the server is overloaded or not ready; {plan.name}: {reply.failure}"
            raise ServerRefusedError(message, "try again later: its path and its body may be right")
        if reply.status not in REFUSED:
            return reply
        profile_headers = load_profile(plan.profile).get("headers") if plan.profile else None
        name = next(iter([*self.api.login_headers, *(profile_headers or ())]), "Authorization")
        login, self.login = self.login, lambda _: None
        if self.left and (header := login(name)):
            self.headers.add(header)
            return self.asked(plan, question)
        shown = "Authorization: Bearer …" if name == "Authorization" else f"{name}: …"
        raise ServerRefusedError(f"the server refuses us: {reply.failure}", f'give its login: --header "{shown}"')

    def _send(self, plan: Plan, question: str = "") -> Received:
        """Send one request of the six.

        Raises:
            ServerUnreachableError: Nothing answers.
        """
        self.left -= 1
        query = self.headers.filled(plan.ask.get("query", {}))
        request = Conversation().request(RequestSpec(**{**plan.ask, "query": query}), question)
        request["headers"] = self.headers.filled(self.headers.written)
        try:
            reply = asyncio.run(self._exchange(request))
        except ExchangeError as failure:
            if failure.kind == "timeout":
                hint = "try again when the server answers, or give the request: --body"
                raise ServerUnreachableError(f"{plan.name}: {failure.message}", hint) from failure
            text = masked(failure.body.decode("utf-8", "replace"))
            return Received(failure.status or 0, text, failure=failure.message)
        text, kind = masked(reply.body.decode("utf-8", "replace")), reply.headers.get("content-type", "")
        problem = "a web page" if "text/html" in kind else None if text.strip() else "an empty body"
        if (error_text := failure_in(json_or(None, text))) is not None:
            problem = f"HTTP {reply.status}, but {error_text[:300]}"
        return Received(reply.status, text, kind, reply.headers.get("location", "").replace("${", "$"), problem)

    async def _exchange(self, request: Mapping[str, Any]) -> Reply:
        async with self.http:
            try:
                # As a stream it ends with [DONE], whether the server then closes or not.
                return await self.http.send(**request, stream=Collector(StreamSpec(data="text")))
            except ExchangeError as failure:
                if failure.kind != "connect" or await self.http.reaches(None, _START_TIMEOUT_S):
                    raise
                message = f"no server answers at {self.http.base} ({failure.message})"
                raise ServerUnreachableError(message, "check the URL") from failure

    # The requests that may ask the question, the likeliest first.

    def candidates(self, body: Any) -> list[Plan]:
        """All of them whose path and operationId name no change.

        Raises:
            ConfigError: None may be sent, or no path is known that takes the question.
        """
        parts = urlsplit(self.url)
        path, parameters = parts.path.removesuffix("/") and parts.path, dict(parse_qsl(parts.query, True))
        if body is not None:
            candidates = [Plan({"path": path or "/", "json": body}, "the body that was given")]
        elif parameters:
            candidates = [self._parametrised(path or "/", parameters)]
        else:
            reply = self._send(Plan({"method": "GET", "path": "/openapi.json"}))
            if reply.status == HTTPStatus.OK and isinstance(reply.fields.get("paths"), Mapping):
                # No server has us write, and later send, what a variable of the environment holds.
                self.api = OpenApi(json_or({}, reply.text.replace("${", "$")))
            self.tell(f"GET /openapi.json: {counted(len(self.api.operations), 'operation')}")
            candidates = self._plans_to(path)
        changing = {plan.name: self.api.changing_word(plan) for plan in candidates}
        refused = ", ".join(f"{name} ({word})" for name, word in changing.items() if word is not None)
        kept = [plan for plan in candidates if changing[plan.name] is None]
        if refused and not kept:
            hint = "where it only answers questions, write server.ask and server.map yourself: docs/profiles.md"
            raise ConfigError(f"not called, as its name says that it changes something: {refused}", hint)
        if refused:
            self.tell(f"never called, as its name says that it changes something: {refused}")
        return kept

    def _parametrised(self, path: str, query: dict[str, str]) -> Plan:
        """A GET with the parameters of the URL, of which one is the question; a secret is written as `${NAME}`."""
        fields = NAMES["question_fields"]
        likely = [name for name in query if snake(name) in fields]
        asking = min(likely, key=lambda name: fields.index(snake(name)), default=next(iter(query)))
        written = {key: self.headers.hide(key, value) if is_credential(key) else value for key, value in query.items()}
        ask = {"method": "GET", "path": path, "query": {**written, asking: QUESTION}}
        return Plan(ask, "the parameters of the URL")

    def _plans_to(self, path: str) -> list[Plan]:
        """The requests to a path: of profiles, else of the document, else usual ones; "": to the likeliest paths.

        Raises:
            ConfigError: The document lists no path that is known to take questions.
        """
        known = {*NAMES["usual_paths"], *(plan.path for plan in plans.profile_plans(None))}
        paths = [path] if path else [known_path for known_path in self.api.paths if known_path in known]
        if self.api.plans and not paths:
            urls = ", ".join(f"{self.http.base}{plan.path}" for plan in self.api.plans[:_MOST_SHOWN])
            raise ConfigError("which path takes the question is not known", f"give the URL with it: {urls}")
        # Of usual bodies all are sent to the path in the URL, none where a document tells, else the first to each path.
        candidates, most_usual = list[Plan](), None if path else 0 if paths else 1
        for at in paths or NAMES["usual_paths"]:
            documented = [plan for plan in self.api.plans if plan.path.rstrip("/") == at.rstrip("/")]
            candidates += [*plans.profile_plans(at.rstrip("/")), *(documented or plans.usual_plans(at)[:most_usual])]
        return candidates

    # What a response is read as.

    def read(self, plan: Plan, reply: Received, question: str) -> Discovery | None:
        """The keys that read a response: of the plan's profile, else guessed; None: it failed, or holds nothing."""
        if reply.failure is not None:
            return None
        guess, ask = guess_text(reply.text, reply.content_type, question), dict(plan.ask)
        by_profile = self._by_profile(plan.profile, plan.path, reply, question) if plan.profile else None
        if by_profile is not None and (by_profile.response.chunks or not guess.rows):
            return by_profile
        if not guess.rows and (done := self._job_done(plan.path, reply)) is not None:
            ask["then"], reply = done
            guess = guess_text(reply.text, reply.content_type, question)
        if not guess.answer and not guess.rows:
            return None
        retrieve, passages = (None, None) if guess.rows else self._retrieved(question, plan.path)
        health = next(({"path": path} for path in NAMES["health_paths"] if f"GET {path}" in self.api.operations), None)
        server = {"profile": "none", "url": self.http.base, "headers": self.headers.written or None, "health": health}
        server |= {"ask": ask | guess.ask, "stream": guess.stream, "map": guess.map}
        server |= {"citations": guess.citations or None, "retrieve": retrieve}
        notes = [f"made up for the request: {plan.invention}"] if plan.made_up else []
        texts = f"{retrieve['map']['chunks']}[].text" if retrieve else "results[].text"
        empty = [path for path, value in plan.made_up.items() if value == []]
        notes += [_NO_GIVE.format(path=path, name=snake(path), texts=texts) for path in empty]
        return _discovery(server, reply.text, passages, notes + ([] if guess.rows or retrieve else [_NO_PASSAGES]))

    def _by_profile(self, name: str, path: str, reply: Received, question: str) -> Discovery | None:
        """What a profile reads; None unless two signs speak for it, as its path alone does not."""
        profile, second = load_profile(name), None
        prefix = path.removesuffix(plans.profile_plan(name, profile["ask"]).path)
        if (retrieve := profile.get("retrieve")) and not retrieve.get("give") and self.left:
            search = plans.profile_plan(name, {**retrieve, "path": f"{prefix}{retrieve['path']}"})
            self.tell(f"{search.name}, the second request of the profile {name}")
            second = self._send(search, question).text
        own = {header.lower(): header for header in profile.get("headers", ())}
        headers = {own.get(header.lower(), header): value for header, value in self.headers.written.items()}
        server = {"profile": name, "url": f"{self.http.base}{prefix}", "headers": headers or None}
        discovery = _discovery(server, reply.text, second, [])
        parts = discovery.response.model_dump(include={"answer", "chunks", "citations", "usage", "model", "confidence"})
        is_read = sum(map(bool, parts.values())) >= 2 and discovery.response.error is None
        self.tell(f"  the profile {name} {'reads' if is_read else 'does not read'} this answer")
        return discovery if is_read else None

    def _job_done(self, path: str, started: Received) -> tuple[dict[str, Any], Received] | None:
        """The keys of `ask.then`, and the response when the job is done; None: it is no job's, by status and words.

        Raises:
            ServerRefusedError: It failed, or is not seen to end within the requests that are left.
        """
        texts = {key: str(value) for key, value in started.fields.items() if isinstance(value, str | int)}
        states = [key for key, text in texts.items() if _is_pending(text)]
        ids = [key for key, text in texts.items() if re.fullmatch(r"[^\s/]+", text) and key not in states]
        if not ids or not (states or started.status == HTTPStatus.ACCEPTED):
            return None
        id_key = min(ids, key=lambda key: (not _NAMES_JOB.search(snake(key)), not _NAMES_ID.search(snake(key))))
        job, paths = texts[id_key], [f"{path.rstrip('/')}/{{{{id}}}}", "/jobs/{{id}}"]
        if job in started.location:
            paths.insert(0, urlsplit(started.location).path.replace(job, "{{id}}"))
        likeliest = paths[0]
        while self.left and paths:
            time.sleep(_LOOK_EVERY_S)
            self.tell(f"GET {paths[0]}: the job of this question")
            state = self._send(Plan({"method": "GET", "path": paths[0].replace("{{id}}", job)}))
            key = next((name for name in state.fields if snake(name) in NAMES["states"]), None)
            if state.status >= HTTPStatus.BAD_REQUEST:
                paths.pop(0)
            elif state.failure is not None:
                raise ServerRefusedError(f"the job of {path} failed: {state.failure}")
            elif key is not None and not _is_pending(state.fields[key]):
                then = {"path": paths[0]} | ({"id": child("", id_key)} if id_key != "id" else {})
                until, failed = f"{child('', key)} == '{state.fields[key]}'", f"{child('', key)} == 'failed'"
                return {**then, "until": until, "failed": failed, "every_s": 1}, state
        until = f"{next(iter(states), 'status')} == 'done'"
        hint = f'write it yourself: ask.then: {{path: "{likeliest}", id: {id_key}, until: "{until}", every_s: 1}}'
        raise ServerRefusedError(f"{path} starts a job that was not seen to end", hint)

    def _retrieved(self, question: str, asking: str) -> tuple[dict[str, Any] | None, str | None]:
        """`retrieve` of a request to a usual path that brings passages, and the body that it brought."""
        searches = (load_profile(name).get("retrieve") or {} for name in list_profiles())
        paths = {*NAMES["usual_paths"], *(search.get("path") for search in searches)} - {asking}
        for plan in self.api.plans:
            if plan.path in paths and _RETRIEVING.search(plan.path) and self.left:
                self.tell(str(plan))
                reply = self._send(plan, question)
                guess = guess_text(reply.text, "", question)
                if reply.failure is None and guess.rows:
                    return {**plan.ask, "map": {"chunks": guess.map["chunks"]}}, reply.text
        return None, None


def _discovery(server: Mapping[str, Any], raw: str, second: str | None, notes: list[str]) -> Discovery:
    """What the keys of a server make of the bodies that were received."""
    discovery = Discovery({key: value for key, value in server.items() if value is not None}, raw, notes=notes)
    try:
        spec = resolve_spec(discovery.server).model_copy(update={"headers": {}})
        discovery.response = EvalResponse(**RAGClient(spec, concurrency=1).reread(raw, second))
    except (UnusableError, ValueError, ConfigError) as error:
        discovery.response = EvalResponse(error=ResponseError(kind="malformed", message=str(error)))
        return discovery
    parts = (spec.map, spec.stream, spec.retrieve, spec.session, spec.ask.then)
    expressions = " ".join(part.model_dump_json(exclude_defaults=True) for part in parts if part) + (
        spec.ask.ok_when or ""
    )
    for text in filter(None, (raw, second)):
        body = json_or(None, text)
        values = [event["data"] for event in read_events(text)[1]] if body is None else [body]
        discovery.unread += [path for value in values for path in unread_fields(value, expressions)]
    discovery.unread = list(dict.fromkeys(discovery.unread))
    return discovery


def _is_pending(state: object) -> bool:
    return re.sub(r"[\s-]+", "_", str(state).lower()) in NAMES["pending"]


# The configuration that is written.


def key_line(key: str, value: Any) -> str:
    """A key of YAML with its value on one line."""
    text = yaml.safe_dump({key: value}, default_flow_style=True, width=math.inf, allow_unicode=True, sort_keys=False)
    return str(text).strip()[1:-1]


def config_text(
    head: str, questions: Path | None, columns: Mapping[str, str], server: Mapping[str, Any], *, judge: bool
) -> str:
    """The text of a configuration: what differs from the defaults, a key a line; of `map`, an expression a line.

    Args:
        head: The first line, a comment.
        questions: Their file; None for the golden set.
        columns: By field of a question, the column that holds it.
        server: The keys of `server`.
        judge: Whether a judge takes part.
    """
    lines = [head, "datasets: [golden]" if questions is None else key_line("dataset_file", str(questions))]
    lines += [key_line("columns", dict(columns))] if columns else []
    lines.append("server:")
    for key, value in server.items():
        if key == "map" and value and isinstance(value, dict):
            lines += ["  map:", *(f"    {key_line(name, part)}" for name, part in value.items())]
        else:
            lines.append(f"  {key_line(key, value)}")
    return "\n".join([*lines, key_line("judge", judge), ""])
