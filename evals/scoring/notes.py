"""How the questions of a run ended, and notes for its reader, counted record by record."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from statistics import median

from evals import __version__
from evals.metrics.performance import LIST_PRICE, CostPerQuery
from evals.metrics.sample import Sample
from evals.schemas.dataset import DatasetFingerprint
from evals.schemas.response import Citation, EvalResponse, Outcomes
from evals.schemas.results import EvalRecord, RunStatus
from evals.text.numbers import counted, share

# Signs that citations were read with the wrong base.


_FEWEST = 3
"""Fewer citations show nothing by the gold that they hit or miss."""

_SHARE = 0.1
"""From this share of indices outside the chunks on, another base is named."""

_YEARS = 1000


@dataclass(slots=True)
class CitationSigns:
    """Counts over the cited indices of a run, for a base and its neighbours.

    Attributes:
        base: Number of the first chunk in the run's citation indices.
        indices: How often an index was cited in an answer with this number of chunks.
        sources: Cited sources of all kinds.
        placed: Those that are a retrieved chunk.
        numbered: Whether any citation gives an index.
        missed: By another base: indices that hit gold by that base alone.
        compared: Indices in answers that retrieved gold.
    """

    base: int
    indices: Counter[tuple[int, int]] = field(default_factory=Counter)
    sources: int = 0
    placed: int = 0
    numbered: bool = False
    missed: Counter[int] = field(default_factory=Counter)
    compared: int = 0

    def add(
        self, citations: Sequence[Citation], chunks: int, gold: Collection[int], *, sources: int, placed: int
    ) -> None:
        """Count the citations of an answer.

        Args:
            citations: As the server gave them.
            chunks: How many chunks it retrieved.
            gold: The places of chunks that hold gold, from 0.
            sources: How many sources are cited.
            placed: How many of them are a retrieved chunk.
        """
        self.sources, self.placed = self.sources + sources, self.placed + placed
        self.numbered = self.numbered or any(citation.index is not None for citation in citations)
        given = [index for index in map(_index_of, citations) if index is not None]
        self.indices.update((index, chunks) for index in given)
        if gold:
            self.compared += len(given)
            for other in (self.base - 1, self.base + 1):
                self.missed[other] += sum(index - self.base not in gold and index - other in gold for index in given)

    def note(self) -> str | None:
        """What is wrong with the base, or with the ids that citations give; None where nothing is."""
        total, base = self.indices.total(), self.base
        if not total:
            if not self.sources or self.placed or self.numbered:
                return None
            return (
                f"none of the {self.sources} cited sources is a retrieved chunk: server.map.citations and "
                "server.map.chunks seem to find different ids (or a citation names a document: map it as document_id)"
            )
        outside = self._outside(base)
        if outside == total:
            fitting = self._fitting()
            fix = "no citations.base fits (are they ids?)" if fitting is None else f"citations.base: {fitting} fits all"
            return f"none of the {total} cited indices is that of a retrieved chunk with citations.base: {base}: {fix}"
        for other in (base - 1, base + 1):
            outside_then = self._outside(other)
            if other < 0 or outside_then > outside:
                continue
            if outside >= _SHARE * total and not outside_then:
                return (
                    f"{outside} of {total} cited indices are those of no retrieved chunk with citations.base: {base}, "
                    f"and all are with citations.base: {other}, which seems to be this server's"
                )
            if self.compared >= _FEWEST and 2 * self.missed[other] > self.compared:
                return (
                    f"{self.missed[other]} of {self.compared} citations miss the gold by exactly one chunk with "
                    f"citations.base: {base}: citations.base: {other} seems to be this server's"
                )
        return None

    def _outside(self, base: int) -> int:
        return sum(times for (index, chunks), times in self.indices.items() if not base <= index < base + chunks)

    def _fitting(self) -> int | None:
        """The base by which every index is that of a chunk; another than 0 and 1 only where several show it."""
        lowest = min(index for index, _ in self.indices)
        candidates = (1, 0) if self.indices.total() < _FEWEST else (1, 0, lowest)
        return next((base for base in candidates if not self._outside(base)), None)


def _index_of(citation: Citation) -> int | None:
    """The index that a citation gives; one read from the answer's text may be a year in brackets."""
    is_year = citation.start is not None and citation.index is not None and citation.index >= _YEARS
    return None if citation.chunk_id is not None or is_year else citation.index


