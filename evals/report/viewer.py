"""`evals view`: the pages of a folder of runs, served on loopback, read only."""

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi.responses import HTMLResponse, StreamingResponse
from starlette.middleware.trustedhost import TrustedHostMiddleware

from evals.errors import ConfigError, EvalsError
from evals.report.page import list_page, page_of
from evals.scoring.saved import SavedRun, open_run
from evals.store.runs import RunStore

HOST = "127.0.0.1"
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


def create_app(folder: Path, token: str) -> FastAPI:
    """The pages of a folder of runs, below a path that holds a secret token.

    Args:
        folder: Of saved runs.
        token: Another process on this machine, or a page of another origin, does not know it.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])
    store = RunStore(folder)

    @app.middleware("http")
    async def with_headers(request: Request, call_next: Callable[[Request], Any]) -> Response:
        response: Response = await call_next(request)
        response.headers.update(_HEADERS)
        return response

    @app.get(f"/{token}/")
    def runs() -> HTMLResponse:
        survey = store.survey().without_calibrations()
        messages = [error.message for error in survey.unreadable]
        return HTMLResponse(list_page([*reversed(survey.runs)], messages, str(folder)))

    @app.get(f"/{token}/run/{{run_id}}")
    def one(run_id: str) -> StreamingResponse:
        return _page([_opened(store, run_id)], "../")

    @app.get(f"/{token}/compare")
    def compare(run: Annotated[list[str] | None, Query()] = None) -> StreamingResponse:
        if not run:
            raise HTTPException(400, "choose runs to compare")
        saved = sorted((_opened(store, run_id) for run_id in dict.fromkeys(run)), key=lambda each: each.run.created_at)
        return _page(saved, "./")

    return app


def _opened(store: RunStore, run_id: str) -> SavedRun:
    try:
        return open_run(store, run_id)
    except EvalsError as error:
        raise HTTPException(404, error.message) from error


def _page(runs: list[SavedRun], home: str) -> StreamingResponse:
    def pieces() -> Iterator[bytes]:
        for piece in page_of(runs, home=home):
            yield piece.encode(errors="replace")

    return StreamingResponse(pieces(), media_type="text/html; charset=utf-8")


def bind(port: int) -> socket.socket:
    """A socket that listens on a port of this machine alone; 0 for any free one. Its address can be told at once.

    Raises:
        ConfigError: The port cannot be used.
    """
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise ConfigError(f"port {port} cannot be used: {error.strerror}", "name another with --port") from error
    return listener


def serve(app: FastAPI, listener: socket.socket) -> None:
    """Serve until a signal ends it, which is raised again then: Ctrl-C as KeyboardInterrupt."""
    with listener:
        uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off")).run(sockets=[listener])
