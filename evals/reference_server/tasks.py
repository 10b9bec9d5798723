"""Uploads processed in the background, one batch after the other."""

import asyncio
import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from .documents import Document, UnreadableDocumentError, read_document
from .schemas import BatchStatus, QueuedFile, TaskStatus, UploadResponse
from .store import DocumentStore

_log = logging.getLogger(__name__)

KEPT_BATCHES = 1000
"""Of so many batches the status can be asked; of the others that are done it is forgotten."""


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """An accepted file, not yet processed."""

    file_name: str
    content: bytes


class UploadQueue:
    """Turns accepted files into documents and remembers how each one fared."""

    def __init__(self, store: DocumentStore, chunk_words: int) -> None:
        """Process into the store, with chunks of at most ``chunk_words`` words."""
        self._store = store
        self._chunk_words = chunk_words
        self._batches: dict[str, dict[str, TaskStatus]] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()

    def submit(self, files: Sequence[IncomingFile]) -> UploadResponse:
        """Queue the files as one batch and return at once."""
        batch_id = str(uuid.uuid4())
        work = {str(uuid.uuid4()): file for file in files}
        self._batches[batch_id] = {key: TaskStatus(filename=file.file_name) for key, file in work.items()}
        self._forget_old()
        task = asyncio.create_task(self._process(batch_id, work))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        queued = [QueuedFile(task_id=key, filename=file.file_name) for key, file in work.items()]
        return UploadResponse(batch_id=batch_id, tasks=queued)

    def status(self, batch_id: str) -> BatchStatus | None:
        """How far a batch has come, or None if there is no such batch."""
        tasks = self._batches.get(batch_id)
        if tasks is None:
            return None
        completed = sum(task.status == "completed" for task in tasks.values())
        return BatchStatus(batch_id=batch_id, total=len(tasks), completed=completed, tasks=tasks)

    def _forget_old(self) -> None:
        """Drop the oldest batches where there are too many, but none that is not done."""
        while len(self._batches) > KEPT_BATCHES:
            oldest = next(iter(self._batches))
            if any(task.status in {"pending", "processing"} for task in self._batches[oldest].values()):
                return
            del self._batches[oldest]

    async def _process(self, batch_id: str, work: dict[str, IncomingFile]) -> None:
        tasks = self._batches[batch_id]
        async with self._turn:
            for task_id, file in work.items():
                await self._process_file(tasks[task_id], file)

    async def _process_file(self, task: TaskStatus, file: IncomingFile) -> None:
        task.status = "processing"
        try:
            document = await asyncio.to_thread(self._read, file)
            self._store.put([document])
        except UnreadableDocumentError as error:
            task.status, task.error = "error", str(error)
            return
        except Exception as error:  # noqa: BLE001 - nobody awaits this: the file would be "processing" for ever
            _log.error("%s could not be processed", file.file_name, exc_info=error)
            reason = f"{type(error).__name__}: {error}"
            task.status, task.error = "error", f"{file.file_name} could not be processed ({reason})."
            return
        task.total_chunks = task.completed_chunks = len(document.chunks)
        task.status = "completed"

    def _read(self, file: IncomingFile) -> Document:
        return read_document(file.content, file.file_name, self._chunk_words)
