"""Start the reference server from the command line."""

import argparse
import logging
import os
import socket
import sys
from collections.abc import Sequence

from evals.reference_server import Settings
from evals.reference_server.app import MakeServer, announce, bind, end_with_stdin, make_server, reason_of
from evals.reference_server.index import GOLDEN, NONE, MissingCorpusError, UnreadableDocumentError, load_corpus

_AUTH_VARIABLE = "REFERENCE_SERVER_TOKEN"

_CANNOT_START = 2


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals.reference_server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8001, help="0 takes any free port")
    parser.add_argument("--corpus", help="golden, none or a folder of .md and .txt files")
    parser.add_argument("--chunk-words", type=_positive, default=180)
    parser.add_argument("--top-k", type=_positive, default=10)
    parser.add_argument("--max-upload-mb", type=_positive, default=25)
    parser.add_argument("--auth-token", default=os.environ.get(_AUTH_VARIABLE) or None)
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="answer to this name too; by default to localhost, loopback addresses and --host alone",
    )
    parser.add_argument("--exit-with-stdin", action="store_true", help="end when stdin ends")
    parser.add_argument("--greet", action="store_true", help="say the URL on stderr too, for people")
    return parser


def _serve(args: argparse.Namespace, listener: socket.socket, make: MakeServer) -> None:
    sizes = (args.chunk_words, args.top_k, args.max_upload_mb)
    settings = Settings(*sizes, args.auth_token, (args.host, *args.allow_host))
    corpus = args.corpus or (NONE if args.exit_with_stdin else GOLDEN)
    documents = load_corpus(corpus, settings.chunk_words)
    server = make(settings, documents, lambda: announce(listener, args.host, corpus if args.greet else None))
    if args.exit_with_stdin:
        end_with_stdin(lambda: setattr(server, "should_exit", True))
    server.run(sockets=[listener])


def main(argv: Sequence[str] | None = None, make: MakeServer = make_server) -> int:
    """Serve until a signal or the end of stdin; 2 means that the server could not start."""
    args = _parser().parse_args(argv)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s: %(message)s")
    try:
        listener = bind(args.host, args.port)
    except (OSError, OverflowError) as error:
        where, way_out = f"{args.host}:{args.port}", "name another --port (0 takes any free one) or --host"
        sys.stderr.write(f"Cannot listen on {where}: {reason_of(error)}; {way_out}.\n")
        return _CANNOT_START
    try:
        with listener:
            _serve(args, listener, make)
    except KeyboardInterrupt:
        return 0
    except (MissingCorpusError, UnreadableDocumentError) as error:
        sys.stderr.write(f"{error}\n")
        return _CANNOT_START
    return 0


if __name__ == "__main__":
    sys.exit(main())
