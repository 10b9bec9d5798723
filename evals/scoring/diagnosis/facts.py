"""What a whole run says that one record cannot: whether the server cites, how much it sends on, what it lacks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from evals.case.matching import document_key
from evals.schemas import EvalRecord, EvalResponse, EvalRun
from evals.scoring.diagnosis.stages import Library, library_of

DEFAULT_K = 10
"""Chunks that are taken to be sent on where the server does not say how many it does."""
_SENT_ON = ("final_top_n", "rerank_top_n", "top_n", "retrieval_top_k", "top_k")
"""Names of the number of chunks that a server sends on to its model, the most telling first."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the diagnosis of a record needs to know of its run.

    Attributes:
        cites: Whether the server cites in any answer of the run.
        answers: Whether it answers at all; one that only retrieves does not.
        k: How many chunks it sends on.
        missing: Gold documents that its corpus lacks, as `document_key`s.
        library: The chunks of all answers by id, for stages that name theirs by id alone.
    """

    cites: bool = False
    answers: bool = False
    k: int = DEFAULT_K
    missing: frozenset[str] = frozenset()
    library: Library = field(default_factory=dict)


def facts_of(run: EvalRun, records: Iterable[EvalRecord]) -> RunFacts:
    """What a run says of itself and of its server."""
    missing = frozenset(map(document_key, run.server.missing_documents or ()))
    every, seen = records if isinstance(records, Sequence) else list(records), _Seen()
    for record in every:
        if record.response is not None:
            seen.add(record.response, missing)
    return RunFacts(
        cites=seen.cites,
        answers=seen.answers,
        k=sent_on(run) or DEFAULT_K,
        library=library_of(every) if seen.stages else {},
        # A list of documents that leaves out what was retrieved is not whole: it may lack others that are there.
        missing=frozenset() if seen.retrieved else missing,
    )


@dataclass(slots=True)
class _Seen:
    """What some answer of a run has: citations, an answer, stages, a document that its server's list lacks."""

    cites: bool = False
    answers: bool = False
    stages: bool = False
    retrieved: bool = False

    def add(self, response: EvalResponse, missing: frozenset[str]) -> None:
        """Add what one answer has."""
        self.cites = self.cites or bool(response.citations)
        self.answers = self.answers or response.answer is not None
        self.stages = self.stages or bool(response.stages)
        self.retrieved = self.retrieved or (bool(missing) and not missing.isdisjoint(_retrieved(response)))


def _retrieved(response: EvalResponse) -> set[str]:
    """The documents of all chunks, as `document_key`s."""
    chunks = response.chunks or ()
    return {document_key(name) for chunk in chunks for name in (chunk.document_id, chunk.document_name) if name}


def sent_on(run: EvalRun) -> int | None:
    """How many chunks the server sends on to its model, by its configuration or by what it was asked for."""
    server = run.eval_config.get("server")
    ask = server.get("ask") if isinstance(server, dict) else None
    asked = ask.get("json") if isinstance(ask, dict) else None
    places: Sequence[Any] = (asked, run.config, *run.server.snapshot_start.values())
    for name in _SENT_ON:
        for place in places:
            value = place.get(name) if isinstance(place, dict) else None
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                return value
    return None
