"""`evals serve`: the reference server in place of this process."""

import os
import sys


def serve(host: str, port: int, corpus: str) -> None:
    """Become the reference server; it is never imported by the rest, so it is started like any other program."""
    arguments = ["--host", host, "--port", str(port), "--corpus", corpus]
    print(
        f"reference server on http://{host}:{port}, corpus {corpus}; stop it with Ctrl-C", file=sys.stderr, flush=True
    )
    os.execv(sys.executable, [sys.executable, "-m", "evals.reference_server", *arguments])  # noqa: S606 - our own module
