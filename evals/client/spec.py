"""The keys of a profile, which are those of `server:` in the configuration."""

import json
import re
from base64 import b64encode
from datetime import date, datetime
from hashlib import sha256
from math import isfinite
from typing import Annotated, Any, Literal, Self
from urllib.parse import quote_plus

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from evals.schemas.base import MayChange, Record


class OAuth2Spec(Record):
    """OAuth 2.0 client credentials (RFC 6749, 4.4).

    The token is fetched before the health check and sent as `Authorization: Bearer` with every request.

    Attributes:
        token_url: Address of the token endpoint. The token is requested by POST.
        client_id: The client id.
        client_secret: The client secret. Write it as `${NAME}`, so that it is in no file.
        scope: Requested scopes, separated by spaces.
        audience: The server for which the token is requested, if the token endpoint asks for it.
        sent_as: `basic`: id and secret are sent in the Authorization header. `form`: in the request body.
    """

    token_url: str
    client_id: str
    client_secret: str
    scope: str | None = None
    audience: str | None = None
    sent_as: Literal["basic", "form"] = "basic"

    @property
    def basic(self) -> str:
        """Id and secret as the header shows them, each encoded as in a form."""
        return b64encode(f"{quote_plus(self.client_id)}:{quote_plus(self.client_secret)}".encode()).decode()


class LoginSpec(Record):
    """A login that fetches a token; the token replaces a header `Authorization`."""

    oauth2: OAuth2Spec


# The keys of `server.stream`: events and how their texts form the answer.

StreamFormat = Literal["sse", "ndjson", "vercel", "text"]

DELTAS: dict[StreamFormat, str] = {"vercel": "event == '0' && data", "text": "data"}
"""Where the text of an event is, in formats that define it."""

ERRORS: dict[StreamFormat, str] = {"vercel": "event == '3' && data"}


class StreamSpec(Record):
    """Format of streamed answers: expressions see one event, an object with `event` and `data`.

    `map` and `ask.ok_when` see the list of all events.

    Attributes:
        format: `sse`: server-sent events; `ndjson`: a JSON value per line; `vercel`: lines such as `0:"text"`;
            `text`: only the answer.
        delta: The text that an event adds to the answer, or a list of texts; false and null add nothing. Built in for
            `vercel` and `text`. If it is not set, `map.answer` selects the answer and tokens are not timed.
        whole: True if each event repeats the answer from its beginning.
        data: `text` if the data of an event is not JSON, so that `96` stays a text.
        done: True for the last event. A stream without such an event is `broken_off`. `[DONE]` always ends a stream.
        error: The error message of an event; the question then fails as `not_ok`.
    """

    format: StreamFormat = "sse"
    delta: str | None = None
    whole: bool = False
    data: Literal["json", "text"] = "json"
    done: str | None = None
    error: str | None = None

    @property
    def text_at(self) -> str | None:
        """Where the text of an event is."""
        return self.delta or DELTAS.get(self.format)

    @property
    def error_at(self) -> str | None:
        """Where the error message of an event is."""
        return self.error or ERRORS.get(self.format)


TEMPLATE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
"""A name in the strings of a request: {{question}}."""


# The requests, the mapping of what comes back, and the server as a whole.


def _as_text(value: Any) -> Any:
    """A number, true, false or a date, as it is sent; anything else as it is, for the check of its type."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()  # what YAML makes of a version such as 2024-10-21
    finite = isinstance(value, bool | int) or (isinstance(value, float) and isfinite(value))
    return json.dumps(value) if finite else value


Sent = Annotated[str, BeforeValidator(_as_text)]
"""A text that is sent; a number, true, false or a date may be written for it."""

DEFAULT_URL = "http://localhost:8001"

GIVEN_NAMES = frozenset({"question", "question_json", "uuid", "session_id", "messages"})
"""What every template may name."""


class Endpoint(Record):
    """A path that is read with GET."""

    path: str
    """Path below the base URL."""


class InfoEndpoint(Endpoint):
    """A path that reports the server's configuration."""

    of: str | None = None
    """The part of the body to which `map` applies. Not set: the whole body."""
    map: dict[str, str] = {}
    """Names of settings, each with the expression that selects its value."""


