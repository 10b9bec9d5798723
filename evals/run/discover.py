"""How a server is asked and read, found out for `evals init`: by a profile, by OpenAPI, else by one real answer.

At most six requests are sent, to harmless paths alone.
"""

import json
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit, urlunsplit

import httpx

from evals.client.mapping import UnusableError
from evals.client.profile import DEFAULT_PROFILE, list_profiles, load_profile, resolve_spec
from evals.client.rag_client import RAGClient
from evals.errors import ConfigError, ServerError, ServerRefusedError, ServerUnreachableError
from evals.run.guess import Guess, failure_in, guess_body, guess_text, names, read_events, snake, unread_fields
from evals.schemas.response import EvalResponse
from evals.secrets import is_credential, masked, remember
from evals.text.numbers import counted
from evals.text.yaml_files import VARIABLE, expand_env

QUESTION = "{{question}}"
MOST_REQUESTS = 6
USUAL = ("/query", "/ask", "/chat", "/api/chat", "/api/query", "/api/ask", "/v1/query", "/rag", "/answer", "/search")
"""Paths that ask a question on most servers that have them."""

_TIMEOUT_S, _MOST_BYTES = 120.0, 16 * 1024 * 1024
_CHANGES = names("delete purge drop reset clear remove rebuild train pull upload create update send insert ingest")
"""Words of a path or operationId that changes something: it is never called."""
_CHATTING = names("completion completions response responses chat message messages")
_QUESTION_FIELDS_LINE = (
    "question query q user_query query_text search_query user_input input message prompt text content ask inquiry "
    "request utterance search term frage"
)
_QUESTION_FIELDS = _QUESTION_FIELDS_LINE.split()
_MESSAGE_LISTS = names("messages conversation turns history chat transcript dialog")
_NO_QUESTIONS = re.compile(
    r"(^|_)(id|ids|model|session|user|lang|language|locale|name|mode|type|format|role|token|key)$"
)
_RETRIEVING = re.compile(r"/(search|retriev\w*|contexts?|chunks|passages|data)$")
_PENDING = names("queued pending running processing accepted in_progress created submitted started new")
_NAMED = re.compile(
    r"[\"'`]([A-Za-z_][\w.-]{0,40})[\"'`]|([A-Za-z_][\w.]*)\s+(?:is|was)\s+(?:missing|required|absent)\b"
)
_IS_MISSING = re.compile(r"miss|requir|expect|need|lack|absent|must", re.IGNORECASE)
_NO_FIELDS = names("field parameter key property value it this that body json input request error message")
_OPEN_HEADERS = names("accept content-type accept-language user-agent")


@dataclass(slots=True)
class Headers:
    """Headers as they are sent and as they are written (`${NAME}`), with the variables to be exported.

    `parameters` has the values of secret parameters of the URL, by what is written for them.
    """

    sent: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    variables: list[str] = field(default_factory=list)
    parameters: dict[str, str] = field(default_factory=dict)

    def add(self, header: str) -> None:
        """Read a header such as `X-API-Key: abc`; its value is masked in all messages.

        Raises:
            ConfigError: It has no colon, or names a variable that is not set; the message does not hold its value.
        """
        name, _, value = (part.strip() for part in header.partition(":"))
        if not name or not value:
            raise ConfigError("a header has no name or no value", 'write --header "Name: value"')
        self.sent[name] = self.written[name] = value
        if VARIABLE.search(value):
            secrets: set[str] = set()
            self.sent[name] = expand_env(value, secrets, os.environ)
            for secret in (*secrets, self.sent[name]):
                remember(secret)
        elif name.lower() not in _OPEN_HEADERS:
            scheme, _, token = value.rpartition(" ")
            variable = "RAG_TOKEN" if name.lower() == "authorization" else re.sub(r"\W", "_", name).upper()
            self.written[name] = f"{scheme} ${{{variable}}}".strip()
            self.variables.append(variable)
            remember(value)
            remember(token)


@dataclass(frozen=True, slots=True)
class Plan:
    """A request that may ask the question; `made_up` names the values that it invents."""

    method: str
    path: str
    body: Any = None
    query: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    made_up: tuple[str, ...] = ()
    profile: str | None = None
    prefix: str = ""
    """What stands in the URL before the path."""

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


