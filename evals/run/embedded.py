"""The embedded reference server as a child process, evaluated by HTTP like any other server."""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evals.client.profile import DEFAULT_PROFILE, resolve_spec
from evals.client.spec import ServerSpec
from evals.errors import ConfigError, ServerUnreachableError

START_TIMEOUT_S = 30.0

_STOP_TIMEOUT_S = 5.0


def embedded_spec(url: str, server: Mapping[str, Any]) -> ServerSpec:
    """The specification of the embedded server at this URL, with the keys of the configuration laid over it.

    Raises:
        ConfigError: A key is unknown or has a wrong value, or is for a server of another profile.
    """
    check_embedded(server)
    return resolve_spec({**{key: value for key, value in server.items() if key != "profile"}, "url": url})


def check_embedded(server: Mapping[str, Any]) -> None:
    """Check that what the configuration says of asking and reading is for a server like the embedded one.

    Raises:
        ConfigError: It is for a server of another profile.
    """
    other = other_profile(server)
    for key in ("ask", "map"):
        if other is not None and server.get(key):
            raise ConfigError(
                f"server.{key} is for a server of profile {other!r}, and the embedded one is of profile "
                f"{DEFAULT_PROFILE!r}",
                f"leave server.{key} out, leave server.profile out where it is meant for the embedded server, or "
                "evaluate the other one without --embedded",
            )


def other_profile(server: Mapping[str, Any]) -> str | None:
    """The configured profile where it is not that of the embedded server; None where it is, or there is none."""
    named = server.get("profile") or DEFAULT_PROFILE
    return None if named == DEFAULT_PROFILE else str(named)


@contextmanager
def embedded_server() -> Iterator[str]:
    """Start the reference server on a free loopback port; yields its URL.

    The child ends when its standard input closes, so it never outlives this process.

    Raises:
        ServerUnreachableError: It did not start; the message holds what it said.
    """
    options = ("--port", "0", "--corpus", "none", "--exit-with-stdin")
    home = str(Path(__file__).resolve().parent.parent.parent)
    path = os.pathsep.join(part for part in (home, os.environ.get("PYTHONPATH", "")) if part)
    with tempfile.TemporaryFile() as log:
        try:
            child = subprocess.Popen(  # noqa: S603 - our own module, no input of others
                [sys.executable, "-m", "evals.reference_server", *options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, "PYTHONPATH": path},
                start_new_session=True,  # Ctrl-C is for the evaluation; the server ends with it
            )
        except OSError as error:
            raise ServerUnreachableError(f"the embedded server did not start: {error}") from error
        try:
            url = _listening_at(child)
            if url is None:
                _stop(child)  # what it has to say is complete when it has ended
                log.seek(0)
                lines = log.read().decode("utf-8", "replace").strip().splitlines()
                raise ServerUnreachableError(
                    f"the embedded server did not start: {lines[-1] if lines else 'no output'}"
                )
            yield url
        finally:
            _stop(child)


def _listening_at(child: subprocess.Popen[bytes]) -> str | None:
    """The URL in the child's first line; None where it says something else, or nothing in time."""
    late = threading.Timer(START_TIMEOUT_S, child.kill)
    late.start()
    try:
        listening = json.loads(child.stdout.readline() if child.stdout else b"")
        return f"http://{listening['host']}:{listening['port']}"
    except (ValueError, TypeError, KeyError):
        return None
    finally:
        late.cancel()


def _stop(child: subprocess.Popen[bytes]) -> None:
    if child.stdin is not None:
        child.stdin.close()
    try:
        child.wait(_STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    if child.stdout is not None:
        child.stdout.close()
