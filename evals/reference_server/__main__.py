"""Start the built-in server: bind, announce, serve, end cleanly."""

import argparse
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import FrameType

import uvicorn
from fastapi import FastAPI

from evals.reference_server import Settings
from evals.reference_server.app import Library, create_app
from evals.reference_server.documents import CorpusError, load_corpus


class Server(uvicorn.Server):
    """A uvicorn server that ends on a signal with exit code 0."""

    def __init__(self, app: FastAPI) -> None:
        quiet = uvicorn.Config(app, loop="asyncio", http="h11", ws="none", lifespan="off", log_config=None)
        quiet.access_log, quiet.timeout_keep_alive, quiet.timeout_graceful_shutdown = False, 75, 2
        super().__init__(quiet)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End without raising the signal again."""
        self.should_exit = True


def make_server(settings: Settings, library: Library) -> Server:
    """The server of a library."""
    return Server(create_app(settings, library))


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one. What connects before the server runs waits for it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=2048)
    # Connections inherit it; without it the end of each response waits some 40 ms for an acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def end_with_stdin(server: Server) -> None:
    """Stop the server when stdin ends, and the process if that takes too long."""

    def watch() -> None:
        sys.stdin.buffer.read()
        server.should_exit = True
        time.sleep(0.8)
        os._exit(0)

    threading.Thread(target=watch, name="stdin-watch", daemon=True).start()


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evals.reference_server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8001, help="0 takes a free port")
    parser.add_argument("--corpus", help="golden, none or a folder of .md and .txt files")
    parser.add_argument("--top-k", type=int, default=10, help="chunks that are retrieved")
    parser.add_argument("--allow-host", action="append", default=[], metavar="NAME", help="a further host name")
    parser.add_argument("--auth-token", default=os.environ.get("REFERENCE_SERVER_TOKEN") or None)
    parser.add_argument("--exit-with-stdin", action="store_true", help="end when stdin ends")
    parser.add_argument("--greet", action="store_true", help="print the URL on stderr too")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None, make: Callable[[Settings, Library], Server] = make_server) -> int:
    """Serve until a signal or the end of stdin; 2: the server cannot start."""
    args = _arguments(argv)
    corpus = args.corpus or ("none" if args.exit_with_stdin else "golden")
    settings = Settings(top_k=args.top_k, auth_token=args.auth_token, allow_hosts=(args.host, *args.allow_host))
    try:
        library = Library(load_corpus(corpus, settings.chunk_words))
        listener = bind(args.host, args.port)
    except CorpusError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except (OSError, OverflowError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).partition(" (while ")[0].rstrip(".")
        way_out = "name another --port (0 takes any free one) or --host"
        sys.stderr.write(f"Cannot listen on {args.host}:{args.port}: {reason}; {way_out}.\n")
        return 2
    with listener:
        server, port = make(settings, library), listener.getsockname()[1]
        sys.stdout.write(json.dumps({"event": "listening", "host": args.host, "port": port}) + "\n")
        sys.stdout.flush()
        if args.greet:
            host = f"[{args.host}]" if ":" in args.host else args.host
            sys.stderr.write(f"reference server on http://{host}:{port}, corpus {corpus}; stop it with Ctrl-C\n")
        if args.exit_with_stdin:
            end_with_stdin(server)
        server.run(sockets=[listener])
    return 0


if __name__ == "__main__":
    sys.exit(main())
