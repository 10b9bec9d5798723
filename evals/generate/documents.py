"""The documents that questions are made from: files, or the corpus of a dataset."""

from dataclasses import dataclass
from pathlib import Path

from evals.errors import ConfigError
from evals.text.decoding import read_text

_TEXTS = frozenset({".md", ".markdown", ".txt", ".text", ".rst"})
_CONVERTED = frozenset({".html", ".htm", ".pdf", ".docx", ".pptx"})


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document that questions are made from.

    Attributes:
        name: What gold passages call it: the path of a file below its folder, else its id in a dataset.
        text: In which spans count; of HTML and office files, the Markdown that was made of them.
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
        kinds = ", ".join(sorted(_TEXTS | _CONVERTED))
        raise ConfigError(f"{place} holds no document that can be read", f"kinds that can: {kinds}")
    return documents, left_out


def _text_of(path: Path, ending: str) -> tuple[str, str]:
    """The text of a file, and why it has none."""
    if ending in _TEXTS:
        return read_text(path, windows=True)[0], ""
    if ending not in _CONVERTED:
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
