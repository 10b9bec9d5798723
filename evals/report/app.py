"""What there is to ask for: the pages, what they load, and data as JSON."""

import json
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, lru_cache
from pathlib import Path
from secrets import compare_digest
from types import TracebackType
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, Response
from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evals.errors import ConfigError, EvalsError, RunNotFoundError, UnknownNameError
from evals.report import document as assets
from evals.report.document import RunsPage, packed
from evals.report.folder import HeldRun, LiveRuns, RunsFolder
from evals.report.review import GivenLabel, LabelDesk, LabelTakenError, verdict_and_comment
from evals.report.templates import render
from evals.text.yaml_files import first_problem

# Pages that are open in a browser.


_MOST_RUNS = 20

_HELD = 4


class HeldPage:
    """A page with its data blocks packed; those about all its runs are made once.

    Args:
        runs: The baseline first.
    """

    def __init__(self, runs: tuple[HeldRun, ...]) -> None:
        self.runs = runs
        self.page = RunsPage([run.measured for run in runs])
        self._shared: dict[str, bytes] = {}

    def html(self, labelling: str) -> str:
        """The page, of which its head can be read without JavaScript."""
        with self._locked():
            head = self.page.head()
        ids = ",".join(run.measured.run.id for run in self.runs)
        return _view("../../", "runs.js", labelling, title=self.page.title, head=head, runs=ids)

    def block(self, name: str) -> bytes:
        """A block as gzip of JSON.

        Raises:
            UnknownNameError: The page has no block of this name.
            StoreError: The records of a run cannot be read.
        """
        page = self.page
        make = page.shared.get(name) or page.overviews.get(name) or page.details.get(name)
        if make is None:
            raise UnknownNameError("data block", name, [])
        with self._locked():
            found = self._shared.get(name) or packed(make())
            if name in page.shared:
                self._shared[name] = found
            return found

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep the runs from other requests; in one order, so that two pages never wait for each other."""
        with ExitStack() as stack:
            for run in sorted(self.runs, key=lambda one: one.measured.run.id):
                stack.enter_context(run.lock)
            yield


class HeldPages:
    """Cache of the pages opened last; a page is made anew when its runs change.

    Args:
        folder: The runs.
    """

    def __init__(self, folder: RunsFolder) -> None:
        self._folder = folder
        self._page = lru_cache(_HELD)(HeldPage)

    def page(self, text: str) -> HeldPage:
        """The page of some runs.

        Args:
            text: Their ids separated by commas, as in the address of the page.

        Raises:
            ConfigError: They are too many, or one of them comes twice.
            RunNotFoundError: One of them is not there.
            StoreError: One of them cannot be read.
        """
        ids = text.split(",")
        if len(ids) > _MOST_RUNS or len(set(ids)) < len(ids):
            raise ConfigError(f"a page shows up to {_MOST_RUNS} runs, each once")
        return self._page(tuple(map(self._folder.measured, ids)))


def _view(root: str, script: str, labelling: str, *, title: str, head: str = "", runs: str = "") -> str:
    about = {"title": title, "head": head, "runs": runs, "labelling": labelling}
    return render("view.html.j2", root=root, script=script, **about)


# Who gets an answer: whoever has the address with the token, at a name of this machine, and no page of another
# origin.


HOST = "127.0.0.1"


NAMES = (HOST, "localhost")
"""What a browser may call this server: any other name points here by DNS rebinding."""

_OWN_FETCHES = frozenset({"same-origin", "none"})


def security_headers(styles: Sequence[str] = ()) -> dict[str, str]:
    """Headers of every response.

    Args:
        styles: Sources of style sheets that a script of ours makes, as a policy names them: `'sha256-…'`.
    """
    only_ours = ("connect-src 'self'", "frame-ancestors 'none'")
    return {
        "Content-Security-Policy": assets.policy(["'self'"], ["'self'", *styles], *only_ours),
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
        headers: Of every response.
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

        headers = Headers(scope=scope)
        token, slash, rest = str(scope["path"]).removeprefix("/").partition("/")
        is_known = compare_digest(token.encode(errors="replace"), self._token)
        is_ours = is_known and slash and headers.get("host", "").lower() in self._hosts
        path = f"/{rest}"
        status = self._refusal(headers, scope, path) if is_ours else 404
        if status is not None:
            await Response(status_code=status)(scope, receive, send_with_headers)
            return
        # The same request without the token: no message or log of what lies behind can hold it.
        inside = {**scope, "path": path, "raw_path": path.encode(errors="replace")}
        await self._app(inside, receive, send_with_headers)

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
    """Whether the request opens a page, as a click on the address in a terminal or in a mail does."""
    opens = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return bool(opens and scope["method"] == "GET" and path.endswith("/"))


# The server in a thread: it listens on this machine alone, and ends with whoever started it.


_END_S = 1.0


def bind(port: int) -> socket.socket:
    """A socket that listens on 127.0.0.1; port 0 takes any free one.

    Raises:
        ConfigError: The port is taken, or may not be used.
    """
    try:
        return socket.create_server((HOST, port), backlog=128)
    except OSError as error:
        said = (error.strerror or str(error)).partition(" (while ")[0]
        raise ConfigError(
            f"cannot listen on {HOST}:{port}: {said}", "name another --port, or leave it out for any free one"
        ) from error


class Listening:
    """A server that answers as long as this context is open.

    It runs in a daemon thread, and so do the threads in which it works: Ctrl-C waits for no answer that is half made.

    Args:
        app: What answers.
        listener: The socket; it is closed at the end.
    """

    def __init__(self, app: ASGIApp, listener: socket.socket) -> None:
        self._listener = listener
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([listener],), name="evals view", daemon=True)

    def __enter__(self) -> "Listening":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(_END_S)
        self._listener.close()

    def wait(self) -> None:
        """Wait until the server ends, or Ctrl-C, which is raised here."""
        while self._thread.is_alive():
            self._thread.join(0.5)


# The pages and what they load: those of the report, with scripts of our own that fetch.


_FOLDER = Path(__file__).resolve().parent / "viewer"


_SHARED = ("dom.js", "format.js", "blocks.js", "pages.js", "theme.js", "charts.js")
"""Scripts of the report that both kinds of pages need, in their order."""

_FETCHING = ("fetch.js", "live.js")

_OF_THE_FOLDER = ("keys.js", "trends.js", "list.js", "labelling.js")

JAVASCRIPT, CSS = "text/javascript; charset=utf-8", "text/css; charset=utf-8"


@cache
def asset(name: str) -> tuple[str, str] | None:
    """Text and type of a file that a page loads; None where there is none of this name."""
    if name == "style.css":
        return f"{assets.style()}\n{_own('view.css')}", CSS
    shared = [*map(assets.asset, _SHARED), *map(_own, _FETCHING)]
    scripts = {
        "folder.js": [*map(_own, _OF_THE_FOLDER), assets.asset("main.js")],
        "runs.js": [assets.asset(one) for one in assets.scripts() if one not in _SHARED],
    }
    if name in scripts:
        return "\n".join([*shared, *scripts[name]]), JAVASCRIPT
    library = next((one for one in assets.LIBRARIES if one.endswith(f"/{name}")), None)
    return None if library is None else (assets.asset(library), JAVASCRIPT)


@cache
def _own(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


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
    pages, live, desk = HeldPages(runs), LiveRuns(runs), LabelDesk(runs, annotator)
    labelling = "yes" if labels else ""

    @app.get("/")
    def all_runs() -> Response:
        return HTMLResponse(_view("./", "folder.js", labelling, title="Runs"))

    @app.get("/runs/{ids}/")
    def some_runs(ids: str) -> Response:
        return HTMLResponse(pages.page(ids).html(labelling).encode(errors="replace"))

    @app.get("/assets/{name}")
    def loaded(name: str) -> Response:
        found = asset(name)
        if found is None:
            raise HTTPException(404)
        return Response(found[0], media_type=found[1])

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

    if labels:
        _add_labelling(app, desk)
    return Guard(app, token=token, port=port, headers=security_headers([assets.source(assets.plot_style())]))


def _add_labelling(app: FastAPI, desk: LabelDesk) -> None:
    @app.get("/api/runs/{run_id}/labels")
    def given(run_id: str) -> Response:
        return _json(desk.overview(run_id))

    @app.get("/api/runs/{run_id}/answers/{number}")
    def answer(run_id: str, number: int) -> Response:
        return _json(desk.answer(run_id, number))

    @app.post("/api/runs/{run_id}/labels")
    async def give(run_id: str, request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise HTTPException(415)
        try:
            label = GivenLabel.model_validate_json(await _body(request))
        except ValidationError as error:
            raise ConfigError(f"this is no label: {first_problem(error, GivenLabel)}") from error
        return _json(await run_in_threadpool(desk.give, run_id, label))


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
    taken = {"found": verdict_and_comment(error.found)} if isinstance(error, LabelTakenError) else {}
    return _json({"error": error.message, "hint": error.hint, **taken}, status)


def _bare(_: Request, error: Exception) -> Response:
    return Response(status_code=error.status_code if isinstance(error, HTTPException) else 500)


def _json(value: Any, status: int = 200) -> Response:
    return Response(json.dumps(value, allow_nan=False).encode(), status, media_type="application/json")
