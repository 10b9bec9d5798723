"""How a server is asked and read, found out for `evals init`: by a profile, by OpenAPI, else by one real answer.

At most six requests are sent, to harmless paths alone.
"""

import asyncio
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urljoin, urlsplit, urlunsplit

from evals.client.conversation import rendered
from evals.client.http import BUSY, REFUSED, ExchangeError, HttpClient
from evals.client.mapping import UnusableError
from evals.client.profile import list_profiles, load_profile, resolve_spec
from evals.client.rag_client import RAGClient
from evals.client.spec import RequestSpec, StreamSpec
from evals.client.streams import Collector
from evals.errors import ConfigError, ServerRefusedError, ServerUnreachableError
from evals.run import plans
from evals.run.guess import NAMES, child, failure_in, guess_text, json_or, read_events, snake, unread_fields
from evals.run.plans import QUESTION, USUAL_BODY, Plan, Retrieved, Schema
from evals.schemas.response import EvalResponse, ResponseError
from evals.secrets import is_credential, masked, remember
from evals.text.numbers import counted
from evals.text.yaml_files import VARIABLE, expand_env

MOST_REQUESTS = 6
_RETRIEVING = re.compile(r"/(search|retriev\w*|contexts?|chunks|passages|data)$")
_NAMES_JOB = (re.compile(r"(^|_)(job|task|ticket)(_?id|_?uuid)?$"), re.compile(r"(^|_)(id|uuid|handle)$"))
_START_TIMEOUT_S, _LOOK_EVERY_S = 3.0, 1.0
_REPEATS, _PAUSE_S, _LONGEST_PAUSE_S = 2, 1.0, 5.0
_REFUSES_BODY = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
_OVERLOAD_RANK = 4
"""Above that of each other failure: the server says nothing about the requests."""
_GRAPHQL = '{"query": "{ask(question: {{question_json}}) {answer sources {text}}}"}'
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
        bare = (name for name, value in self.sent.items() if name.lower() == "authorization" and " " not in value)
        return next(bare, None)

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
        elif name.lower() not in NAMES["open_headers"]:
            scheme, _, token = value.rpartition(" ")
            variable = "RAG_TOKEN" if name.lower() == "authorization" else re.sub(r"\W", "_", name).upper()
            self.written[name] = f"{scheme} ${{{variable}}}".strip()
            self.variables.append(variable)
            secrets |= {value, token}
        for secret in secrets:
            remember(secret)


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
    def fields(self) -> Mapping[str, Any]:
        """Those of its JSON; none where it is no object."""
        body = json_or(None, self.text)
        return body if isinstance(body, Mapping) else {}

    @property
    def is_overloaded(self) -> bool:
        """Whether the status says nothing about the body; any other 5xx may be what a server makes of a wrong one."""
        return self.status in {*BUSY, HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT}

    @property
    def is_elsewhere(self) -> bool:
        """Whether no body is taken at this path."""
        return self.status in {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED}


class Job(NamedTuple):
    """A job that a response tells of: its id, the paths that may show it, and its state; no key: the state is unknown.

    The paths hold `{{id}}`, the likeliest first.
    """

    id_key: str
    id: str
    paths: list[str]
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


