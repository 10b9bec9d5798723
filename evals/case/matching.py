"""When a retrieved chunk is the gold one.

Chunk ids change at every ingestion, so gold ids rarely match. `auto` tries the rules in order and keeps the first
that holds, for each pair of chunk and gold; every rule can also be named alone.

=========  ==================================================================================================
chunk_id   equal ids
span       same document, and the chunk covers at least 0.7 of the gold's characters, where both say where they stand
text       the gold stands in the chunk, as whole words; a short gold (under 8 tokens) also needs the same
           document where both name one
inside     the chunk stands in the gold and has at least 20 tokens
overlap    at least 0.7 of the tokens of the gold (of at least 8), and 0.6 of its pairs of neighbouring tokens,
           are in the chunk; or the pieces of a gold that chunk borders have cut add up to 0.7
document   the same document; tried only when named, when a chunk carries no text, or for a gold known by its document
           alone
=========  ==================================================================================================
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal, TypeVar

from evals.schemas import GoldPassage, RetrievedChunk
from evals.text.folding import bag, padded, pairs, tokens

T = TypeVar("T")
Rule = Literal["auto", "chunk_id", "span", "text", "inside", "overlap", "document"]
_AUTO: tuple[Rule, ...] = ("chunk_id", "span", "text", "inside", "overlap")
_WITHOUT_TEXT: frozenset[Rule] = frozenset({"chunk_id", "span", "document"})
_ENDINGS = frozenset(
    {"txt", "md", "pdf", "docx", "doc", "pptx", "xlsx", "html", "htm", "csv", "json", "asciidoc", "adoc", "rst", "xml"}
)


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """Which rule decides, and the thresholds of the rules."""

    rule: Rule = "auto"
    overlap_threshold: float = 0.7
    overlap_pairs_threshold: float = 0.6
    overlap_min_tokens: int = 8
    inside_min_tokens: int = 20
    short_gold_tokens: int = 8


@dataclass
class Matches:
    """Which chunk is which gold.

    Attributes:
        by_chunk: For each rank, the golds (by index) that the chunk covers, or holds a piece of that others complete,
            with the rule. Duplicates of an earlier chunk cover nothing.
        found: For each gold recognised, the place at which it is found and the rule. A gold cut by chunk borders is
            found where enough of it has been seen.
        original: For each rank, the place of the first chunk that this one repeats; its own place if it repeats none.
    """

    by_chunk: list[dict[int, str]]
    found: dict[int, tuple[int, str]] = field(default_factory=dict)
    original: list[int] = field(default_factory=list)

    @cached_property
    def hits(self) -> list[bool]:
        """Whether the chunk at each rank is relevant."""
        return [bool(golds) for golds in self.by_chunk]

    def hits_within(self, k: int) -> list[bool]:
        """Whether the chunk at each of the top k ranks is relevant, seen from these ranks alone.

        A piece of a gold that chunk borders have cut counts only where the top k complete the gold.
        """
        return [place is not None and place < k for place in self._known_from[:k]]

    @cached_property
    def _known_from(self) -> list[int | None]:
        """For each rank, the place at which the first of its golds is found; None for a miss."""
        return [min((self.found[gold][0] for gold in golds), default=None) for golds in self.by_chunk]

    @cached_property
    def hit_ranks(self) -> list[int]:
        """The ranks, from 1, of the relevant chunks."""
        return [rank for rank, hit in enumerate(self.hits, start=1) if hit]

    @cached_property
    def newly_found(self) -> list[set[int]]:
        """For each rank, the golds that are found there and at no earlier rank."""
        fresh: list[set[int]] = [set() for _ in self.by_chunk]
        for gold, (place, _) in self.found.items():
            fresh[place].add(gold)
        return fresh

    @cached_property
    def found_counts(self) -> list[int]:
        """For each rank, how many golds are found there and at no earlier rank."""
        return [len(golds) for golds in self.newly_found]

    @cached_property
    def evidence(self) -> dict[str, object]:
        """What a result says of the match: the ranks that hold gold, and by which rules it was recognised."""
        return {"hit_ranks": self.hit_ranks, "rules": self.rules}

    @cached_property
    def rules(self) -> dict[str, int]:
        """How many golds each rule recognised."""
        return dict(Counter(rule for _, rule in self.found.values()))


def match(chunks: Sequence[RetrievedChunk], golds: Sequence[GoldPassage], settings: MatchSettings) -> Matches:
    """Compare every distinct chunk with every gold."""
    result = Matches(by_chunk=[{} for _ in chunks], original=originals(chunks))
    distinct = [place for place, original in enumerate(result.original) if place == original]
    rules = _AUTO if settings.rule == "auto" else (settings.rule,)
    for index, gold in enumerate(_with_ids_of(golds, chunks, result.original)):
        for place in distinct:
            rule = _first_rule(chunks[place], gold, rules, settings)
            if rule:
                result.by_chunk[place][index] = rule
                result.found.setdefault(index, (place, rule))
        if "overlap" in rules and result.found.get(index, (1,))[0] > 0:
            end, _ = result.found.get(index, (len(chunks), ""))  # pieces that complete it earlier count
            _match_jointly({place: chunks[place] for place in distinct if place < end}, index, gold, settings, result)
    return result


def _with_ids_of(
    golds: Sequence[GoldPassage], chunks: Sequence[RetrievedChunk], original: Sequence[int]
) -> Iterator[GoldPassage]:
    """The golds; one that names a duplicate stands in the chunk that this repeats, and names that one instead."""
    ids = {chunk.chunk_id: chunks[first].chunk_id for chunk, first in zip(chunks, original, strict=True)}
    for gold in golds:
        instead = ids.get(gold.chunk_id) if gold.chunk_id else None
        yield gold.model_copy(update={"chunk_id": instead}) if instead not in (None, gold.chunk_id) else gold


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


def originals(chunks: Sequence[RetrievedChunk]) -> list[int]:
    """For each chunk the place of the first one with the same id, or the same text of the same document."""
    first: dict[object, int] = {}
    found = []
    for place, chunk in enumerate(chunks):
        same: list[object] = [chunk.chunk_id] if chunk.chunk_id else []
        # Where a chunk has an id but no text, nothing else tells it from others of its document.
        same += [(chunk.document_id or chunk.document_name, chunk.text)] if chunk.text or not chunk.chunk_id else []
        original = min(first.get(key, place) for key in same)
        for key in same:
            first.setdefault(key, original)
        found.append(original)
    return found


def _first_rule(
    chunk: RetrievedChunk, gold: GoldPassage, rules: Sequence[Rule], settings: MatchSettings
) -> Rule | None:
    comparable = bool(chunk.text) and _texts_may_match(chunk.text or "", gold.text, settings)
    for rule in rules:
        if (comparable or rule in _WITHOUT_TEXT) and _holds(rule, chunk, gold, settings):
            return rule
    if rules is _AUTO and _only_documents_tell(chunk, gold) and same_document(chunk, gold.document_id):
        return "document"
    return None


def _only_documents_tell(chunk: RetrievedChunk, gold: GoldPassage) -> bool:
    """Whether nothing finer could be compared: a text is lacking, and the gold names no chunk or characters instead."""
    return not chunk.text or not (gold.text or gold.chunk_id or (gold.span and chunk.span))


def _texts_may_match(chunk_text: str, gold_text: str, settings: MatchSettings) -> bool:
    """Whether the texts share words enough for any rule of text; most pairs do not, and are done here."""
    wanted, held = bag(gold_text), bag(chunk_text)
    shared = wanted.keys() & held.keys()
    if len(shared) == len(held):
        return True
    return sum(wanted[token] for token in shared) >= settings.overlap_threshold * len(tokens(gold_text))


def _holds(rule: Rule, chunk: RetrievedChunk, gold: GoldPassage, settings: MatchSettings) -> bool:
    if rule == "chunk_id":
        return gold.chunk_id is not None and gold.chunk_id == chunk.chunk_id
    if rule == "document":
        return same_document(chunk, gold.document_id) is True
    if rule == "span":
        return _spans_overlap(chunk, gold, settings.overlap_threshold)
    return bool(chunk.text) and _texts_match(rule, chunk, chunk.text or "", gold, settings)


def _texts_match(rule: Rule, chunk: RetrievedChunk, text: str, gold: GoldPassage, settings: MatchSettings) -> bool:
    if rule == "text":
        return _contains_gold(chunk, text, gold, settings)
    if rule == "inside":
        return len(tokens(text)) >= settings.inside_min_tokens and padded(text) in padded(gold.text)
    return _overlaps(text, gold.text, settings)


def _spans_overlap(chunk: RetrievedChunk, gold: GoldPassage, threshold: float) -> bool:
    if chunk.span is None or gold.span is None or not same_document(chunk, gold.document_id):
        return False
    (start, end), (gold_start, gold_end) = chunk.span, gold.span
    return min(end, gold_end) - max(start, gold_start) >= threshold * (gold_end - gold_start)


def _contains_gold(chunk: RetrievedChunk, text: str, gold: GoldPassage, settings: MatchSettings) -> bool:
    length = len(tokens(gold.text))
    if not length or padded(gold.text) not in padded(text):
        return False
    return length >= settings.short_gold_tokens or same_document(chunk, gold.document_id) is not False


def _overlaps(chunk_text: str, gold_text: str, settings: MatchSettings) -> bool:
    """Whether the chunk holds enough of the gold's tokens, and enough of them as running text."""
    length = len(tokens(gold_text))
    if length < settings.overlap_min_tokens or len(tokens(chunk_text)) < settings.overlap_threshold * length:
        return False
    if _share(bag(gold_text), bag(chunk_text), length) < settings.overlap_threshold:
        return False
    return _share(pairs(gold_text), pairs(chunk_text), length - 1) >= settings.overlap_pairs_threshold


