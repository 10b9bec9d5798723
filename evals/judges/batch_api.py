"""The Message Batches API of Anthropic, by the official SDK, and the log of what was sent to it."""

import asyncio
import json
import os
import secrets
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

from evals.errors import StoreError
from evals.judges.backends.anthropic import AnthropicBackend, message_params, read_message
from evals.judges.backends.base import BackendError, Call, JudgeReply, RejectedError, error_message
from evals.judges.money import Cost

# A request that waits for its batch.


MOST_REQUESTS, MOST_BYTES = 100_000, 250_000_000
"""In one batch of the Message Batches API; of bytes a little below what it takes."""


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
    ahead: Callable[[], Cost]
    reply: asyncio.Future[JudgeReply]
    tries: int = 0
    passed_over: int = 0
    looked_into: set[Path] = field(default_factory=set)

    @classmethod
    def of(cls, origin: str, params: dict[str, Any], repeat: int, ahead: Callable[[], Cost]) -> "Item":
        """The request with these parameters to that address, for that repeat."""
        sent = json.dumps(params, sort_keys=True).encode()
        custom_id = sha256(json.dumps([origin, repeat]).encode() + sent).hexdigest()
        return cls(custom_id, params, len(sent), ahead, asyncio.get_running_loop().create_future())


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


# How long batches are waited for, and how often the vendor is asked for what it did not say.


T = TypeVar("T")


MOST_FAILURES = 30
"""So often in a row the vendor may say nothing, or take nothing: about half an hour."""


_GROWTH, _LONGEST = 1.5, 12
"""Of the time between two looks: its growth, and how many times the first it is at most."""


_LONGEST_WAIT_S = 120.0
"""Of what a vendor asks for; asked again too early, it asks again."""


class LeftError(Exception):
    """The reply will come after the run has stopped waiting; a resumed run takes it then."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long batches are waited for, in seconds.

    Attributes:
        first_s: Between the first two looks at a batch; later ones are further apart.
        limit_s: For the batches of one round.
        grace_s: Until a batch that was sent must be listed at the vendor, if it arrived.
        sleep: How to wait.
        clock: Seconds that only grow.
        tell: Hears that the vendor says nothing, or takes nothing, when that begins.
    """

    first_s: float = 5.0
    limit_s: float = 90_000.0
    grace_s: float = 30.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    tell: Callable[[str], None] = lambda _trouble: None

    def intervals(self) -> Iterator[float]:
        """The times between looks, until the limit is over.

        Raises:
            LeftError: It is.
        """
        interval, began = self.first_s, self.clock()
        while self.clock() - began <= self.limit_s:
            yield interval
            interval = min(interval * _GROWTH, self.first_s * _LONGEST)
        raise LeftError

    async def persistently(self, work: Callable[[], Awaitable[T]]) -> T:
        """Ask the vendor for something again and again, later where it asks for that.

        Raises:
            BackendError: It does not say it, and will not.
            LeftError: The time is over.
        """
        failures = 0
        intervals = self.intervals()
        while True:
            interval = next(intervals)
            try:
                return await work()
            except BackendError as error:
                failures += 1
                if not error.retryable or failures == MOST_FAILURES:
                    raise
                if failures == 1:
                    self.tell(str(error))
                await self.sleep(max(interval, min(error.retry_after_s or 0.0, _LONGEST_WAIT_S)))


# What the vendor is asked for.


_SENDING_S = 600.0
"""A batch may have 256 MB."""

_PAGE = 100

_REJECTED = frozenset({"invalid_request_error", "request_too_large"})

_NO_ACCESS = frozenset({"authentication_error", "permission_error", "billing_error", "not_found_error"})


class BatchState(NamedTuple):
    """A batch as the vendor sees it.

    Attributes:
        id: The vendor's name for it.
        ended: Whether replies can be read.
        size: Its requests.
        created_at: In seconds since 1970.
    """

    id: str
    ended: bool
    size: int
    created_at: float


BatchResult = tuple[str, JudgeReply | BackendError]
"""The id of a request of a batch, with its reply, or why there is none."""


