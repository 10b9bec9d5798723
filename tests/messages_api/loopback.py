"""A loopback imitation of a model's API in a thread, for tests. IT IS NO JUDGE: no model stands behind it.

What an API refuses and how its replies look, a subclass says; what is replied, rules of the test. It listens on
127.0.0.1 only.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from messages_api.responder import fill, respond
from messages_api.schema_rules import property_names


class Rejection(Exception):  # noqa: N818 - it is a reply, not a failure of ours
    """The request is answered with this status, body and headers."""

    def __init__(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(str(body))
        self.status, self.body, self.headers = status, body, headers or {}


class Hung(Exception):  # noqa: N818 - asked for by the test
    """The connection ends within the reply, of which this was sent."""

    def __init__(self, sent: bytes = b"") -> None:
        super().__init__()
        self.sent = sent


class LoopbackApi:
    """The API and what it remembers.

    Args:
        delay_s: Before each reply.

    Attributes:
        url: For `base_url`.
    """

    path = ""

    def __init__(self, delay_s: float = 0.0) -> None:
        self._delay_s, self._lock = delay_s, threading.Lock()
        self.reset()
        self._server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"api": self}))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}{self.path}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def script(self, *rules: dict[str, Any]) -> None:
        """Replace the rules, of which the first that fits wins.

        `{"match": a text of the user's, "schema_has": a key of the schema, "times": n, "then": what}`, all but the last
        optional.

        `then` is a reply (`json`, `text`, or `python` for the judge of `responder.py`; `truncate`, `refuse`; `slow`
        waits before), or a `status`. Without a rule the schema is filled in with first values.
        """
        self._rules = [dict(rule) for rule in rules]

    def reset(self) -> None:
        """Forget rules and log."""
        self._rules: list[dict[str, Any]] = []
        self._log: list[dict[str, Any]] = []

    def log(self) -> list[dict[str, Any]]:
        """The requests received: method, path, headers, body, and status and body of the reply, None without one."""
        return list(self._log)

    def stats(self) -> dict[str, int]:
        """How many there were, and how many are not answered yet."""
        return {"requests": len(self._log), "in_flight": sum(not entry["done"] for entry in self._log)}

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    def exchange(self, entry: dict[str, Any]) -> tuple[int, Mapping[str, str], Any]:
        """Status, headers and body of the reply to a request, which is written to the log.

        Raises:
            Hung: It gets none.
        """
        entry |= {"status": None, "reply": None, "done": False}
        self._log.append(entry)
        try:
            status, headers, body = 200, {}, self.reply(entry)
        except Rejection as refused:
            status, headers, body = refused.status, refused.headers, refused.body
        finally:
            entry["done"] = True
        entry["status"], entry["reply"] = status, body
        return status, headers, body

    def reply(self, entry: dict[str, Any]) -> Any:
        """The body of a reply with status 200.

        Raises:
            Rejection: The API refuses the request, or the test wants it to.
        """
        raise NotImplementedError

    def pick(self, schema: dict[str, Any] | None, told: str) -> dict[str, Any]:
        """What the first rule that fits says, and one use of it less; waits as long as it says."""
        with self._lock:
            names = {None, *property_names(schema)}
            left = (each for each in self._rules if each.get("times") != 0 and each.get("match", "") in told)
            rule = next((each for each in left if each.get("schema_has") in names), {"then": {}})
            if "times" in rule:
                rule["times"] -= 1
        then: dict[str, Any] = rule["then"]
        time.sleep(self._delay_s + then.get("slow", 0))
        return then


def text_of(then: Mapping[str, Any], schema: dict[str, Any] | None, data: Callable[[], dict[str, Any]]) -> str:
    """What the model says by a rule, before it is cut off."""
    if "text" in then:
        return str(then["text"])
    if "json" in then:
        return json.dumps(then["json"], ensure_ascii=False)
    if schema is None:
        return "This is a loopback imitation."
    return json.dumps(respond(schema, data()) if "python" in then else fill(schema), ensure_ascii=False)


class _Server(ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 512

    def handle_error(self, *_: object) -> None:
        """The client left."""


class _Handler(BaseHTTPRequestHandler):
    api: LoopbackApi
    protocol_version, disable_nagle_algorithm = "HTTP/1.1", True

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"] or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        entry = {"method": self.command, "path": self.path, "headers": headers}
        try:
            status, extra, body = self.api.exchange({**entry, "body": json.loads(raw) if raw else None})
            sent = body if isinstance(body, bytes) else json.dumps(body).encode()
            length = len(sent)
        except Hung as hung:
            self.close_connection = True
            if not hung.sent:
                return
            status, extra, sent, length = 200, {}, hung.sent, len(hung.sent) + 9
        self.send_response(status)
        for name, value in {"content-type": "application/json", **extra, "content-length": str(length)}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_POST  # noqa: N815 - as the library calls it

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""
