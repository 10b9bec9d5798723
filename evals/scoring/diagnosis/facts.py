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
    every = records if isinstance(records, Sequence) else list(records)
    answered = (record.response for record in every if record.response is not None)
    return AnswersSeen(run, answered).facts(every)


class AnswersSeen:
    """What some answer of a run has: citations, an answer, stages, a document that its server's list lacks.

    Args:
        run: As far as it is known.
        responses: Those that are there already.
    """

    def __init__(self, run: EvalRun, responses: Iterable[EvalResponse] = ()) -> None:
        self._run = run
        self._missing = frozenset(map(document_key, run.server.missing_documents or ()))
        self._cites = self._answers = self._stages = self._retrieved = False
        for response in responses:
            self.add(response)

    def add(self, response: EvalResponse) -> None:
        """Add what one answer has, as it comes or from a record; one that failed has nothing."""
        self._cites = self._cites or bool(response.citations)
        self._answers = self._answers or response.answer is not None
        self._stages = self._stages or bool(response.stages)
        self._retrieved = self._retrieved or not self._missing.isdisjoint(self._documents(response))

    def _documents(self, response: EvalResponse) -> Iterable[str]:
        return _retrieved(response) if self._missing else ()

    def facts(self, records: Iterable[EvalRecord]) -> RunFacts:
        """What follows from all that were added.

        Args:
            records: Of these answers; they are walked only where the server lists stages.
        """
        return RunFacts(
            cites=self._cites,
            answers=self._answers,
            k=sent_on(self._run) or DEFAULT_K,
            library=library_of(records) if self._stages else {},
            # A list of documents that leaves out what was retrieved is not whole: it may lack others that are there.
            missing=frozenset() if self._retrieved else self._missing,
        )


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
