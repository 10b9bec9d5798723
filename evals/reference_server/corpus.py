"""The documents a server starts with."""

from pathlib import Path

from .documents import ACCEPTED_TYPES, Document, read_document

GOLDEN = "golden"
NONE = "none"


class MissingCorpusError(ValueError):
    """The documents to start with cannot be had; the message is a sentence for the user."""


def golden_folder() -> Path:
    """The folder of the corpus that comes with the package."""
    return Path(__file__).resolve().parent.parent / "data" / "golden_corpus"


def load_corpus(corpus: str, chunk_words: int) -> list[Document]:
    """Read the documents of ``golden``, of a folder, or of ``none``.

    Raises:
        MissingCorpusError: The folder does not exist, or it or a file in it cannot be read.
        UnreadableDocumentError: A file is no text.
    """
    if corpus == NONE:
        return []
    folder = golden_folder() if corpus == GOLDEN else Path(corpus)
    if not folder.is_dir():
        raise MissingCorpusError(f"The corpus folder {folder} does not exist.")
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix.lower() in ACCEPTED_TYPES)
        return [read_document(path.read_bytes(), path.name, chunk_words) for path in files if path.is_file()]
    except OSError as error:
        raise MissingCorpusError(f"The corpus cannot be read: {error.filename}: {error.strerror}.") from error
