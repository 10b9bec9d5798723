"""From a profile and the user's keys to a checked `ServerSpec`; and which of its values are secret."""

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from evals.client.mapping import CHUNK_KEYS, CITATION_KEYS, USAGE_KEYS, compiled, pattern_of
from evals.client.spec import GIVEN_NAMES, TEMPLATE, ServerSpec
from evals.errors import ConfigError, UnknownNameError, withdrawn_key
from evals.secrets import Masker, in_clear, leaves, looks_secret, secrets_in_url
from evals.text.yaml_files import VARIABLE, first_problem, is_left_out, merge, read_yaml

DEFAULT_PROFILE = "rag-server"

NO_PROFILE = "none"
"""Stands for no profile at all: the keys of `server:` are the whole specification."""

_BUILT_IN = Path(__file__).parent / "profiles"

_OF_THE_PROFILE = frozenset({"about", "extends"})
"""Keys of a profile that are none of a server: what it is for, and on which other one it is laid."""

_FILE_NAMES = (".yml", ".yaml")


@cache
def list_profiles() -> list[str]:
    """The names of the built-in profiles."""
    return sorted(path.stem for path in _BUILT_IN.glob("*.yml"))


def load_profile(name: str, *, above: tuple[str, ...] = ()) -> dict[str, Any]:
    """The keys of a profile, by its name or by the path of a YAML file, laid over those of the profile it extends.

    Args:
        name: Of the profile, or of its file.
        above: The profiles that extend it.

    Raises:
        ConfigError: There is no such profile or file, it is no YAML mapping, or it extends itself.
    """
    chain = (*above, name)
    if name in above:
        raise ConfigError(f"the profile {chain[0]} extends itself: {' → '.join(chain)}", "leave out one `extends`")
    keys = _own_keys(name)
    base = keys.get("extends")
    if base is not None and not isinstance(base, str):
        raise ConfigError(f"the profile {name}: extends must be the name of a profile or the path of a file")
    if base is not None and base.endswith(_FILE_NAMES):
        base = os.path.normpath(Path(name).parent / base)
    below = {} if base is None else load_profile(base, above=chain)
    return merge(below, {key: value for key, value in keys.items() if key not in _OF_THE_PROFILE})


def about_profile(name: str) -> str:
    """The `about` of a profile; empty without one.

    Raises:
        ConfigError: As of `load_profile`.
    """
    return str(_own_keys(name).get("about") or "")


def profile_text(name: str) -> str:
    """The text of a profile's file; empty for none.

    Raises:
        ConfigError: There is no such profile or file.
    """
    return "" if name == NO_PROFILE else _file(name).read_text(encoding="utf-8")


def _file(name: str) -> Path:
    if name.endswith(_FILE_NAMES):
        return Path(name)
    if name not in list_profiles():
        raise UnknownNameError("profile", name, list_profiles())
    return _BUILT_IN / f"{name}.yml"


def _own_keys(name: str) -> Mapping[str, Any]:
    """The keys of a profile, without those of the one that it extends."""
    if name == NO_PROFILE:
        return {}
    file = _file(name)
    keys = _read_built_in(file) if file.parent == _BUILT_IN else read_yaml(file, "profile")
    if "server" in keys:
        message = f"{name} is a configuration, and no profile: it has the key server"
        raise ConfigError(message, f"use --config {name}")
    return keys


@cache
def _read_built_in(file: Path) -> Mapping[str, Any]:
    return read_yaml(file, "profile")


def resolve_spec(overrides: Mapping[str, Any]) -> ServerSpec:
    """Build the specification of a server from its profile with the user's keys laid over it.

    Raises:
        ConfigError: The profile does not exist, or a key is unknown or has a wrong value; it names the key.
    """
    name = str(overrides.get("profile") or DEFAULT_PROFILE)
    try:
        spec = ServerSpec.model_validate({**merge(load_profile(name), overrides), "profile": name})
    except ValidationError as error:
        problem = first_problem(error, ServerSpec)
        hint = problem.hint or "see docs/profiles.md for the keys"
        raise withdrawn_key(f"server.{problem.key}") or SpecError(problem.key, f"server: {problem}", hint) from error
    check_spec(spec, before_environment=True)
    return spec