@dataclass(frozen=True, slots=True)
class Received:
    """A response: its status, text, type and headers."""

    status: int
    text: str
    content_type: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def body(self) -> Any:
        """The JSON of the body; None where it is none."""
        with suppress(ValueError):
            return json.loads(self.text)
        return None


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
    pause_s: float = 1.0,
) -> Discovery:
    """Find out how a server is asked and read.

    Args:
        url: Of the server; a path in it is the one that takes the question.
        questions: Asked one after the other until an answer comes with passages.
        headers: Sent with each request; a login is added to them.
        tell: Is called with each step.
        body: The JSON of the request, with {{question}} in it; None: to be found out.
        login: Is asked once for a header where the server refuses (401, 403); gets the name of the header.
        pause_s: Between two looks at a job.

    Raises:
        ConfigError: The URL is none, a path changes something, or no path is known that takes a question.
        ServerError: Nothing answers, or no request was answered with anything that can be read.
    """
    if body is not None and QUESTION not in json.dumps(body) and "{{question_json}}" not in json.dumps(body):
        raise ConfigError("--body does not say where the question goes", 'write "{{question}}" in its place')
    with httpx.Client(timeout=_TIMEOUT_S, follow_redirects=False) as client:
        search = _Search(url, headers, tell, client, login, pause_s)
        return search.run(questions, body)