class RequestSpec(Record, populate_by_name=True):
    """A request about a question; `{{question}}` and `{{uuid}}` may appear anywhere in its strings.

    Attributes:
        method: `POST` or `GET`.
        path: Path below the base URL.
        query: URL parameters.
        headers: Headers of this request.
        body: JSON body.
        form: Form body, sent as `application/x-www-form-urlencoded`.
        reply: `json`, or `text` for a plain text or XML, which expressions see as `@`.
        ok_when: If its result is false or null, a 200 counts as a failure (`not_ok`). Not set: a 200 is a success,
            unless it has `errors`, as those of GraphQL, or is an error of JSON-RPC.
        give: Names for the templates of the other request, each with the expression that selects its value from this
            body. What `retrieve` gives makes it the first request, and its time counts as latency.
    """

    method: Literal["GET", "POST"] = "POST"
    path: str
    query: dict[str, Sent] = {}
    headers: dict[str, Sent] = {}
    body: JsonValue = Field(default=None, alias="json")
    form: dict[str, Sent] = {}
    reply: Literal["json", "text"] = "json"
    ok_when: str | None = None
    give: dict[str, str] = {}

    @model_validator(mode="after")
    def _is_one_request(self) -> Self:
        if self.form and self.body is not None:
            raise ValueError("json and form are both given: a request has one body")
        for name in self.give.keys() & GIVEN_NAMES:
            raise ValueError(f"give.{name}: {{{{{name}}}}} is a built-in name")
        return self


class ThenSpec(Record):
    """A job: `ask` starts it, and this path is read with GET until it is done. `map` reads its last body.

    Attributes:
        path: Path below the base URL; `{{id}}` is the id of the job.
        id: Selects the id in the answer to `ask`.
        until: True when the job is done.
        failed: True, or a message, if the job failed; the question then fails as `not_ok`.
        every_s: Seconds between two requests at most; the first ones are closer. The job has `timeout_s` in all; its
            latency includes them.
    """

    path: str
    id: str = "id"
    until: str
    failed: str | None = None
    every_s: float = Field(default=1.0, gt=0)


class AskSpec(RequestSpec):
    """The request that asks a question."""

    then: ThenSpec | None = None


class RetrievedMapSpec(Record):
    """Expressions that select the parts of a retrieval's body.

    Attributes:
        chunks: The list of chunks.
        stages: Results of each retrieval stage.
    """

    chunks: str
    stages: str | None = None


class RetrieveSpec(RequestSpec):
    """A second request, for chunks that the answer does not contain, or for values that `ask` sends.

    Attributes:
        url: Base URL of another host. `headers` of the server and its login are not sent there.
        map: Where the chunks are; not needed if `give` is set and the answer contains the chunks.
    """

    url: str | None = None
    map: Annotated[RetrievedMapSpec | None, MayChange.ON_REMAP] = None

    @model_validator(mode="after")
    def _brings_something(self) -> Self:
        if self.map is None and not self.give:
            raise ValueError("retrieve needs map.chunks, or give")
        return self


class MapSpec(Record):
    """Expressions that select the parts of an answer's body; `answer` or `chunks` is required.

    Attributes:
        answer: The answer, a text. Not set: the server only retrieves.
        chunks: The retrieved chunks: a list of objects or texts.
        citations: The citations: a list of objects, numbers or texts.
        usage: An object with `prompt_tokens`, `completion_tokens` and, if known, `cached_tokens`, the part of
            `prompt_tokens` that came from a cache. The objects of OpenAI, Anthropic and Gemini are read as they are.
        model: Name of the model, a text.
        confidence: A number, higher for more certain answers.
        stages: Results of each retrieval stage.
        refused: True if the server reports a refusal. False and null leave the decision to rules and judge.
        references: Sources of citation markers: a list of objects with `index` (the text of the marker) and `chunk_id`,
            or `document_id` and `section`. Not set: a marker is the number of a chunk.
    """

    answer: str | None = None
    chunks: str | None = None
    citations: str | None = None
    usage: str | None = None
    model: str | None = None
    confidence: str | None = None
    stages: str | None = None
    refused: str | None = None
    references: str | None = None


_MARKERS = (
    r"\\?[\[［【]\s*(?:(?i:doc|document|source|chunk|passage|context|ref|reference)\.?\s*[:#]?\s*|[#^])?"
    r"(\d+(?:\s*(?:[,;&–-]|and)\s*\d+)*)(?:†[^\[\]【】]*)?\s*\\?[\]］】]"
)


