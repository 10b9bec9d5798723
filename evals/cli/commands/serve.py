"""`evals serve`: the reference server in place of this process."""

import os
import sys
from collections.abc import Sequence


def serve(host: str, port: int, corpus: str, allow_hosts: Sequence[str] = ()) -> None:
    """Become the reference server; it is never imported by the rest, so it is started like any other program.

    It says where it listens when it does; where it cannot, it says why and ends with exit code 2.
    """
    arguments = ["--host", host, "--port", str(port), "--corpus", corpus, "--greet"]
    arguments += [f"--allow-host={name}" for name in allow_hosts]
    os.execv(sys.executable, [sys.executable, "-m", "evals.reference_server", *arguments])  # noqa: S606 - our own module
