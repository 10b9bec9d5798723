"""Bearer authentication on everything but /health."""

import secrets

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class BearerAuth:
    """Lets a request through only if it carries the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        """Guard the app with the token."""
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401, or hand the request on."""
        if scope["type"] != "http" or scope["path"] == "/health" or self._allows(scope):
            await self._app(scope, receive, send)
            return
        refusal = JSONResponse({"detail": "A valid bearer token is required."}, 401, {"WWW-Authenticate": "Bearer"})
        await refusal(scope, receive, send)

    def _allows(self, scope: Scope) -> bool:
        given = Headers(scope=scope).get("authorization", "")
        scheme, _, token = given.partition(" ")
        normal = f"{scheme.capitalize()} {token.strip()}".encode()
        return secrets.compare_digest(normal, self._expected)
