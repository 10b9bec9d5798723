"""The hub: whether it can be reached, and loading through the `datasets` library."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from servers import PATIENCE_S

from evals.datasets import hub
from evals.datasets.hub import hub_reachable

ROOT = Path(__file__).resolve().parents[2]
CARD = """---
configs:
- config_name: squad_v2
  data_files:
  - split: validation
    path: squad_v2/validation-*
---
"""
SCRIPT = """
import json, sys
from pathlib import Path
from evals.datasets.base import LoadOptions
from evals.datasets.registry import get_loader
from evals.errors import EvalsError
folder = Path(sys.argv[1]) if sys.argv[1] else None
try:
    dataset = get_loader("squad_v2").load(LoadOptions(data_dir=folder, config=sys.argv[2] or None))
except EvalsError as error:
    print(json.dumps({"error": type(error).__name__, "message": error.message, "hint": error.hint}))
else:
    print(dataset.model_dump_json())
"""
LOOPBACK_ONLY = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


class _NotFound(BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        self.send_response(404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    """The URL of a server that knows no page."""
    with HTTPServer(("127.0.0.1", 0), _NotFound) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


@pytest.fixture
def dead() -> str:
    """A URL at which nothing answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Load SQuAD v2 in a process of its own, with an empty cache; returns the dataset or the error."""

    def run(folder: Path | str = "", config: str = "", environ: Mapping[str, str] | None = None) -> dict[str, Any]:
        caches = {name: str(tmp_path / "cache" / name) for name in ("HF_HOME", "HF_DATASETS_CACHE", "HF_HUB_CACHE")}
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", SCRIPT, str(folder), config],
            cwd=ROOT,
            env={**inherited, **LOOPBACK_ONLY, **caches, **(environ or {})},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        result: dict[str, Any] = json.loads(done.stdout)
        return result

    return run


@pytest.fixture
def clone(put: Callable[..., Path], squad_row: Callable[..., dict[str, Any]]) -> Path:
    """A data directory with a clone of the hub's repository: card and Parquet."""
    data = put("squad_v2", [squad_row("a", "Kings"), squad_row("b")])
    folder = data.parent / "hub"
    folder.mkdir()
    (data / "squad_v2").rename(folder / "rajpurkar__squad_v2")
    (folder / "rajpurkar__squad_v2" / "README.md").write_text(CARD, encoding="utf-8")
    return folder


@pytest.mark.parametrize("variable", ["HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"])
@pytest.mark.parametrize("value", ["1", "true", "YES", " on "])
def test_offline_by_the_environment_asks_nobody(server: str, variable: str, value: str) -> None:
    """The libraries' own switches hold, though the hub would answer."""
    assert hub_reachable({variable: value, "HF_ENDPOINT": server}) is False


@pytest.mark.parametrize("value", ["0", "", "false"])
def test_a_switch_that_is_off_asks_the_hub(server: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any answer, also 404, says that the hub can be reached."""
    for name, hosts in LOOPBACK_ONLY.items():
        monkeypatch.setenv(name, hosts)
    assert hub_reachable({"HF_HUB_OFFLINE": value, "HF_ENDPOINT": server}) is True


def test_a_hub_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits longer than three seconds to hear that there is no hub."""
    assert hub.PROBE_TIMEOUT_S <= 3
    monkeypatch.setattr(hub, "PROBE_TIMEOUT_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert hub_reachable({"HF_ENDPOINT": f"http://127.0.0.1:{silent.getsockname()[1]}"}) is False


@pytest.mark.parametrize("endpoint", ["", "no url", "http://", "http://[::1", "ftp://127.0.0.1"])
def test_an_endpoint_that_is_no_url_is_not_reachable(endpoint: str) -> None:
    """A typing error in HF_ENDPOINT ends in the same message as a dead hub."""
    assert hub_reachable({"HF_ENDPOINT": endpoint}) is False


def test_a_clone_is_read_by_the_way_of_the_hub(load: Callable[..., dict[str, Any]], clone: Path, dead: str) -> None:
    """Rows come through the real library, without a warning and with no hub to ask."""
    dataset = load(clone, environ={"HF_ENDPOINT": dead})
    assert sorted(question["id"] for question in dataset["questions"]) == ["squad_v2:a", "squad_v2:b"]
    assert dataset["fingerprint"]["source"] == "rajpurkar/squad_v2/squad_v2/validation (local clone)"
    gold = next(q["gold_passages"][0] for q in dataset["questions"] if q["gold_passages"])
    start, end = gold["span"]
    assert dataset["documents"][0]["text"][start:end] == gold["text"]


def test_an_unknown_config_of_a_clone_is_our_error(load: Callable[..., dict[str, Any]], clone: Path, dead: str) -> None:
    """The message names repository, config and split, and where the config is written."""
    error = load(clone, "nope", environ={"HF_ENDPOINT": dead})
    assert error["error"] == "DatasetError"
    assert "rajpurkar/squad_v2 (nope, validation)" in error["message"]
    assert "--datasets" in error["hint"]
