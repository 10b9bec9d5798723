"""Which documents are one and the same, by their names."""

from functools import lru_cache

from evals.schemas import RetrievedChunk

_ENDINGS = frozenset(
    {"txt", "md", "pdf", "docx", "doc", "pptx", "xlsx", "html", "htm", "csv", "json", "asciidoc", "adoc", "rst", "xml"}
)


def same_document(chunk: RetrievedChunk, document_id: str | None) -> bool | None:
    """Whether the chunk is of the document; None where one of the two names none. An empty name is no name."""
    names = [document_key(name) for name in (chunk.document_id, chunk.document_name) if name]
    if not document_id or not names:
        return None
    return document_key(document_id) in names


@lru_cache(maxsize=8192)
def document_key(name: str) -> str:
    """Reduce a document's name to its file name without folder and ending: servers keep the one or the other.

    A page of the web that is the index of its folder has the folder's name: `a.com/x/` and `a.com/x/index.html` are x.
    """
    path = name.replace("\\", "/").replace("/?", "?").rstrip("/") or name
    folder, _, base = path.rpartition("/")
    base = base or name
    if folder.strip("/") and base.casefold() in {"index.html", "index.htm"}:
        return folder.rstrip("/").rpartition("/")[2].casefold()
    stem, dot, ending = base.rpartition(".")
    return (stem if dot and stem and ending.lower() in _ENDINGS else base).casefold()
