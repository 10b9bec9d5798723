"""Claude asked by the Message Batches API: half the price, and replies within an hour as a rule, a day at most.

What is sent together is written down before, under a name made of its requests; so a run that was interrupted finds
its batch at the vendor and pays for nothing twice.
"""

import asyncio
import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from evals.judges.models import RETRIES, AnthropicModel, Call, CallFailed, JudgeReply, NotWaitedFor, read_message
from evals.store.atomic import make_folder, write_atomically

FOLDER = ".judge-batches"

QUIET_S, TOGETHER, READINGS = 0.3, 1_000, 3
"""Seconds without a new request that mean that no more will come by now, requests in a batch (of at most 256 MB), and
times that results which break off are read."""


class AnthropicBatches(AnthropicModel):
    """Claude, whose replies come by batches.

    Args:
        model: Its name.
        folder: Where what was sent is written down, a file a batch: `at`, `requests`, and the vendor's `id` for it.
        poll_s: Between two looks at a batch.
        timeout_s: So long the batches of a round are waited for.
        options: As of `AnthropicModel`.
    """

    batched, _lifetime = True, {"ttl": "1h"}

    def __init__(self, model: str, *, folder: Path, poll_s: float, timeout_s: float, **options: Any) -> None:
        super().__init__(model, **options)
        make_folder(folder)
        self._folder, self._poll_s, self._wait_s = folder, poll_s, timeout_s
        self._batches = self._client.messages.batches
        self._waiting: dict[str, tuple[dict[str, Any], asyncio.Future[JudgeReply]]] = {}
        self._sent: dict[str, dict[str, Any]] = {}
        for path in folder.glob("*.json"):
            with suppress(ValueError):
                self._sent[path.stem] = json.loads(path.read_text())
        self._read = set[str]()
        self._task: asyncio.Task[None] | None = None

    async def _ask(self, call: Call) -> JudgeReply:
        params = self.params(call)
        future: asyncio.Future[JudgeReply] = asyncio.get_running_loop().create_future()
        request = sha256(json.dumps([self.origin, call.repeat, params], sort_keys=True).encode()).hexdigest()
        self._waiting[request] = (params, future)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._rounds())
        return await future

    async def _rounds(self) -> None:
        """Send what waits together, and hand out replies, until nothing waits; an error reaches all that wait."""
        try:
            while self._waiting:
                before = 0
                while before != len(self._waiting):
                    before = len(self._waiting)
                    await asyncio.sleep(QUIET_S)
                held = {request for sent in self._sent.values() for request in sent["requests"]}
                new = [request for request in self._waiting if request not in held]
                with self.translated():
                    async with asyncio.timeout(self._wait_s):
                        for start in range(0, len(new), TOGETHER):
                            await self._send(new[start : start + TOGETHER])
                        for name, sent in list(self._sent.items()):
                            if not self._waiting.keys().isdisjoint(sent["requests"]):
                                await self._collect(name, sent)
        except Exception as error:  # noqa: BLE001 - raised where each request waits
            raised = NotWaitedFor() if isinstance(error, TimeoutError) else error
            for request in list(self._waiting):
                self._settle(request, raised)

    async def _send(self, requests: list[str]) -> None:
        """Have requests answered. Where the reply to that is lost, the batch is looked for before it is sent again."""
        name = sha256("".join(sorted(requests)).encode()).hexdigest()[:24]
        sent = self._sent[name] = {"at": datetime.now(UTC).isoformat(), "requests": requests, "id": None}
        self._write(name)
        listed: Any = [{"custom_id": request, "params": self._waiting[request][0]} for request in requests]
        create = self._client.with_options(max_retries=0, timeout=600.0).messages.batches.create
        for attempt in range(RETRIES):
            try:
                with self.translated():
                    sent["id"] = (await create(requests=listed)).id
                    break
            except CallFailed as error:
                if error.fatal or error.kind != "transport" or attempt == RETRIES - 1:
                    if not error.sent:
                        self._drop(name)
                    raise
            await asyncio.sleep(self._poll_s)
            if found := await self._find(sent):
                sent["id"] = found
                break
        self._write(name)

    async def _find(self, sent: dict[str, Any]) -> str | None:
        """The vendor's id of a batch whose reply was lost; which requests it holds is known once it has ended."""
        earliest = datetime.fromisoformat(sent["at"]) - timedelta(days=1)  # clocks differ
        others = {each["id"] for each in self._sent.values()}
        async for batch in self._batches.list(limit=100):
            if batch.created_at < earliest:
                break
            alike = sum(batch.request_counts.model_dump().values()) == len(sent["requests"])
            if alike and batch.id not in others and await self._has_ended(batch.id):
                first = await anext(aiter(await self._batches.results(batch.id)))
                if first.custom_id in sent["requests"]:
                    return str(batch.id)
        return None

    async def _collect(self, name: str, sent: dict[str, Any]) -> None:
        """Wait for a batch and hand out its replies; one that the vendor does not have any more is sent anew."""
        import httpx2  # noqa: PLC0415 - as the SDK that needs it

        sent["id"] = sent["id"] or await self._find(sent)
        if not sent["id"] or not await self._has_ended(sent["id"]):
            self._drop(name)
            return
        with suppress(httpx2.HTTPError):  # what breaks off is read again in the next round
            async for line in await self._batches.results(sent["id"]):
                self._settle(line.custom_id, _reply_of(line.result))
            for request in sent["requests"]:
                self._settle(request, CallFailed("its batch has no result of it"))
            self._read.add(name)

    async def _has_ended(self, batch_id: str) -> bool:
        """Wait until a batch has ended; False where the vendor has no replies of it any more."""
        while True:
            try:
                batch = await self._batches.retrieve(batch_id)
            except self._sdk.NotFoundError:
                return False
            if batch.processing_status == "ended":
                return batch.results_url is not None
            await asyncio.sleep(self._poll_s)

    def _settle(self, request: str, reply: JudgeReply | Exception) -> None:
        _, future = self._waiting.pop(request, (None, None))
        if future is not None and not future.done():
            future.set_exception(reply) if isinstance(reply, Exception) else future.set_result(reply)

    def forget(self) -> None:
        """Be done with the batches that were read: all their replies are recorded."""
        for name in self._read:
            self._drop(name)

    def _drop(self, name: str) -> None:
        self._sent.pop(name, None)
        (self._folder / f"{name}.json").unlink(missing_ok=True)

    def _write(self, name: str) -> None:
        write_atomically(self._folder / f"{name}.json", [json.dumps(self._sent[name]).encode()])


def _reply_of(result: Any) -> JudgeReply | CallFailed:
    if result.type == "succeeded":
        return read_message(result.message)
    told = result.error.error if result.type == "errored" else None
    kind: Any = "rejected" if told and told.type == "invalid_request_error" else "transport"
    return CallFailed(f"its batch says {result.type}" + (f": {told.message}" if told else ""), kind)
