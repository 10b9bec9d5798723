"""The Message Batches API of Anthropic, by the official SDK: what is sent to it, listed there and read of it."""

import asyncio
import json
import os
import secrets
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from evals.errors import StoreError
from evals.judges.backends.anthropic import AnthropicBackend, message_params, read_message
from evals.judges.backends.base import BackendError, Call, JudgeReply, error_field, error_message
from evals.judges.backends.sdk import RejectedError, deadline
from evals.judges.money import ROUNDING, Cost

# A request that waits for its batch.


MOST_REQUESTS = 100_000
"""In one batch of the Message Batches API."""


MOST_BYTES = 250_000_000
"""In one batch, a little below what the API takes."""


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


def item_of(origin: str, params: dict[str, Any], repeat: int, ahead: Callable[[], Cost]) -> Item:
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
        alone = not busy and not found and ahead.expected <= left_usd + ROUNDING
        if left_usd > 0 and (alone or held + ahead.most <= left_usd + ROUNDING):
            found.append(item)
            held += ahead.most
    return found


def last_failure(error: BackendError, tries: int) -> BackendError:
    """The failure of a request that no further batch is worth."""
    if tries == 1:
        return error
    return BackendError(f"{error} ({tries} batches)", fatal=error.fatal)


# How long batches are waited for, and how often the vendor is asked for what it did not say.


T = TypeVar("T")


MOST_FAILURES = 30
"""So often in a row the vendor may say nothing, or take nothing: about half an hour."""


_GROWTH, _LONGEST = 1.5, 12
"""Of the time between two looks: its growth, and how many times the first it is at most."""


_LONGEST_WAIT_S = 120.0
"""Of what a vendor asks for; asked again too early, it asks again."""


