"""Switches that make a server misbehave on purpose, for tests of its clients.

A switch is written ``KIND``, ``KIND:ARG`` or ``every:K:KIND[:ARG]``:

- ``slow:SECONDS`` answers late; ``hang`` never answers; ``dropped`` closes without an answer
- ``status:CODE[:N]`` answers (the first N) queries with that status
- ``ratelimit:N[:RETRY_AFTER]`` answers the first N queries with 429 and a Retry-After header
- ``truncated``, ``wrong-shape``, ``html`` and ``not-json`` answer with a broken body
- ``no-chunks``, ``no-citations`` and ``no-usage`` answer without that part
- ``wrong-chunks:SHARE[:SEED]`` retrieves chunks of other documents for that share of the questions (0 to 1), which SEED
  and the question's text choose; the answer is made from them as from any
- ``unhealthy`` makes GET /health answer 503; all others act on POST /query only
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace

REPLACING = frozenset({"status", "ratelimit", "truncated", "wrong-shape", "html", "not-json", "dropped", "hang"})
REMOVING = {"no-chunks": "sources", "no-citations": "citations", "no-usage": "metrics"}
WRONG_CHUNKS = "wrong-chunks"
_PLAIN = (REPLACING - {"status", "ratelimit"}) | REMOVING.keys() | {"unhealthy"}


@dataclass(slots=True)
class Switch:
    """One way to misbehave; ``left`` counts down the queries it still applies to."""

    kind: str
    seconds: float = 0.0
    code: int = 0
    left: int | None = None
    every: int = 1
    share: float = 1.0
    seed: int = 0

    def takes(self, question: str) -> bool:
        """Whether the switch applies to this query; a limited one is used up by saying yes."""
        if self.every > 1 and _number(question) % self.every != 0:
            return False
        if self.share < 1 and _number(f"{self.seed}:{question}") >= self.share * 2**256:
            return False
        if self.left is not None:
            self.left -= 1
            return self.left >= 0
        return True


def _number(question: str) -> int:
    """A number that depends on the question alone, so that no order of queries matters."""
    return int(hashlib.sha256(question.encode()).hexdigest(), 16)


def parse_switch(text: str) -> Switch:
    """Read one switch, or raise ValueError with a sentence about what is wrong."""
    kind, *args = text.split(":")
    try:
        return _parse(kind, args)
    except (ValueError, IndexError):
        raise ValueError(f"{text!r} is not a way to misbehave.") from None


def _parse(kind: str, args: list[str]) -> Switch:
    if kind == "every":
        return _every(args)
    read = _READERS.get(kind)
    if read is not None and len(args) in (1, read.most):
        return read.switch(kind, args)
    if kind in _PLAIN and not args:
        return Switch(kind)
    raise ValueError


def _every(args: list[str]) -> Switch:
    inner = parse_switch(":".join(args[1:]))
    if inner.every != 1 or inner.kind == "unhealthy":
        raise ValueError
    return replace(inner, every=_at_least_one(args[0]))


def _slow(kind: str, args: list[str]) -> Switch:
    return Switch(kind, seconds=_seconds(args[0]))


def _with_status(kind: str, args: list[str]) -> Switch:
    return Switch(kind, code=_status(args[0]), left=_at_least_one(args[1]) if len(args) > 1 else None)


def _limiting(kind: str, args: list[str]) -> Switch:
    wait = _seconds(args[1]) if len(args) > 1 else 1.0
    return Switch(kind, code=429, left=_at_least_one(args[0]), seconds=wait)


def _damaging(kind: str, args: list[str]) -> Switch:
    return Switch(kind, share=_share(args[0]), seed=int(args[1]) if len(args) > 1 else 0)


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 86400:
        raise ValueError
    return value


def _share(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1:
        raise ValueError
    return value


def _at_least_one(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def _status(text: str) -> int:
    value = int(text)
    if not 300 <= value <= 599 or value == 304:
        raise ValueError
    return value


@dataclass(frozen=True, slots=True)
class _Reader:
    """How a switch with arguments is read: from one to so many of them."""

    most: int
    switch: Callable[[str, list[str]], Switch]


_READERS = {
    "slow": _Reader(1, _slow),
    "status": _Reader(2, _with_status),
    "ratelimit": _Reader(2, _limiting),
    WRONG_CHUNKS: _Reader(2, _damaging),
}
