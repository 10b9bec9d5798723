"""`evals view`."""

import sys
import webbrowser
from pathlib import Path
from secrets import token_urlsafe

from evals.cli.terminal.console import clean, console
from evals.errors import ConfigError
from evals.store.commands import DEFAULT_RUNS_DIR
from evals.viewer.app import create_app
from evals.viewer.guard import HOST
from evals.viewer.listening import Listening, bind

_TOKEN_BYTES = 24


def view(*, runs_dir: Path | None, port: int, label: bool, annotator: str | None, browser: bool) -> None:
    """Serve the pages of a folder of runs until somebody presses Ctrl-C.

    Args:
        runs_dir: The folder; None for the usual one.
        port: To listen on; 0 for any free one.
        label: Whether answers can be labelled.
        annotator: Who labels, where several people do.
        browser: Whether to open one, where there is a terminal.

    Raises:
        ConfigError: There is no such folder, the port cannot be used, or somebody is named who labels nothing.
    """
    folder = runs_dir or Path(DEFAULT_RUNS_DIR)
    if not folder.is_dir():
        raise ConfigError(f"there is no folder {folder}", "`evals eval` saves runs; name their folder with --runs-dir")
    if annotator and not label:
        raise ConfigError("--annotator says who labels, and nothing is labelled without --label", "add --label")
    listener, token = bind(port), token_urlsafe(_TOKEN_BYTES)
    taken = listener.getsockname()[1]
    app = create_app(folder, token=token, port=taken, labels=label, annotator=annotator or "")
    with Listening(app, listener) as server:
        _tell(f"http://{HOST}:{taken}/{token}/", folder, label=label, browser=browser)
        try:
            server.wait()
        except KeyboardInterrupt:
            console(sys.stderr).print("ended")


def _tell(url: str, folder: Path, *, label: bool, browser: bool) -> None:
    out = console()
    does = "answers can be labelled" if label else "nothing is written"
    out.print(url, soft_wrap=True)
    console(sys.stderr).print(clean(f"runs in {folder}; {does}; Ctrl-C ends it"), soft_wrap=True)
    out.file.flush()
    if browser and out.is_terminal:
        webbrowser.open(url)
