"""Recall of each retrieval stage, and the stage at which a gold passage was lost.

A stage is a list of chunks under a name: objects with ids or texts, or plain ids and texts. What has an id alone has
the text of the chunk with this id in any answer of the run; the text of an id that no answer has is unknown.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from statistics import fmean
from typing import Any

from evals.metrics.generation import AnswerCorrectness
from evals.metrics.judge_tasks import COMPARED
from evals.metrics.judged import JudgedMetric
from evals.metrics.qa import GPTScore
from evals.metrics.ragas import CorrectAnswersCount, WrongAnswersCount
from evals.metrics.sample import Sample
from evals.schemas.base import Finite, Record
from evals.schemas.dataset import GoldPassage
from evals.schemas.response import EvalResponse, RetrievedChunk
from evals.schemas.results import WITHOUT_VERDICT, EvalRecord, EvalRun, MetricResult
from evals.scoring.settings import ScoringContext, score_of
from evals.text.documents import document_key
from evals.text.matching import match

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


def stages_of(said: Sequence[Any] | None) -> Iterator[tuple[str, list[RetrievedChunk]]]:
    """The stages that list chunks, each with its name, else its number; one that only tells its time is none."""
    for number, stage in enumerate(said or (), start=1):
        name, listed = None, stage
        if isinstance(stage, Mapping):
            name = _first(stage, _NAMES)
            listed = next((stage[key] for key in _LISTS if isinstance(stage.get(key), list)), None)
        if isinstance(listed, list):
            yield name or str(number), list(map(_chunk, listed))


def _chunk(item: Any) -> RetrievedChunk:
    if isinstance(item, Mapping):
        chunk_id, document, text = (_first(item, keys) for keys in (_CHUNK_IDS, _DOCUMENT_IDS, _TEXTS))
        return RetrievedChunk(chunk_id=chunk_id, document_id=document, text=text)
    if isinstance(item, str) and (len(item) > _LONGEST_ID or len(item.split()) > 1):
        return RetrievedChunk(text=item)
    return RetrievedChunk(chunk_id=str(item), document_id=str(item))


def _first(item: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    return next((str(item[key]) for key in keys if item.get(key) not in (None, "")), None)


def found_by_stage(case: Sample, library: Library) -> list[StageFound]:
    """Which golds each stage of an answer holds; nothing where the server lists none, or there is no gold."""
    golds = case.question.gold_passages
    if not golds or case.response.stages is None:
        return []
    own, found = _by_id(case.response), []
    for name, listed in stages_of(case.response.stages):
        chunks = [_with_text(chunk, own, library) for chunk in listed]
        held = match(golds, chunks, case.settings).found
        sure = len(held) == len(golds) or _is_known(chunks, golds)
        found.append(StageFound(name, {gold: place + 1 for gold, (place, _) in held.items()}, sure))
    return found


def _with_text(chunk: RetrievedChunk, own: Library, library: Library) -> RetrievedChunk:
    """The chunk with its text, where any answer has one of its id; first the answer itself."""
    if chunk.text or not chunk.chunk_id:
        return chunk
    return own.get(chunk.chunk_id) or library.get(chunk.chunk_id) or chunk


def _is_known(chunks: Iterable[RetrievedChunk], golds: Iterable[GoldPassage]) -> bool:
    """Whether it can be told of all chunks that they are none of the golds: by their texts, or by ids alone."""
    return all(chunk.text for chunk in chunks) or all(gold.chunk_id or not gold.text for gold in golds)


def lost_in(gold: int, stages: Sequence[StageFound]) -> str | None:
    """Where a gold that did not reach the answer's chunks was lost, in words; None if unknown."""
    holding = [at for at, stage in enumerate(stages) if gold in stage.found]
    if holding:
        last = stages[holding[-1]]
        behind = stages[holding[-1] + 1 :]
        if behind and not behind[0].is_sure:
            return None
        where = f"lost in stage {behind[0].name}" if behind else "not sent on"
        return f"at rank {last.found[gold]} of stage {last.name}, {where}"
    return "found by no stage" if stages and all(stage.is_sure for stage in stages) else None