@dataclass
class _Search:
    """Sends one request after the other, until an answer can be read."""

    url: str
    headers: Headers
    tell: Callable[[str], None]
    client: httpx.Client
    login: Callable[[str], str | None]
    pause_s: float
    left: int = MOST_REQUESTS
    document: Mapping[str, Any] = field(default_factory=dict)
    failures: list[tuple[int, str]] = field(default_factory=list)

    @property
    def base(self) -> str:
        """The URL without its path."""
        return urlunsplit(urlsplit(self.url)._replace(path="", query="", fragment=""))

    def run(self, questions: Sequence[str], body: Any) -> Discovery:
        """Ask, read, ask again where the answer shows too little."""
        plans = self._plans(body)
        discovery: Discovery | None = None
        guessed: Discovery | None = None
        tried: list[dict[str, Any]] = []
        while plans and self.left and discovery is None:
            plan = plans.pop(0)
            if plan.ask in tried:
                continue
            tried.append(plan.ask)
            reply = self._asked(plan, questions[0])
            if (failure := _failure(reply)) is None:
                discovery = self._read(plan, reply, questions[0])
                failure = f"the answer holds no text and no passages: {reply.text[:200]}"
            if discovery and discovery.server["profile"] != plan.profile and any(each.profile for each in plans):
                guessed, discovery = guessed or discovery, None
            elif discovery is None:
                self.tell(f"  {failure}")
                self.failures.append((_tells(reply, failure), f"{plan.method} {plan.path}: {failure}"))
                is_gone = reply.status in {404, 405, 501}
                plans = [*_amended(plan, reply), *(each for each in plans if not (is_gone and each.path == plan.path))]
        discovery = discovery or guessed
        if discovery is None:
            raise self._nothing_read()
        for question in questions[1:3]:
            if discovery.response.chunks or not self.left:
                break
            self.tell("  no passages: trying the next question")
            reply = self._asked(plan, question)
            if _failure(reply) is None:
                discovery = self._read(plan, reply, question) or discovery
        return discovery

    def _nothing_read(self) -> ServerError:
        """The most telling failure, with the way out."""
        message = max(self.failures, key=lambda each: each[0], default=(0, "nothing was asked"))[1]
        hint = 'correct the path, or give the request: --body \'{"question": "{{question}}"}\''
        if "graphql" in self.url:
            form = '{"query": "{ask(question: {{question_json}}) {answer sources {text}}}"}'
            hint = f"give the query with the fields of your schema: --body '{form}'"
        return ServerRefusedError(f"no request was answered; {message}", hint)

    def _plans(self, body: Any) -> list[Plan]:
        """The requests that may ask the question, the likeliest first.

        Raises:
            ConfigError: None may be sent.
        """
        parts = urlsplit(self.url)
        path, params = parts.path.removesuffix("/") and parts.path, parse_qsl(parts.query, keep_blank_values=True)
        if body is not None:
            return self._harmless([Plan("POST", path or "/", body, source="the body that was given")])
        if params:
            return self._harmless([_parametrised(path or "/", params, self.headers)])
        self.document = self._openapi()
        documented = list(operation_plans(self.document))
        if path:
            bare = path.rstrip("/")
            plans = [plan for plan in documented if plan.path.rstrip("/") == bare]
            return self._harmless([*profile_plans(bare), *(plans or _usual_bodies(path))])
        listed, profiles = {path for _, path in _operations(self.document)}, list(profile_plans(None))
        known = {*USUAL, *(plan.path for plan in profiles)}
        likely = [plan for plan in profiles if plan.path in listed]
        likely.sort(key=lambda plan: -len(_paths_of(str(plan.profile)) & listed))
        likely += [plan for plan in documented if plan.path in known]
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
        operations = _operations(self.document)
        kept, refused = [], {}
        for plan in plans:
            told = f"{plan.path} {operations.get((plan.method, plan.path), {}).get('operationId', '')}"
            words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+", told)}
            changing = words & _CHANGES - ({"create", "send"} if words & _CHATTING else set())
            if changing:
                refused[f"{plan.method} {plan.path}"] = min(changing)
            else:
                kept.append(plan)
        if refused:
            listed = ", ".join(f"{name} ({word})" for name, word in refused.items())
            self.tell(f"never called, as its name says that it changes something: {listed}")
            if not kept:
                hint = "where it only answers questions, write server.ask and server.map yourself: docs/profiles.md"
                raise ConfigError(f"not called, as its name says that it changes something: {listed}", hint)
        return kept

    def _openapi(self) -> Mapping[str, Any]:
        reply = self._send(Plan("GET", "/openapi.json"), "")
        document = reply.body if reply.status == 200 else None
        document = document if isinstance(document, Mapping) and isinstance(document.get("paths"), Mapping) else {}
        self.tell("GET /openapi.json: " + (counted(len(_operations(document)), "operation") if document else "none"))
        return document

    # One request, and what comes back.

    def _asked(self, plan: Plan, question: str) -> Received:
        """The response to a question; where a login is wanted, it is asked for once.

        Raises:
            ServerRefusedError: The login is refused.
        """
        self.tell(str(plan))
        reply = self._send(plan, question)
        if reply.status in {401, 403} and self.left:
            name = self._login_header(plan)
            header = self.login(name)
            self.login = lambda _: None
            if header:
                self.headers.add(header)
                return self._asked(plan, question)
        if reply.status in {401, 403}:
            shown = "Authorization: Bearer …" if (name := self._login_header(plan)) == "Authorization" else f"{name}: …"
            raise ServerRefusedError(f"the server refuses us: {_failure(reply)}", f'give its login: --header "{shown}"')
        return reply

    def _login_header(self, plan: Plan) -> str:
        schemes = reduce(_below, ("components", "securitySchemes"), self.document) or {}
        named = [each["name"] for each in schemes.values() if each.get("in") == "header" and "name" in each]
        profile = load_profile(plan.profile).get("headers") if plan.profile else None
        return str(next(iter([*named, *(profile or {})]), "Authorization"))

    def _send(self, plan: Plan, question: str) -> Received:
        """Send one request of the six.

        Raises:
            ServerUnreachableError: Nothing answers.
        """
        self.left -= 1
        url = plan.path if "://" in plan.path else f"{self.base}{plan.prefix}{plan.path}"
        body = _filled(plan.body, question)
        query = {
            key: self.headers.parameters.get(value) or _filled(value, question) for key, value in plan.query.items()
        }
        content = None if body is None else json.dumps(body).encode()
        headers = self.headers.sent | ({} if body is None else {"Content-Type": "application/json"})
        try:
            with self.client.stream(plan.method, url, params=query or None, content=content, headers=headers) as got:
                data, ends = bytearray(), time.monotonic() + _TIMEOUT_S
                for piece in got.iter_bytes():
                    data += piece
                    if len(data) > _MOST_BYTES or time.monotonic() > ends or data.endswith(b"[DONE]\n\n"):
                        break
                text = masked(bytes(data).decode("utf-8", "replace"))
                return Received(got.status_code, text, got.headers.get("content-type", ""), got.headers)
        except httpx.ConnectError as error:
            raise ServerUnreachableError(f"no server answers at {self.base} ({error})", "check the URL") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return Received(0, f"{type(error).__name__}: {error}")

    # What a response is read as.

    def _read(self, plan: Plan, reply: Received, question: str) -> Discovery | None:
        """The keys that read a response: of the plan's profile, else guessed; None: it holds nothing."""
        where: dict[str, Any] = {"url": f"{self.base}{plan.prefix}"}
        where |= {"headers": dict(self.headers.written)} if self.headers.written else {}
        guess = guess_text(reply.text, reply.content_type, question)
        if plan.profile and (
            discovery := self._by_profile(plan, {"profile": plan.profile, **where}, reply, question, guess)
        ):
            return discovery
        then = None
        if job := None if guess.rows else _job(reply):
            then, reply = self._job_done(plan, reply, *job)
            guess = guess_text(reply.text, reply.content_type, question)
        if not guess.answer and not guess.rows:
            return None
        ask = plan.ask | ({"then": then} if then else guess.ask)
        server: dict[str, Any] = {"profile": "none", **where}
        if (health := _health(self.document)) is not None:
            server["health"] = {"path": health}
        server |= {"ask": ask} | ({"stream": guess.stream} if guess.stream is not None else {})
        server |= {"map": guess.map} | ({"citations": guess.citations} if guess.citations else {})
        second = None if guess.rows else self._passages(question)
        notes = [f"made up for the request: {', '.join(plan.made_up)}"] if plan.made_up else []
        if second is not None:
            server["retrieve"] = second[0]
        elif not guess.rows:
            notes.append(_NO_PASSAGES)
        return _discovery(server, reply.text, second[1].text if second else None, guess.alternatives, notes)

    def _by_profile(
        self, plan: Plan, server: dict[str, Any], reply: Received, question: str, guess: Guess
    ) -> Discovery | None:
        """What a profile reads; None unless two signs speak for it, as its path alone does not."""
        profile = load_profile(str(plan.profile))
        retrieve, second = profile.get("retrieve"), None
        if retrieve and not retrieve.get("give") and self.left:
            keys = expand_env({key: retrieve.get(key) for key in ("method", "path", "json", "query")}, set(), {})
            second_plan = replace(
                plan, method=keys["method"] or "POST", path=keys["path"], body=keys["json"], query=keys["query"] or {}
            )
            self.tell(f"{second_plan.method} {second_plan.path}, the second request of the profile {plan.profile}")
            second = self._send(second_plan, question)
        discovery = _discovery(server, reply.text, second.text if second else None, {}, [])
        parts = discovery.response.model_dump(include={"answer", "chunks", "citations", "usage", "model", "confidence"})
        listed_paths = {path for _, path in _operations(self.document)} & _paths_of(str(plan.profile)) - {plan.path}
        signs = sum(bool(value) for value in parts.values()) + bool(listed_paths)
        if signs < 2 or discovery.response.error or (guess.rows and not discovery.response.chunks):
            self.tell(f"  the profile {plan.profile} does not read this answer")
            return None
        self.tell(f"  it is read by the profile {plan.profile}")
        return discovery

    def _job_done(self, plan: Plan, reply: Received, path: str, key: str) -> tuple[dict[str, Any], Received]:
        """The keys of `ask.then`, and the response when the job is done.

        Raises:
            ServerRefusedError: It is not done within the requests that are left.
        """
        told = f"ask.then: {{path: {path}, until: \"{key} == 'done'\", every_s: 1}}"
        identity = str(_identity(reply.body)[1])
        while self.left:
            time.sleep(self.pause_s)
            self.tell(f"GET {path}: the job of this question")
            latest = self._send(Plan("GET", path.replace("{{id}}", identity)), "")
            state = (latest.body or {}).get(key) if isinstance(latest.body, Mapping) else None
            if latest.status >= 400:
                break
            if state is not None and str(state).lower() not in _PENDING:
                then = {"path": path, "id": _identity(reply.body)[0], "until": f"{key} == '{state}'"}
                then = {name: value for name, value in then.items() if (name, value) != ("id", "id")}
                return {**then, "failed": f"{key} == 'failed'", "every_s": 1}, latest
        raise ServerRefusedError(f"{plan.path} starts a job that was not seen to end", f"write it yourself: {told}")

    def _passages(self, question: str) -> tuple[dict[str, Any], Received] | None:
        """A second request that brings the passages, among the usual paths that the document lists."""
        known = {*USUAL, *(str((load_profile(name).get("retrieve") or {}).get("path")) for name in list_profiles())}
        known -= {urlsplit(self.url).path}
        for plan in operation_plans(self.document):
            if plan.path in known and _RETRIEVING.search(plan.path) and self.left:
                reply = self._asked(plan, question)
                guess = guess_body(reply.body, question) if _failure(reply) is None else Guess()
                if guess.rows:
                    return {**plan.ask, "map": {"chunks": guess.map["chunks"]}}, reply
        return None