class _Requests:
    """Sends requests to a server, six at most, with a login where it wants one."""

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
        self.api = plans.OpenApi({})

    def _asked(self, plan: Plan, question: str) -> Received:
        """The response to a question; where a login is wanted, it is asked for once.

        Raises:
            ServerRefusedError: The login is refused.
        """
        self.tell(str(plan))
        reply = self._repeated(plan, question)
        if reply.status not in REFUSED:
            return reply
        profile_headers = load_profile(plan.profile).get("headers") if plan.profile else None
        name = next(iter([*self.api.login_headers, *(profile_headers or ())]), "Authorization")
        if self.left and (bare := self.headers.without_scheme) is not None:
            self.tell(f"  {reply.failure}; the value of {bare} names no scheme: trying Bearer")
            for values in (self.headers.sent, self.headers.written):
                values[bare] = f"Bearer {values[bare]}"
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
            is_broken = reply.status >= 500 and not reply.is_elsewhere and plan.source != USUAL_BODY
            if not (reply.is_overloaded or is_broken):
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
        values = {"question": question, "question_json": json.dumps(question, ensure_ascii=False), "uuid": "evals-init"}
        messages = [{"role": "user", "content": question}]
        search = plan.search or Retrieved({}, "")
        given = {name: search.select(expression) for name, expression in search.keys.get("give", {}).items()}
        request = rendered(spec, {**values, **given, "messages": messages}) | {"headers": self.headers.sent}
        try:
            # As a stream it ends with [DONE], whether the server then closes or not.
            reply = self.runner.run(self.http.send(**request, stream=Collector(StreamSpec(data="text"))))
        except ExchangeError as failure:
            if failure.kind == "connect" and not self.runner.run(self.http.reaches(None, _START_TIMEOUT_S)):
                message = f"no server answers at {self.base} ({failure.message})"
                raise ServerUnreachableError(message, "check the URL") from failure
            text = masked(failure.body.decode("utf-8", "replace"))
            return Received(failure.status or 0, text, failure=failure.message, pause_s=failure.retry_after_s)
        text, kind = masked(reply.body.decode("utf-8", "replace")), reply.headers.get("content-type", "")
        problem = "a web page" if "text/html" in kind else None if text.strip() else "an empty body"
        if (error_text := failure_in(json_or(None, text))) is not None:
            problem = f"HTTP {reply.status}, but {error_text[:300]}"
        return Received(reply.status, text, kind, reply.headers.get("location", ""), problem)