def _share(wanted: Mapping[T, int], held: Mapping[T, int], total: int) -> float:
    """The share of what is wanted, counted with repetition, that is held."""
    return sum(min(wanted[item], held[item]) for item in wanted.keys() & held.keys()) / total


def _match_jointly(
    chunks: Mapping[int, RetrievedChunk],
    index: int,
    gold: GoldPassage,
    settings: MatchSettings,
    result: Matches,
) -> None:
    """Recognise a gold that chunk borders have cut, in the chunks that hold its pieces.

    Only running text counts: a chunk contributes the start of the gold if it ends with it, the end of the gold if it
    begins with it, all of itself if it stands in the gold. Loose words of many chunks never add up to a gold.
    """
    wanted = tokens(gold.text)
    if len(wanted) < settings.overlap_min_tokens:
        return
    covered: set[int] = set()
    pieces = []
    for place, chunk in chunks.items():
        if not chunk.text or len(bag(chunk.text).keys() & bag(gold.text).keys()) < _MIN_RUN // 2:
            continue
        if same_document(chunk, gold.document_id) is False:
            continue
        span = _shared_run(tokens(chunk.text), wanted)
        if span and not covered.issuperset(span):
            covered.update(span)
            pieces.append(place)
        if len(covered) >= settings.overlap_threshold * len(wanted):
            result.found[index] = (place, "overlap")
            for piece in pieces:
                result.by_chunk[piece][index] = "overlap"
            return


