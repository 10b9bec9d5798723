"""A request that waits for its batch."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from evals.judges.backends.base import BackendError, JudgeReply

MOST_REQUESTS = 100_000
"""In one batch of the Message Batches API."""
MOST_BYTES = 250_000_000
"""In one batch, a little below what the API takes."""
_ROUNDING = 1e-9
"""Sums of many small costs differ in their last digits."""


class Ahead(NamedTuple):
    """What a request will cost, in US dollars."""

    expected: float
    held: float
    """So much is held back for it."""


@dataclass(slots=True, eq=False)
class Item:
    """A request that waits for its batch.

    Attributes:
        custom_id: By which its reply is known: a hash of all that is sent, where to, and which repeat it is.
        params: What is sent.
        size: Of that, in bytes.
        ahead: What it will cost, as far as that is known by now.
        reply: Comes with its batch.
        tries: Batches that brought no reply to it.
        passed_over: Rounds whose budget did not hold it.
        looked_into: Where such batches are written down.
    """

    custom_id: str
    params: dict[str, Any]
    size: int
    ahead: Callable[[], Ahead]
    reply: asyncio.Future[JudgeReply]
    tries: int = 0
    passed_over: int = 0
    looked_into: set[Path] = field(default_factory=set)


def item_of(origin: str, params: dict[str, Any], repeat: int, ahead: Callable[[], Ahead]) -> Item:
    """The request that is made so, at that address, for that repeat."""
    sent = json.dumps(params, sort_keys=True).encode()
    custom_id = sha256(json.dumps([origin, repeat]).encode() + sent).hexdigest()
    return Item(custom_id, params, len(sent), ahead, asyncio.get_running_loop().create_future())


def cut(items: Sequence[Item], most_requests: int, most_bytes: int) -> Iterator[list[Item]]:
    """The requests in as few batches as can hold them in this order."""
    batch: list[Item] = []
    size = 0
    for item in items:
        if batch and (len(batch) == most_requests or size + item.size > most_bytes):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += item.size
    if batch:
        yield batch


def affordable(items: Sequence[Item], left_usd: float | None, *, busy: bool) -> list[Item]:
    """Those that a budget holds together, in their order.

    Args:
        items: What could be sent.
        left_usd: What is not spent and not held back; None where there is no budget.
        busy: Whether other requests are at the vendor. Where none are, a single one may be sent for which the budget
            holds what is expected, as with calls one by one.
    """
    if left_usd is None:
        return list(items)
    found: list[Item] = []
    held = 0.0
    for item in items:
        ahead = item.ahead()
        alone = not busy and not found and ahead.expected <= left_usd + _ROUNDING
        if left_usd > 0 and (alone or held + ahead.held <= left_usd + _ROUNDING):
            found.append(item)
            held += ahead.held
    return found


def last_failure(error: BackendError, tries: int) -> BackendError:
    """The failure of a request that no further batch is worth."""
    if tries == 1:
        return error
    return BackendError(f"{error} ({tries} batches)", fatal=error.fatal)
