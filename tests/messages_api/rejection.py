"""How a request is turned down: the body and status of the real API."""

from typing import Any

TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""The error type of a status."""


class Rejection(Exception):  # noqa: N818 - it is a reply, not a failure of ours
    """The request is answered with an error.

    Attributes:
        status: HTTP status.
        body: What the API sends, without the request id.
        headers: Further headers of the reply.
    """

    def __init__(
        self, status: int, message: str, *, error_code: str | None = None, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        fallback = "invalid_request_error" if status < 500 else "api_error"
        error: dict[str, Any] = {"type": TYPES.get(status, fallback), "message": message}
        if error_code is not None:
            error["details"] = {"error_code": error_code}
        self.status = status
        self.body = {"type": "error", "error": error}
        self.headers = headers or {}