class AnthropicBatches(AnthropicBackend):
    """Sends requests in batches; the identity and the cache's keys are those of calls one by one."""

    def params(self, call: Call) -> dict[str, Any]:
        """What a batch holds of a call.

        Only instructions are marked to be kept, and for an hour: a batch may take longer than five minutes, and what
        but two requests share costs more to keep than it saves.
        """
        return message_params(self.model, replace(call, shared=()), self.effort, kept="1h")

    async def batches_since(self, earliest: float) -> list[BatchState]:
        """The batches that were made since a time, in seconds since 1970, the oldest first.

        Raises:
            BackendError: The vendor does not say.
        """
        found: list[BatchState] = []
        async with self._asking(_SENDING_S):
            page = await self._messages.batches.list(limit=_PAGE)
            while True:
                listed = getattr(page, "data", None)
                for batch in listed if isinstance(listed, list) else [page]:
                    state = self._state(batch)
                    if state.created_at < earliest:
                        return found[::-1]
                    found.append(state)
                if not page.has_next_page():
                    return found[::-1]
                page = await page.get_next_page()

    async def send_batch(self, requests: Sequence[tuple[str, dict[str, Any]]]) -> BatchState:
        """Have requests answered, each with the id by which its reply is known.

        Raises:
            BackendError: It is unknown whether they will be, unless it says that they were refused.
        """
        listed: Any = [{"custom_id": custom_id, "params": params} for custom_id, params in requests]
        async with self._asking(_SENDING_S):
            return self._state(await self._messages.batches.create(requests=listed, timeout=_SENDING_S))

    async def state(self, batch_id: str) -> BatchState | None:
        """How far a batch is; None where the vendor does not know it, or has its replies, any more.

        Raises:
            BackendError: The vendor does not say.
        """
        async with self._asking(self._timeout_s):
            try:
                found = await self._messages.batches.retrieve(batch_id)
            except self._sdk.NotFoundError:
                return None
            state = self._state(found)
            return None if state.ended and not getattr(found, "results_url", None) else state

    async def results(self, batch_id: str) -> AsyncGenerator[BatchResult, None]:
        """What became of the requests of a batch that has ended, in any order, as it comes in.

        Raises:
            BackendError: It cannot be read, or breaks off.
        """
        async with self._asking(None):
            lines = await self._messages.batches.results(batch_id)
            try:
                async for line in lines:
                    yield str(getattr(line, "custom_id", "")), self._reply_of(getattr(line, "result", None))
            finally:
                await lines.close()

    def _state(self, batch: Any) -> BatchState:
        """What the vendor says of a batch.

        Raises:
            BackendError: That is something else.
        """
        try:
            size = sum(batch.request_counts.model_dump().values())
            return BatchState(batch.id, batch.processing_status == "ended", size, batch.created_at.timestamp())
        except (AttributeError, TypeError) as error:
            said = f"the address does not answer as the Message Batches API: {error}"
            raise BackendError(said, retryable=True, fatal_if_lasting=not self._answered) from error

    def _reply_of(self, result: Any) -> JudgeReply | BackendError:
        kind = getattr(result, "type", None)
        try:
            if kind == "succeeded":
                return read_message(getattr(result, "message", None))
            failure = _failure(result) if kind == "errored" else BackendError(f"its batch says {kind}", retryable=True)
        except BackendError as error:
            failure = error
        self._masker.clean(failure)
        return failure

    def masked(self, reply: JudgeReply, call: Call) -> JudgeReply:
        """The reply without keys that were not in what was asked."""
        return self._masker.reply(reply, call)


def _failure(result: Any) -> BackendError:
    """Why a request of a batch was refused; nothing of it was paid for."""
    told = getattr(getattr(result, "error", None), "error", None)
    name = str(getattr(told, "type", ""))
    message = f"{name}: {error_message({'message': getattr(told, 'message', None) or ''})}"
    if name in _REJECTED:
        return RejectedError(message)
    return BackendError(message, retryable=name not in _NO_ACCESS, fatal=name in _NO_ACCESS)


# What was sent to a vendor in batches: written before it is sent, so that whoever goes on asks for nothing twice.


FOLDER = ".judge-batches"


KEPT = timedelta(days=29)
"""So long a vendor keeps replies; what was sent before says nothing any more."""


@dataclass(slots=True, eq=False)
class LoggedBatch:
    """A batch that was sent, or was about to be.

    Attributes:
        path: Where that is written.
        at: When it was about to be sent.
        origin: To whom.
        run: The log of the run that wanted it.
        requests: Their ids, by which replies are known.
        batch_id: The vendor's name for it; None where none is known.
    """

    path: Path
    at: datetime
    origin: str
    run: str
    requests: frozenset[str]
    batch_id: str | None = None
    file: BinaryIO | None = field(default=None, repr=False)
    """Open and locked while this process uses it."""

    def close(self) -> None:
        """Leave it to a resumed run."""
        file, self.file = self.file, None
        if file is not None:
            with suppress(OSError):
                file.close()


