"""Documents and chunks with their identities, and how bytes become them."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePath

from .chunking import split, title_of
from .tokens import tokenize

ACCEPTED_TYPES = (".md", ".txt")


class UnreadableDocumentError(ValueError):
    """The bytes of a document cannot become chunks; the message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One retrievable slice of a document; ``tokens`` also hold its title and section."""

    document_id: str
    document_name: str
    chunk_id: str
    chunk_index: int
    text: str
    section: str | None
    heading_tokens: frozenset[str]
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """One stored document."""

    id: str
    file_name: str
    content_hash: str
    file_size_bytes: int
    uploaded_at: str
    chunks: tuple[Chunk, ...]

    @property
    def file_type(self) -> str:
        """The file name's ending, lower-case with its dot."""
        return PurePath(self.file_name).suffix.lower()


def document_id(file_name: str) -> str:
    """The identity of a document, which its file name alone decides."""
    return hashlib.sha256(file_name.encode()).hexdigest()[:16]


def chunk_id(file_name: str, index: int, text: str) -> str:
    """The identity of a chunk: a hash of where it is and what it says."""
    return hashlib.sha256(f"{file_name}\0{index}\0{text}".encode()).hexdigest()[:16]


def decode(content: bytes, file_name: str) -> str:
    """The text of a file, which must be UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableDocumentError(
            f"{file_name} is not valid UTF-8 text (byte {error.start} cannot be read)."
        ) from error


def make_chunks(text: str, file_name: str, max_words: int) -> tuple[Chunk, ...]:
    """All chunks of a text, ready for the index."""
    doc_id, title = document_id(file_name), title_of(text, file_name)
    chunks: list[Chunk] = []
    for index, piece in enumerate(split(text, file_name, max_words)):
        body = text[piece.start : piece.end]
        heading = title if piece.section in (None, title) else f"{title}\n{piece.section}"
        head = tokenize(heading)
        identity = chunk_id(file_name, index, body)
        tokens = (*head, *tokenize(body))
        chunks.append(Chunk(doc_id, file_name, identity, index, body, piece.section, frozenset(head), tokens))
    return tuple(chunks)


def read_document(content: bytes, file_name: str, max_words: int) -> Document:
    """Turn the bytes of a file into a document, or say why that is impossible."""
    chunks = make_chunks(decode(content, file_name), file_name, max_words)
    if not chunks:
        raise UnreadableDocumentError(f"{file_name} contains no text.")
    return Document(
        id=document_id(file_name),
        file_name=file_name,
        content_hash=hashlib.sha256(content).hexdigest(),
        file_size_bytes=len(content),
        uploaded_at=datetime.now(UTC).isoformat(),
        chunks=chunks,
    )