class LeftError(Exception):
    """The reply will come when nobody waits for it any more: whoever goes on takes it then."""


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

    def tell_first(self, failures: int, error: BackendError) -> None:
        """Tell of the first failure in a row."""
        if failures == 1:
            self.tell(str(error))

    async def wait(self, interval: float, error: BackendError | None = None) -> None:
        """Wait before the next look, longer where the vendor asks for it."""
        asked = min(error.retry_after_s or 0.0, _LONGEST_WAIT_S) if error is not None else 0.0
        await self.sleep(max(asked, interval))

    async def persistently(self, work: Callable[[], Awaitable[T]]) -> T:
        """Ask the vendor for something again and again.

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
                self.tell_first(failures, error)
                await self.wait(interval, error)


_SENDING_S = 600.0
"""A batch may have 256 MB."""

_PAGE = 100

_REJECTED = frozenset({"invalid_request_error", "request_too_large"})

_NO_ACCESS = frozenset({"authentication_error", "permission_error", "billing_error", "not_found_error"})


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch as the vendor sees it.

    Attributes:
        id: The vendor's name for it.
        ended: Whether replies can be read.
        count: Its requests.
        done: Those of them that are not in work any more.
        created_at: In seconds since 1970.
    """

    id: str
    ended: bool
    count: int
    done: int
    created_at: float


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What became of one request of a batch: a reply, or why there is none."""

    custom_id: str
    reply: JudgeReply | BackendError


class AnthropicBatches(AnthropicBackend):
    """Sends requests in batches; the identity and the cache's keys are those of calls one by one."""

    def params(self, call: Call) -> dict[str, Any]:
        """What a batch holds of a call.

        Only instructions are marked to be kept, and for an hour: a batch may take longer than five minutes, and what
        but two requests share costs more to keep than it saves.
        """
        return message_params(self.model, replace(call, shared=()), self.effort, kept="1h")

    async def newest_batch(self) -> str | None:
        """The name of the newest batch that is there; None where there is none.

        Raises:
            BackendError: The vendor does not say.
        """
        async with self._asking(self._timeout_s):
            found = self._states_in(await self._batches.list(limit=1))
        return found[0].id if found else None

    async def batches_since(self, newest: str | None, earliest: float) -> list[BatchState]:
        """The batches that are newer than one, the oldest first.

        Args:
            newest: That one; None where there was none.
            earliest: Seconds since 1970; what was made before is not looked at.

        Raises:
            BackendError: The vendor does not say.
        """
        found: list[BatchState] = []
        async with self._asking(_SENDING_S):
            page = await self._batches.list(limit=_PAGE)
            while True:
                for each in self._states_in(page):
                    if each.id == newest or each.created_at < earliest:
                        return found[::-1]
                    found.append(each)
                if not page.has_next_page():
                    return found[::-1]
                page = await page.get_next_page()

    async def send_batch(self, requests: Sequence[tuple[str, dict[str, Any]]]) -> BatchState:
        """Have requests answered, each with the id by which its reply is known.

        Raises:
            BackendError: Nobody knows whether they will be, unless it says that they were refused.
        """
        listed = [{"custom_id": custom_id, "params": params} for custom_id, params in requests]
        async with self._asking(_SENDING_S):
            return self._state_of(await self._batches.create(requests=listed, timeout=_SENDING_S))

    async def state(self, batch_id: str) -> BatchState | None:
        """How far a batch is; None where the vendor does not know it, or has its replies, any more.

        Raises:
            BackendError: The vendor does not say.
        """
        async with self._asking(self._timeout_s):
            try:
                found = await self._batches.retrieve(batch_id)
            except self._sdk.NotFoundError:
                return None
        state = self._state_of(found)
        return None if state.ended and not getattr(found, "results_url", None) else state

    async def results(self, batch_id: str) -> AsyncGenerator[BatchResult, None]:
        """What became of the requests of a batch that has ended, in any order, as it comes in.

        Raises:
            BackendError: It cannot be read, or breaks off.
        """
        async with self._asking(None):
            lines = await self._batches.results(batch_id)
            try:
                async for line in lines:
                    yield self._result(line)
            finally:
                await lines.close()

    @property
    def _batches(self) -> Any:
        return self._messages.batches

    @asynccontextmanager
    async def _asking(self, seconds: float | None) -> AsyncIterator[None]:
        """Around one or more requests.

        Raises:
            BackendError: There is no response that can be read, or it is an error.
        """
        import httpx2  # noqa: PLC0415 - as heavy as the SDK that needs it

        try:
            with self._failures_mapped():
                async with nullcontext() if seconds is None else deadline(seconds):
                    yield
        except BackendError as error:
            self._masker.clean(error)
            raise
        except httpx2.HTTPError as error:  # which the SDK lets through where a stream breaks off
            broken = BackendError(f"{type(error).__name__}: {error}", retryable=True)
            self._masker.clean(broken)
            raise broken from error

    def _states_in(self, page: Any) -> list[BatchState]:
        found = getattr(page, "data", None)
        if not isinstance(found, list):
            raise self._foreign("Message Batches API")
        return [_state(batch) for batch in found]

    def _state_of(self, batch: Any) -> BatchState:
        if not isinstance(getattr(batch, "id", None), str):
            raise self._foreign("Message Batches API")
        return _state(batch)

    def _result(self, line: Any) -> BatchResult:
        custom_id, result = str(getattr(line, "custom_id", "")), getattr(line, "result", None)
        try:
            if getattr(result, "type", None) != "succeeded":
                raise _failure(result)
            return BatchResult(custom_id, read_message(getattr(result, "message", None)))
        except BackendError as error:
            self._masker.clean(error)
            return BatchResult(custom_id, error)

    def masked(self, reply: JudgeReply, call: Call) -> JudgeReply:
        """The reply without keys that were not in what was asked."""
        return self._masker.reply(reply, call)


def _state(batch: Any) -> BatchState:
    """What the vendor says of a batch.

    Raises:
        BackendError: That is something else.
    """
    try:
        counts, ended = batch.request_counts, batch.processing_status == "ended"
        done = counts.succeeded + counts.errored + counts.canceled + counts.expired
        return BatchState(batch.id, ended, done + counts.processing, done, batch.created_at.timestamp())
    except (AttributeError, TypeError) as error:
        raise BackendError(f"what answers speaks no Message Batches API: {error}", retryable=True) from error