class CitationSpec(Record):
    """Form of the citations.

    Attributes:
        given_as: `list`: read `map.citations`; `markers`: read the text of the answer; `auto`: the list if the server
            sends one, otherwise markers; `none`: read no citations.
        markers: Regular expression of a marker. Its first group holds numbers, with commas and ranges, or an id.
        base: Number of the first chunk.
    """

    given_as: Literal["list", "markers", "auto", "none"] = "auto"
    markers: str = _MARKERS
    base: int = 1


class FollowUp(Record, populate_by_name=True):
    """Requests after an upload; `{{id}}` in their strings is the id of the upload.

    Attributes:
        method: `GET`, `POST` or `PUT`.
        path: Path below the base URL.
        body: JSON body.
    """

    method: Literal["GET", "POST", "PUT"] = "POST"
    path: str
    body: JsonValue = Field(default=None, alias="json")


class SessionSpec(Record):
    """Session id by which the server recognises the turns of a conversation.

    Attributes:
        id: Selects the session id in the answer to a turn. `{{session_id}}` in the next request is replaced by it.
        first: The value of `{{session_id}}` in the first turn.
        cookie: True if the server recognises a conversation by a cookie, which each turn then sends back.
    """

    id: str | None = None
    first: JsonValue = None
    cookie: bool = False


class UploadSpec(Record, populate_by_name=True):
    """Format of uploads: a form with files, or a JSON body if `json` is set.

    Attributes:
        method: `POST` or `PUT`.
        path: Path below the base URL.
        field: Name of the multipart field, repeated for each document of a batch.
        form: Other fields of the form.
        body: JSON body. A string that is only `{{documents}}`, `{{texts}}` or `{{names}}` becomes the batch's list.
            With `batch: 1`, `{{text}}` and `{{name}}` are those of the document.
        each: Item of `{{documents}}`.
        batch: Documents per request.
        id: Selects the id of the upload; `ready.path` contains it as `{{id}}`.
        document_ids: Selects the server's own ids of the documents, in the order of the documents.
        then: Requests after each batch, such as one that adds a file to a collection.
        finish: Requests after the last batch, such as one that builds the index.
    """

    method: Literal["POST", "PUT"] = "POST"
    path: str
    field: str = "files"
    form: dict[str, Sent] = {}
    body: JsonValue = Field(default=None, alias="json")
    each: JsonValue = {"id": "{{name}}", "text": "{{text}}"}
    batch: int = Field(default=50, ge=1)
    id: str | None = None
    document_ids: str | None = None
    then: list[FollowUp] = []
    finish: list[FollowUp] = []


class ReadySpec(Record):
    """Request that reports whether uploaded documents are indexed.

    Attributes:
        path: Path below the base URL; `{{id}}` is the id of the upload.
        done_when: True if nothing is pending.
        failed: The list of documents that could not be indexed; empty or null if there are none.
        timeout_s: Seconds to wait until `done_when` is true.
    """

    path: str
    done_when: str
    failed: str | None = None
    timeout_s: float = Field(default=600.0, gt=0)


class DocumentsSpec(Endpoint):
    """Request that lists the server's documents."""

    map: str
    """A list of objects with `id` and `name`, and of their `text`, from which `evals generate` makes questions."""


class TlsSpec(Record):
    """Certificates of https servers.

    Attributes:
        ca: PEM file of certificate authorities that are trusted in addition to the system's.
        cert: PEM file of the client certificate.
        key: PEM file of its private key, without a password. Not set: the key is in `tls.cert`.
        verify: `false` accepts any certificate, with a note in each run.
    """

    ca: str | None = None
    cert: str | None = None
    key: str | None = None
    verify: bool = True

    @model_validator(mode="after")
    def _key_is_of_a_certificate(self) -> Self:
        if self.key is not None and self.cert is None:
            raise ValueError("key needs cert, the certificate that it belongs to")
        return self


