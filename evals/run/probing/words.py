"""Names that parts of answers often bear. They break ties: what a value looks like comes first."""

import re

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_STEP = re.compile(r"[\w-]+")


def names_in(text: str) -> frozenset[str]:
    """The names of a list with blanks."""
    return frozenset(text.split())


ANSWERS = names_in("answer answers response reply completion generated summary textresponse output_text")
MAY_BE_ANSWERS = names_in("text content result results output data message said body value")
NO_ANSWERS = names_in(
    "prompt context instruction instructions system question query input intent reasoning reasoning_content thought "
    "thoughts thinking disclaimer notice footer warning warnings error detail title description status state id "
    "rewritten_query search_query terms greeting hint tip"
)
TEXTS = names_in("text content page_content passage chunk snippet body blurb excerpt full_text document")
NO_TEXTS = names_in("question query title description prompt summary")
CHUNK_IDS = names_in("id chunk_id _id uid uuid segment_id passage_id node_id key chunk_key ref_id")
NO_CHUNK_IDS = names_in("document doc file source parent index position rank number page reference_id")
DOCUMENT_NAMES = (
    *("document_name", "file_name", "filename", "file_path", "filepath", "path", "file", "document", "doc"),
    *("source", "semantic_identifier", "title", "name", "url", "uri", "link", "origin"),
)
"""The surest come first."""
DOCUMENT_IDS = ("document_id", "doc_id", "file_id", "source_id", "parent_id")
SECTIONS = names_in("section heading section_title section_name")
SCORES = names_in("score similarity distance relevance relevance_score _score rerank_score distances scores")
PASSAGES = names_in(
    "chunks documents passages contexts context sources source_documents results hits snippets evidence references "
    "search_results retriever_resources chunk_search_results matches top_documents nodes citations"
)
NO_PASSAGES = names_in(
    "entities relationships edges suggestions followups follow_ups related questions history messages steps tools "
    "tool_calls warnings logs keywords annotations"
)
_CITES = re.compile(r"cit|refer|^refs?$|used|ground|based_on|support")


def last_name(path: str) -> str:
    """The last key of a path: `full_text` of `sources[0].full_text`."""
    steps: list[str] = _STEP.findall(re.sub(r"\[[^\]]*\]", "", path))
    return steps[-1] if steps else ""


def snake(name: str) -> str:
    """The name in small letters with underscores, so that `chunkId` is `chunk_id`."""
    joined = "_".join(parts_of(name))
    return f"_{joined}" if name.startswith("_") else joined


def parts_of(name: str) -> list[str]:
    """The words of a name in small letters, split at separators and at the humps of camelCase."""
    return [part.lower() for part in _PARTS.findall(name)]


def is_of_citations(name: str) -> bool:
    """Whether a key is called as lists of what was cited are."""
    return _CITES.search(snake(name)) is not None


def word_count(text: str) -> int:
    """How many words a text has, by its white space."""
    return len(text.split())