_NO_PASSAGES = (
    "no passages in the answer, so retrieval is not measured. Where a second request brings them, add below server:\n"
    "  retrieve:\n"
    "    path: /search    # url: https://… where it is another server\n"
    '    json: {query: "{{question}}"}\n'
    '    map: {chunks: "results[].{text: text, document_name: source}"}'
)


def _discovery(
    server: dict[str, Any], raw: str, second: str | None, alternatives: dict[str, list[str]], notes: list[str]
) -> Discovery:
    """What the keys of a server make of the bodies that were received."""
    try:
        spec = resolve_spec({**server, "headers": {}})
        client = RAGClient(spec, concurrency=1)
        response = EvalResponse(**client.reread(raw, second))
    except (UnusableError, ValueError, ConfigError) as error:
        error_body = {"kind": "malformed", "message": str(error)}
        return Discovery(server, raw, EvalResponse.model_validate({"error": error_body}), [], alternatives, notes)
    parts = (spec.map, spec.stream, spec.retrieve, spec.session, spec.ask.ok_when)
    expressions = " ".join(part if isinstance(part, str) else part.model_dump_json() for part in parts if part)
    bodies = [body for text in (raw, second) if text for body in _bodies(text)]
    unread = list(dict.fromkeys(path for body in bodies for path in unread_fields(body, expressions)))
    return Discovery(server, raw, response, unread, alternatives, notes)