class _Search(_Requests):
    """Asks in one form after the other, until an answer can be read."""

    def run(self, questions: Sequence[str], body: Any) -> Discovery:
        """Ask, read, ask again where the answer shows too little."""
        discovery, plan = self._first_read(self._candidates(body), questions[0])
        for question in questions[1:3]:
            if discovery.response.chunks or not self.left:
                break
            self.tell("  no passages: trying the next question")
            reply = self._asked(plan, question)
            if reply.failure is None:
                discovery = self._read(plan, reply, question) or discovery
        return discovery

    def _first_read(self, candidates: list[Plan], question: str) -> tuple[Discovery, Plan]:
        """The first answer that can be read, with its request; a guess only where no built-in profile reads one.

        Raises:
            ServerRefusedError: None can be read; the message is that of the most telling failure.
        """
        guessed: tuple[Discovery, Plan] | None = None
        tried: list[dict[str, Any]] = []
        failures = [(-1, "nothing was asked")]
        while candidates and self.left:
            plan = candidates.pop(0)
            if plan.ask in tried:
                continue
            if plan.passages and self.left > 1 and (filled := self._with_passages(plan, question)) is not None:
                candidates.insert(0, replace(plan, passages={}))  # as it was, where the passages are refused
                plan = filled
            reply = self._asked(plan, question)
            discovery = self._read(plan, reply, question) if reply.failure is None else None
            if reply.status < 500 and not reply.is_overloaded:  # else it says nothing about this body
                tried.append(plan.ask)
            if discovery is None:
                failures.append(self._failure(plan, reply))
                is_useless = reply.is_elsewhere or reply.is_overloaded  # with any other body too
                candidates = [other for other in candidates if not (is_useless and other.path == plan.path)]
                candidates[:0] = plans.amended(plan, reply.text) if reply.status in _REFUSES_BODY else []
                continue
            is_whole = discovery.response.answer or not any(other.passages for other in candidates)
            is_known = discovery.server["profile"] == plan.profile or not any(other.profile for other in candidates)
            if is_whole and is_known:
                return discovery, plan
            guessed = guessed or (discovery, plan)
        if guessed is None:
            raise self._refusal(*max(failures, key=lambda failure: failure[0]))
        return guessed

    def _failure(self, plan: Plan, reply: Received) -> tuple[int, str]:
        """Why a reply is no answer, after how telling that is."""
        failure = reply.failure or f"the answer holds no text and no passages: {reply.text[:200]}"
        self.tell(f"  {failure}")
        rank = 2 + (reply.status in _REFUSES_BODY and plans.says_lacking(failure))
        rank = 0 if reply.is_elsewhere else _OVERLOAD_RANK if reply.is_overloaded else rank
        return rank, f"{plan.method} {plan.path}: {failure}"

    def _refusal(self, rank: int, failure: str) -> ServerRefusedError:
        """The error of a search that no answer ended, with the most telling of its failures."""
        if rank == _OVERLOAD_RANK:
            problem = f"the server is overloaded or not ready; {failure}"
            return ServerRefusedError(problem, "try again later: its path and its body may be right")
        hint = 'correct the path, or give the request: --body \'{"question": "{{question}}"}\''
        if "graphql" in self.url:
            hint = f"give the query with the fields of your schema: --body '{_GRAPHQL}'"
        return ServerRefusedError(f"no request was answered; {failure}", hint)

    # The requests that may ask the question, the likeliest first.

    def _candidates(self, body: Any) -> list[Plan]:
        """All of them.

        Raises:
            ConfigError: None may be sent, or no path is known that takes the question.
        """
        parts = urlsplit(self.url)
        path, parameters = parts.path.removesuffix("/") and parts.path, parse_qsl(parts.query, keep_blank_values=True)
        if body is not None:
            candidates = [Plan("POST", path or "/", body, source="the body that was given")]
        elif parameters:
            candidates = [_parametrised(path or "/", parameters, self.headers)]
        else:
            reply = self._repeated(Plan("GET", "/openapi.json"), "")
            is_document = reply.status == HTTPStatus.OK and isinstance(reply.fields.get("paths"), Mapping)
            self.api = plans.OpenApi(reply.fields if is_document else {})
            count = counted(len(self.api.operations), "operation") if is_document else "none"
            self.tell(f"GET /openapi.json: {count}")
            candidates = self._plans_to(path) if path else self._plans_to_known_paths()
        return self._harmless(candidates)

    def _plans_to(self, path: str) -> list[Plan]:
        """The requests to the path of the URL."""
        bare = path.rstrip("/")
        documented = [plan for plan in self.api.plans if plan.path.rstrip("/") == bare]
        return [*plans.profile_plans(bare), *(documented or plans.usual_plans(path))]

    def _plans_to_known_paths(self) -> list[Plan]:
        """The requests to paths of built-in profiles and to usual ones that the document lists; without it, to all.

        Raises:
            ConfigError: It lists none of them.
        """
        profiles = list(plans.profile_plans(None))
        likely = [plan for plan in profiles if plan.path in self.api.paths]
        likely.sort(key=lambda plan: -len(plans.paths_of_profile(str(plan.profile)) & self.api.paths))
        known = {*NAMES["usual_paths"], *(plan.path for plan in profiles)}
        likely += [plan for plan in self.api.plans if plan.path in known or plan.passages]
        if self.api.plans and not likely:
            urls = ", ".join(f"{self.base}{plan.path}" for plan in self.api.plans[:5])
            raise ConfigError("which path takes the question is not known", f"give the URL with it: {urls}")
        return likely or [
            plan for path in NAMES["usual_paths"] for plan in (*plans.profile_plans(path), plans.usual_plans(path)[0])
        ]

    def _harmless(self, candidates: Sequence[Plan]) -> list[Plan]:
        """The plans whose path and operationId name no change.

        Raises:
            ConfigError: All of them do.
        """
        kept, refused = list[Plan](), dict[str, None]()
        for plan in candidates:
            words = self.api.words(plan)
            allowed = NAMES["chat_changes"] if words & {*NAMES["chatting"]} else ()
            if changing := words & {*NAMES["changes"]} - {*allowed}:
                refused[f"{plan.method} {plan.path} ({min(changing)})"] = None
            else:
                kept.append(plan)
        reason = f"as its name says that it changes something: {', '.join(refused)}"
        if refused:
            self.tell(f"never called, {reason}")
        if refused and not kept:
            hint = "where it only answers questions, write server.ask and server.map yourself: docs/profiles.md"
            raise ConfigError(f"not called, {reason}", hint)
        return kept

    # What a response is read as.

    def _read(self, plan: Plan, reply: Received, question: str) -> Discovery | None:
        """The keys that read a response: of the plan's profile, else guessed; None: it holds nothing."""
        place: dict[str, Any] = {"url": f"{self.base}{plan.prefix}"}
        place |= {"headers": dict(self.headers.written)} if self.headers.written else {}
        guess = guess_text(reply.text, reply.content_type, question)
        if plan.profile and (discovery := self._by_profile(plan, place, reply, question, guesses=bool(guess.rows))):
            return discovery
        ask = plan.ask | guess.ask
        if not guess.rows and (job := _job(plan, reply, has_answer=bool(guess.answer))) is not None:
            ask["then"], reply = self._job_done(plan, job)
            guess = guess_text(reply.text, reply.content_type, question)
        if not guess.answer and not guess.rows:
            return None
        server: dict[str, Any] = {"profile": "none", **place}
        if health := next((path for path in NAMES["health_paths"] if ("GET", path) in self.api.operations), None):
            server["health"] = {"path": health}
        server |= {"ask": ask} | ({"stream": guess.stream} if guess.stream is not None else {})
        server |= {"map": guess.map} | ({"citations": guess.citations} if guess.citations else {})
        search = plan.search or (None if guess.rows else self._retrieved(question, plan.path))
        if search is not None:
            server["retrieve"] = {key: part for key, part in search.keys.items() if key != "map" or not guess.rows}
        notes = [*_inventions(plan), *([] if search is not None or guess.rows else [_NO_PASSAGES])]
        return _discovery(server, reply.text, search and search.raw, guess.alternatives, notes)

    def _by_profile(
        self, plan: Plan, place: dict[str, Any], reply: Received, question: str, *, guesses: bool
    ) -> Discovery | None:
        """What a profile reads; None unless two signs speak for it, as its path alone does not."""
        name, second = str(plan.profile), None
        retrieve = load_profile(name).get("retrieve")
        if retrieve and not retrieve.get("give") and self.left:
            search = plans.profile_plan(name, retrieve, prefix=plan.prefix)
            self.tell(f"{search.method} {search.path}, the second request of the profile {name}")
            second = self._repeated(search, question).text
        discovery = _discovery({"profile": name, **place}, reply.text, second, {}, [])
        response = discovery.response
        listed_paths = self.api.paths & plans.paths_of_profile(name) - {plan.path}
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
            key = key or next((name for name in latest.fields if snake(name) in NAMES["states"]), None)
            state = str(latest.fields[key]) if key is not None and key in latest.fields else state
            if key is not None and key in latest.fields and not _is_pending(state):
                then = {"path": paths[0]} | ({} if job.id_key == "id" else {"id": child("", job.id_key)})
                at = child("", key)
                return {**then, "until": f"{at} == '{state}'", "failed": f"{at} == 'failed'", "every_s": 1}, latest
            time.sleep(_LOOK_EVERY_S)
        unknown = "" if paths else " at a path that is not known"
        path = paths[0] if paths else job.paths[0]
        keys = f'ask.then: {{path: "{path}", id: {job.id_key}, until: "{key or "status"} == \'done\'", every_s: 1}}'
        raise ServerRefusedError(
            f"{plan.path} starts a job that was not seen to end{unknown}; its state was {state!r}",
            f"write it yourself, with its state at the end for 'done': {keys}",
        )

    def _retrieved(self, question: str, asking: str) -> Retrieved | None:
        """A second request that brings passages, among the usual paths but the one that asks; it gives nothing yet."""
        searches = (load_profile(name).get("retrieve") or {} for name in list_profiles())
        paths = {*NAMES["usual_paths"], *(search.get("path") for search in searches)}
        paths -= {urlsplit(self.url).path, asking}
        for plan in self.api.plans:
            retrieves = plan.path in paths and _RETRIEVING.search(plan.path)
            if retrieves and self.left and (reply := self._asked(plan, question)).failure is None:
                guess = guess_text(reply.text, "", question)
                if guess.rows:
                    return Retrieved({**plan.ask, "map": {"chunks": guess.map["chunks"]}}, reply.text)
        return None

    def _with_passages(self, plan: Plan, question: str) -> Plan | None:
        """The request with the passages of a search in it; None: no search brings what its fields hold."""
        self.left -= 1  # held back for the request that asks
        search = self._retrieved(question, plan.path)
        self.left += 1
        if search is None:
            return None
        body, give = plan.body, dict[str, str]()
        for path, schema in plan.passages.items():
            if (expression := _selection(search, schema)) is None:
                self.tell(f"  it brings no passages that {path} can hold")
                return None
            name = re.sub(r"\W", "_", path)
            give[name], body = expression, plans.placed(body, path.split("."), f"{{{{{name}}}}}")
        made_up = {path: value for path, value in plan.made_up.items() if path not in plan.passages}
        search = Retrieved({**search.keys, "give": give}, search.raw)
        return replace(plan, body=body, made_up=made_up, passages={}, search=search)