# Expressions, patterns and templates are checked before anything is sent.


_EXPRESSIONS = re.compile(
    r"(retrieve\.)?map\.\w+|(ask|retrieve)\.(ok_when|give\..+)|ask\.then\.(id|until|failed)|info\.\d+\.(of|map\..+)|"
    r"session\.id|stream\.(delta|done|error)|documents\.map|upload\.(id|document_ids)|ready\.(done_when|failed)"
)
"""The keys that hold JMESPath."""

_PATTERNS = re.compile(r"citations\.markers|clean\.\d+")

_REQUESTS = re.compile(r"(ask|retrieve)\.(path|((query|headers|form)\.|json).*)")
"""Those that hold templates."""

_OF_THE_QUESTION = frozenset({"question", "question_json", "messages"})

_ONE_BRACE = re.compile(r"(?<!\{)\{\s*(question|question_json|messages)\s*\}(?!\})")

_TEMPLATES = "the question is {{question}}, with two braces on each side"

_ITEMS = {"chunks": CHUNK_KEYS, "citations": CITATION_KEYS, "references": CITATION_KEYS, "usage": USAGE_KEYS}
"""The keys of what an expression selects, by the last part of its key."""


class SpecError(ConfigError):
    """A key of a specification is unknown or has a wrong value.

    Args:
        key: Its path, such as `map.chunks`; empty where no single key is wrong.
        message: One sentence that names it.
        hint: The way out.
    """

    def __init__(self, key: str, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.key = f"server.{key}" if key else "server"


def check_spec(spec: ServerSpec, *, before_environment: bool = False) -> None:
    """Check every expression, pattern and template.

    Args:
        spec: Of a server.
        before_environment: Whether what holds a ${NAME} is left for later.

    Raises:
        SpecError: One is wrong; it names its key.
    """
    texts = {key: text for key, text in leaves(spec.model_dump(by_alias=True)) if isinstance(text, str)}
    for key, text in texts.items():
        if before_environment and VARIABLE.search(text):
            continue
        try:
            if _PATTERNS.fullmatch(key):
                pattern_of(text)
            if _EXPRESSIONS.fullmatch(key):
                _check_keys(key, compiled(text))
        except SpecError:
            raise
        except ConfigError as error:
            raise SpecError(key, f"server.{key}: {error.message}") from error
    urls = [spec.url, spec.login.oauth2.token_url] if spec.login is not None else []
    if any("@" in urlsplit(url).netloc for url in urls):
        raise SpecError("login", "server.url or token_url holds a login as well as server.login.oauth2", "leave it out")
    _check_templates(spec, {key: text for key, text in texts.items() if _REQUESTS.fullmatch(key)})


def _check_templates(spec: ServerSpec, templates: Mapping[str, str]) -> None:
    """See that the question is sent, and that no name of a template is sent as it stands."""
    given = spec.ask.give.keys() | (spec.retrieve.give.keys() if spec.retrieve is not None else set())
    for key, template in templates.items():
        if single := _ONE_BRACE.search(template):
            raise SpecError(key, f"server.{key}: {single[0]} would be sent as it stands", _TEMPLATES)
        whole, known = TEMPLATE.fullmatch(template), GIVEN_NAMES | given
        if whole is not None and whole[1] not in known:
            raise SpecError(key, f"server.{key}: {template} stands for nothing", f"known: {', '.join(sorted(known))}")
    if _OF_THE_QUESTION.isdisjoint(name for template in templates.values() for name in TEMPLATE.findall(template)):
        raise SpecError("ask", "server.ask: no part of the request holds the question", _TEMPLATES)


def _check_keys(key: str, tree: Mapping[str, Any]) -> None:
    """See that each key which an expression gives to its items is known."""
    within, _, part = key.rpartition(".")
    known = _ITEMS.get(part, ()) if within in {"map", "retrieve.map"} else ()
    for name in _last_keys(tree) if known else ():
        if name not in known:
            raise SpecError(key, f"unknown key {f'server.{key}.{name}'!r}", f"known: {', '.join(known)}")


def _last_keys(node: Mapping[str, Any]) -> list[str]:
    """The keys of the objects that an expression ends with, of each of its alternatives; not those within calls."""
    if node["type"] == "multi_select_dict":
        return [child["value"] for child in node["children"]]
    if node["type"] == "function_expression":
        return []
    last = node["children"] if node["type"] == "or_expression" else node["children"][:2][-1:]  # a filter has a third
    return [key for child in last if isinstance(child, Mapping) for key in _last_keys(child)]


def measurable(spec: ServerSpec) -> list[str]:
    """The kinds of metrics that a server of this specification allows, such as `retrieval` and `citations`.

    Latency always can. That a part is looked for does not mean that the server sends it.
    """
    answers, given_as, listed = spec.gives_answers, spec.citations.given_as, spec.map.citations is not None
    parts = {
        "retrieval": spec.map.chunks is not None or (spec.retrieve is not None and spec.retrieve.map is not None),
        "answers": answers,
        "abstention": answers,
        "citations": answers and (given_as in {"auto", "markers"} or (given_as == "list" and listed)),
        "cost": spec.map.usage is not None,
        "stages": spec.map.stages is not None,
        "ingestion": spec.upload is not None,
        "first token": spec.stream is not None and spec.stream.text_at is not None,
    }
    return [part for part, can in parts.items() if can]


# What of a specification comes from the environment, and what no message may show.


def login_hint(spec: ServerSpec, environ: Mapping[str, str] | None = None) -> str | None:
    """The environment variable to set or check; None if no header uses one.

    Args:
        spec: With ${NAME} as written.
        environ: Instead of this process's environment.
    """
    env = os.environ if environ is None else environ
    requests = [spec.ask, *([spec.retrieve] if spec.retrieve is not None else [])]
    values = [*spec.headers.values(), *(value for request in requests for value in request.headers.values())]
    names = list(dict.fromkeys(name for value in values for name, _ in VARIABLE.findall(value)))
    if unset := [name for name in names if not env.get(name)]:
        return f"export {' and '.join(unset)}, or set server.headers"
    return f"look at the key in {' and '.join(names)}, or set server.headers" if names else None


def without_unset_headers(spec: ServerSpec) -> dict[str, Any]:
    """The keys of a specification without the headers whose optional variable, ${NAME:-}, is not set.

    Nor, where there is a login, with a header Authorization: a profile's may name a variable that is then not set.
    """
    keys: dict[str, Any] = spec.model_dump(by_alias=True)
    unsent = {"authorization"} if spec.login is not None else set()
    for part in filter(None, (keys, keys["ask"], keys["retrieve"])):
        given = {name: value for name, value in part["headers"].items() if name.lower() not in unsent}
        part["headers"] = {name: value for name, value in given.items() if not is_left_out(value)}
    return keys


class Redactor(Masker):
    """Masks the values that came from the environment, credentials written in clear and the URL's password.

    Args:
        secrets: Values to mask.
        spec: The server, with the environment's values filled in.
    """

    def __init__(self, secrets: Iterable[str], spec: ServerSpec) -> None:
        elsewhere = spec.retrieve.url if spec.retrieve is not None else None
        hidden = {*secrets, *secrets_in_url(spec.url), *secrets_in_url(elsewhere or "")}
        if spec.login is not None:
            hidden |= {spec.login.oauth2.client_secret, spec.login.oauth2.basic}
        sent = {"headers", "query", "body", "form"}
        keys = spec.model_dump(include={"headers": True, "ask": sent, "retrieve": sent})
        for path, value in in_clear(keys).items():
            if "headers" in path.split("."):
                hidden |= {value, value.rpartition(" ")[2]}
            elif looks_secret(str(value)):  # a word such as `sort_key: title` is none
                hidden.add(str(value))
        self._lasting, self._tokens = frozenset(hidden), list[str]()
        super().__init__(hidden)

    def learn(self, token: str) -> None:
        """Mask a token too, as long as it is one of the last few: an expired one opens nothing."""
        self._tokens = [*self._tokens[-7:], token]
        super().__init__({*self._lasting, *self._tokens})

    def body(self, body: bytes | bytearray) -> str:
        """A received body as text, with every secret masked."""
        return self.text(body.decode("utf-8", "replace"))