DISPUTED = "abstention_disputed: "
"""How the note on answers begins of which refusal model and judge disagree."""

NO_CHUNKS = "no answer brought a list of chunks"
SLOW = "slow metric: "
ON_ANSWERS = re.compile(
    rf"{DISPUTED}|{NO_CHUNKS}|{SLOW}|cost is approximate|cost_per_query is by|no retrieved chunk |"
    r"\d+ of [\d,]+ answers? brings? no list of|none of the [\d,]+ cited|[\d,]+ of [\d,]+ cited|"
    r".*: in [\d,]+ of [\d,]+ answers?$"
)
"""Notes on the answers and on scoring, which are made anew whenever answers are scored."""

_SLOW_S = 0.05
_NAMED = 5


@dataclass(slots=True)
class Tally:
    """Counts over the records of a run.

    Attributes:
        signs: Of a wrong `citations.base`; made with that of the run.
    """

    signs: CitationSigns
    counts: Counter[str] = field(default_factory=Counter)
    transport: Counter[str] = field(default_factory=Counter)
    judge: Counter[str] = field(default_factory=Counter)
    body_notes: Counter[str] = field(default_factory=Counter)
    chunk_counts: Counter[int] = field(default_factory=Counter)
    disputed: dict[bool, list[str]] = field(default_factory=lambda: {True: [], False: []})
    """Questions of disputed answers, by whether the refusal model reads a refusal."""

    def add(self, record: EvalRecord, sample: Sample) -> None:
        """Count a scored record."""
        counts, response = self.counts, record.response
        counts["golds"] += bool(record.question.gold_passages)
        if response is None:
            counts["not_asked"] += 1
            return
        counts["retried"] += response.attempts > 1
        self.judge.update(verdict.failure for verdict in record.verdicts if verdict.failure is not None)
        if response.error is not None:
            self.transport[response.error.kind] += 1
            return
        counts["answered"] += 1
        self.body_notes.update(response.notes)
        for score in record.scores:
            if score.name == CostPerQuery.name:
                counts["costs"] += bool(score.value)
                counts["list_price"] += score.details.get("price") == LIST_PRICE
        self._add_lists(response, sample)
        if response.answer is not None:
            self._add_answer(record, sample)

    def _add_answer(self, record: EvalRecord, sample: Sample) -> None:
        counts, decision = self.counts, sample.decision
        counts["answers"] += 1
        counts["open"] += decision.lost is not None
        counts["abstained"] += decision.declines and decision.lost is None
        counts["by_judge"] += decision.word is not None
        if decision.is_disputed:
            self.disputed[sample.reads_as_refusal].append(record.question.id)

    def _add_lists(self, response: EvalResponse, sample: Sample) -> None:
        counts, chunks, citations = self.counts, response.chunks, response.citations
        counts["no_chunks"] += chunks is None and not response.could_not_read("chunks")
        counts["no_citations"] += citations is None and not response.could_not_read("citations")
        if chunks is not None:
            self.chunk_counts[len(chunks)] += 1
            counts["any_chunk"] += bool(chunks)
            counts["chunk_ids"] += any(chunk.chunk_id is not None for chunk in chunks)
            counts["chunk_texts"] += any(chunk.text for chunk in chunks)
        if citations is None:
            return
        counts["cited"] += 1
        counts["citations"] += len(sample.cited)
        if chunks is not None:
            counts["invalid"] += sum(source.place is None for source in sample.cited)
        if chunks:
            gold = {rank - 1 for rank in sample.matches.hit_ranks}
            placed = sum(source.place is not None for source in sample.cited)
            self.signs.add(citations, len(chunks), gold, sources=len(sample.cited), placed=placed)

    def outcomes(self, warmup_ms: Sequence[float | None], *, judged: bool, stopped: str | None) -> Outcomes:
        """How the questions ended.

        Args:
            warmup_ms: Latencies of the unscored questions.
            judged: Whether a judge takes part.
            stopped: Why asking ended early.
        """
        counts = self.counts
        return Outcomes(
            answered=counts["answered"],
            abstained=counts["abstained"],
            abstention_disputed=sum(map(len, self.disputed.values())) if judged else None,
            abstention_open=counts["open"],
            abstention_by_judge=counts["by_judge"] if judged else None,
            not_asked=counts["not_asked"],
            stopped=stopped,
            transport=dict(self.transport),
            judge=dict(self.judge),
            retried=counts["retried"],
            median_chunks=median(self.chunk_counts.elements()) if self.chunk_counts else None,
            citations=counts["citations"] if counts["cited"] else None,
            invalid_citations=counts["invalid"] if counts["cited"] else None,
            warmup_ms=list(warmup_ms),
        )

    def notes(self, *, mixes_usage_above: int | None, concurrency: int) -> Iterator[str]:
        """What a reader must know of the answers.

        Args:
            mixes_usage_above: Above this concurrency the server's token counts mix; None where they do not.
            concurrency: Questions in flight.
        """
        counts = self.counts
        if mixes_usage_above is not None and concurrency > mixes_usage_above and counts["costs"]:
            yield (
                "cost is approximate: this kind of server counts tokens of parallel queries together "
                f"(exact with a concurrency of {mixes_usage_above})"
            )
        if counts["list_price"]:
            yield "cost_per_query is by the list prices of genai-prices: name what you pay in `prices:`"
        if counts["golds"] and counts["answered"] and not self.chunk_counts:
            yield (
                f"{NO_CHUNKS}, so retrieval is not measured: either the server sends none, or server.map.chunks "
                "does not find them"
            )
        for name in ("chunks", "citations"):
            if 0 < (without := counts[f"no_{name}"]) < counts["answers"]:
                brings = share(without, counts["answers"], "answer", "brings")
                yield f"{brings} no list of {name}: metrics of them are over the others"
        if counts["any_chunk"] and not counts["chunk_ids"]:
            yield "no retrieved chunk has an id: two passages of one document may have come as one"
        if counts["any_chunk"] and not counts["chunk_texts"]:
            yield (
                "no retrieved chunk carries text: gold is recognised by documents and ids alone "
                "(is server.map.chunks right?)"
            )
        if (note := self.signs.note()) is not None:
            yield note
        for reads_as, is_refusal in (("a refusal", True), ("an answer", False)):
            if ids := self.disputed[is_refusal]:
                named = ", ".join(ids[:_NAMED]) + (", …" if len(ids) > _NAMED else "")
                yield f"{DISPUTED}{counted(len(ids), 'answer', 'reads')} like {reads_as}; the judge differs: {named}"
        for note, count in self.body_notes.items():
            yield f"{note}: in {share(count, counts['answered'], 'answer')}"


