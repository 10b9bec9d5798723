"""The Message Batches API of the imitation: batches are answered as single calls are, by the rules of the test.

Results come in the order of their ids, which has nothing to do with that of the requests. As with the real API, what is
wrong with a single request is told by its result only; a rule's `status` gives the error of such a result, `unasked`
one that is expired or canceled.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from messages_api.loopback import Hung, Rejection

_AT_ONCE = 8
"""Requests in work at the same time: none of them has what another one writes to the cache."""

Result = dict[str, Any]


@dataclass
class BatchMode:
    """How batches behave.

    Attributes:
        looks: So many looks at a batch find it in progress; None: it never ends.
        ending: Only so many batches end.
        unanswered: So many batches are made while the connection is cut instead of an answer.
        refused: So many are refused with this status, and not made.
        status: Of those.
        torn_after: The next results break off after so many lines.
        lacking: The next batch has no results of so many of its requests.
    """

    looks: int | None = 1
    ending: int = 1_000_000
    unanswered: int = 0
    refused: int = 0
    status: int = 529
    torn_after: int | None = None
    lacking: int = 0


@dataclass
class _Batch:
    id: str
    requests: list[dict[str, Any]]
    url: str
    created_at: datetime
    looks: int = 0
    results: list[Result] | None = None


class Batches:
    """The batches since the last reset.

    Args:
        answer: The message to a request, and the prefixes that the cache holds once it is sent.
        cached: The prefixes that the cache holds.
    """

    def __init__(self, answer: Callable[[Any], tuple[Result, set[str]]], cached: set[str]) -> None:
        self.mode = BatchMode()
        self._answer, self._cached = answer, cached
        self._batches: dict[str, _Batch] = {}

    def create(self, requests: list[dict[str, Any]], url: str) -> dict[str, Any]:
        """Make a batch."""
        name = f"msgbatch_loopback{len(self._batches) + 1:04d}"
        self._batches[name] = _Batch(name, requests, f"{url}/v1/messages/batches/{name}", datetime.now(UTC))
        return self._shown(self._batches[name])

    def listed(self, query: Mapping[str, str]) -> dict[str, Any]:
        """The newest ones."""
        page = [self._shown(batch) for batch in reversed(self._batches.values())][: int(query.get("limit", "20"))]
        return {"data": page, "has_more": False, "first_id": None, "last_id": None}

    def looked_at(self, name: str) -> dict[str, Any]:
        """A batch, which may end by being looked at."""
        if name not in self._batches:
            raise Rejection(404, {"type": "error", "error": {"type": "not_found_error", "message": "no such batch"}})
        batch = self._batches[name]
        batch.looks += 1
        ends = self.mode.looks is not None and batch.looks > self.mode.looks
        if ends and batch.results is None and name in list(self._batches)[: self.mode.ending]:
            batch.results = self._answered(batch)
        return self._shown(batch)

    def results(self, name: str) -> bytes:
        """What became of the requests of a batch that has ended, a line each."""
        lines = [json.dumps(result).encode() + b"\n" for result in self._batches[name].results or ()]
        if (torn_after := self.mode.torn_after) is not None:
            self.mode.torn_after = None
            raise Hung(b"".join(lines[:torn_after]) + lines[torn_after][:9])
        return b"".join(lines)

    def _shown(self, batch: _Batch) -> dict[str, Any]:
        ended, kinds = batch.results is not None, [result["result"]["type"] for result in batch.results or ()]
        counts = {kind: kinds.count(kind) for kind in ("succeeded", "errored", "canceled", "expired")}
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {**counts, "processing": 0 if ended else len(batch.requests)},
            "created_at": batch.created_at.isoformat(),
            "expires_at": (batch.created_at + timedelta(days=1)).isoformat(),
            "results_url": f"{batch.url}/results" if ended else None,
        }

    def _answered(self, batch: _Batch) -> list[Result]:
        results: list[Result] = []
        for start in range(0, len(batch.requests), _AT_ONCE):
            together = [
                (each["custom_id"], *self._result(each["params"])) for each in batch.requests[start : start + _AT_ONCE]
            ]
            for custom_id, result, prefixes in together:
                self._cached |= prefixes
                results.append({"custom_id": custom_id, "result": result})
        lacking, self.mode.lacking = self.mode.lacking, 0
        return sorted(results, key=lambda result: str(result["custom_id"]))[lacking:]

    def _result(self, params: Any) -> tuple[Result, set[str]]:
        try:
            message, prefixes = self._answer(params)
        except Rejection as refused:
            return {"type": "errored", "error": refused.body}, set()
        if "unasked" in message:
            return {"type": message["unasked"]}, set()
        message["usage"]["service_tier"] = "batch"
        return {"type": "succeeded", "message": message}, prefixes