def add_stages(seen: StagesSeen, record: EvalRecord, cases: ScoringContext, library: Library) -> None:
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


# What a whole run says that one record cannot: whether the server cites, how much it sends on, what it lacks.


DEFAULT_K = 10
"""Chunks that are taken to be sent on where the server does not say how many it does."""


_SENT_ON = ("final_top_n", "rerank_top_n", "top_n", "retrieval_top_k", "top_k")
"""Names of the number of chunks that a server sends on to its model, the most telling first."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the diagnosis of a record needs from its run.

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
        if self._missing and not self._retrieved:
            self._retrieved = not self._missing.isdisjoint(_documents(response))

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


def _documents(response: EvalResponse) -> set[str]:
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


# The links of the chain from a question to its answer, in the order in which they can break.


class Link(StrEnum):
    """The first failure of a question, in the order of the pipeline, with its description."""

    label: str

    def __new__(cls, value: str, label: str = "") -> "Link":
        """A member is its value, with words."""
        member = str.__new__(cls, value)
        member._value_, member.label = value, label
        return member

    TRANSPORT = "transport", "no answer came"
    CORPUS = "corpus", "the corpus lacks the reference passage"
    NOT_RETRIEVED = "not_retrieved", "reference passage not retrieved"
    PART_RETRIEVED = "part_retrieved", "some reference passages not retrieved"
    BELOW_K = "below_k", "reference passage ranked too low to be sent on"
    SHOULD_HAVE_ABSTAINED = "should_have_abstained", "answered, though unanswerable"
    WRONG_ABSTENTION = "wrong_abstention", "declined, though answerable"
    CONTRADICTS_REFERENCE = "contradicts_reference", "gives another answer than the reference"
    NO_MATCH_BY_WORDS = "no_match_by_words", "has too few words of the reference"
    """In a run without a judge: the words of the answer do not match, and it has no other value in their place."""
    UNUSED = "unused", "the right passage was retrieved, but not used"
    WRONG_CITATION = "wrong_citation", "right, but wrongly cited"
    PARTLY_CORRECT = "partly_correct", "partly correct"
    JUDGE_COULD_NOT_TELL = "judge_could_not_tell", "the judge could not tell"
    RIGHT_WITHOUT_GOLD = "right_without_gold", "right without a retrieved reference passage"
    """No failure: the answer is right although nothing of the gold was retrieved. Counted apart."""

    @property
    def place(self) -> int:
        """Its place in the chain, from 0."""
        return _PLACES[self]

    @property
    def is_failure(self) -> bool:
        """Whether a question with this link ended wrong."""
        return self is not Link.RIGHT_WITHOUT_GOLD


_PLACES = {link: place for place, link in enumerate(Link)}


# What a judge says of an answer, out of whatever it was asked.


class JudgedAs(StrEnum):
    """How right an answer is."""

    CORRECT = "correct"
    PARTLY = "partly_correct"
    INCORRECT = "incorrect"
    CANNOT_TELL = "cannot_tell"


_LABELLED: tuple[type[JudgedMetric], ...] = (AnswerCorrectness, GPTScore, CorrectAnswersCount, WrongAnswersCount)
"""The metrics whose judge says whether an answer is right, the most telling first."""

_MEANINGS = {
    AnswerCorrectness.name: {1.0: JudgedAs.CORRECT, 0.0: JudgedAs.INCORRECT},
    GPTScore.name: {1.0: JudgedAs.CORRECT, 0.0: JudgedAs.INCORRECT},
    CorrectAnswersCount.name: {1.0: JudgedAs.CORRECT},
    WrongAnswersCount.name: {1.0: JudgedAs.INCORRECT},
}
"""What their values mean."""

_COMPARED_LISTS = ("answer_claims", "reference_claims")


_SETTLED = ("abstained", "answered")
"""How the verdict of a value begins that no judge gave."""

_NOT_ASKED = "the judge was not asked"


_DENIES = re.compile(r"\b(?:contradict|incorrect|wrong|instead of|but (?:the|it) is|not)\b")


@dataclass
class Judgement:
    """What the judge of a run says of an answer.

    Attributes:
        record: With its values, or at least with the verdicts that they follow from.
        case: It as metrics see it.
    """

    record: EvalRecord
    case: Sample

    @cached_property
    def is_there(self) -> bool:
        """Whether something was said of how right the answer is: not in a run without a judge."""
        judged = (score for score in self.record.scores if score.name in _MEANINGS)
        return bool(self.record.verdicts) or any(score.value is not None or _is_lost(score) for score in judged)

    @cached_property
    def verdict(self) -> JudgedAs | None:
        """How right the answer is; None where no judge was asked."""
        if not self.is_there:
            return None
        said = [*map(self._labelled, _LABELLED), self._by_claims()]
        told = [verdict for verdict in said if verdict is not None]
        return next((verdict for verdict in told if verdict is not JudgedAs.CANNOT_TELL), told[0] if told else None)

    @cached_property
    def words(self) -> str:
        """The judge's sentence on the answer; empty where there is none."""
        results = map(self._result, _LABELLED if self.is_there else ())
        said = (result.details.get("justification") for result in results if result is not None)
        return next((words for words in said if isinstance(words, str)), "")

    @property
    def denies(self) -> bool:
        """Whether the judge's own words say that the answer denies the reference, and not that it lacks something."""
        return bool(_DENIES.search(self.words))

    def contradicted(self) -> bool | None:
        """Whether the judge finds something in the answer that the reference denies; None where it was not asked."""
        if self._claims is not None and self._claims["answer_claims"]:
            return any(claim["verdict"] == "contradicted" for claim in self._claims["answer_claims"])
        result = self._result(GPTScore)
        criteria = result.details.get("criteria") if result else None
        said = criteria.get("no_contradiction") if isinstance(criteria, dict) else None
        return {"not_met": True, "met": False}.get(str(said))

    def _labelled(self, metric: type[JudgedMetric]) -> JudgedAs | None:
        result = self._result(metric)
        if result is None or str(result.details.get("verdict", "")).startswith(_SETTLED):
            return None
        if result.value is None:
            return JudgedAs.CANNOT_TELL if _is_lost(result) else None
        if metric is AnswerCorrectness and 0 < result.value < 1:
            return JudgedAs.PARTLY
        return _MEANINGS[metric.name].get(result.value)

    def _result(self, metric: type[JudgedMetric]) -> MetricResult | None:
        """The value that a run has of a metric, else the one that its verdicts give; None where it has neither."""
        scored = next((score for score in self.record.scores if score.name == metric.name), None)
        if scored is not None:
            return scored
        asked = {inquiry.name for inquiry in metric.inquiries}
        is_asked = any(verdict.request in asked for verdict in self.record.verdicts)
        return score_of(metric(), self.case) if is_asked else None

    def _by_claims(self) -> JudgedAs | None:
        """What the comparison of claims comes to, where no other judgement was asked for."""
        if self._claims is None:
            return None
        if any(claim["verdict"] == "contradicted" for claim in self._claims["answer_claims"]):
            return JudgedAs.INCORRECT
        conveyed = {claim["verdict"] for claim in self._claims["reference_claims"]} - {"cannot_tell"}
        if conveyed <= {"conveyed"}:
            return JudgedAs.CORRECT if conveyed else None
        return JudgedAs.PARTLY if conveyed & {"conveyed", "partly"} else JudgedAs.INCORRECT

    @cached_property
    def _claims(self) -> dict[str, Any] | None:
        """The reply to a comparison of claims; None where there is none, or somebody changed it on disk."""
        replies = (one.reply for one in self.record.verdicts if one.request == COMPARED.name and one.reply is not None)
        return next((reply for reply in replies if all(map(_is_judged, map(reply.get, _COMPARED_LISTS)))), None)


def _is_lost(score: MetricResult) -> bool:
    """Whether the judge was asked, and gave no verdict."""
    return score.missing in WITHOUT_VERDICT and score.reason != _NOT_ASKED


def _is_judged(claims: Any) -> bool:
    return isinstance(claims, list) and all(
        isinstance(claim, dict) and isinstance(claim.get("verdict"), str) for claim in claims
    )