class BatchLog:
    """The batches of a folder of runs that are not done with.

    Args:
        folder: Where the files are.
        origin: Only batches that were sent there count.
    """

    def __init__(self, folder: Path, origin: str) -> None:
        self._folder = folder
        self._origin = origin
        self._batches: list[LoggedBatch] = []
        self._by_request: defaultdict[str, list[LoggedBatch]] = defaultdict(list)

    def prepare(self) -> None:
        """Make the folder, and read what is in it.

        Raises:
            StoreError: It cannot be made.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(self._folder, error) from error
        for path in sorted(self._folder.glob("*.jsonl")):
            logged = _read(path)
            if logged is None:  # damaged, or another process's that is being written
                continue
            if logged.at < datetime.now(UTC) - KEPT:
                with suppress(OSError):
                    path.unlink(missing_ok=True)
            elif logged.origin == self._origin:
                self._add(logged)

    def holding(self, request: str) -> Sequence[LoggedBatch]:
        """The batches with a request, the oldest first."""
        return self._by_request.get(request, ())

    @property
    def names(self) -> set[str]:
        """The vendor's names of the batches that are known."""
        return {logged.batch_id for logged in self._batches if logged.batch_id is not None}

    def claim(self, logged: LoggedBatch) -> bool:
        """Have a batch for this process; False where another one is at work with it, or has done with it."""
        if logged.file is not None:
            return True
        try:
            file = logged.path.open("rb+")  # makes no file where it is gone
        except OSError:
            return False
        file.seek(0, os.SEEK_END)
        if not _locked(file) or not logged.path.exists():
            file.close()
            return False
        logged.file = file
        return True

    def intend(self, requests: Iterable[str], *, run: str) -> LoggedBatch:
        """Write down what will be sent, and see that it lasts.

        Raises:
            StoreError: It cannot be written: nothing may be sent then.
        """
        at = datetime.now(UTC)
        path = self._folder / f"{at:%Y%m%dT%H%M%S%f}Z-{secrets.token_hex(4)}.jsonl"
        logged = LoggedBatch(path, at, self._origin, run, frozenset(requests))
        try:
            logged.file = path.open("xb")
        except OSError as error:
            raise self._unwritable(path, error) from error
        _locked(logged.file)
        facts = {"at": at.isoformat(), "origin": self._origin, "run": run, "requests": sorted(logged.requests)}
        self._append(logged, {"type": "intent", **facts})
        self._add(logged)
        return logged

    def sent(self, logged: LoggedBatch, batch_id: str) -> None:
        """Write down the vendor's name for a batch.

        Raises:
            StoreError: It cannot be written.
        """
        logged.batch_id = batch_id
        self._append(logged, {"type": "sent", "id": batch_id})

    def remove(self, logged: LoggedBatch) -> None:
        """Be done with a batch."""
        with suppress(OSError):  # what stays is found again, and asked for in vain
            logged.path.unlink(missing_ok=True)
        logged.close()
        self._batches.remove(logged)
        for request in logged.requests:
            self._by_request[request].remove(logged)

    def remove_done(self, run: str, taken: set[str]) -> None:
        """Be done with the batches of a run that was judged to its end, and with those whose replies are all taken.

        Args:
            run: Its log.
            taken: The requests whose replies this process has.
        """
        for logged in list(self._batches):
            if logged.run == run or logged.requests <= taken:
                self.remove(logged)

    def close(self) -> None:
        """Leave what is there to a resumed run."""
        for logged in self._batches:
            logged.close()

    def _append(self, logged: LoggedBatch, event: dict[str, Any]) -> None:
        file = logged.file
        if file is None:
            raise StoreError(f"{logged.path} is not open")
        try:
            # Behind an empty line, as the last one may be torn.
            file.write(b"\n" * bool(file.tell()) + json.dumps(event).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        except OSError as error:
            raise self._unwritable(logged.path, error) from error

    def _add(self, logged: LoggedBatch) -> None:
        self._batches.append(logged)
        for request in logged.requests:
            self._by_request[request].append(logged)

    def _unwritable(self, path: Path, error: OSError) -> StoreError:
        return StoreError(
            f"cannot write down what is sent in a batch, in {path}: {error.strerror or error}",
            f"make {self._folder} writable, or judge call by call with --no-judge-batch",
        )


def _read(path: Path) -> LoggedBatch | None:
    """What a file says; None where not even its first line can be read: nothing was sent then."""
    try:
        lines = path.read_bytes().split(b"\n")
        intent = json.loads(lines[0])
        at, requests = datetime.fromisoformat(intent["at"]), frozenset(intent["requests"])
        found = LoggedBatch(path, at, intent["origin"], intent["run"], requests)
        for line in filter(None, lines[1:]):
            with suppress(ValueError):  # a torn line: the name is looked for at the vendor
                found.batch_id = json.loads(line)["id"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found


def _locked(file: BinaryIO) -> bool:
    """Lock a file until it is closed; False where another process has it."""
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
