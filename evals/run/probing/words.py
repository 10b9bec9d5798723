"""Names that parts of answers often bear. They break ties: what a value looks like comes first."""

import re

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_STEP = re.compile(r"[\w-]+")

ANSWERS = frozenset(
    ["answer", "answers", "response", "reply", "completion", "generated", "summary", "textresponse", "output_text"]
)
MAY_BE_ANSWERS = frozenset(
    ["text", "content", "result", "results", "output", "data", "message", "said", "body", "value"]
)
NO_ANSWERS = frozenset(
    [
        "prompt",
        "context",
        "instruction",
        "instructions",
        "system",
        "question",
        "query",
        "input",
        "intent",
        "reasoning",
        "reasoning_content",
        "thought",
        "thoughts",
        "thinking",
        "disclaimer",
        "notice",
        "footer",
        "warning",
        "warnings",
        "error",
        "detail",
        "title",
        "description",
        "status",
        "state",
        "id",
        "rewritten_query",
        "search_query",
        "terms",
        "greeting",
        "hint",
        "tip",
    ]
)
TEXTS = frozenset(
    [
        "text",
        "content",
        "page_content",
        "passage",
        "chunk",
        "snippet",
        "body",
        "blurb",
        "excerpt",
        "full_text",
        "document",
    ]
)
NO_TEXTS = frozenset(["question", "query", "title", "description", "prompt", "summary"])
CHUNK_IDS = frozenset(
    ["id", "chunk_id", "_id", "uid", "uuid", "segment_id", "passage_id", "node_id", "key", "chunk_key", "ref_id"]
)
NO_CHUNK_IDS = frozenset(
    ["document", "doc", "file", "source", "parent", "index", "position", "rank", "number", "page", "reference_id"]
)
DOCUMENT_NAMES = (
    *("document_name", "file_name", "filename", "file_path", "filepath", "path", "file", "document", "doc"),
    *("source", "semantic_identifier", "title", "name", "url", "uri", "link", "origin"),
)
DOCUMENT_IDS = ("document_id", "doc_id", "file_id", "source_id", "parent_id")
SECTIONS = frozenset(["section", "heading", "section_title", "section_name"])
SCORES = frozenset(
    ["score", "similarity", "distance", "relevance", "relevance_score", "_score", "rerank_score", "distances", "scores"]
)
PASSAGES = frozenset(
    [
        "chunks",
        "documents",
        "passages",
        "contexts",
        "context",
        "sources",
        "source_documents",
        "results",
        "hits",
        "snippets",
        "evidence",
        "references",
        "search_results",
        "retriever_resources",
        "chunk_search_results",
        "matches",
        "top_documents",
        "nodes",
        "citations",
    ]
)
NO_PASSAGES = frozenset(
    [
        "entities",
        "relationships",
        "edges",
        "suggestions",
        "followups",
        "follow_ups",
        "related",
        "questions",
        "history",
        "messages",
        "steps",
        "tools",
        "tool_calls",
        "warnings",
        "logs",
        "keywords",
        "annotations",
    ]
)
CITED = frozenset(["cited", "citation", "citations", "references", "refs", "used", "based_on", "cites", "grounding"])
_CITES = re.compile(r"cit|refer|^refs?$|used|ground|based_on|support")


def last_name(path: str) -> str:
    """The last key of a path: `full_text` of `sources[0].full_text`."""
    return (_STEP.findall(re.sub(r"\[[^\]]*\]", "", path)) or [""])[-1]


def snake(name: str) -> str:
    """The name in small letters with underscores, so that `chunkId` is `chunk_id`."""
    joined = "_".join(part.lower() for part in _PARTS.findall(name))
    return f"_{joined}" if name.startswith("_") else joined


def is_of_citations(name: str) -> bool:
    """Whether a key is called as lists of what was cited are."""
    return _CITES.search(snake(name)) is not None


def word_count(text: str) -> int:
    """How many words a text has, by its white space."""
    return len(text.split())
