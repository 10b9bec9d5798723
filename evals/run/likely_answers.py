"""The answers over which judging is estimated: those that are there, saved ones, else made-up ones of usual size."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice

from evals.config import EvalConfig
from evals.errors import StoreError
from evals.schemas import Citation, Document, EvalQuestion, EvalRecord, EvalResponse, EvalRun, RetrievedChunk
from evals.store.runs import RunStore

_CHUNKS = 10
_CHUNK_CHARACTERS = 1200
_ANSWER_CHARACTERS = 270
_ABSTAINED = {False: 7, True: 2}
"""Servers abstain on some answerable questions and miss some unanswerable ones: every so many-eth is one abstention."""
REFUSAL = "I don't know: the provided documents do not answer this question."
"""A usual one: longer than a few words, so that the judge may be asked whether it is one."""


def likely_answers(
    config: EvalConfig, questions: Sequence[EvalQuestion], known: Mapping[str, EvalResponse]
) -> tuple[Mapping[str, EvalResponse], str]:
    """Answers to estimate over, by question, and how to call them; saved runs are read only for those not known."""
    if known and known.keys() >= {question.id for question in questions}:
        return known, "over the answers that are there"
    saved, basis = _saved_responses(config, questions)
    return {**saved, **known}, basis


def _saved_responses(config: EvalConfig, questions: Sequence[EvalQuestion]) -> tuple[Mapping[str, EvalResponse], str]:
    """Answers of the newest saved run of this server over these datasets, by question, and how to call that source."""
    wanted = {question.dataset for question in questions}
    store = RunStore(config.runs_dir)
    for run in reversed(store.runs()):
        if _same_server(run, config) and run.status != "failed":
            records = _records(store, run)
            if not wanted.isdisjoint(record.question.dataset for record in records):
                answered = {r.question.id: r.response for r in records if r.response and r.response.error is None}
                return answered, f"sizes from run {run.id}"
    chunks = f"{_CHUNKS} chunks of up to {_CHUNK_CHARACTERS:,} characters"
    return {}, f"assuming {chunks} and answers of {_ANSWER_CHARACTERS}, as no run of this server is saved"


def _records(store: RunStore, run: EvalRun) -> list[EvalRecord]:
    """None where they cannot be read: an older run tells sizes as well, and usual ones do where there is none."""
    try:
        return store.records(run)
    except StoreError:
        return []


def _same_server(run: EvalRun, config: EvalConfig) -> bool:
    if config.embedded or run.eval_config.get("embedded"):
        return bool(config.embedded and run.eval_config.get("embedded"))
    return run.server.url.rstrip("/") == config.server_spec().url.rstrip("/")


def stand_ins(
    questions: Sequence[EvalQuestion], documents: Sequence[Document], saved: Mapping[str, EvalResponse]
) -> Iterator[EvalResponse]:
    """For each question its saved answer, else another one of the same run, else one of usual size."""
    if saved:
        others = cycle(saved.values())
        for question in questions:
            yield saved[question.id] if question.id in saved else next(others)
        return
    pieces = cycle(_pieces(documents) or ["x" * _CHUNK_CHARACTERS])
    asked: Counter[bool] = Counter()
    for question in questions:
        texts = list(islice(pieces, _CHUNKS))
        chunks = [RetrievedChunk(chunk_id=str(n), text=text) for n, text in enumerate(texts)]
        kind = bool(question.is_unanswerable)
        asked[kind] += 1
        yield _abstention(chunks) if asked[kind] % _ABSTAINED[kind] == 0 else _usual_answer(texts[0], chunks)


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
