"""What is let in: requests to a name of this server, with bodies of a bounded size and of the shape of the contract."""

import json
from collections.abc import Sequence
from ipaddress import ip_address

from fastapi import HTTPException
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_JSON_BYTES = 1024 * 1024
"""Of a body that holds no files."""
UPLOADED_AT_ONCE = 4
"""So many of the largest files fit into one upload."""
_MOST_PROBLEMS = 20
_TOO_LARGE = 413
_MISDIRECTED = 421


class HostCheck:
    """Refuses requests to names that are not this server's.

    Without it, a web page could have its own name lead to this machine and read the documents: DNS rebinding.
    """

    def __init__(self, app: ASGIApp, allowed: Sequence[str]) -> None:
        """Let through what is for a loopback name, or for one of these."""
        self._app = app
        self._allowed = {_plain(name) for name in allowed}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 421, or hand the request on."""
        if scope["type"] != "http" or self._allows(Headers(scope=scope).getlist("host")):
            await self._app(scope, receive, send)
            return
        detail = "This server does not answer to that name; start it with --allow-host and the name."
        await JSONResponse({"detail": detail}, _MISDIRECTED)(scope, receive, send)

    def _allows(self, hosts: Sequence[str]) -> bool:
        if len(hosts) != 1:
            return False
        name = _plain(_without_port(hosts[0]))
        return name in self._allowed or _is_loopback(name)


class BodyLimit:
    """Refuses bodies that are too large, before they are in memory."""

    def __init__(self, app: ASGIApp, max_upload_bytes: int) -> None:
        """Take uploads of some files of this size, and other bodies up to a megabyte."""
        self._app = app
        self._most_of_upload = UPLOADED_AT_ONCE * max_upload_bytes + MOST_JSON_BYTES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 413, or hand the request on and count what comes."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._most_of_upload if scope["path"] == "/upload" else MOST_JSON_BYTES
        try:
            _check(_declared(scope), most)
            await self._app(scope, _counted(receive, most), send)
        except HTTPException as refusal:
            await JSONResponse({"detail": refusal.detail}, refusal.status_code)(scope, receive, send)


def _check(size: int, most: int) -> None:
    """Raises HTTPException, which the framework hands on as it is."""
    if size > most:
        raise HTTPException(_TOO_LARGE, f"The body is larger than {most} bytes.")


def _declared(scope: Scope) -> int:
    """The size that a request says it has; 0 where it does not say."""
    said = Headers(scope=scope).get("content-length", "")
    return int(said) if said.isascii() and said.isdigit() and len(said) < 20 else 0


def _counted(receive: Receive, most: int) -> Receive:
    """A receive that raises once more than this has come."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        _check(seen, most)
        return message

    return counted


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _plain(name: str) -> str:
    return name.strip("[]").rstrip(".").lower()


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


async def refuse_body(_: Request, error: Exception) -> Response:
    """Answer 422 with what is wrong and where, without what was sent: that may be what no JSON can hold."""
    problems = error.errors()[:_MOST_PROBLEMS] if isinstance(error, RequestValidationError) else []
    detail = [{"type": each["type"], "loc": [*map(str, each["loc"])], "msg": each["msg"]} for each in problems]
    return Response(json.dumps({"detail": detail}), 422, media_type="application/json")