class ServerSpec(Record):
    """A server: address, requests and mapping of answers.

    Attributes:
        profile: Profile to start from: a built-in name or a YAML file; `none` starts empty.
        url: Base URL, with or without a path.
        headers: Headers of every request. `${NAME}` is taken from the environment and never written to a file.
        timeout_s: Seconds per request.
        patience_s: Seconds that a question waits for a server that rejects requests (429, 503) or cannot be reached.
            0: each rejection counts as a failed attempt.
        deadline_s: Seconds per question, with all attempts and waiting.
        max_body_bytes: A longer body is a failure (`too_large`).
        health: Request by GET; any 2xx is healthy.
        info: Requests that read the server's configuration.
        usage_needs_concurrency: Highest concurrency at which token counts are exact. Above it, costs are approximate.
        ask: The request that asks a question.
        clean: Regular expressions; matching text is removed from the answer. Thoughts of a model, such as
            `<think>…</think>`, are removed too, unless this is `[]`.
    """

    profile: Annotated[str, MayChange.ON_REMAP] = "rag-server"
    url: str = DEFAULT_URL
    headers: dict[str, Sent] = {}
    login: LoginSpec | None = None
    timeout_s: Annotated[float, MayChange.ON_RESUME] = Field(default=120.0, gt=0)
    patience_s: Annotated[float, MayChange.ON_RESUME] = Field(default=60.0, ge=0)
    deadline_s: Annotated[float, MayChange.ON_RESUME] = Field(default=900.0, gt=0)
    max_body_bytes: int = Field(default=16 * 1024 * 1024, ge=1)
    tls: TlsSpec = TlsSpec()
    health: Endpoint | None = None
    info: list[InfoEndpoint] = []
    usage_needs_concurrency: Annotated[int | None, MayChange.ON_RESCORE] = None
    ask: AskSpec
    stream: Annotated[StreamSpec | None, MayChange.ON_REMAP] = None
    session: SessionSpec | None = None
    retrieve: RetrieveSpec | None = None
    map: Annotated[MapSpec, MayChange.ON_REMAP]
    citations: Annotated[CitationSpec, MayChange.ON_REMAP] = CitationSpec()
    clean: Annotated[list[str] | None, MayChange.ON_REMAP] = None
    documents: DocumentsSpec | None = None
    upload: UploadSpec | None = None
    ready: ReadySpec | None = None

    @property
    def carries_conversations(self) -> bool:
        """Whether a turn says to which others it belongs: by the messages before it, a session's id, a cookie."""
        named = set(TEMPLATE.findall(self.model_dump_json(include={"ask", "retrieve"})))
        has_session = self.session is not None and (self.session.cookie or "session_id" in named)
        return bool(named & {"messages", "uuid"}) or has_session

    @property
    def trusts_anybody(self) -> bool:
        """Whether a certificate is not verified though there is one: of the server, or of its token server."""
        urls = [self.url, *([self.login.oauth2.token_url] if self.login is not None else [])]
        return not self.tls.verify and any(url.startswith("https") for url in urls)

    @property
    def gives_answers(self) -> bool:
        """Whether answers are looked for; a server that only retrieves has none."""
        return self.map.answer is not None or (self.stream is not None and self.stream.text_at is not None)

    @property
    def retrieves_first(self) -> bool:
        """Whether the second request is sent before the one that asks, which needs what it brings."""
        return self.retrieve is not None and bool(self.retrieve.give)

    @model_validator(mode="after")
    def _can_be_read(self) -> Self:
        retrieved = self.retrieve is not None and self.retrieve.map is not None
        if not self.gives_answers and self.map.chunks is None:
            raise ValueError("map: it needs answer or chunks")
        if self.retrieve is not None and not self.gives_answers and not self.retrieve.give:
            raise ValueError("retrieve needs map.answer: if the server only retrieves, request chunks by `ask`")
        if retrieved and self.map.chunks is not None:
            raise ValueError("map.chunks and retrieve.map.chunks are both given: set one of them to null")
        if self.retrieves_first and self.ask.give:
            raise ValueError("ask.give and retrieve.give are both given: one request comes first")
        if self.stream is not None and self.ask.then is not None:
            raise ValueError("stream and ask.then are both given: a job is no stream")
        return self

    def fingerprint(self) -> str:
        """A hash over how a question is asked and its answer read, with ${NAME} as written; defaults are not in it."""
        asked = {"ask", "stream", "session", "retrieve", "map", "citations", "clean"}
        deciding = self.model_dump(mode="json", by_alias=True, include=asked, exclude_defaults=True)
        return sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()
