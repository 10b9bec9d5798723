"""The keys of a profile and of `server:` in the configuration."""

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from datetime import date, datetime
from hashlib import sha256
from math import isfinite
from typing import Annotated, Any, Literal, Self
from urllib.parse import quote, quote_plus

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from evals.schemas.base import MayChange, Record


class OAuth2Spec(Record):
    """Client credentials of OAuth 2.0 (RFC 6749, 4.4), for which a token server gives a token that passes."""

    token_url: str
    """Where the token is fetched, by POST."""
    client_id: str
    client_secret: str
    """Write it as ${NAME}: then it is in no file."""
    scope: str | None = None
    """What the token is to allow, with spaces between several."""
    audience: str | None = None
    """For which server it is to be, where the token server wants to know."""
    sent_as: Literal["basic", "form"] = "basic"
    """Where id and secret stand: in the header Authorization, or in the form (RFC 6749, 2.3.1)."""

    @property
    def basic(self) -> str:
        """Id and secret as the header shows them, each encoded as in a form."""
        return b64encode(f"{quote_plus(self.client_id)}:{quote_plus(self.client_secret)}".encode()).decode()


class LoginSpec(Record):
    """How we log in where headers do not do."""

    oauth2: OAuth2Spec


# The keys of `server.stream`: how the pieces of an answer are told apart and put together.


StreamFormat = Literal["sse", "ndjson", "vercel", "text"]


DELTAS: dict[StreamFormat, str] = {"vercel": "event == '0' && data", "text": "data"}
"""Where the text of a piece stands in formats that settle it."""

ERRORS: dict[StreamFormat, str] = {"vercel": "event == '3' && data"}


class StreamSpec(Record):
    """The format of streamed answers; expressions see a piece as an object with `event` and `data`.

    `map` and `ask.ok_when` see the list of all pieces.
    """

    format: StreamFormat = "sse"
    """sse: server-sent events; ndjson: a JSON value a line; vercel: lines such as 0:"text"; text: nothing but text."""
    delta: str | None = None
    """JMESPath to a piece's share of the answer, a text or a list of texts; what finds none adds nothing. Vercel lines
    and plain text have one of their own. Where it is null, `map.answer` finds the answer in the list of pieces."""
    whole: bool = False
    """Whether each piece holds the answer from its beginning, so that the last one has all of it."""
    data: Literal["json", "text"] = "json"
    """What the data of an event are; text is left as it is, so that a piece 96 is no number."""
    done: str | None = None
    """JMESPath that is true of the last piece; a stream that ends without it has broken off. [DONE] always ends one."""
    error: str | None = None
    """JMESPath to the error message of a piece; the answer is then a failure (not_ok)."""

    @property
    def text_at(self) -> str | None:
        """Where the text of a piece stands."""
        return self.delta or DELTAS.get(self.format)

    @property
    def error_at(self) -> str | None:
        """Where a piece says what went wrong."""
        return self.error or ERRORS.get(self.format)


# Request templates: {{question}} and other names anywhere in the strings of a JSON value.


_MESSAGES = re.compile(r"\{\{\s*messages\s*\}\}")

_NAME = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def names_in(text: str) -> list[str]:
    """What the templates in a text name, in their order."""
    return _NAME.findall(text)


def whole_name(text: str) -> str | None:
    """The name that is all of a text; None where it is anything else."""
    found = _NAME.fullmatch(text)
    return found[1] if found is not None else None


def render(template: Any, values: Mapping[str, Any]) -> Any:
    """Fill the template. Values are put in as they are: JSON encoding happens afterwards, so nothing can break out.

    Args:
        template: Any JSON value.
        values: What each {{name}} stands for; a name that is not among them stays as written. A value that is no text
            replaces a string that holds nothing but its name, and stands in a longer one as JSON.
    """
    if isinstance(template, str):
        whole = _NAME.fullmatch(template)
        if whole is not None:
            return values.get(whole[1], template)
        return _NAME.sub(lambda found: as_text(values.get(found[1], found[0])), template)
    if isinstance(template, Mapping):
        return {key: render(item, values) for key, item in template.items()}
    if not isinstance(template, list):
        return template
    filled: list[Any] = []
    for item in template:
        found = render(item, values)
        # An item that is nothing but {{messages}} stands for all of them.
        spread = isinstance(item, str) and isinstance(found, list) and _MESSAGES.fullmatch(item)
        filled += found if spread else [found]
    return filled


