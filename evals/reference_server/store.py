"""The documents a server holds, and the index over them."""

import threading
from collections.abc import Iterable

from .documents import Document
from .index import ChunkIndex


class DocumentStore:
    """Documents by id, safe to use from several threads; the index is built when first needed."""

    def __init__(self) -> None:
        """Start with no documents."""
        self._documents: dict[str, Document] = {}
        self._index: ChunkIndex | None = None
        self._version = 0
        self._lock = threading.Lock()
        self._build_lock = threading.Lock()

    def put(self, documents: Iterable[Document]) -> None:
        """Add documents; each replaces an earlier one of the same file name."""
        with self._lock:
            self._documents.update((document.id, document) for document in documents)
            self._changed()

    def delete(self, document_id: str) -> Document | None:
        """Remove a document and return it, or None when there is none of that id."""
        with self._lock:
            document = self._documents.pop(document_id, None)
            if document is not None:
                self._changed()
            return document

    def documents(self) -> list[Document]:
        """All documents, by file name."""
        with self._lock:
            return self._sorted()

    def index(self) -> ChunkIndex:
        """The index over the current documents, built anew only if they changed."""
        with self._build_lock:
            with self._lock:
                if self._index is not None:
                    return self._index
                version, documents = self._version, self._sorted()
            index = ChunkIndex([chunk for document in documents for chunk in document.chunks])
            with self._lock:
                if version == self._version:
                    self._index = index
            return index

    def _sorted(self) -> list[Document]:
        return sorted(self._documents.values(), key=lambda document: document.file_name)

    def _changed(self) -> None:
        self._version += 1
        self._index = None