def _parametrised(path: str, parameters: Iterable[tuple[str, str]], headers: Headers) -> Plan:
    """A GET with the parameters of the URL, of which one is the question; a secret is written as `${NAME}`."""
    query, fields = dict(parameters), NAMES["question_fields"]
    likely = [name for name in query if snake(name) in fields]
    asking = min(likely, key=lambda name: fields.index(snake(name)), default=next(iter(query)))
    for key, value in list(query.items()):
        if is_credential(key):
            remember(value)
            headers.variables.append(re.sub(r"[^0-9A-Za-z]", "_", key).upper())
            query[key] = f"${{{headers.variables[-1]}}}"
            headers.parameters[query[key]] = value
    return Plan("GET", path, None, {**query, asking: QUESTION}, "the parameters of the URL")


def _inventions(plan: Plan) -> list[str]:
    """The notes on what a request invents."""
    if not plan.made_up:
        return []
    empty = [path for path, value in plan.made_up.items() if value == [] and snake(path) not in NAMES["message_lists"]]
    notes = [_NO_GIVE.format(path=path, name=snake(path)) for path in empty]
    return [f"made up for the request: {plan.invention}", *notes]


def _selection(search: Retrieved, schema: Schema) -> str | None:
    """What selects the passages of a search for a field of this schema; None: nothing does."""
    chunks, items = str(search.keys["map"]["chunks"]), schema.get("items") or {}
    keys, kind = {*(items.get("required") or ())}, Mapping if items.get("type") == "object" else str
    place, _, fields = chunks.partition("[].{text: ")
    text = next(iter(re.findall(r'"[^"]*"|[^,}]+', fields)), "")
    expressions = [f"{place}[].{text}"] if text else []
    expressions += [f"{chunks}.text", place, chunks, *(f"{place}[].{{{key}: {text}}}" for key in keys if text)]
    for expression in expressions:
        passages = search.select(expression)
        is_fitting = isinstance(passages, list) and all(isinstance(item, kind) for item in passages)
        if passages and is_fitting and (kind is str or all(keys <= item.keys() for item in passages)):
            return expression if schema.get("type") == "array" else f"join('\n\n', {expression})"
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
        body = json_or(None, text)
        values = [event["data"] for event in read_events(text)[1]] if body is None else [body]
        discovery.unread += [path for value in values for path in unread_fields(value, expressions)]
    discovery.unread = list(dict.fromkeys(discovery.unread))
    return discovery


