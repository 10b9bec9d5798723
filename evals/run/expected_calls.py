"""What judging is estimated by: answers that are there, saved ones or made-up ones, and the sizes of saved calls."""

from collections import ChainMap, Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import cycle, islice

from evals.config import EvalConfig
from evals.errors import StoreError
from evals.judges.backends.base import Call, Identity
from evals.judges.cache import JudgeCache, StoredReply
from evals.judges.config import JudgeConfig
from evals.judges.prompt import load_prompt, parts_of, stand_in_reply, why_too_long
from evals.judges.replies import call_of, problem_of_saved, repeats_of
from evals.metrics.base import BaseMetric
from evals.metrics.judged import new_requests, prompts_asked_twice
from evals.metrics.sample import ABSTENTION, DECIDING, Sample
from evals.schemas.dataset import Document, EvalQuestion
from evals.schemas.response import Citation, EvalResponse, RetrievedChunk
from evals.schemas.results import EvalRecord, EvalRun
from evals.schemas.verdicts import CallSizes, JudgeVerdict, VerdictRequest
from evals.store.records import whole
from evals.store.runs import RunStore

FEWEST_ANSWERS = 20
"""Fewer saved answers say too little of those to other questions."""

_RUNS_LOOKED_AT = 10


_JUDGES_LOOKED_AT = 30
"""Runs for the sizes of calls; a folder of many runs takes long to read."""

_CHUNKS = 10

_CHUNK_CHARACTERS = 1200

_ANSWER_CHARACTERS = 270


_ABSTAINED = {False: 7, True: 2}
"""Servers abstain on some answerable questions and miss some unanswerable ones: every so many-eth is one abstention."""


REFUSAL = "I don't know: the provided documents do not answer this question."
"""A usual one: longer than a few words, so that the judge may be asked whether it is one."""


def placeholder_answers(
    config: EvalConfig, questions: Sequence[EvalQuestion], known: Mapping[str, EvalResponse]
) -> tuple[Mapping[str, EvalResponse], str]:
    """Answers to estimate over, by question, and how to call them; saved runs are read only for those not known."""
    if known and known.keys() >= {question.id for question in questions}:
        return known, "over the answers that are there"
    saved, basis = _saved_responses(config, questions)
    return ChainMap(known, saved), basis  # type: ignore[arg-type]  # which is only read


def _saved_responses(config: EvalConfig, questions: Sequence[EvalQuestion]) -> tuple[Mapping[str, EvalResponse], str]:
    """Answers of the newest saved run of this server over these datasets, by question, and how to call that source."""
    wanted = frozenset(question.dataset for question in questions)
    store = RunStore(config.runs_dir)
    assumed = f"assuming {_CHUNKS} chunks of up to {_CHUNK_CHARACTERS:,} characters and answers of {_ANSWER_CHARACTERS}"
    few: tuple[Mapping[str, EvalResponse], str] | None = None
    for run, saved in islice(_answered_runs(store, config, wanted), _RUNS_LOOKED_AT):
        if len(saved) >= FEWEST_ANSWERS or all(question.id in saved for question in questions):
            return saved, f"sizes from run {run.id}"
        few = few or (
            saved,
            f"run {run.id} answers fewer than {FEWEST_ANSWERS} questions; for others {assumed}",
        )
    return few or ({}, f"{assumed}, as no run of this server is saved")


def _answered_runs(
    store: RunStore, config: EvalConfig, datasets: Set[str]
) -> Iterator[tuple[EvalRun, Mapping[str, EvalResponse]]]:
    """The runs of this server over the datasets with their answers, the newest first."""
    for run in reversed(store.runs()):
        if _same_server(run, config) and run.status != "failed":
            saved = _saved_answers(store, run, datasets)
            if saved is not None:
                yield run, saved


def _saved_answers(store: RunStore, run: EvalRun, datasets: Set[str]) -> Mapping[str, EvalResponse] | None:
    """The answers of a run that asked one of the datasets; none where it did not.

    Neither is there any where they cannot be read: an older run tells sizes as well, and usual ones do where there is
    none.
    """
    numbers, fits = dict[str, int](), False
    try:
        records = store.open_records(run)
        for number, record in enumerate(whole(run, records)):
            fits = fits or record.question.dataset in datasets
            if record.response is not None and record.response.error is None:
                numbers[record.question.id] = number
    except StoreError:
        return None
    return _SavedAnswers(records, numbers) if fits else None