_MIN_RUN = 4
"""A run of fewer tokens shared at a border is chance."""


def _shared_run(chunk: tuple[str, ...], gold: tuple[str, ...]) -> range | None:
    """The token positions of the gold that the chunk holds as running text at its own border, or is."""
    if len(chunk) >= _MIN_RUN:
        framed = f" {' '.join(gold)} "
        at = framed.find(f" {' '.join(chunk)} ")
        if at >= 0:
            start = framed.count(" ", 0, at)
            return range(start, start + len(chunk))
    begun, ended = _continued(chunk, gold), _continued(gold, chunk)
    if max(begun, ended) < _MIN_RUN:
        return None
    return range(begun) if begun >= ended else range(len(gold) - ended, len(gold))


def _continued(first: tuple[str, ...], second: tuple[str, ...]) -> int:
    """How many tokens at the end of the first are those at the beginning of the second, by Knuth, Morris and Pratt."""
    most = min(len(first), len(second))
    begins = second[:most]
    borders = [0] * most  # of each beginning, the length of the longest one that it also ends with
    length = 0
    for place in range(1, most):
        while length and begins[place] != begins[length]:
            length = borders[length - 1]
        length += begins[place] == begins[length]
        borders[place] = length
    length = 0
    for token in first[len(first) - most :]:
        while length and (length == most or token != begins[length]):
            length = borders[length - 1]
        length += token == begins[length]
    return length
