"""Documents by their names: which names are those of one document, and what a response says of a gold's document."""

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import cached_property, lru_cache
from urllib.parse import unquote

from evals.schemas.response import RetrievedChunk
from evals.text.tokens import fold

_ENDINGS = frozenset(
    ["txt", "md", "pdf", "docx", "doc", "pptx", "xlsx", "html", "htm", "csv", "json", "asciidoc", "adoc", "rst", "xml"]
)
_MORE_ENDINGS = _ENDINGS.union(
    [
        "text",
        "markdown",
        "mdx",
        "rtf",
        "odt",
        "ods",
        "odp",
        "ppt",
        "xls",
        "jsonl",
        "tsv",
        "yaml",
        "yml",
        "xhtml",
        "epub",
        "eml",
        "msg",
        "log",
        "tex",
        "org",
        "parquet",
    ]
)
_IDS = re.compile(
    r"(?<![^\W_])(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,64})(?![^\W_])"
)
"""A UUID, or a hash: at least 8 hexadecimal digits, letters and figures among them."""
_VERSION = re.compile(r"(?<=.)[\W_]+(?:v\d{1,3}(?:[._]\d{1,3}){0,2}|copy|\(\d{1,2}\))$")
_FRAGMENT = re.compile(r"(?<=.)#.*$", re.DOTALL)
_PART = re.compile(r"[^\W_]+")
_YEAR = re.compile(r"(?:19|20)\d\d")


class Kinship(IntEnum):
    """The relation of two document names."""

    OTHER = 0
    PREFIXED = 1
    """The one is the other with something before it: another document, or one that was renamed."""
    ALIKE = 2
    """The same but for what pipelines add."""
    SAME = 3


@lru_cache(maxsize=4096)
def document_key(name: str) -> str:
    """Reduce a document's name to its file name without folder and ending: servers keep the one or the other.

    A page of the web that is the index of its folder has the folder's name: `a.com/x/` and `a.com/x/index.html` are x.
    """
    path = name.replace("\\", "/").replace("/?", "?").rstrip("/") or name
    folder, _, base = path.rpartition("/")
    base = base or name
    if folder.strip("/") and base.casefold() in {"index.html", "index.htm"}:
        return folder.rstrip("/").rpartition("/")[2].casefold()
    return _without_ending(base, _ENDINGS).casefold()


def _without_ending(name: str, endings: frozenset[str]) -> str:
    stem, dot, ending = name.rpartition(".")
    return stem if dot and stem and ending.lower() in endings else name


@lru_cache(maxsize=4096)
def _bare_name(name: str) -> tuple[str, ...]:
    """The words of a name without what pipelines add: UUIDs, hashes, `_v2`, `(1)`, endings, fragments; years stay."""
    bare, before = document_key(_FRAGMENT.sub("", unquote(name))), ""
    while bare != before:
        before, bare = bare, _VERSION.sub("", _without_ending(bare, _MORE_ENDINGS))
    return tuple(_PART.findall(_IDS.sub(" ", fold(bare)))) or (document_key(name),)


@lru_cache(maxsize=4096)
def kinship(one: str, other: str) -> Kinship:
    """Compare two document names."""
    if document_key(one) == document_key(other):
        return Kinship.SAME
    short, long = sorted((_bare_name(one), _bare_name(other)), key=len)
    if short == long:
        return Kinship.ALIKE
    return Kinship.PREFIXED if _tells(short) and long[-len(short) :] == short else Kinship.OTHER


def _tells(words: Iterable[str]) -> bool:
    return any(len(word) > 2 and not word.isdecimal() for word in words)


def _are_editions(one: str, other: str) -> bool:
    """Whether two names differ in a year only: policy-2023 and policy-2024 are two documents."""
    bare, another = " ".join(_bare_name(one)), " ".join(_bare_name(other))
    return bare != another and _YEAR.sub("", bare) == _YEAR.sub("", another)


def names_of(chunk: RetrievedChunk) -> list[str]:
    """The names that a chunk gives to its document."""
    names = [name for name in (chunk.document_id, chunk.document_name) if name]
    return names[:1] if len(names) == 2 and names[0] == names[1] else names


def same_document(chunk: RetrievedChunk, document_id: str | None) -> bool:
    """Whether both name a document, and by `document_key` the same one."""
    return bool(document_id) and any(document_key(name) == document_key(document_id or "") for name in names_of(chunk))


class ResponseNames:
    """The names that a response gives to documents, and those of its question's golds.

    Args:
        golds: Names of the documents of the golds; None for a gold that names none.
        chunks: Of the response.
    """

    def __init__(self, golds: Iterable[str | None], chunks: Sequence[RetrievedChunk]) -> None:
        self.golds = {name for name in golds if name}
        self.chunks = [names_of(chunk) for chunk in chunks]
        self._documents: dict[str | None, GoldDocument] = {}

    def of(self, document_id: str | None) -> "GoldDocument":
        """What they say of one gold's document."""
        return self._documents.setdefault(document_id, GoldDocument(document_id, self))

    @cached_property
    def every(self) -> set[str]:
        """The distinct names that chunks give."""
        return {name for names in self.chunks for name in names}

    @cached_property
    def comparable(self) -> bool:
        """Whether a chunk names the document of any gold, or an edition of another year."""
        if not {*map(document_key, self.every)}.isdisjoint(map(document_key, self.golds)):
            return True
        return any(kinship(name, gold) or _are_editions(name, gold) for name in self.every for gold in self.golds)

    @cached_property
    def telling(self) -> bool:
        """Whether all are names in words."""
        return all(_tells(_bare_name(name)) for name in self.every)


class GoldDocument:
    """What the names in a response say of the document of a gold; nothing where the gold names none.

    Args:
        name: Of the gold's document.
        response: All names.
    """

    def __init__(self, name: str | None, response: ResponseNames) -> None:
        self._name, self._response = name, response

    @cached_property
    def _kin(self) -> list[Kinship | None]:
        name = self._name
        if not name:
            return [None] * len(self._response.chunks)
        return [max((kinship(each, name) for each in names), default=None) for names in self._response.chunks]

    @cached_property
    def _nearest(self) -> Kinship:
        return max((kin for kin in self._kin if kin is not None), default=Kinship.OTHER)

    def is_same(self, place: int) -> bool:
        """Whether the chunk is known to be of the document; a prefix may make it another one."""
        kin = self._kin[place]
        return kin is not None and kin >= Kinship.ALIKE and kin == self._nearest

    def is_other(self, place: int) -> bool:
        """Whether the chunk is of another document; never where names cannot be compared."""
        if self._name in self._response.chunks[place]:
            return False
        kin = self._kin[place]
        return kin is not None and kin < max(self._nearest, Kinship.PREFIXED) and self._response.comparable

    def may_be_other(self, place: int) -> bool:
        """Whether the chunk has another name in words, comparable or not: too little for a gold of few words."""
        if self._kin[place] is not Kinship.OTHER:
            return self.is_other(place)
        return self._response.comparable or (_tells(_bare_name(self._name or "")) and self._response.telling)
