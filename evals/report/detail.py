"""One question whole: what was asked, expected, answered, retrieved, measured and judged."""

from collections.abc import Iterator
from typing import Any

from evals.case.case import Case
from evals.report.judged import verdict_of
from evals.report.marking import answer_pieces, marked
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, ResponseError
from evals.scoring.clusters import spelled
from evals.scoring.digest.broken_links import BrokenLink
from evals.scoring.measured import Measured
from evals.text.counts import counted
from evals.views.details import detail_line
from evals.views.formatting import number, one_line, place_of, plain

_BODY = 2000
"""Characters of a body in which no answer was found."""
_DETAILS = 1000
_NAME = 200


def detail_of(record: EvalRecord, measured: Measured, broken: BrokenLink | None) -> dict[str, Any]:
    """All that a page shows of a question.

    Args:
        record: The question with what happened to it.
        measured: Its run.
        broken: The first link that broke, if any.
    """
    question, response = record.question, record.response
    case = measured.cases.of(record)
    return {
        "id": one_line(question.id, _NAME),
        "question": plain(question.question),
        "expected": None if question.expected_answer is None else plain(question.expected_answer),
        "unanswerable": question.is_unanswerable,
        "about": _about(question),
        "before": list(_before(question, response)),
        "golds": [_gold(place, case) for place in range(len(question.gold_passages))],
        "broken": broken and _broken(broken),
        "notes": list(_notes(case, response)),
        "answer": answer_pieces(case),
        "chunks": _chunks(case),
        "citations": _citations(case),
        "scores": _scores(record, measured),
        "judge": [verdict_of(verdict, record.verdicts) for verdict in record.verdicts],
        "exchange": list(_exchange(response)),
    }


def _about(question: EvalQuestion) -> list[list[str]]:
    pairs = {"dataset": spelled(question.dataset), **{key: spelled(value) for key, value in question.metadata.items()}}
    return [[one_line(key, _NAME), one_line(value, _NAME)] for key, value in pairs.items() if value]


def _before(question: EvalQuestion, response: EvalResponse | None) -> Iterator[list[str]]:
    """What was said before, as far as it was answered."""
    answers = response.turns if response else []
    for message, turn in zip(question.turns[:-1], answers, strict=False):
        yield [plain(message), plain(turn.answer or "–")]


def _broken(broken: BrokenLink) -> dict[str, Any]:
    return {
        "link": broken.link.value,
        "label": broken.link.label,
        "failure": broken.link.is_failure,
        "explanation": plain(broken.explanation),
        "remarks": [plain(remark) for remark in broken.said.remarks],
    }


def _gold(place: int, case: Case) -> dict[str, Any]:
    gold = case.question.gold_passages[place]
    found = case.matches.found.get(place)
    where = " § ".join(part for part in (gold.document_id, gold.section) if part)
    said = gold.text or ("" if where else f"chunk {gold.chunk_id}")
    return {
        "where": plain(where),
        "text": plain(said),
        "rank": None if found is None else found[0] + 1,
        "rule": None if found is None else found[1],
    }


def _notes(case: Case, response: EvalResponse | None) -> Iterator[str]:
    """What to know of the answer: why there is none, and who says whether it declines."""
    if response is None:
        yield "not asked"
    elif response.error is not None:
        yield from _failure(response, response.error)
    else:
        yield from _declining(case)
        yield from map(plain, response.notes)


def _failure(response: EvalResponse, error: ResponseError) -> Iterator[str]:
    yield f"no answer after {counted(response.attempts, 'attempt')}: {plain(error.message)}"
    if error.kind == "malformed" and response.raw:
        yield f"the body: {plain(response.raw[:_BODY])}"


def _declining(case: Case) -> Iterator[str]:
    if case.response.refused is not None:
        yield f"the server says that it {'declined' if case.is_flagged else 'did not decline'}"
    if case.abstention_disputed:
        sides = ("a refusal", "an answer") if case.reads_as_refusal else ("an answer", "a refusal")
        yield "the text rules take it for {}, the judge for {}".format(*sides)
    elif case.abstained and case.response.answer is not None:
        yield "it counts as declining to answer"


def _chunks(case: Case) -> list[dict[str, Any]] | None:
    """The chunks in rank order; None where the server sent none."""
    chunks = case.response.chunks
    if chunks is None:
        return None
    cited = {place for source in case.cited for place in source.places}
    golds = case.question.gold_passages
    told = []
    for place, chunk in enumerate(chunks):
        held = case.matches.by_chunk[place]
        original = case.listed.original[place]
        told.append(
            {
                "place": plain(place_of(chunk)),
                "score": chunk.score,
                "cited": place in cited,
                "repeats": original + 1 if original != place else None,
                "golds": [[gold + 1, rule] for gold, rule in sorted(held.items())],
                "text": marked(chunk.text or "", (golds[gold].text for gold in held)),
            }
        )
    return told


def _citations(case: Case) -> list[dict[str, Any]] | None:
    """The distinct sources that the answer cites; None where the server sends no citations."""
    if case.response.citations is None:
        return None
    return [
        {
            "ranks": [place + 1 for place in source.places],
            "sections": [plain(section) for section in source.sections],
            "gold": any(case.cited_golds.get(place) for place in source.places),
        }
        for source in case.cited
    ]


def _scores(record: EvalRecord, measured: Measured) -> list[dict[str, Any]]:
    units = {summary.name: summary.unit for summary in measured.run.scorecard.metrics}
    return [
        {
            "name": score.name,
            "shown": number(score.value, units.get(score.name, "ratio")),
            "reason": None if score.reason is None else plain(score.reason),
            "details": one_line(detail_line(score), _DETAILS),
        }
        for score in record.scores
    ]


def _exchange(response: EvalResponse | None) -> Iterator[list[str]]:
    """How long it took, and what it used."""
    if response is None:
        return
    times = {
        "latency": response.latency_ms,
        "in all": response.total_ms,
        "retrieval": response.retrieval_latency_ms,
        "first token": response.time_to_first_token_ms,
    }
    yield from ([title, number(value, "ms")] for title, value in times.items() if value is not None)
    if response.usage is not None:
        yield ["tokens", f"{response.usage.prompt_tokens:,} + {response.usage.completion_tokens:,}"]
    if response.model:
        yield ["model", one_line(response.model, _NAME)]
    if response.attempts > 1:
        yield ["attempts", f"{response.attempts}"]
    if response.confidence is not None:
        yield ["confidence", f"{response.confidence:.3f}"]
