"""What was received, and how it was answered."""

import time
from dataclasses import asdict, dataclass
from typing import Any

_SECRET = frozenset({"authorization", "x-api-key"})


@dataclass
class Entry:
    """One request; ``status`` stays None where no reply was sent, ``rule`` where no rule fitted.

    Attributes:
        time: When it came, in seconds since 1970.
        seconds: How long it took.
    """

    number: int
    request_id: str
    method: str
    path: str
    headers: dict[str, str]
    time: float
    body: Any = None
    status: int | None = None
    rule: int | None = None
    seconds: float | None = None


class Ledger:
    """The requests since the last reset."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._in_flight = 0

    def open(self, method: str, path: str, headers: dict[str, str]) -> Entry:
        """Write down a request, without the value of its key."""
        safe = {name: "***" if name in _SECRET else value for name, value in headers.items()}
        number = len(self._entries) + 1
        entry = Entry(number, f"req_loopback{number:06d}", method, path, safe, time.time())
        self._entries.append(entry)
        self._in_flight += 1
        return entry

    def close(self, entry: Entry) -> None:
        """The request is answered, or will not be."""
        self._in_flight -= 1
        entry.seconds = time.time() - entry.time

    def log(self) -> list[dict[str, Any]]:
        """All requests, oldest first."""
        return [asdict(entry) for entry in self._entries]

    def stats(self) -> dict[str, int]:
        """How many there were, and how many are not answered yet."""
        return {"requests": len(self._entries), "in_flight": self._in_flight}