class _SavedAnswers(Mapping[str, EvalResponse]):
    """The answers of a saved run by question, each read when it is looked at.

    Args:
        records: Of the run.
        numbers: Of those with an answer.
    """

    def __init__(self, records: Sequence[EvalRecord], numbers: Mapping[str, int]) -> None:
        self._records = records
        self._numbers = numbers

    def __contains__(self, key: object) -> bool:
        return key in self._numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __getitem__(self, key: str) -> EvalResponse:
        return self._records[self._numbers[key]].response or EvalResponse()


def _same_server(run: EvalRun, config: EvalConfig) -> bool:
    if config.embedded or run.eval_config.get("embedded"):
        return bool(config.embedded and run.eval_config.get("embedded"))
    return run.server.url.rstrip("/") == config.server_spec().url.rstrip("/")


def stand_ins(
    questions: Sequence[EvalQuestion], documents: Sequence[Document], saved: Mapping[str, EvalResponse]
) -> Iterator[EvalResponse]:
    """For each question its saved answer, else another one of enough that are saved, else one of usual size."""
    others = _again_and_again(saved) if len(saved) >= FEWEST_ANSWERS else None
    pieces = cycle(_pieces(documents) or ["x" * _CHUNK_CHARACTERS])
    asked: Counter[bool] = Counter()
    for question in questions:
        if question.id in saved:
            yield saved[question.id]
            continue
        if others is not None:
            yield next(others)
            continue
        texts = list(islice(pieces, _CHUNKS))
        chunks = [RetrievedChunk(chunk_id=str(n), text=text) for n, text in enumerate(texts)]
        kind = bool(question.is_unanswerable)
        asked[kind] += 1
        yield _abstention(chunks) if asked[kind] % _ABSTAINED[kind] == 0 else _usual_answer(texts[0], chunks)


def _again_and_again(saved: Mapping[str, EvalResponse]) -> Iterator[EvalResponse]:
    """As `itertools.cycle`, which holds all that it has seen."""
    while True:
        yield from saved.values()


def _abstention(chunks: list[RetrievedChunk]) -> EvalResponse:
    return EvalResponse(answer=REFUSAL, chunks=chunks, citations=[])


