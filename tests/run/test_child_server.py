"""The reference server as a child process."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from servers import PATIENCE_S

from evals import EvalConfig
from evals.client.profile import resolve_spec
from evals.errors import ConfigError, ServerUnreachableError
from evals.run import embedded
from evals.run.checks import check_config
from evals.run.embedded import embedded_server, embedded_spec, other_profile


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy of this machine stands between a test and its server."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list["subprocess.Popen[bytes]"]:
    """Every child that is started."""
    started: list[subprocess.Popen[bytes]] = []

    class Watched(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    return started


@pytest.fixture
def instead(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Start a shell script in place of the server."""

    def replace(script: str) -> None:
        program = tmp_path / "python"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(program))

    return replace


def _start() -> None:
    with embedded_server():
        raise AssertionError("it started")


def test_it_answers_inside_the_context_and_is_gone_after_it(
    children: list["subprocess.Popen[bytes]"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It listens on loopback, begins without documents, and leaves no process behind."""
    monkeypatch.setattr(embedded, "_STOP_TIMEOUT_S", PATIENCE_S)
    with embedded_server() as url:
        assert url.startswith("http://127.0.0.1:")
        assert httpx.get(f"{url}/health", timeout=PATIENCE_S).json() == {"status": "healthy"}
        assert httpx.get(f"{url}/documents", timeout=PATIENCE_S).json() == {"documents": []}
    (child,) = children
    assert child.poll() == 0
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/health", timeout=PATIENCE_S)


def test_it_ends_when_the_body_of_the_context_raises(children: list["subprocess.Popen[bytes]"]) -> None:
    """The error goes through, the process ends."""
    with pytest.raises(KeyError, match="ours"), embedded_server():
        raise KeyError("ours")
    assert children[0].poll() is not None


@pytest.mark.parametrize("key", [{"ask": {"path": "/chat"}}, {"map": {"answer": "text"}}])
def test_how_a_server_of_another_profile_is_asked_is_refused(key: dict[str, Any]) -> None:
    """Exit 2 before anything starts: it would be silently wrong, or wrongly blamed on the server."""
    (name,) = key
    with pytest.raises(ConfigError, match=f"server.{name} is for a server of profile 'chat.yml'") as caught:
        check_config(EvalConfig(embedded=True, judge=False, server={"profile": "chat.yml", **key}))
    assert f"leave server.{name} out" in (caught.value.hint or "")
    assert check_config(
        EvalConfig(embedded=True, judge=False, server={"profile": "rag-server", "ask": {"method": "POST"}})
    )


def test_the_keys_of_the_configuration_hold_for_it_but_not_which_server_it_is() -> None:
    """Limits and headers are laid over it; the URL and the profile are its own."""
    other = {"url": "http://other", "profile": "nowhere.yml"}
    spec = embedded_spec(
        "http://127.0.0.1:1", {**other, "timeout_s": 7, "headers": {"X-A": "b"}, "upload": {"batch": 3}}
    )
    assert (spec.timeout_s, spec.headers, spec.upload and spec.upload.batch) == (7, {"X-A": "b"}, 3)
    assert spec == resolve_spec(
        {"url": "http://127.0.0.1:1", "timeout_s": 7, "headers": {"X-A": "b"}, "upload": {"batch": 3}}
    )
    assert (other_profile(other), other_profile({"url": "http://other"})) == ("nowhere.yml", None)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo first >&2; echo 'no module named x' >&2; exit 3", "no module named x"),
        ("exit 0", "no output"),
        ("echo 'not the line'; echo 'a warning' >&2", "a warning"),
        ("echo '[1]'", "no output"),
        ("echo '{}'", "no output"),
    ],
)
def test_a_server_that_does_not_start_says_what_it_said(
    script: str, said: str, instead: Callable[[str], None], children: list["subprocess.Popen[bytes]"]
) -> None:
    """The last line of its error output is in the message, whatever it printed instead of its port."""
    instead(script)
    with pytest.raises(ServerUnreachableError, match=f"did not start: {said}"):
        _start()
    assert children[0].poll() is not None


def test_a_server_that_says_nothing_is_ended(
    instead: Callable[[str], None], children: list["subprocess.Popen[bytes]"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not wait for ever, and kills a child that does not end with its input."""
    monkeypatch.setattr(embedded, "START_TIMEOUT_S", 0.05)
    monkeypatch.setattr(embedded, "_STOP_TIMEOUT_S", 0.05)
    instead("exec sleep 60")
    with pytest.raises(ServerUnreachableError, match="no output"):
        _start()
    assert children[0].poll() == -9


def test_a_program_that_cannot_be_started_is_no_traceback(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A missing interpreter is a server that did not start."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    with pytest.raises(ServerUnreachableError, match="did not start"):
        _start()
