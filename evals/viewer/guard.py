"""Who gets an answer: whoever has the address with the token, at a name of this machine, and no page of another origin.

The token is a part of every path. A cookie would be sent to every other server on 127.0.0.1 too, as browsers keep
cookies by host and not by port, and it would come with requests that another page makes; a path is known to nobody who
was not told it, and no request of another page can hold it.
"""

from collections.abc import Mapping, MutableMapping, Sequence
from secrets import compare_digest
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
"""What a browser may call this server: any other name is one that somebody made point here (DNS rebinding)."""
_OWN_FETCHES = frozenset({"same-origin", "none"})


def security_headers(styles: Sequence[str] = ()) -> dict[str, str]:
    """What stands with every answer.

    Args:
        styles: Sources of style sheets that a script of ours makes, as a policy names them: `'sha256-…'`.
    """
    policy = [
        "default-src 'none'",
        "script-src 'self'",
        " ".join(["style-src 'self'", *styles]),
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    return {
        "Content-Security-Policy": "; ".join(policy),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }


class Guard:
    """Lets requests through that may have an answer, without the token in their path; others get a bare status.

    Args:
        app: What answers.
        token: That every path begins with.
        port: On which the server listens.
        headers: That stand with every answer.
    """

    def __init__(self, app: ASGIApp, *, token: str, port: int, headers: Mapping[str, str]) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = {f"{name}:{port}" for name in NAMES} | (set(NAMES) if port == 80 else set())
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *self._headers]}
            await send(message)

        path = self._path_inside(scope)
        status = 404 if path is None else self._refusal(Headers(scope=scope), scope, path)
        if status is not None:
            await Response(status_code=status)(scope, receive, send_with_headers)
            return
        await self._app(_moved(scope, path or "/"), receive, send_with_headers)

    def _path_inside(self, scope: Scope) -> str | None:
        """What follows the token in the path; None where the host or the token is wrong."""
        host = Headers(scope=scope).get("host", "").lower()
        token, slash, rest = str(scope["path"]).removeprefix("/").partition("/")
        known = compare_digest(token.encode(errors="replace"), self._token)
        return f"/{rest}" if known and slash and host in self._hosts else None

    def _refusal(self, headers: Headers, scope: Scope, path: str) -> int | None:
        """The status for a request that a page of another origin makes; None for one that may be answered."""
        if _is_visit(headers, scope, path):
            return None
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        is_own = origin is None or origin.lower() in {f"http://{host}" for host in self._hosts}
        if not is_own or (site is not None and site not in _OWN_FETCHES):
            return 403
        return 403 if scope["method"] not in {"GET", "HEAD"} and origin is None else None


def _is_visit(headers: Headers, scope: Scope, path: str) -> bool:
    """Whether somebody opens a page, as by a click on the address in a terminal or in a mail."""
    opens = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return bool(opens and scope["method"] == "GET" and path.endswith("/"))


def _moved(scope: MutableMapping[str, Any], path: str) -> dict[str, Any]:
    """The same request for a path without the token: no message or log of what lies behind can hold it."""
    return {**scope, "path": path, "raw_path": path.encode(errors="replace")}
