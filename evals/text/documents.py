"""Documents by their names: which names are those of one document, and what a response says of a gold's document."""

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import cached_property, lru_cache
from urllib.parse import unquote

from evals.schemas.response import RetrievedChunk
from evals.text.tokens import fold

_ENDING = re.compile(
    r"(?<=.)\.(?:te?xt|md|mdx|markdown|pdf|docx?|rtf|od[tsp]|pptx?|xlsx?|html?|xhtml|csv|tsv|jsonl?|ya?ml|xml|a(?:scii)?doc"
    r"|rst|epub|eml|msg|log|tex|org|parquet)\Z",
    re.DOTALL | re.IGNORECASE,
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
    if folder.strip("/") and base.casefold() in {"index.html", "index.htm"}:
        return folder.rstrip("/").rpartition("/")[2].casefold()
    return _ENDING.sub("", base or name).casefold()


@lru_cache(maxsize=4096)
def _bare_name(name: str) -> tuple[str, ...]:
    """The words of a name without what pipelines add: UUIDs, hashes, `_v2`, `(1)`, endings, fragments; years stay."""
    bare, before = document_key(_FRAGMENT.sub("", unquote(name)) if "#" in name or "%" in name else name), ""
    while bare != before:
        before, bare = bare, _VERSION.sub("", _ENDING.sub("", bare))
    return tuple(_PART.findall(_IDS.sub(" ", fold(bare)))) or (document_key(name),)


def kinship(name: str, other: str) -> Kinship:
    """Compare two document names."""
    if name == other or document_key(name) == document_key(other):
        return Kinship.SAME
    short, long = sorted((_bare_name(name), _bare_name(other)), key=len)
    if short == long:
        return Kinship.ALIKE
    return Kinship.PREFIXED if long[-len(short) :] == short and _has_word(short) else Kinship.OTHER


def _has_word(parts: Iterable[str]) -> bool:
    return any(len(part) > 2 and not part.isdecimal() for part in parts)


@lru_cache(maxsize=4096)
def _are_editions(name: str, other: str) -> bool:
    """Whether two names differ in a year only: policy-2023 and policy-2024 are two documents."""
    bare, another = " ".join(_bare_name(name)), " ".join(_bare_name(other))
    return bare != another and _YEAR.sub("", bare) == _YEAR.sub("", another)


def names_of(chunk: RetrievedChunk) -> list[str]:
    """The distinct names that a chunk gives to its document."""
    return list(dict.fromkeys(name for name in (chunk.document_id, chunk.document_name) if name))


def same_document(chunk: RetrievedChunk, document_id: str | None) -> bool:
    """Whether both name a document, and by `document_key` the same one."""
    return bool(document_id) and any(document_key(name) == document_key(document_id or "") for name in names_of(chunk))


class GoldDocument:
    """What the names in a response say of the document of a gold.

    Args:
        name: Of the gold's document; None where the gold names none.
        golds: The names of the documents of all golds of the question.
        chunks: The names that each chunk gives to its document.
    """

    def __init__(self, name: str | None, golds: Iterable[str | None], chunks: Sequence[Sequence[str]]) -> None:
        self._name, self._golds, self._chunks = name or "", list(filter(None, golds)), chunks

    @cached_property
    def _kin(self) -> list[Kinship | None]:
        """For each chunk how near its document is; None where the gold or the chunk names none."""
        if not self._name:
            return [None] * len(self._chunks)
        return [max((kinship(given, self._name) for given in names), default=None) for names in self._chunks]

    @cached_property
    def _nearest(self) -> Kinship:
        return max((kin for kin in self._kin if kin is not None), default=Kinship.OTHER)

    @cached_property
    def _comparable(self) -> bool:
        """Whether a chunk names the document of any gold, or an edition of another year."""
        given = {name for names in self._chunks for name in names}
        return any(kinship(name, gold) or _are_editions(name, gold) for gold in self._golds for name in given)

    def _is_named_by(self, place: int) -> bool:
        """Whether the chunk gives the very name of the document: then nothing else need be looked at."""
        return self._name in self._chunks[place]

    def is_same(self, place: int) -> bool:
        """Whether the chunk is known to be of the document; a prefix may make it another one."""
        if self._is_named_by(place):
            return True
        kin = self._kin[place]
        return kin is not None and kin >= Kinship.ALIKE and kin == self._nearest

    def is_other(self, place: int) -> bool:
        """Whether the chunk is of another document; never where names cannot be compared."""
        if self._is_named_by(place) or (kin := self._kin[place]) is None:
            return False
        return kin < max(self._nearest, Kinship.PREFIXED) and self._comparable

    def may_be_other(self, place: int) -> bool:
        """Whether the chunk has another name in words, comparable or not: too little for a gold of few words."""
        if self._is_named_by(place) or self._kin[place] is not Kinship.OTHER:
            return self.is_other(place)
        names = (name for given in self._chunks for name in given)
        return self._comparable or all(_has_word(_bare_name(name)) for name in (self._name, *names))
