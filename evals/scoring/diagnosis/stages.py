"""What the stages of a retrieval found, where its server says so: recall at each, and where a gold was lost.

A stage is a list of chunks under a name: objects with ids or texts, or plain ids and texts. What has an id alone has
the text of the chunk with this id in any answer of the run; of an id that no answer has, nobody knows the text.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from evals.case.case import Case
from evals.case.matching import match
from evals.schemas import EvalRecord, EvalResponse, GoldPassage, RetrievedChunk
from evals.schemas.base import Finite, Record
from evals.scoring.settings import Cases

Library = Mapping[str, RetrievedChunk]
"""The chunks of a run by their ids; an id that stands for several texts is not there."""

StagesSeen = dict[str, list[tuple[float, bool]]]
"""By stage, for each answer: the share of the golds that it holds, and whether the others are known not to be there."""

_LISTS = ("items", "chunks", "results", "documents", "hits", "passages", "texts", "ids")
_NAMES = ("name", "stage")
_CHUNK_IDS = ("chunk_id", "id")
_DOCUMENT_IDS = ("document_id", "doc_id", "document_name")
_TEXTS = ("text", "content", "page_content")
_LONGEST_ID = 80


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a retrieval.

    Attributes:
        name: As the server calls it, else its number.
        chunks: What it gave on, in its order.
    """

    name: str
    chunks: list[RetrievedChunk] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class StageFound:
    """Which golds a stage holds.

    Attributes:
        name: Of the stage.
        found: The golds, by index, with the rank of the chunk that holds or completes each, from 1.
        is_sure: Whether the others are known not to be there: every chunk is known.
    """

    name: str
    found: Mapping[int, int]
    is_sure: bool


class StageRecall(Record):
    """The share of the golds that a stage holds, over the questions with gold for which the server listed it."""

    name: str
    recall: Finite
    """Mean over the questions, 0 to 1; where some are `unsure`, at least this."""
    questions: int
    unsure: int
    """Questions for which the stage lists ids whose text no answer of the run holds, and not all golds were found."""


def library_of(records: Iterable[EvalRecord]) -> Library:
    """The chunks of all answers by their ids."""
    found: dict[str, RetrievedChunk | None] = {}
    for record in records:
        for name, chunk in _by_id(record.response).items():
            known = found.setdefault(name, chunk)
            if known is not None and known.text != chunk.text:
                found[name] = None
    return {name: chunk for name, chunk in found.items() if chunk is not None}


def _by_id(response: EvalResponse | None) -> Library:
    """The chunks of an answer that have both an id and a text."""
    chunks = (response.chunks if response else None) or []
    return {chunk.chunk_id: chunk for chunk in chunks if chunk.chunk_id and chunk.text}


def stages_of(said: Sequence[Any] | None) -> list[Stage]:
    """The stages that list chunks; one that only tells its time is none."""
    read = (_stage(one, number) for number, one in enumerate(said or (), start=1))
    return [stage for stage in read if stage is not None]


def found_by_stage(case: Case, library: Library) -> list[StageFound]:
    """Which golds each stage of an answer holds; nothing where the server lists none, or there is no gold."""
    golds = case.question.gold_passages
    if not golds or case.response.stages is None:
        return []
    own = _by_id(case.response)
    found = []
    for stage in stages_of(case.response.stages):
        chunks = [_known(chunk, own, library) for chunk in stage.chunks]
        held = match(chunks, golds, case.settings, case.evidence).found
        sure = len(held) == len(golds) or _is_known(chunks, golds)
        found.append(StageFound(stage.name, {gold: place + 1 for gold, (place, _) in held.items()}, sure))
    return found


def _is_known(chunks: Iterable[RetrievedChunk], golds: Iterable[GoldPassage]) -> bool:
    """Whether it can be told of all chunks that they are none of the golds: by their texts, or by ids alone."""
    return all(chunk.text for chunk in chunks) or all(gold.chunk_id or not gold.text for gold in golds)


def lost_in(gold: int, stages: Sequence[StageFound]) -> str | None:
    """Where a gold that did not reach the answer's chunks was lost, in words; None where nobody knows."""
    holding = [at for at, stage in enumerate(stages) if gold in stage.found]
    if holding:
        last = stages[holding[-1]]
        behind = stages[holding[-1] + 1 :]
        if behind and not behind[0].is_sure:
            return None
        where = f"lost in stage {behind[0].name}" if behind else "not sent on"
        return f"at rank {last.found[gold]} of stage {last.name}, {where}"
    return "found by no stage" if stages and all(stage.is_sure for stage in stages) else None


def recall_by_stage(records: Sequence[EvalRecord], cases: Cases) -> list[StageRecall]:
    """The recall at each stage, in the order in which the stages come; empty where the server lists none."""
    library = library_of(records)
    seen: StagesSeen = {}
    for record in records:
        add_stages(seen, record, cases, library)
    return recalls_of(seen)


def add_stages(seen: StagesSeen, record: EvalRecord, cases: Cases, library: Library) -> None:
    """Add what the stages of one answer found."""
    if record.response is not None and record.response.stages is not None:
        golds = len(record.question.gold_passages)
        for stage in found_by_stage(cases.of(record), library):
            seen.setdefault(stage.name, []).append((len(stage.found) / golds, stage.is_sure))


def recalls_of(seen: StagesSeen) -> list[StageRecall]:
    """The recall at each stage of answers that were gone over already."""
    return [
        StageRecall(
            name=name,
            recall=fmean(recall for recall, _ in some),
            questions=len(some),
            unsure=sum(not sure for _, sure in some),
        )
        for name, some in seen.items()
    ]


def _stage(one: Any, number: int) -> Stage | None:
    if isinstance(one, list):
        return Stage(f"{number}", list(_chunks(one)))
    if not isinstance(one, Mapping):
        return None
    listed = next((one[key] for key in _LISTS if isinstance(one.get(key), list)), None)
    name = next((str(one[key]) for key in _NAMES if one.get(key)), f"{number}")
    return None if listed is None else Stage(name, list(_chunks(listed)))


def _chunks(listed: Iterable[Any]) -> Iterator[RetrievedChunk]:
    for item in listed:
        if isinstance(item, Mapping):
            chunk_id, document, text = (_first(item, keys) for keys in (_CHUNK_IDS, _DOCUMENT_IDS, _TEXTS))
            yield RetrievedChunk(chunk_id=chunk_id, document_id=document, text=text)
        elif isinstance(item, str) and (len(item) > _LONGEST_ID or len(item.split()) > 1):
            yield RetrievedChunk(text=item)
        else:
            yield RetrievedChunk(chunk_id=str(item), document_id=str(item))


def _first(item: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    return next((str(item[key]) for key in keys if item.get(key) not in (None, "")), None)


def _known(chunk: RetrievedChunk, own: Library, library: Library) -> RetrievedChunk:
    """The chunk with its text, where any answer has one of its id; first the answer itself."""
    if chunk.text or not chunk.chunk_id:
        return chunk
    return own.get(chunk.chunk_id) or library.get(chunk.chunk_id) or chunk
