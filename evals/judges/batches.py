"""Claude asked by the Message Batches API: half the price, and replies within an hour as a rule, a day at most.

What is sent together is written down before, under a name made of its requests; so a run that was interrupted finds
its batch at the vendor and pays for nothing twice.
"""

import asyncio
import json
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from tenacity import retry, retry_if_exception, stop_after_attempt, wait_exponential

from evals.judges.models import RETRIES, AnthropicModel, Call, CallFailed, JudgeReply, NotWaitedFor, read_result
from evals.store.atomic import make_folder, write_atomically

FOLDER = ".judge-batches"

QUIET_S, TOGETHER = 0.3, 1_000
"""Seconds without a new request that mean that no more will come by now; requests in a batch, of at most 256 MB."""

_PASSING = retry_if_exception(
    lambda error: isinstance(error, CallFailed) and error.kind == "transport" and not error.fatal
)


class AnthropicBatches(AnthropicModel):
    """Claude, whose replies come by batches.

    Args:
        model: Its name.
        folder: Where what was sent is written down, a file a batch: its `requests`, and the vendor's `id` for it.
        poll_s: Between the first two looks at a batch; later ones are further apart, up to twelve times as far.
        timeout_s: So long the batches of a round are waited for.
        options: As of `AnthropicModel`.
    """

    batched, _lifetime = True, {"ttl": "1h"}

    def __init__(self, model: str, *, folder: Path, poll_s: float, timeout_s: float, **options: Any) -> None:
        super().__init__(model, **options)
        make_folder(folder)
        self._folder, self._poll_s, self._timeout_s = folder, poll_s, timeout_s
        self._waiting, self._read = dict[str, dict[str, Any]](), set[Path]()
        self._replies = dict[str, JudgeReply | CallFailed]()
        self._round: asyncio.Task[None] | None = None

    async def _ask(self, call: Call) -> JudgeReply:
        """Wait for the rounds that bring the reply; an error in a round reaches all that wait for it."""
        params = self.params(call)
        name = sha256(json.dumps([self.origin, call.repeat, params], sort_keys=True).encode()).hexdigest()
        self._waiting[name] = params
        try:
            while name not in self._replies:
                if self._round is None or self._round.done():
                    self._round = asyncio.create_task(self._exchange())
                await asyncio.shield(self._round)
        except TimeoutError:
            raise NotWaitedFor from None
        finally:
            del self._waiting[name]
        if isinstance(reply := self._replies.pop(name), CallFailed):
            raise reply
        return reply

    @retry(retry=_PASSING, stop=stop_after_attempt(RETRIES), wait=wait_exponential(0.5, max=60), reraise=True)
    async def _exchange(self) -> None:
        """Send what waits and is in no batch, and take the replies of the batches that hold what waits."""
        count = 0
        while count != (count := len(self._waiting)):
            await asyncio.sleep(QUIET_S)
        new = self._waiting.keys() - {name for batch in self._sent().values() for name in batch["requests"]}
        async with asyncio.timeout(self._timeout_s):
            with self.translated():
                for start in range(0, len(new), TOGETHER):
                    await self._send(sorted(new)[start : start + TOGETHER])
                for path, batch in self._sent().items():
                    if not self._waiting.keys().isdisjoint(batch["requests"]):
                        await self._collect(path, batch)

    def _sent(self) -> dict[Path, dict[str, Any]]:
        """The batches that are written down; a damaged file is passed over."""
        sent = dict[Path, dict[str, Any]]()
        for path in self._folder.glob("*.json"):
            with suppress(ValueError):
                sent[path] = json.loads(path.read_text())
        return sent

    async def _send(self, names: list[str]) -> None:
        """Make a batch. Where the reply to that is lost, the next round looks for it first."""
        path = self._folder / f"{sha256(''.join(names).encode()).hexdigest()[:24]}.json"
        requests: Any = [{"custom_id": name, "params": self._waiting[name]} for name in names]
        once = self._client.with_options(max_retries=0, timeout=600.0)
        write_atomically(path, [json.dumps({"requests": names, "id": None}).encode()])
        try:
            batch = await once.messages.batches.create(requests=requests)
        except self._sdk.APIStatusError:  # it was not made
            path.unlink(missing_ok=True)
            raise
        write_atomically(path, [json.dumps({"requests": names, "id": batch.id}).encode()])

    async def _collect(self, path: Path, batch: dict[str, Any]) -> None:
        """Take the replies of a batch; one that the vendor does not have, or not any more, is sent anew."""
        replies = {line.custom_id: read_result(line.result) for line in await self._results(batch)}
        if not replies:
            path.unlink(missing_ok=True)
            return
        for name in self._waiting.keys() & set(batch["requests"]):
            self._replies[name] = replies.get(name) or CallFailed("its batch has no result of it")
        self._read.add(path)

    async def _results(self, batch: dict[str, Any]) -> list[Any]:
        """The results of a batch once it has ended.

        Where its id is not known, it is looked for by the names of its requests, which show once a batch has ended.
        """
        batches, names = self._client.messages.batches, batch["requests"]
        listed = [] if batch["id"] else (await batches.list(limit=100)).data
        alike = [made.id for made in listed if sum(made.request_counts.model_dump().values()) == len(names)]
        for batch_id in [batch["id"]] if batch["id"] else alike:
            pause_s = self._poll_s
            with suppress(self._sdk.NotFoundError):
                while (made := await batches.retrieve(batch_id)).processing_status != "ended":
                    await asyncio.sleep(pause_s)
                    pause_s = min(1.2 * pause_s, 12 * self._poll_s)
                results = [line async for line in await batches.results(batch_id)] if made.results_url else []
                if results and results[0].custom_id in names:
                    return results
        return []

    def forget(self) -> None:
        """Be done with the batches that were read: all their replies are recorded."""
        for path in self._read:
            path.unlink(missing_ok=True)
