"""Claude asked by the Message Batches API: half the price, and replies within an hour as a rule, a day at most.

What is sent together is written down before, under a name made of its requests; so a run that was interrupted finds
its batch at the vendor and pays for nothing twice.
"""

import asyncio
import json
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from tenacity import retry, retry_if_exception, stop_after_attempt, wait_exponential

from evals.judges.models import RETRIES, AnthropicModel, Call, CallFailed, JudgeReply, read_result
from evals.store.atomic import make_folder, write_atomically

FOLDER = ".judge-batches"

QUIET_S, TOGETHER = 0.3, 1_000
"""Seconds without a new request that mean that no more will come by now; requests in a batch, of at most 256 MB."""


def _passes(error: BaseException) -> bool:
    return isinstance(error, CallFailed) and error.kind == "transport" and not error.fatal


class AnthropicBatches(AnthropicModel):
    """Claude, whose replies come by batches. Requests gather until it is quiet; then a round sends and collects them.

    Args:
        model: Its name.
        folder: Where what was sent is written down, a file a batch: its `requests`, and the vendor's `id` for it.
        poll_s: Between two looks at a batch.
        timeout_s: So long the batches of a round are waited for.
        options: As of `AnthropicModel`.
    """

    batched, timeout_s, _lifetime = True, 600.0, {"ttl": "1h"}

    def __init__(self, model: str, *, folder: Path, poll_s: float, timeout_s: float, **options: Any) -> None:
        super().__init__(model, **options)
        make_folder(folder)
        self._folder, self._poll_s, self._timeout_s = folder, poll_s, timeout_s
        self._waiting, self._results, self._read = dict[str, Call](), dict[str, Any](), set[Path]()
        self._round: asyncio.Task[None] | None = None

    async def _ask(self, call: Call) -> JudgeReply:
        """Wait for the round that brings the reply; an error in a round reaches all that wait for it."""
        name = sha256(json.dumps([self.origin, call.repeat, self.params(call)], sort_keys=True).encode()).hexdigest()
        self._waiting[name] = call
        try:
            while name not in self._results:
                if self._round is None or self._round.done():
                    self._round = asyncio.create_task(self._exchange())
                await asyncio.shield(self._round)
        finally:
            del self._waiting[name]
        return read_result(self._results.pop(name))

    @retry(retry=retry_if_exception(_passes), stop=stop_after_attempt(RETRIES), wait=wait_exponential(), reraise=True)
    async def _exchange(self) -> None:
        """Send what waits and is in no batch yet, and collect all batches that hold what waits."""
        count = 0
        while count != (count := len(self._waiting)):
            await asyncio.sleep(QUIET_S)
        async with asyncio.timeout(self._timeout_s):
            with self.translated():
                while new := self._waiting.keys() - {name for _, batch in self._sent() for name in batch["requests"]}:
                    await self._send(sorted(new)[:TOGETHER])
                for path, batch in self._sent():
                    if not self._waiting.keys().isdisjoint(batch["requests"]):
                        await self._collect(path, batch)

    def _sent(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """The batches that are written down; a damaged file is passed over."""
        for path in self._folder.glob("*.json"):
            with suppress(ValueError, TypeError, KeyError):
                batch = json.loads(path.read_text())
                yield path, {"requests": list(batch["requests"]), "id": batch["id"]}

    async def _send(self, names: list[str]) -> None:
        """Make a batch. Where the reply to that is lost, the next round looks for it first."""
        path = self._folder / f"{sha256(''.join(names).encode()).hexdigest()[:24]}.json"
        requests = [{"custom_id": name, "params": self.params(self._waiting[name])} for name in names]
        write_atomically(path, [json.dumps({"requests": names, "id": None}).encode()])
        try:
            batch = await self._client.with_options(max_retries=0).messages.batches.create(requests=requests)
        except self._sdk.APIStatusError:  # it was not made
            path.unlink(missing_ok=True)
            raise
        write_atomically(path, [json.dumps({"requests": names, "id": batch.id}).encode()])

    async def _collect(self, path: Path, batch: dict[str, Any]) -> None:
        """Take the results of a batch once it has ended; what the vendor does not have, or not any more, is sent anew.

        A batch of unknown id is looked for by the names of its requests, which show once a batch has ended.
        """
        batches, names = self._client.messages.batches, batch["requests"]
        listed = [] if batch["id"] else (await batches.list(limit=100)).data
        alike = [made.id for made in listed if sum(made.request_counts.model_dump().values()) == len(names)]
        for batch_id in [batch["id"]] if batch["id"] else alike:
            with suppress(self._sdk.NotFoundError):
                while (made := await batches.retrieve(batch_id)).processing_status != "ended":
                    await asyncio.sleep(self._poll_s)
                lines = [line async for line in await batches.results(batch_id)] if made.results_url else []
                results = {line.custom_id: line.result for line in lines}
                if not results.keys().isdisjoint(names):
                    self._read.add(path)
                    replies = [name for name, result in results.items() if result.type == "succeeded"]
                    write_atomically(path, [json.dumps({"requests": replies, "id": batch_id}).encode()])
                    self._results |= {name: results.get(name) for name in self._waiting.keys() & names}
                    return
        path.unlink(missing_ok=True)

    def forget(self) -> None:
        """Be done with the batches that were read: all their replies are recorded."""
        for path in self._read:
            path.unlink(missing_ok=True)