def _bodies(text: str) -> list[Any]:
    with suppress(ValueError):
        return [json.loads(text)]
    return [event["data"] for event in read_events(text)[1]]


def _filled(template: Any, question: str) -> Any:
    """A template with the question in it."""
    if template is None:
        return None
    text = json.dumps(template, ensure_ascii=False)
    for name, value in (("question", question), ("question_json", json.dumps(question)), ("uuid", "evals-init")):
        text = text.replace(f"{{{{{name}}}}}", json.dumps(value, ensure_ascii=False)[1:-1])
    messages = json.dumps([{"role": "user", "content": question}])
    return json.loads(text.replace('"{{messages}}"', messages))


def _failure(reply: Received) -> str | None:
    """Why a response is no answer; None: it may be."""
    if reply.status == 0:
        return reply.text
    if not 200 <= reply.status < 300:
        moved = f"moved to {reply.headers['location']} " if reply.headers.get("location") else ""
        return f"HTTP {reply.status}: {moved}{' '.join(reply.text.split())[:300]}"
    if (message := failure_in(reply.body)) is not None:
        return f"HTTP {reply.status}, but {message[:300]}"
    return "a web page" if "text/html" in reply.content_type else None if reply.text.strip() else "an empty body"


def _tells(reply: Received, failure: str) -> int:
    """How much a failure tells: one that names what is wrong, more than a path that is not there."""
    if reply.status in {404, 405, 501}:
        return 0
    return 3 if reply.status in {400, 422} and _IS_MISSING.search(failure) else 2


