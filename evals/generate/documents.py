"""The documents that questions are made from: files, the corpus of a dataset, or the texts that a server lists."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from evals.client.http import ExchangeError
from evals.client.mapping import find_or_none
from evals.client.rag_client import RAGClient
from evals.client.spec import ServerSpec
from evals.errors import ConfigError, ServerError
from evals.text.decoding import read_text
from evals.text.markup import plain

_TEXTS = frozenset({".md", ".markdown", ".txt", ".text", ".rst"})
_PAGES = frozenset({".html", ".htm"})
_OFFICE = frozenset({".pdf", ".docx", ".pptx"})


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document that questions are made from.

    Attributes:
        name: What gold passages call it: the path of a file below its folder, else its id in a dataset or on a server.
        text: In which spans count; of HTML and office files, the text that was made of them.
    """

    name: str
    text: str


def read_documents(place: Path) -> tuple[list[SourceDocument], list[str]]:
    """Read a file, or the files of a folder and its folders, without hidden ones.

    Returns:
        The documents, and the files that were left out, each with the reason.

    Raises:
        ConfigError: The place does not exist, holds no document that can be read, or one that needs markitdown, which
            is not installed.
        DatasetError: A text file cannot be decoded.
    """
    if not place.exists():
        raise ConfigError(f"{place} does not exist", "name a folder of documents")
    base = place.parent if place.is_file() else place
    documents, left_out = list[SourceDocument](), list[str]()
    for path in [place] if place.is_file() else sorted(filter(Path.is_file, place.rglob("*"))):
        relative, ending = path.relative_to(base), path.suffix.lower()
        if any(part.startswith(".") for part in relative.parts):
            continue
        text, problem = _text_of(path, ending)
        documents += [SourceDocument(relative.as_posix(), text)] if text.strip() else []
        left_out += [] if text.strip() else [f"{relative} ({problem or 'empty'})"]
    if not documents:
        kinds = ", ".join(sorted(_TEXTS | _PAGES | _OFFICE))
        raise ConfigError(f"{place} holds no document that can be read", f"kinds that can: {kinds}")
    return documents, left_out


async def server_documents(server: ServerSpec) -> list[SourceDocument]:
    """The documents that a server lists with their texts.

    Raises:
        ConfigError: Its profile has no list, or the list has no texts.
        ServerError: The server does not give it.
    """
    async with RAGClient(server, concurrency=1) as client:
        spec, url = client.spec.documents, client.url
        try:
            body = None if spec is None else await client.read_json(spec.path, max_attempts=3)
        except ExchangeError as error:
            raise ServerError(f"the server at {url} does not list its documents: {error.message}") from error
    items = None if spec is None else find_or_none(spec.map, body)
    rows = (item for item in items if isinstance(item, dict)) if isinstance(items, list) else ()
    texts = [row for row in rows if isinstance(row.get("text"), str) and row["text"].strip()]
    names = Counter(str(row.get("name") or row.get("id") or "") for row in texts)
    documents = list[SourceDocument]()
    for row in texts:
        name = str(row.get("name") or row.get("id") or "")
        name = name if names[name] == 1 else f"{name} ({row.get('id', len(documents) + 1)})"
        documents += [SourceDocument(name, row["text"])] if name else []
    if not documents:
        raise ConfigError(
            f"the server at {url} lists no documents with their texts",
            "name a folder of documents, or let documents.map of the profile give `text`",
        )
    return documents


def _text_of(path: Path, ending: str) -> tuple[str, str]:
    """The text of a file, and why it has none."""
    if ending in _TEXTS | _PAGES:
        text, _ = read_text(path, windows=True)
        return text_of_html(text) if ending in _PAGES else text, ""
    if ending not in _OFFICE:
        return "", "not of a kind that is read"
    try:
        from markitdown import MarkItDown, MarkItDownException  # noqa: PLC0415 - an extra
    except ImportError as error:
        hint = "pip install 'rag-evals[documents]', or name a folder without such files"
        raise ConfigError(f"{path} needs markitdown, which is not installed", hint) from error
    try:
        return str(MarkItDown(enable_plugins=False).convert(path).text_content), ""
    except (MarkItDownException, OSError, ValueError) as error:
        return "", f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


# A page as a document.

_HIDDEN = re.compile(
    r"<!--.*?-->|<(script|style|nav|header|footer|aside|form|noscript|svg|template|head)\b[^>]*>.*?</\1\s*>",
    re.DOTALL | re.IGNORECASE,
)
_HEADING = re.compile(r"<h([1-6])\b[^>]*>(.*?)</h\1\s*>", re.DOTALL | re.IGNORECASE)
_PARAGRAPH = re.compile(r"<(?:p|div|section|article|[uod]l|table|pre|blockquote)\b[^>]*>", re.IGNORECASE)
_LINE = re.compile(r"<(?:br|tr|li|dt|dd)\b[^>]*>", re.IGNORECASE)
_ANY_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<![a-zA-Z][^<>]*>")


def text_of_html(page: str) -> str:
    """The text of a page: headings as in Markdown, a line for each item and row, without navigation and scripts."""
    text = " ".join(_HIDDEN.sub(" ", page).split())
    text = _HEADING.sub(lambda heading: f"\n\n{'#' * int(heading[1])} {_ANY_TAG.sub('', heading[2])}\n\n", text)
    text = _ANY_TAG.sub(" ", _LINE.sub("\n", _PARAGRAPH.sub("\n\n", text)))
    lines = (" ".join(plain(line).split()) for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