def as_text(value: Any) -> str:
    """The value as it stands within a text: what is no text as JSON, and nothing where there is none."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def render_texts(templates: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, str]:
    """Fill templates of texts, as those of parameters, forms and headers; what is null is left out."""
    filled = {key: render(template, values) for key, template in templates.items()}
    return {key: as_text(value) for key, value in filled.items() if value is not None}


def render_path(path: str, values: Mapping[str, Any]) -> str:
    """Fill the template of a path. Values are quoted, so that none can lead to another path."""
    if "{{" not in path:  # as most are: no value need be quoted for it
        return path
    return str(render(path, {name: quote(as_text(value), safe="") for name, value in values.items()}))


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


_NEWER = (
    *(("map", "refused"), ("map", "references"), ("ask", "form"), ("ask", "reply")),
    *(("retrieve",), ("stream",), ("session",)),
)
"""Keys added later: while they are empty, the fingerprint is the same as without them."""


class Endpoint(Record):
    """A path that is read with GET."""

    path: str


class InfoEndpoint(Endpoint):
    """A path that reports the server's configuration."""

    of: str | None = None
    """JMESPath to the part of the body that is configuration, where the rest changes with every question."""
    map: dict[str, str] = {}
    """Our name of a fact: the JMESPath expression that finds it in that part."""


class RequestSpec(Record, populate_by_name=True):
    """A request about a question; {{question}} and {{uuid}} may stand anywhere in its strings."""

    method: Literal["GET", "POST"] = "POST"
    path: str
    query: dict[str, Sent] = {}
    """Parameters of the URL."""
    headers: dict[str, Sent] = {}
    body: JsonValue = Field(default=None, alias="json")
    """The JSON body; None sends none."""
    form: dict[str, Sent] = {}
    """The fields of a form, sent as application/x-www-form-urlencoded; none sends no form."""
    reply: Literal["json", "text"] = "json"
    """What comes back: JSON, or a plain text, which is `@` to the mapping."""
    ok_when: str | None = None
    """JMESPath over the body: where it is false or null, a 200 counts as a failure (not_ok)."""

    @model_validator(mode="after")
    def _has_one_body(self) -> Self:
        if self.form and self.body is not None:
            raise ValueError("json and form are both given: a request has one body")
        return self


class AskSpec(RequestSpec):
    """The request that asks a question."""


class RetrievedMapSpec(Record):
    """JMESPath expressions for the parts of a retrieval's body."""

    chunks: str
    stages: str | None = None


class RetrieveSpec(RequestSpec):
    """A second request, for chunks that the answer does not contain."""

    map: Annotated[RetrievedMapSpec, MayChange.ON_REMAP]
    give: dict[str, str] = {}
    """Names for the templates of `ask`, and the JMESPath over this body that finds what each stands for. With it this
    request goes first and its time is part of the latency; without it, it follows the answer."""

    @model_validator(mode="after")
    def _gives_other_names(self) -> Self:
        for name in self.give:
            if name in GIVEN_NAMES:
                raise ValueError(f"give.{name}: {{{{{name}}}}} is a built-in name")
        return self


class MapSpec(Record):
    """JMESPath expressions for the parts of an answer's body."""

    answer: str | None = None
    """None for a server that only retrieves."""
    chunks: str | None = None
    citations: str | None = None
    usage: str | None = None
    model: str | None = None
    confidence: str | None = None
    stages: str | None = None
    refused: str | None = None
    """Whether the server reports a refusal: true decides, false and null leave it to rules and judge."""
    references: str | None = None
    """What the markers of the text stand for, where these are not the places of chunks: a list of objects with `index`
    (what stands in the marker) and `chunk_id`, or `document_id` and `section`."""


_MARKERS = (
    r"\\?[\[［【]\s*(?:(?i:doc|document|source|chunk|passage|context|ref|reference)\.?\s*[:#]?\s*|[#^])?"
    r"(\d+(?:\s*(?:[,;&–-]|and)\s*\d+)*)(?:†[^\[\]【】]*)?\s*\\?[\]］】]"
)


