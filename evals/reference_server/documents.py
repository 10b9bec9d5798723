"""Documents and their chunks: verbatim slices that never cross a heading."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePath

ACCEPTED_TYPES = (".md", ".txt")

_GOLDEN_FOLDER = Path(__file__).resolve().parent.parent / "data" / "golden_corpus"
_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#*)?[ \t\r]*$", re.MULTILINE)
_CODE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_PIECE = re.compile(r"\S(?:[^\n]*?[.!?][\"')\]]*(?=\s+[^\W_a-z]|\s+[\"'(\[])|[^\n]*)")
"""A sentence or the end of a line."""
_WRAPPED = re.compile(r"\n[ \t]*(?!\d{1,3}[.)]\s)(?=[\w\"'(])")
"""The end of a line in the middle of a paragraph or list item."""
_TABLE_HEAD = re.compile(r"^\s*\|.*\n(?=\s*\|[-:| ]+$)", re.MULTILINE)


class CorpusError(ValueError):
    """A file or folder of documents cannot be used; the message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of a document; `heading` holds the titles of document and section."""

    document_id: str
    document_name: str
    chunk_id: str
    chunk_index: int
    text: str
    section: str | None
    heading: str


@dataclass(frozen=True, slots=True)
class Document:
    """A document that was read."""

    id: str
    file_name: str
    file_size_bytes: int
    uploaded_at: str
    chunks: tuple[Chunk, ...]


def read_document(content: bytes, file_name: str, chunk_words: int) -> Document:
    """Read a text or Markdown file, in chunks of at most this many words.

    Raises:
        CorpusError: The file is not UTF-8, or has no text.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CorpusError(f"{file_name} is not valid UTF-8 text (byte {error.start} cannot be read).") from error
    title, chunks = title_of(text, file_name), list[Chunk]()
    for section, start, end in split(text, file_name, chunk_words):
        part, index = text[start:end], len(chunks)
        heading = title if section in {None, title} else f"{title}\n{section}"
        identity = _hash(f"{file_name}\0{index}\0{part}")
        chunks.append(Chunk(_hash(file_name), file_name, identity, index, part, section, heading))
    if not chunks:
        raise CorpusError(f"{file_name} contains no text.")
    return Document(_hash(file_name), file_name, len(content), datetime.now(UTC).isoformat(), tuple(chunks))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def load_corpus(corpus: str, chunk_words: int) -> list[Document]:
    """Read the documents of `golden`, `none` or a folder.

    Raises:
        CorpusError: The folder or a file in it cannot be read.
    """
    if corpus == "none":
        return []
    folder = _GOLDEN_FOLDER if corpus == "golden" else Path(corpus)
    if not folder.is_dir():
        raise CorpusError(f"The corpus folder {folder} does not exist.")
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix.lower() in ACCEPTED_TYPES and path.is_file())
        return [read_document(path.read_bytes(), path.name, chunk_words) for path in files]
    except OSError as error:
        raise CorpusError(f"The corpus cannot be read: {error.filename}: {error.strerror}.") from error


def _headings(text: str, file_name: str) -> Iterator[tuple[int, str, int, int]]:
    """Level, text, start and end of the headings of a Markdown file, outside code blocks."""
    if PurePath(file_name).suffix.lower() == ".md":
        without_code = _CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)
        for heading in _HEADING.finditer(without_code):
            yield len(heading[1]), (heading[2] or "").strip(), heading.start(), heading.end()


def title_of(text: str, file_name: str) -> str:
    """The first top-level heading of a Markdown file, else its name in words."""
    titles = (title for level, title, *_ in _headings(text, file_name) if level == 1 and title)
    return next(titles, None) or re.sub(r"[-_]+", " ", PurePath(file_name).stem).strip()


def split(text: str, file_name: str, chunk_words: int) -> Iterator[tuple[str | None, int, int]]:
    """Section, start and end of each chunk: as many lines and sentences of one section as the limit allows."""
    section, section_start = None, 0
    for _, title, section_end, next_start in [*_headings(text, file_name), (0, "", len(text), len(text))]:
        packed: list[tuple[int, int, int]] = []
        for piece in _PIECE.finditer(text, section_start, section_end):
            words = [word.span() for word in re.finditer(r"\S+", piece[0])]
            for group in (words[first : first + chunk_words] for first in range(0, len(words), chunk_words)):
                start, end, size = piece.start() + group[0][0], piece.start() + group[-1][1], len(group)
                if packed and packed[-1][2] + size <= chunk_words:
                    start, _, held = packed.pop()
                    size += held
                packed.append((start, end, size))
        yield from ((section, start, end) for start, end, _ in packed)
        section, section_start = title or None, next_start


def sentences(text: str) -> list[str]:
    """What an answer can quote of a chunk: sentences, list items and rows of tables."""
    lines = _WRAPPED.sub(" ", _TABLE_HEAD.sub("", text))
    return [piece.strip() for piece in _PIECE.findall(lines) if re.search(r"\w", piece)]
