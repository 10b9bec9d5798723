"""What there is to ask for: the pages, what they load, and data as JSON."""

import json
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, Response
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from evals.errors import ConfigError, EvalsError, RunNotFoundError, UnknownNameError
from evals.export.label_sheet import LabelTakenError
from evals.inputs.problems import first_problem
from evals.report.assets import plot_style
from evals.viewer.blocks import RunsPages
from evals.viewer.folder import RunsFolder
from evals.viewer.guard import Guard, security_headers
from evals.viewer.labelling import GivenLabel, LabelDesk
from evals.viewer.live import LiveRuns
from evals.viewer.pages import asset, folder_page, runs_page

_MOST_BYTES = 64 * 1024
"""Of a label with its note."""
_STATUS: tuple[tuple[type[EvalsError], int], ...] = (
    (RunNotFoundError, 404),
    (LabelTakenError, 409),
    (UnknownNameError, 404),
    (ConfigError, 422),
)


def create_app(folder: Path, *, token: str, port: int, labels: bool = False, annotator: str = "") -> ASGIApp:
    """Make the application.

    Args:
        folder: Of saved runs.
        token: That every path begins with.
        port: On which it will listen.
        labels: Whether answers can be labelled; without, there is no route that writes.
        annotator: Who labels; may be empty.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    app.add_exception_handler(EvalsError, _say)
    app.add_exception_handler(HTTPException, _bare)
    runs = RunsFolder(folder)
    pages = RunsPages(runs)
    _add_pages(app, pages, labelling=labels)
    _add_data(app, LiveRuns(runs), pages)
    if labels:
        _add_labelling(app, LabelDesk(runs, annotator))
    style = b64encode(sha256(plot_style().encode()).digest()).decode()
    return Guard(app, token=token, port=port, headers=security_headers([f"'sha256-{style}'"]))


def _add_pages(app: FastAPI, pages: RunsPages, *, labelling: bool) -> None:
    @app.get("/")
    def all_runs() -> Response:
        return HTMLResponse(folder_page(labelling=labelling))

    @app.get("/runs/{ids}/")
    def some_runs(ids: str) -> Response:
        return HTMLResponse(runs_page(pages.page(ids), labelling=labelling).encode(errors="replace"))

    @app.get("/assets/{name}")
    def loaded(name: str) -> Response:
        found = asset(name)
        if found is None:
            raise HTTPException(404)
        return Response(found[0], media_type=found[1])


def _add_data(app: FastAPI, live: LiveRuns, pages: RunsPages) -> None:
    @app.get("/api/runs")
    def list_of_runs() -> Response:
        return _json(live.listing())

    @app.get("/api/runs/{run_id}/progress")
    def progress(run_id: str) -> Response:
        return _json(live.progress(run_id))

    @app.get("/runs/{ids}/block/{name:path}")
    def block(ids: str, name: str) -> Response:
        return Response(
            pages.page(ids).block(name), media_type="application/json", headers={"Content-Encoding": "gzip"}
        )


def _add_labelling(app: FastAPI, labels: LabelDesk) -> None:
    @app.get("/api/runs/{run_id}/labels")
    def given(run_id: str) -> Response:
        return _json(labels.overview(run_id))

    @app.get("/api/runs/{run_id}/answers/{number}")
    def answer(run_id: str, number: int) -> Response:
        return _json(labels.answer(run_id, number))

    @app.post("/api/runs/{run_id}/labels")
    async def give(run_id: str, request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise HTTPException(415)
        try:
            label = GivenLabel.model_validate_json(await _body(request))
        except ValidationError as error:
            raise ConfigError(f"this is no label: {first_problem(error, GivenLabel)}") from error
        return _json(await run_in_threadpool(labels.give, run_id, label))


async def _body(request: Request) -> bytes:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _MOST_BYTES:
            raise HTTPException(413)
    return body


def _say(_: Request, error: Exception) -> Response:
    """Why a request cannot be answered, in the words of the command line."""
    assert isinstance(error, EvalsError)  # noqa: S101 - what it is registered for
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    found = {"found": _label(error.found)} if isinstance(error, LabelTakenError) else {}
    return _json({"error": error.message, "hint": error.hint, **found}, status)


def _label(row: dict[str, str] | None) -> dict[str, str] | None:
    return row and {"verdict": row["verdict"], "comment": row["comment"]}


def _bare(_: Request, error: Exception) -> Response:
    return Response(status_code=error.status_code if isinstance(error, HTTPException) else 500)


def _json(value: Any, status: int = 200) -> Response:
    return Response(json.dumps(value, allow_nan=False).encode(), status, media_type="application/json")