_MARKERS_BEFORE = r"\[(\d+(?:\s*[,-]\s*\d+)*)\]"
"""The default of runs that were begun before; the one of now reads all that it read."""


class CitationSpec(Record):
    """The form of citations."""

    given_as: Literal["list", "markers", "auto", "none"] = "auto"
    """list: by `map.citations`; markers: in the answer's text; auto: the list, else markers; none: not at all."""
    markers: str = _MARKERS
    """Pattern of a marker; its first group holds numbers, with commas and ranges, or an id."""
    base: int = 1
    """Number of the first chunk."""


class FollowUp(Record, populate_by_name=True):
    """A request that is made after an upload; {{id}} in its strings is the id of the upload."""

    method: Literal["GET", "POST", "PUT"] = "POST"
    path: str
    body: JsonValue = Field(default=None, alias="json")
    """The JSON body; None sends none."""


class SessionSpec(Record):
    """The session id by which the server recognises the turns of a conversation."""

    id: str
    """JMESPath to it in the answer to a turn, over what `map` sees; {{session_id}} stands for it in the next turn."""
    first: JsonValue = None
    """What {{session_id}} stands for in the first turn."""


class UploadSpec(Record, populate_by_name=True):
    """The upload format: files of a form, or a JSON body if `json` is set."""

    method: Literal["POST", "PUT"] = "POST"
    path: str
    field: str = "files"
    """Name of the multipart field, repeated for each document of a batch."""
    form: dict[str, Sent] = {}
    """Other fields of the form, in addition to the documents."""
    body: JsonValue = Field(default=None, alias="json")
    """The JSON body. A string that is nothing but {{documents}}, {{texts}} or {{names}} becomes the list of the batch;
    with `batch: 1`, {{text}} and {{name}} stand for the one document."""
    each: JsonValue = {"id": "{{name}}", "text": "{{text}}"}
    """What an item of {{documents}} is."""
    batch: int = Field(default=50, ge=1)
    id: str | None = None
    """JMESPath to the id of the upload job, which `ready.path` holds as {{id}}."""
    document_ids: str | None = None
    """JMESPath to the server's own ids of the documents, in their order; they are kept for runs."""
    then: list[FollowUp] = []
    """Requests after each batch, such as one that puts a file into a collection."""
    finish: list[FollowUp] = []
    """Requests after the last batch, such as one that builds the index."""


class ReadySpec(Record):
    """The request that reports whether uploaded documents are indexed."""

    path: str
    done_when: str
    """JMESPath over the job's status; true when nothing is pending."""
    failed: str | None = None
    """JMESPath to a list of what failed, empty or null where nothing did."""
    timeout_s: float = Field(default=600.0, gt=0)


class DocumentsSpec(Endpoint):
    """The request that lists the server's documents."""

    map: str
    """JMESPath to a list of {id, name}."""


class TlsSpec(Record):
    """Certificates: which authorities are trusted, and the client certificate."""

    ca: str | None = None
    """File of certificates (PEM) of authorities that are trusted in addition to those of this machine."""
    cert: str | None = None
    """File of our own certificate (PEM), for a server that wants one."""
    key: str | None = None
    """File of its key, without a password; None where it stands with the certificate."""
    verify: bool = True
    """False accepts any certificate, which makes connections insecure; a note in the run reports it."""

    @model_validator(mode="after")
    def _key_is_of_a_certificate(self) -> Self:
        if self.key is not None and self.cert is None:
            raise ValueError("key needs cert, the certificate that it belongs to")
        return self


