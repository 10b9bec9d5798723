"""Compare documents by their names."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import lru_cache
from typing import Annotated, Literal
from urllib.parse import unquote

from pydantic import Base64Bytes, Field

from evals.schemas.base import Finite, Record
from evals.schemas.response import RetrievedChunk
from evals.text.folding import fold, hash64, holds
from evals.text.matching.runs import CommonText, common_text
from evals.text.matching.words import words_of

_ENDINGS = frozenset(
    {"txt", "md", "pdf", "docx", "doc", "pptx", "xlsx", "html", "htm", "csv", "json", "asciidoc", "adoc", "rst", "xml"}
)


_MORE_ENDINGS = _ENDINGS | {
    *("text", "markdown", "mdx", "rtf", "odt", "ods", "odp", "ppt", "xls", "jsonl", "tsv", "yaml", "yml", "xhtml"),
    *("epub", "eml", "msg", "log", "tex", "org", "parquet"),
}


_IDS = re.compile(
    r"(?<![^\W_])(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,64})(?![^\W_])"
)
"""A UUID, or a hash: at least 8 hexadecimal digits, letters and figures among them."""

_VERSION = re.compile(r"(?<=.)[\W_]+(?:v\d{1,3}(?:[._]\d{1,3}){0,2}|copy|\(\d{1,2}\))$")

_FRAGMENT = re.compile(r"(?<=.)#.*$", re.DOTALL)

_PART = re.compile(r"[^\W_]+")


@lru_cache(maxsize=1024)
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


@lru_cache(maxsize=1024)
def bare_name(name: str) -> tuple[str, ...]:
    """The words of a document's name, without what pipelines add: UUIDs and hashes, `_v2`, `(1)`, endings, fragments.

    Years and other numbers stay: they tell policy-2023 from policy-2024. A name of nothing else stays as it is.
    """
    bare, before = document_key(_FRAGMENT.sub("", unquote(name))), ""
    while bare != before:
        before = bare
        bare = _VERSION.sub("", _without_ending(bare, _MORE_ENDINGS))
    parts = tuple(_PART.findall(_IDS.sub(" ", fold(bare))))
    return parts or (document_key(name),)


@lru_cache(maxsize=1024)
def name_hashes(name: str) -> tuple[int, int]:
    """The hashes of a document's `document_key` and of its `bare_name`, which are never taken for each other."""
    return hash64(document_key(name)), hash64("\0".join(("", *bare_name(name))))


class Kinship(IntEnum):
    """The relation of two document names."""

    OTHER = 0
    PREFIXED = 1
    """The one is the other with something before it: another document, or one that was renamed."""
    ALIKE = 2
    """The same but for what pipelines add."""
    SAME = 3


@lru_cache(maxsize=1024)
def kinship(one: str, other: str) -> Kinship:
    """Compare two document names."""
    if document_key(one) == document_key(other):
        return Kinship.SAME
    short, long = sorted((bare_name(one), bare_name(other)), key=len)
    if short == long:
        return Kinship.ALIKE
    telling = any(len(part) > 2 and not part.isdecimal() for part in short)
    return Kinship.PREFIXED if telling and long[-len(short) :] == short else Kinship.OTHER


def same_document(chunk: RetrievedChunk, document_id: str | None) -> bool | None:
    """Whether the chunk names the document; None where one of the two names none. An empty name is no name."""
    names = names_of(chunk)
    if not document_id or not names:
        return None
    return any(document_key(name) == document_key(document_id) for name in names)


def names_of(chunk: RetrievedChunk) -> list[str]:
    """The names that a chunk gives to its document."""
    return [name for name in (chunk.document_id, chunk.document_name) if name]