def _failure(result: Any) -> BackendError:
    """Why a request of a batch has no reply; nothing of it was paid for."""
    kind = getattr(result, "type", None)
    if kind != "errored":
        return BackendError(f"its batch says {kind}", retryable=True)
    told = getattr(getattr(result, "error", None), "error", None)
    name, body = str(getattr(told, "type", "")), {"message": getattr(told, "message", None) or ""}
    message = f"{name}: {error_message(body)}"
    if name in _REJECTED:
        rejected = RejectedError(message)
        rejected.field = error_field(body)
        return rejected
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
        newest: The newest batch that the vendor had before; None where it had none.
        requests: Their ids, by which replies are known.
        batch_id: The vendor's name for it; None where none is known.
    """

    path: Path
    at: datetime
    origin: str
    run: str
    newest: str | None
    requests: frozenset[str]
    batch_id: str | None = None
    file: BinaryIO | None = field(default=None, repr=False)
    """Open and locked while this process uses it."""


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

    def intend(self, requests: Iterable[str], *, run: str, newest: str | None) -> LoggedBatch:
        """Write down what will be sent, and see that it lasts.

        Raises:
            StoreError: It cannot be written: nothing may be sent then.
        """
        at = datetime.now(UTC)
        path = self._folder / f"{at:%Y%m%dT%H%M%S%f}Z-{secrets.token_hex(4)}.jsonl"
        logged = LoggedBatch(path, at, self._origin, run, newest, frozenset(requests))
        intent = {
            "type": "intent",
            "at": at.isoformat(),
            "origin": self._origin,
            "run": run,
            "newest": newest,
            "requests": sorted(logged.requests),
        }
        try:
            logged.file = path.open("xb")
        except OSError as error:
            raise self._unwritable(path, error) from error
        _locked(logged.file)
        self._append(logged, intent)
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
        _close(logged)
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
        """Leave what is there to whoever goes on."""
        for logged in self._batches:
            _close(logged)

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
        at = datetime.fromisoformat(intent["at"])
        found = LoggedBatch(path, at, intent["origin"], intent["run"], intent["newest"], frozenset(intent["requests"]))
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


def _close(logged: LoggedBatch) -> None:
    file, logged.file = logged.file, None
    if file is not None:
        with suppress(OSError):
            file.close()


# Sending batches such that none is paid for twice: written down before, and looked for where in doubt.


_SKEW_S = 86_400.0
"""How far this machine's clock may be from the vendor's."""


class Post:
    """Sends batches to a vendor.

    Args:
        vendor: Answers them.
        log: Keeps what was sent.
        pace: How long is waited.
    """

    def __init__(self, vendor: AnthropicBatches, log: BatchLog, pace: Pace) -> None:
        self._vendor = vendor
        self._log = log
        self._pace = pace

    async def send(self, batch: Sequence[Item], run: str) -> LoggedBatch:
        """Send a batch, which is written down before.

        Args:
            batch: The requests.
            run: The log of the run that wants it.

        Raises:
            BackendError: The vendor takes none.
            LeftError: The time is over.
            StoreError: It cannot be written down: nothing was sent.
        """
        newest = await self._pace.persistently(self._vendor.newest_batch)
        logged = self._log.intend([item.custom_id for item in batch], run=run, newest=newest)
        failures = 0
        for interval in self._pace.intervals():
            sent_at = time.time()
            try:
                state = await self._vendor.send_batch([(item.custom_id, item.params) for item in batch])
            except BackendError as error:
                failures += 1
                if not error.retryable or failures == MOST_FAILURES:
                    if not error.unanswered:
                        self._log.remove(logged)
                    raise
                self._pace.tell_first(failures, error)
                # It may have arrived all the same.
                if await self.find(logged, sent_at if error.unanswered else 0.0):
                    break
                await self._pace.wait(interval, error)
            else:
                self._log.sent(logged, state.id)
                break
        return logged

    async def find(self, logged: LoggedBatch, sent_at: float) -> bool:
        """Look at the vendor for a batch that was sent, but has no name here; whether it is there.

        Args:
            logged: What was sent, or was about to be.
            sent_at: When, in seconds since 1970: it may not be listed at once.

        Raises:
            BackendError: The vendor does not say.
            LeftError: The time is over.
        """
        others, earliest = self._log.names, logged.at.timestamp() - _SKEW_S
        for interval in self._pace.intervals():
            for state in await self._pace.persistently(lambda: self._vendor.batches_since(logged.newest, earliest)):
                if state.id in others or state.count != len(logged.requests):
                    continue
                others.add(state.id)
                if await self._is(state, logged):
                    self._log.sent(logged, state.id)
                    return True
            if time.time() - sent_at >= self._pace.grace_s:
                break
            await self._pace.wait(interval)
        return False

    async def _is(self, state: BatchState, logged: LoggedBatch) -> bool:
        """Whether a batch at the vendor is the one that was sent; its requests are known once it has ended."""
        for interval in self._pace.intervals():
            now = await self._pace.persistently(lambda: self._vendor.state(state.id))
            if now is None:
                return False
            if now.ended:
                break
            await self._pace.wait(interval)
        return await self._pace.persistently(lambda: self._begins_like(state.id, logged))

    async def _begins_like(self, batch_id: str, logged: LoggedBatch) -> bool:
        results = self._vendor.results(batch_id)
        try:
            async for result in results:
                return result.custom_id in logged.requests
        finally:
            await results.aclose()
        return False