class ServerSpec(Record):
    """A server: address, requests and mapping of answers."""

    profile: Annotated[str, MayChange.ON_REMAP] = "rag-server"
    url: str = DEFAULT_URL
    headers: dict[str, Sent] = {}
    """Sent with every request. ${NAME} is taken from the environment and never written to a file."""
    login: LoginSpec | None = None
    """For a server that wants a token which is fetched; it goes before any header Authorization."""
    timeout_s: Annotated[float, MayChange.ON_RESUME] = Field(default=120.0, gt=0)
    patience_s: Annotated[float, MayChange.ON_RESUME] = Field(default=60.0, ge=0)
    """How long a question waits for a server that refuses it for now (429, 503), or that nothing connects to any more.
    Such refusals are no attempts, and slow all questions down; 0 counts them as failed attempts."""
    deadline_s: Annotated[float, MayChange.ON_RESUME] = Field(default=900.0, gt=0)
    """For a question with all its attempts and all waiting between them."""
    max_body_bytes: int = Field(default=16 * 1024 * 1024, ge=1)
    max_chunks: Annotated[int, MayChange.ON_REMAP] = Field(default=10_000, ge=1)
    """Of a longer list of chunks or citations the rest is left out, and a note says so."""
    transport: Annotated[Literal["aiohttp", "httpx"], MayChange.ON_RESUME] = "aiohttp"
    """The HTTP library that connects: aiohttp is the faster one."""
    tls: TlsSpec = TlsSpec()
    health: Endpoint | None = None
    info: list[InfoEndpoint] = []
    usage_needs_concurrency: Annotated[int | None, MayChange.ON_RESCORE] = None
    """Above this concurrency the server's token counts mix, and cost is approximate."""
    ask: AskSpec
    stream: Annotated[StreamSpec | None, MayChange.ON_REMAP] = None
    """For a server that sends an answer in pieces."""
    session: SessionSpec | None = None
    """For conversations: questions with `turns`."""
    retrieve: RetrieveSpec | None = None
    map: Annotated[MapSpec, MayChange.ON_REMAP]
    citations: Annotated[CitationSpec, MayChange.ON_REMAP] = CitationSpec()
    clean: Annotated[list[str], MayChange.ON_REMAP] = []
    """Patterns removed from the answer before anything looks at it."""
    documents: DocumentsSpec | None = None
    upload: UploadSpec | None = None
    ready: ReadySpec | None = None

    @property
    def carries_conversations(self) -> bool:
        """Whether a turn says to which others it belongs: by the messages before it, or the id of a session."""
        named = set(names_in(self.model_dump_json(include={"ask", "retrieve"})))
        return bool(named & {"messages", "uuid"}) or ("session_id" in named and self.session is not None)

    @property
    def trusts_anybody(self) -> bool:
        """Whether a certificate is not verified though there is one: of the server, or of its token server."""
        urls = [self.url, *([self.login.oauth2.token_url] if self.login is not None else [])]
        return not self.tls.verify and any(url.startswith("https") for url in urls)

    @property
    def gives_answers(self) -> bool:
        """Whether answers are looked for; a server that only retrieves has none."""
        return self.map.answer is not None or (self.stream is not None and self.stream.text_at is not None)

    @model_validator(mode="after")
    def _finds_something(self) -> Self:
        if not self.gives_answers and self.map.chunks is None:
            raise ValueError("map: it needs answer or chunks")
        return self

    @model_validator(mode="after")
    def _has_an_answer_to_join(self) -> Self:
        if self.retrieve is not None and not self.gives_answers:
            raise ValueError("retrieve needs map.answer: if the server only retrieves, request chunks by `ask`")
        return self

    def fingerprint(self) -> str:
        """A hash over how a question is asked and its answer read, with ${NAME} as written."""
        asked = {"ask", "stream", "session", "retrieve", "map", "citations", "clean"}
        deciding = self.model_dump(mode="json", by_alias=True, include=asked)
        for *above, key in _NEWER:
            place = deciding[above[0]] if above else deciding
            if place[key] in (None, {}, "json"):
                del place[key]
        if self.citations.markers == _MARKERS:
            deciding["citations"]["markers"] = _MARKERS_BEFORE
        return sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()


# What can be measured of a server, as far as its specification tells.


def measurable(spec: ServerSpec) -> list[str]:
    """The kinds of metrics that a server of this specification allows, such as `retrieval` and `citations`.

    Latency always can. That a part is looked for does not mean that the server sends it.
    """
    answers, given_as, listed = spec.gives_answers, spec.citations.given_as, spec.map.citations is not None
    parts = {
        "retrieval": spec.map.chunks is not None or spec.retrieve is not None,
        "answers": answers,
        "abstention": answers,
        "citations": answers and (given_as in {"auto", "markers"} or (given_as == "list" and listed)),
        "cost": spec.map.usage is not None,
        "stages": spec.map.stages is not None,
        "ingestion": spec.upload is not None,
        "first token": spec.stream is not None and spec.stream.text_at is not None,
    }
    return [part for part, there in parts.items() if there]