def _is_pending(state: object) -> bool:
    return re.sub(r"[\s-]+", "_", str(state).lower()) in NAMES["pending"]


def _job(plan: Plan, reply: Received, *, has_answer: bool) -> Job | None:
    """The job that a response tells of, by a word of its state or the status 202, with an id; None: it is no job's."""
    fields, is_accepted = reply.fields, reply.status == HTTPStatus.ACCEPTED
    state_key = next((key for key, value in fields.items() if _is_pending(value)), None)
    ids = {key: str(value) for key, value in fields.items() if isinstance(value, str | int) and key != state_key}
    ids = {key: value for key, value in ids.items() if re.fullmatch(r"[^\s/]+", value)}
    id_key = next((key for name in _NAMES_JOB for key in ids if name.search(snake(key))), None)
    if id_key is None and (is_accepted or not has_answer):  # under any name
        id_key = next((key for key in ids if snake(key) not in NAMES["states"]), None)
    if id_key is None or not (state_key or is_accepted):
        return None
    links = [value for value in (reply.location, *fields.values()) if isinstance(value, str) and "/" in value]
    linked = [urlsplit(urljoin("http://host", link)).path.removeprefix(plan.prefix) for link in links]
    paths = [path.replace(ids[id_key], "{{id}}") for path in linked if ids[id_key] in path]
    paths += [f"{plan.path.rstrip('/')}/{{{{id}}}}", "/jobs/{{id}}"]
    state = str(fields[state_key]) if state_key is not None else None
    return Job(id_key, ids[id_key], list(dict.fromkeys(paths)), state_key, state)
