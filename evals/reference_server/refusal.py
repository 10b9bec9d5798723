"""The answer to a body that does not have the shape of the contract."""

import json

from fastapi.exceptions import RequestValidationError
from starlette.requests import Request
from starlette.responses import Response

_MOST_PROBLEMS = 20


async def refuse_body(_: Request, error: Exception) -> Response:
    """Answer 422 with what is wrong and where, without what was sent: that may be what no JSON can hold."""
    problems = error.errors()[:_MOST_PROBLEMS] if isinstance(error, RequestValidationError) else []
    detail = [{"type": each["type"], "loc": [*map(str, each["loc"])], "msg": each["msg"]} for each in problems]
    return Response(json.dumps({"detail": detail}), 422, media_type="application/json")
