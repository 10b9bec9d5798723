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

from evals.judges.models import RETRIES, AnthropicModel, Call, CallFailed, JudgeReply, NotWaitedFor, read_message
from evals.store.atomic import make_folder, write_atomically

FOLDER = ".judge-batches"

QUIET_S, TOGETHER = 0.3, 1_000
"""Seconds without a new request that mean that no more will come by now; requests in a batch, of at most 256 MB."""


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
        self._folder, self._poll_s, self._wait_s = folder, poll_s, timeout_s
        self._waiting: dict[str, tuple[dict[str, Any], asyncio.Future[JudgeReply]]] = {}
        self._sent: dict[Path, dict[str, Any]] = {}
        for path in folder.glob("*.json"):
            with suppress(ValueError):
                self._sent[path] = json.loads(path.read_text())
        self._read = set[Path]()
        self._task: asyncio.Task[None] | None = None

    async def _ask(self, call: Call) -> JudgeReply:
        params = self.params(call)
        reply: asyncio.Future[JudgeReply] = asyncio.get_running_loop().create_future()
        name = sha256(json.dumps([self.origin, call.repeat, params], sort_keys=True).encode()).hexdigest()
        self._waiting[name] = (params, reply)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())
        return await reply

    async def _work(self) -> None:
        """Send what waits together, and hand out replies, until nothing waits; an error reaches all that wait."""
        failures = 0
        try:
            while self._waiting:
                before = 0
                while before != (before := len(self._waiting)):
                    await asyncio.sleep(QUIET_S)
                try:
                    async with asyncio.timeout(self._wait_s):
                        await self._round()
                except CallFailed as error:
                    failures += 1
                    if error.fatal or error.kind != "transport" or failures == RETRIES:
                        raise
                    await asyncio.sleep(self._poll_s)
        except Exception as error:  # noqa: BLE001 - raised where each request waits
            for name in list(self._waiting):
                self._settle(name, NotWaitedFor() if isinstance(error, TimeoutError) else error)

    async def _round(self) -> None:
        """Send what is in no batch, and wait for the batches that hold what waits."""
        held = {name for sent in self._sent.values() for name in sent["requests"]}
        new = [name for name in self._waiting if name not in held]
        with self.translated():
            for start in range(0, len(new), TOGETHER):
                await self._send(new[start : start + TOGETHER])
            for path, sent in list(self._sent.items()):
                if not self._waiting.keys().isdisjoint(sent["requests"]):
                    await self._collect(path, sent)

    async def _send(self, names: list[str]) -> None:
        """Have requests answered. Where the reply to that is lost, the next round looks for the batch first."""
        path = self._folder / f"{sha256(''.join(sorted(names)).encode()).hexdigest()[:24]}.json"
        self._write(path, {"requests": names, "id": None})
        requests: Any = [{"custom_id": name, "params": self._waiting[name][0]} for name in names]
        client = self._client.with_options(max_retries=0, timeout=600.0)
        try:
            with self.translated():
                batch = await client.messages.batches.create(requests=requests)
        except CallFailed as error:
            if not error.sent:
                self._drop(path)
            raise
        self._write(path, {"requests": names, "id": batch.id})

    async def _collect(self, path: Path, sent: dict[str, Any]) -> None:
        """Wait for a batch and hand out its replies; one that the vendor does not have (any more) is sent anew."""
        batch_id = sent["id"] or await self._find(sent["requests"])
        if batch_id is None or not await self._has_ended(batch_id):
            self._drop(path)
            return
        async for line in await self._client.messages.batches.results(batch_id):
            self._settle(line.custom_id, _reply_of(line.result))
        for name in sent["requests"]:
            self._settle(name, CallFailed("its batch has no result of it"))
        self._read.add(path)

    async def _find(self, names: list[str]) -> str | None:
        """The vendor's id of a batch whose reply was lost; which requests it holds is known once it has ended."""
        sent_ids = {sent["id"] for sent in self._sent.values()}
        for batch in (await self._client.messages.batches.list(limit=100)).data:
            alike = sum(batch.request_counts.model_dump().values()) == len(names)
            if alike and batch.id not in sent_ids and await self._has_ended(batch.id):
                first = await anext(aiter(await self._client.messages.batches.results(batch.id)))
                if first.custom_id in names:
                    return str(batch.id)
        return None

    async def _has_ended(self, batch_id: str) -> bool:
        """Wait until a batch has ended; False where the vendor has no replies of it any more."""
        pause_s = self._poll_s
        try:
            while (batch := await self._client.messages.batches.retrieve(batch_id)).processing_status != "ended":
                await asyncio.sleep(pause_s)
                pause_s = min(1.2 * pause_s, 12 * self._poll_s)
        except self._sdk.NotFoundError:
            return False
        return batch.results_url is not None

    def _settle(self, name: str, reply: JudgeReply | Exception) -> None:
        _, future = self._waiting.pop(name, (None, None))
        if future is not None and not future.done():
            future.set_exception(reply) if isinstance(reply, Exception) else future.set_result(reply)

    def forget(self) -> None:
        """Be done with the batches that were read: all their replies are recorded."""
        for path in self._read:
            self._drop(path)

    def _drop(self, path: Path) -> None:
        self._sent.pop(path, None)
        path.unlink(missing_ok=True)

    def _write(self, path: Path, sent: dict[str, Any]) -> None:
        self._sent[path] = sent
        write_atomically(path, [json.dumps(sent).encode()])


def _reply_of(result: Any) -> JudgeReply | CallFailed:
    if result.type == "succeeded":
        return read_message(result.message)
    told = result.error.error if result.type == "errored" else None
    kind: Any = "rejected" if told and told.type == "invalid_request_error" else "transport"
    return CallFailed(f"its batch says {result.type}" + (f": {told.message}" if told else ""), kind)
