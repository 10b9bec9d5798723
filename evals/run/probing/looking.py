"""What a server shows without being asked a question: everything here is GET."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from evals.client.profile import list_profiles, load_profile, resolve_spec
from evals.client.spec import ServerSpec
from evals.client.transport import Reply, Transport, TransportFailure
from evals.errors import ConfigError, ServerUnreachableError
from evals.run.probing.openapi import QUESTION, USUAL, Plan, paths_of
from evals.text.decoding import parse_json
from evals.text.yaml_files import VARIABLE, expand_env

_TIMEOUT_S = 5.0

_HEALTH = ("/health", "/healthz", "/api/health", "/ping", "/ok", "/status")

_NOTHING = "/evals-probe-finds-nothing-here"


_FINGERPRINTS = {"openwebui": "/api/v1/files/"}
"""By profile, a path that tells a server whose web page answers a GET of every path that takes a POST alone."""

_THERE = frozenset({200, 400, 401, 403, 405, 415, 422})

Tell = Callable[[str], None]


@dataclass(slots=True)
class Sighted:
    """What was seen.

    Attributes:
        openapi: The document; None without one.
        health: A path that answers 2xx; None without one.
        paths: Paths that are there, though a GET asks nothing of them.
    """

    openapi: Mapping[str, Any] | None = None
    health: str | None = None
    paths: list[str] = field(default_factory=list)


async def look(transport: Transport, tell: Tell, profiles: Sequence[ServerSpec], *, only: bool) -> Sighted:
    """Look at a server by GET alone.

    Args:
        transport: Reaches it.
        tell: Called with what is looked at and found.
        profiles: Of which paths are looked for where no document lists them.
        only: Whether the path to ask is known, so that none is looked for.

    Raises:
        ServerUnreachableError: Nothing answers.
    """
    seen = Sighted()
    reply = await _get(transport, "/openapi.json")
    seen.openapi = _document(reply)
    tell("GET /openapi.json: " + (f"{len(paths_of(seen.openapi))} operations" if seen.openapi else "none"))
    for path in dict.fromkeys((*_HEALTH, *(spec.health.path for spec in profiles if spec.health))):
        if _status(await _get(transport, path)) == 200:
            seen.health = path
            tell(f"GET {path}: it answers, and is taken for a health check")
            break
    if seen.openapi is None and not only:
        seen.paths = await _paths(transport, tell, profiles)
    return seen


async def _paths(transport: Transport, tell: Tell, profiles: Sequence[ServerSpec]) -> list[str]:
    """Which paths of profiles and which usual ones are there: those that refuse a GET otherwise than with 404."""
    nothing = _status(await _get(transport, _NOTHING))
    asked = dict.fromkeys((*(spec.ask.path for spec in profiles), *USUAL, *_FINGERPRINTS.values()))
    found = []
    for path in asked:
        if not VARIABLE.search(path) and "{{" not in path:
            status = _status(await _get(transport, path))
            if status in _THERE and status != nothing:
                found.append(path)
    tell(f"GET of {len(asked)} paths of profiles and usual ones: {', '.join(found) or 'none'} may be there")
    return found


def fitting(seen: Sighted, profiles: Sequence[ServerSpec], only: str | None) -> list[ServerSpec]:
    """The built-in profiles whose path is there, or is the only one; those come first whose other paths are there too.

    Args:
        seen: What was seen of the server.
        profiles: The profiles.
        only: The path to ask, where it is known.
    """
    if only is not None:
        return [spec for spec in profiles if spec.ask.path == only]
    if seen.openapi is None:
        return [spec for spec in profiles if {spec.ask.path, _FINGERPRINTS.get(spec.profile)} & set(seen.paths)]
    known = paths_of(seen.openapi)
    shapes = {_shape(path) for _, path in known}
    there = [spec for spec in profiles if (spec.ask.method, spec.ask.path) in known]
    return sorted(there, key=lambda spec: -_share_there(spec, shapes))


def is_askable(spec: ServerSpec) -> bool:
    """Whether the request of a profile needs nothing of the environment, and its answer can show chunks."""
    needs = VARIABLE.search(spec.model_dump_json(include={"ask", "retrieve"}))
    return needs is None and (spec.retrieve is not None or spec.map.chunks is not None)


def _share_there(spec: ServerSpec, shapes: Collection[str]) -> float:
    """Which share of the paths of a profile, other than that of its question, is among these."""
    parts = (spec.health, spec.retrieve, spec.documents, spec.upload, spec.ready, *spec.info)
    paths = [_shape(part.path) for part in parts if part is not None]
    return sum(path in shapes for path in paths) / len(paths) if paths else 0.0


def _shape(path: str) -> str:
    """A path without the names of its parameters."""
    return re.sub(r"\{+[^{}]*\}+", "{}", path)


def plan_of(spec: ServerSpec) -> Plan:
    """The request of a built-in profile."""
    ask = spec.ask
    return Plan(ask.method, ask.path, ask.body, ask.query, f"the built-in profile {spec.profile}", spec.profile)


def usual(seen: Sighted) -> list[Plan]:
    """Requests to paths that are there, in the commonest form."""
    source = "a usual path and form"
    doubts = ("path and field are guesses",)
    paths = [path for path in seen.paths if path not in _FINGERPRINTS.values()]
    return [Plan("POST", path, {"question": QUESTION}, source=source, doubts=doubts) for path in paths]


def built_in() -> list[ServerSpec]:
    """The built-in profiles with the defaults of their ${NAME:-default}, without those that are broken.

    The environment is not read: a key in it is for the server that its owner means, which this one need not be.
    """
    specs = []
    for name in list_profiles():
        with suppress(ConfigError):
            keys = load_profile(name)
            requests = {part: keys[part] for part in ("ask", "retrieve") if keys.get(part)}
            with suppress(ConfigError):  # one without a default stays as it is, so that the profile is not asked
                requests = expand_env(requests, set(), {})
            specs.append(resolve_spec({"profile": name, **requests}))
    return specs


async def _get(transport: Transport, path: str) -> Reply | TransportFailure:
    try:
        return await transport.send("GET", path, timeout_s=_TIMEOUT_S)
    except TransportFailure as failure:
        if failure.error.kind == "connect":
            raise ServerUnreachableError(
                f"no server answers at {transport.base} ({failure.error.message})", "check the URL and its port"
            ) from failure
        return failure


def _status(reply: Reply | TransportFailure) -> int | None:
    return reply.status if isinstance(reply, Reply) else reply.error.status


def _document(reply: Reply | TransportFailure) -> Mapping[str, Any] | None:
    if not isinstance(reply, Reply):
        return None
    try:
        body = parse_json(reply.body)
    except ValueError:
        return None
    return body if isinstance(body, Mapping) and isinstance(body.get("paths"), Mapping) else None
