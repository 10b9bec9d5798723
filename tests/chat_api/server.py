"""A loopback imitation of the Chat Completions API for tests. IT IS NO JUDGE: no model stands behind it.

It refuses what the real API refuses, and what the servers of others refuse where a test says so (`Behaviour`);
otherwise it replies what the test told it to: by default the requested schema filled in with first values.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from chat_api.replies import compose
from chat_api.request_rules import Behaviour, Refusal, check


class ChatApi:
    """The API in a thread, and what it remembers.

    Attributes:
        url: For `base_url`.
        behaviour: How it differs from OpenAI's; set it to change it.
        log: The requests received: headers, body and status of the response.
    """

    def __init__(self) -> None:
        self.behaviour = Behaviour()
        self.log: list[dict[str, Any]] = []
        self._rules: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"api": self}))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def script(self, *rules: dict[str, Any]) -> None:
        """Replace the rules: `{"match": text in the data, "then": what, "times": n}`. The first that fits wins.

        `then` is a reply (json, text, judge, truncate, refuse, filter, body; beside it model, usage), a failure (status
        with error, headers) or anything else (raw, with status and headers).
        """
        self._rules = [dict(rule) for rule in rules]

    def bodies(self) -> list[dict[str, Any]]:
        """The bodies of the requests received."""
        return [entry["body"] for entry in self.log]

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, headers: dict[str, str], raw: bytes) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body for a request."""
        with self._lock:
            body = json.loads(raw)
            status, extra, reply = self._decide(path, headers, body)
            self.log.append({"headers": headers, "body": body, "status": status})
        kind = {"content-type": "application/json"}
        return status, {**kind, **extra}, reply if isinstance(reply, bytes) else json.dumps(reply).encode()

    def _decide(self, path: str, headers: dict[str, str], body: Any) -> tuple[int, dict[str, str], Any]:
        try:
            check(path, headers, body, self.behaviour)
        except Refusal as refused:
            text = refused.body["error"]["message"]
            return refused.status, {}, {"error": text} if self.behaviour.plain_errors else refused.body
        then = self._pick(body)
        if "raw" in then:
            return then.get("status", 200), then.get("headers", {}), then["raw"].encode()
        if "status" in then:
            error = {"message": "scripted", "type": None, "param": None, "code": None, **then.get("error", {})}
            return then["status"], {"retry-after-ms": "1", **then.get("headers", {})}, {"error": error}
        return 200, {}, compose(then, body, len(self.log))

    def _pick(self, body: dict[str, Any]) -> dict[str, Any]:
        said = body["messages"][-1]["content"]
        for rule in self._rules:
            if rule.get("times") != 0 and rule.get("match", "") in said:
                if "times" in rule:
                    rule["times"] -= 1
                return dict(rule["then"])
        return {}


class _Handler(BaseHTTPRequestHandler):
    api: ChatApi
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        status, headers, reply = self.api.answer(
            self.path, {name.lower(): value for name, value in self.headers.items()}, raw
        )
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(reply))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""