def _usual_answer(text: str, chunks: list[RetrievedChunk]) -> EvalResponse:
    said = (text * (_ANSWER_CHARACTERS // len(text) + 1))[:_ANSWER_CHARACTERS]
    return EvalResponse(answer=said, chunks=chunks, citations=[Citation(index=1, start=0, end=len(said))])


def _pieces(documents: Sequence[Document]) -> list[str]:
    """The documents cut as most servers cut them: at their sections, and into pieces of equal size below a limit."""
    pieces = []
    for document in documents:
        cuts = [(section.start, section.end) for section in document.sections] or [(0, len(document.text))]
        for start, end in cuts:
            count = -(-(end - start) // _CHUNK_CHARACTERS)
            size = -(-(end - start) // count) if count else 0
            pieces += [document.text[at : min(at + size, end)] for at in range(start, end, size or 1)]
    return [piece for piece in pieces if piece.strip()]


def saved_sizes(store: RunStore, judge: Identity) -> dict[str, CallSizes]:
    """Sizes of the calls of the newest runs by the same model with the same effort, by the name of the request.

    Each is of the newest run that made such calls; where the judge is reached does not matter.
    """
    found: dict[str, CallSizes] = {}
    for run in store.newest(_JUDGES_LOOKED_AT):
        if run.judge is not None and (run.judge.model, run.judge.effort) == (judge.model, judge.effort):
            found = {**run.judge.sizes, **found}
    return found


# The calls that judging an answer will take, composed as in the run, with replies that are there or made up.


@dataclass(frozen=True, slots=True)
class LikelyCall:
    """A request that will be made.

    Attributes:
        request: What is wanted.
        call: What is sent; of a request that is made in parts, each is one of these.
        times: How many of its repeats take a call.
        cached: How many of its repeats are in the cache.
        round: Of the calls about the answer; those of a later round build on replies to earlier ones.
    """

    request: VerdictRequest
    call: Call
    times: int
    cached: int
    round: int = 1


class LikelyCalls:
    """Composes the calls about one answer after the other.

    Args:
        metrics: Of the run.
        judge: Of the run.
        cache: Where replies are kept that cost nothing; None where none is used.
    """

    def __init__(self, metrics: Sequence[BaseMetric], judge: JudgeConfig, cache: JudgeCache | None) -> None:
        self._metrics = metrics
        self._judge = judge.identity
        self._repeats = judge.repeats
        self._most = judge.max_input_tokens
        self._shared = prompts_asked_twice(metrics)
        self._cache = cache

    def about(self, case: Sample) -> Iterator[LikelyCall]:
        """Every call about the answer, round after round; verdicts that are there already take none.

        Args:
            case: With the verdicts that are there; those that will come are added.
        """
        there = {(verdict.request, verdict.repeat) for verdict in case.verdicts}
        asked: set[tuple[str, int | None]] = set()
        number = 0
        while todo := new_requests(self._metrics, case, asked):
            found: list[LikelyCall] = []
            for request in todo:
                asked.add(request.place)
                repeats = repeats_of(request, self._repeats)
                found += self._likely(case, request, [n for n in repeats if (request.name, n) not in there])
            number += any(one.times for one in found)
            yield from (replace(one, round=number) for one in found)

    def _likely(self, case: Sample, request: VerdictRequest, missing: Sequence[int]) -> list[LikelyCall]:
        """The calls for the repeats that are missing; the replies that will come are put into the case."""
        kept = {n: stored for n in missing if (stored := self._kept(request, n)) is not None}
        made_up = StoredReply(reply=_likely_reply(case, request))
        come = {n: kept.get(n, made_up) for n in missing}
        case.verdicts = [
            *case.verdicts,
            *(
                JudgeVerdict(
                    request=request.name,
                    repeat=n,
                    reply=one.reply,
                    failure=one.failure,
                    passages=request.passages,
                )
                for n, one in come.items()
            ),
        ]
        return self._asked(request, [n for n in missing if n not in kept], len(kept))

    def _asked(self, request: VerdictRequest, left: Sequence[int], kept: int) -> list[LikelyCall]:
        """The calls for repeats of which no whole reply is kept."""
        parts = parts_of(request)
        if why_too_long(request, self._most) is not None:
            return []
        if len(parts) == 1:
            return [LikelyCall(request, self._call_of(request), len(left), kept)]
        return [self._likely_part(part, left) for part in parts]

    def _likely_part(self, part: VerdictRequest, missing: Sequence[int]) -> LikelyCall:
        kept = sum(self._kept(part, n) is not None for n in missing)
        return LikelyCall(part, self._call_of(part), len(missing) - kept, kept)

    def _call_of(self, request: VerdictRequest) -> Call:
        return call_of(request, repeats=self._repeats, shared=self._shared)

    def _kept(self, request: VerdictRequest, repeat: int) -> StoredReply | None:
        """What the cache holds, a recent failure included; None where that is not of use."""
        if self._cache is None:
            return None
        call = self._call_of(request)
        keys = (JudgeCache.key(self._judge, call, repeat), JudgeCache.legacy_key(self._judge, call, repeat))
        stored = next((found for key in keys if (found := self._cache.get(key)) is not None), None)
        if stored is None or (stored.reply is not None and problem_of_saved(stored.reply, request) is not None):
            return None
        return stored


def _likely_reply(case: Sample, request: VerdictRequest) -> dict[str, object]:
    """What a judge will say; of whether the answer declines, what the text rules say."""
    reply = stand_in_reply(load_prompt(request.prompt), request.data)
    if request.name in DECIDING:
        answers = "answers" if request.name == ABSTENTION else "correct"
        reply["verdict"] = "declines" if case.reads_as_refusal else answers
    return reply
