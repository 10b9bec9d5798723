"""The Message Batches API of the imitation: batches are answered as single calls are, by the rules of the test.

Results come in the order of their ids, which has nothing to do with that of the requests. As with the real API, what is
wrong with a single request is told by its result only; a rule's `status` gives the error of such a result, `unasked`
one that is expired or canceled.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from messages_api.content import PromptCache
from messages_api.rejection import Rejection
from messages_api.replies import Responder, compose, scripted_error
from messages_api.request_rules import check_message

_AT_ONCE = 8
"""Requests in work at the same time: none of them has what another one writes to the cache."""
_KINDS = ("succeeded", "errored", "canceled", "expired")


@dataclass
class BatchMode:
    """How batches behave.

    Attributes:
        looks: So many looks at a batch find it in progress; None: it never ends.
        unanswered: So many batches are made while the connection is cut instead of an answer.
        refused: So many are refused with this status, and not made.
        status: Of those.
        torn_after: The next results break off after so many lines.
    """

    looks: int | None = 1
    unanswered: int = 0
    refused: int = 0
    status: int = 529
    torn_after: int | None = None


@dataclass
class _Batch:
    id: str
    requests: list[dict[str, Any]]
    url: str
    created_at: datetime
    looks: int = 0
    results: list[dict[str, Any]] | None = field(default=None)


class Batches:
    """The batches since the last reset.

    Args:
        pick: The rule for a request.
        cache: Of prompts.
        responders: What a rule can name.
    """

    def __init__(
        self,
        pick: Callable[[dict[str, Any]], dict[str, Any]],
        cache: PromptCache,
        responders: Mapping[str, Responder],
    ) -> None:
        self.mode = BatchMode()
        self._pick = pick
        self._cache = cache
        self._responders = responders
        self._batches: list[_Batch] = []
        self._number = 0

    def create(self, body: Any, url: str) -> dict[str, Any]:
        """Make a batch.

        Raises:
            Rejection: The body is none, or the test wants it to be refused.
        """
        if self.mode.refused:
            self.mode.refused -= 1
            raise scripted_error({"status": self.mode.status})
        batch_id = f"msgbatch_loopback{len(self._batches) + 1:04d}"
        batch = _Batch(batch_id, body["requests"], f"{url}v1/messages/batches/{batch_id}", datetime.now(UTC))
        self._batches.append(batch)
        return self._shown(batch)

    def listed(self, query: Mapping[str, str]) -> dict[str, Any]:
        """A page of the list, the newest first."""
        ids = [batch.id for batch in self._batches][::-1]
        start = ids.index(query["after_id"]) + 1 if "after_id" in query else 0
        end = ids.index(query["before_id"]) if "before_id" in query else len(ids)
        page = ids[start:end][: int(query.get("limit", "20"))]
        return {
            "data": [self._shown(self._named(batch_id)) for batch_id in page],
            "has_more": bool(page) and page[-1] != ids[-1],
            "first_id": page[0] if page else None,
            "last_id": page[-1] if page else None,
        }

    def looked_at(self, batch_id: str) -> dict[str, Any]:
        """A batch, which may end by being looked at."""
        batch = self._named(batch_id)
        batch.looks += 1
        if batch.results is None and self.mode.looks is not None and batch.looks > self.mode.looks:
            batch.results = self._answered(batch)
        return self._shown(batch)

    def results(self, batch_id: str) -> list[dict[str, Any]]:
        """What became of the requests of a batch.

        Raises:
            Rejection: It has not ended.
        """
        found = self._named(batch_id).results
        if found is None:
            raise Rejection(400, f"Batch {batch_id} has no available results")
        return found

    def _named(self, batch_id: str) -> _Batch:
        for batch in self._batches:
            if batch.id == batch_id:
                return batch
        raise Rejection(404, f"Batch {batch_id} not found")

    def _shown(self, batch: _Batch) -> dict[str, Any]:
        counts = dict.fromkeys(("processing", *_KINDS), 0)
        counts["processing"] = 0 if batch.results is not None else len(batch.requests)
        for result in batch.results or ():
            counts[result["result"]["type"]] += 1
        ended = batch.results is not None
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": batch.created_at.isoformat(),
            "ended_at": datetime.now(UTC).isoformat() if ended else None,
            "expires_at": (batch.created_at + timedelta(days=1)).isoformat(),
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{batch.url}/results" if ended else None,
        }

    def _answered(self, batch: _Batch) -> list[dict[str, Any]]:
        found = []
        for start in range(0, len(batch.requests), _AT_ONCE):
            together = batch.requests[start : start + _AT_ONCE]
            answered = [self._answer(request["params"]) for request in together]
            for _, charge in answered:
                if charge is not None:
                    self._cache.store(charge)
            found += [
                {"custom_id": request["custom_id"], "result": result}
                for request, (result, _) in zip(together, answered, strict=True)
            ]
        return sorted(found, key=lambda each: each["custom_id"])

    def _answer(self, params: Any) -> tuple[dict[str, Any], Any]:
        self._number += 1
        try:
            body = check_message(params)
            then = self._pick(body)
            if "unasked" in then:
                return {"type": then["unasked"]}, None
            if "status" in then:
                raise scripted_error(then)
            charge = self._cache.look_up(body)
            message = compose(then, body, charge, self._number, self._responders)
            message["usage"]["service_tier"] = "batch"
        except Rejection as refused:
            return {"type": "errored", "error": refused.body}, None
        return {"type": "succeeded", "message": message}, charge
