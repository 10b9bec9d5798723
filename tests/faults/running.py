"""Three questions of which one meets a fault, and what is to come of it."""

import asyncio
import json
import socket
import ssl
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from raw_server import RawServer, answering

from evals.client import RAGClient
from evals.client.profile import resolve_spec
from evals.schemas import EvalResponse
from faults.fault import HIT, QUESTIONS, Certificate, Fault, Piece, body, dumped, http

_FIELDS = ("answer", "chunks", "citations", "usage", "model", "confidence", "stages")
_SPEC: dict[str, Any] = {
    "health": None,
    "info": [],
    "documents": None,
    "ask": {"path": "/query", "json": {"query": "{{question}}"}},
    "map": {name: name for name in _FIELDS},
    "patience_s": 0,
}


@contextmanager
def serving(fault: Fault | None, certificates: Path) -> Iterator[RawServer]:
    """Serve right answers, but for the question that meets the fault."""
    secured = fault is not None and fault.certificate is not None
    more = ["Connection: close"] if secured else []  # a connection a question

    def say(count: int) -> Iterable[Piece]:
        number = int(json.loads(server.asked[count][1].partition(b"\r\n\r\n")[2])["query"].split()[-1][:-1])
        if fault is not None and number == HIT:
            return fault.sends(server.over)
        return [http(dumped(body(number)), *more)]

    def secure(number: int, plain: socket.socket) -> socket.socket:
        kind = fault.certificate if fault and fault.certificate and number == HIT + 1 else "good"
        return _secured(kind, plain, certificates)

    with answering(say, secure if secured else None) as server:
        yield server


def run(url: str, fault: Fault | None = None) -> list[EvalResponse]:
    """Ask the three questions, each once."""
    limits = {"timeout_s": fault.timeout_s, "max_body_bytes": fault.max_body_bytes} if fault else {}
    spec = resolve_spec({**_SPEC, "url": url, **limits})

    async def ask() -> list[EvalResponse]:
        rps = fault.rps if fault else None
        async with RAGClient(spec, concurrency=1, max_attempts=1, rps=rps) as client:
            return [await client.ask(f"What is the price of part {number}?") for number in range(QUESTIONS)]

    return asyncio.run(ask())


def problems(fault: Fault, found: list[EvalResponse], clean: list[EvalResponse]) -> list[str]:
    """What is not as it must be: nothing, where all is well."""
    said = [
        f"question {number}: {text}"
        for number, (response, right) in enumerate(zip(found, clean, strict=True))
        if number != HIT
        for text in _differences(_seen(response), _seen(right))
    ]
    return [*said, *_of_hit(fault, found[HIT])]


def _of_hit(fault: Fault, response: EvalResponse) -> list[str]:
    kind = response.error.kind if response.error else None
    if kind not in {fault.kind, *fault.also}:
        return [f"it ended as {kind or 'answered'}: {response.error.message if response.error else response.notes}"]
    if kind is not None:
        return []
    if fault.noted is not None and not any(fault.noted in note for note in response.notes):
        return [f"no note says {fault.noted}: {response.notes}"]
    if fault.noted is None and response.notes:
        return [f"a note says {response.notes}"]
    seen = {name: getattr(response, name) for name in fault.read}
    return _differences({name: _plain(value, fault.read[name]) for name, value in seen.items()}, fault.read)


def _plain(value: Any, wanted: Any) -> Any:
    """A list as its length, where that is what is known of it."""
    return len(value) if isinstance(wanted, int) and isinstance(value, list) else value


def _seen(response: EvalResponse) -> dict[str, Any]:
    """All that is known of a question, but for times."""
    return {name: getattr(response, name) for name in (*_FIELDS, "error", "notes")}


def _differences(found: Mapping[str, Any], right: Mapping[str, Any]) -> list[str]:
    return [
        f"{name} is {str(found.get(name))[:200]}, not {str(value)[:200]}"
        for name, value in right.items()
        if found.get(name) != value
    ]


def make_certificates(folder: Path) -> Path:
    """An authority and what it vouches for, in a folder; `authority.pem` is for SSL_CERT_FILE."""
    folder.mkdir(exist_ok=True)
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    _openssl(folder, *new, "-keyout", "authority.key", "-out", "authority.pem", "-subj", "/CN=A", "-days", "9")
    for name, host, use in (
        ("good", "127.0.0.1", "serverAuth"),
        ("another use", "127.0.0.1", "clientAuth"),
        ("another name", "127.0.0.9", "serverAuth"),
    ):
        signed = ["-CA", "authority.pem", "-CAkey", "authority.key", "-days", "9", "-subj", "/CN=S"]
        meant = ["-addext", f"subjectAltName=IP:{host}", "-addext", f"extendedKeyUsage={use}"]
        _openssl(folder, *new, *signed, *meant, "-keyout", f"{name}.key", "-out", f"{name}.pem")
    own = ["-keyout", "self-signed.key", "-out", "self-signed.pem", "-subj", "/CN=S", "-days", "9"]
    _openssl(folder, *new, *own, "-addext", "subjectAltName=IP:127.0.0.1")
    return folder


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(arguments, cwd=folder, check=True, capture_output=True)


def _secured(kind: Certificate, plain: socket.socket, certificates: Path) -> socket.socket:
    if kind == "silent":
        return plain
    if kind == "none":
        plain.sendall(http(b"{}"))
        return plain
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / f"{kind}.pem", certificates / f"{kind}.key")
    return context.wrap_socket(plain, server_side=True)