def _job(reply: Received) -> tuple[str, str] | None:
    """Where a job is looked at, and the key of its state; None: the response is no job's."""
    body = reply.body
    if not isinstance(body, Mapping):
        return None
    key = next((key for key, value in body.items() if str(value).lower() in _PENDING), None)
    name, identity = _identity(body)
    if key is None or not name:
        return None
    links = [value for value in (reply.headers.get("location"), *body.values()) if isinstance(value, str)]
    link = next((link for link in links if "/" in link and identity in link), f"/jobs/{identity}")
    path = urlsplit(urljoin("http://host", link)).path
    return path.replace(identity, "{{id}}"), key


def _identity(body: Any) -> tuple[str, str]:
    """The key and value of the id of a job; empty where there is none."""
    for key, value in body.items() if isinstance(body, Mapping) else ():
        if (snake(key) == "id" or snake(key).endswith("_id")) and isinstance(value, str | int):
            return key, str(value)
    return "", ""


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
    return [Plan("POST", path, body, source="a usual body") for body in bodies]


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
    body: Any = {} if asks or not isinstance(plan.body, Mapping) or plan.source == "a usual body" else plan.body
    if not asks:
        asks = [path for path in missing if not _NO_QUESTIONS.search(snake(str(path[-1])))][:1]
        if not asks and plan.source == "a usual body":
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
    texts = [text for text in _strings(body) if _IS_MISSING.search(text)]
    named = (first or second for text in texts for first, second in _NAMED.findall(text))
    return [tuple(name.split(".")) for name in dict.fromkeys(named) if name.lower() not in _NO_FIELDS]


def _strings(body: Any) -> Iterator[str]:
    if isinstance(body, str):
        yield body
    for item in body.values() if isinstance(body, Mapping) else body if isinstance(body, list) else ():
        yield from _strings(item)


Schema = Mapping[str, Any]


def _operations(document: Schema) -> dict[tuple[str, str], Schema]:
    """Every operation of an OpenAPI document by method and path."""
    return {
        (method.upper(), path): operation
        for path, methods in (document.get("paths") or {}).items()
        for method, operation in dict(methods or {}).items()
        if isinstance(operation, Mapping)
    }


def _health(document: Schema) -> str | None:
    paths = {path for method, path in _operations(document) if method == "GET"}
    return next((path for path in ("/health", "/healthz", "/api/health", "/ready", "/ping") if path in paths), None)


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
            made_up: list[str] = []
            body, has_question = _body_for(document, schema, made_up)
            if has_question:
                plans.append((rank, Plan("POST", path, body, {}, "OpenAPI", tuple(made_up))))
        elif method == "GET":
            given = [str(each.get("name")) for each in operation.get("parameters", ()) if isinstance(each, Mapping)]
            if name := next((name for name in _QUESTION_FIELDS if name in given), None):
                plans.append((rank - 1, Plan("GET", path, None, {name: QUESTION}, "OpenAPI")))
    yield from (plan for _, plan in sorted(plans, key=lambda each: -each[0]))


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
    document: Schema, schema: Schema, made_up: list[str], depth: int = 5, at: str = "", *, asked: bool = False
) -> tuple[dict[str, Any], bool]:
    """A body with the question in it and all that is required, and whether the question has found a place.

    Args:
        document: OpenAPI, for references.
        schema: Of an object.
        made_up: Gets what is invented.
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
        elif is_wanted and depth and (kind == "object" or each.get("properties")):
            body[key], has_question = _body_for(document, each, made_up, depth - 1, f"{at}{key}.", asked=has_question)
        elif is_wanted and depth and kind == "array" and items.get("properties") and not has_question:
            inner, has_question = _body_for(document, items, made_up, depth - 1, f"{at}{key}[].")
            body[key] = [inner]
        elif key in required:
            body[key] = _default(each)
            if not {"default", "const", "enum"} & set(each) and kind not in {"array", "boolean", "object"}:
                made_up.append(f"{at}{key}: {body[key]}")
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