@dataclass(frozen=True, slots=True)
class DocumentNames:
    """Whether the document names of a run are comparable with those of the dataset.

    Attributes:
        comparable: Whether chunks and golds name documents alike: what differs is another document then. Where they do
            not, names are ignored; None where the run does not say.
        used: Of the golds' documents, those that chunks name by the same `document_key` or `bare_name`: of the
            `name_hashes`, those that both sides have, packed.
    """

    comparable: bool | None = None
    used: Base64Bytes = b""
    missed: Annotated[set[int] | None, Field(exclude=True)] = field(default=None, compare=False)
    """The hashes that were looked for in vain; None if not needed."""

    def is_same(self, chunk: RetrievedChunk, document_id: str | None) -> bool | None:
        """Whether the chunk is of the gold's document; None where one of the two names none, or if that is unknown."""
        near = self._kinship(chunk, document_id)
        return None if near in {None, Kinship.PREFIXED} else near is not Kinship.OTHER

    def is_near(self, chunk: RetrievedChunk, document_id: str | None) -> bool:
        """Whether the chunk names the gold's document, or that with something before it."""
        return bool(self._kinship(chunk, document_id))

    def is_other(self, chunk: RetrievedChunk, document_id: str | None) -> bool:
        """Whether the chunk is of another document than the gold's, by names that do not only differ in a prefix."""
        return self._kinship(chunk, document_id) is Kinship.OTHER

    def _kinship(self, chunk: RetrievedChunk, document_id: str | None) -> Kinship | None:
        """How near the names are; where chunks of the run name the document more nearly, another one is another."""
        names = names_of(chunk)
        if not document_id or not names:
            return None
        near = max(kinship(name, document_id) for name in names)
        if near in {Kinship.OTHER, Kinship.SAME}:
            return near
        nearer = name_hashes(document_id) if near is Kinship.PREFIXED else name_hashes(document_id)[:1]
        if any(map(self.has, nearer)):
            return Kinship.OTHER
        if self.missed is not None:
            self.missed.update(nearer)
        return near

    def has(self, name: int) -> bool:
        """Whether chunks name a gold's document so."""
        return holds(self.used, name)


# What a whole run says about matching that one response cannot: common text, and whether names can be compared.


_MOST = 0.5


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """Evidence from all records of a run: common headers and document names.

    Attributes:
        common: What many of the chunks begin or end with.
        names: Of documents: which are the same, and whether those of chunks and golds are comparable.
        repeated_ids: Whether ids count within a document only: one response holds an id in two documents.
        of_run: Whether it is what a run says, and not what one response says by itself.
    """

    common: CommonText = field(default_factory=CommonText)
    names: DocumentNames = field(default_factory=DocumentNames)
    repeated_ids: bool = False
    of_run: bool = True

    def watched(self) -> "RunEvidence":
        """The same; from here on it is noted which names of documents were looked for in vain."""
        return replace(self, names=replace(self.names, missed=set()))

    def bears_out(self, assumed: "RunEvidence") -> bool:
        """Whether all that was matched by what was assumed would be matched alike by this.

        Args:
            assumed: `watched` while it was matched by, and of some of the records that this is of.
        """
        names, before = self.names, assumed.names
        is_other = (self.common, self.repeated_ids, names.comparable) != (
            assumed.common,
            assumed.repeated_ids,
            before.comparable,
        )
        return not is_other and not any(map(names.has, before.missed or ()))


_NOTHING = RunEvidence(of_run=False)


def evidence_within(chunks: Sequence[RetrievedChunk]) -> RunEvidence:
    """What a response says by itself: the text that most of its chunks begin or end with."""
    texts = dict.fromkeys(chunk.text for chunk in chunks if chunk.text)
    common = common_text([words_of(text) for text in texts], _MOST)
    return RunEvidence(common, of_run=False) if common.starts or common.ends else _NOTHING


# Which rule decides when a chunk is gold, and the shares that the rules ask for.


Rule = Literal["auto", "chunk_id", "span", "text", "inside", "overlap", "document"]


class MatchSettings(Record):
    """How a retrieved chunk is recognised as gold (see docs/matching.md). The part `match:` of the configuration."""

    rule: Rule = "auto"
    overlap_threshold: Finite = Field(default=0.7, gt=0, le=1)
    """Share of the gold's tokens that a chunk must hold, or the pieces of a gold that chunk borders have cut."""
    overlap_pairs_threshold: Finite = Field(default=0.6, ge=0, le=1)
    """And of its pairs of neighbouring tokens, in one chunk."""
    overlap_min_tokens: int = Field(default=8, ge=2)
    inside_min_tokens: int = Field(default=20, ge=1)
    """Tokens of the gold that a chunk inside it must hold in a row."""
    inside_chunk_share: Finite = Field(default=0.5, gt=0, le=1)
    """Share of the chunk, without text common to many chunks, that they must be."""
    inside_gold_share: Finite = Field(default=0.1, ge=0, le=1)
    """Share of the gold that they must be."""
    short_gold_tokens: int = Field(default=8, ge=1)
    common_share: Finite = Field(default=0.33, gt=0, le=1)
    """Share of a run's chunks from which on the text that they begin or end with is set aside."""
    comparable_share: Finite = Field(default=0.5, gt=0, le=1)
    """Share of the golds found by text that must be found in their own document, for names to be comparable."""
    count_other_documents: bool = False
    """Whether the text of a gold counts in another document than its own too, where names are comparable."""