def slow_metrics(seconds: dict[str, float], questions: int) -> list[str]:
    """A note on each metric that is not built in and takes more than 50 ms a question."""
    return [
        f"{SLOW}{name} took {taken:.1f} s, {1000 * taken / questions:.0f} ms a question"
        for name, taken in seconds.items()
        if questions and taken > max(_SLOW_S * questions, 1.0)
    ]


def status_of(outcomes: Outcomes, max_error_rate: float, *, ended_early: bool) -> RunStatus:
    """Whether a run is complete, partial (ended early, or over the error rate) or failed (no answer at all)."""
    failed = sum(outcomes.transport.values())
    if not outcomes.answered:
        return "failed"
    too_many = failed / (failed + outcomes.answered) > max_error_rate
    return "partial" if ended_early or outcomes.not_asked or too_many else "complete"


def package_versions() -> dict[str, str]:
    """The versions of what a run depends on."""
    versions = {"python": python_version(), "rag-evals": __version__}
    for name in ("httpx", "pydantic", "datasets", "anthropic", "openai"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


# How files of questions were read.


def left_out(dropped: Mapping[str, int]) -> str:
    """What was left out of a dataset, by reason."""
    return ", ".join(f"{count} × {reason}" for reason, count in dropped.items())


def reading_notes(fingerprints: Iterable[DatasetFingerprint]) -> list[str]:
    """How files of the user's own were read, and what was left out of them."""
    notes = []
    for dataset in fingerprints:
        notes += dataset.notes
        if dataset.available is not None and dataset.dropped:
            notes.append(f"{dataset.source}: left out: {left_out(dataset.dropped)}")
    return notes
