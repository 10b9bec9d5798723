"""Questions of a run as a page shows them: columns over all of them, and all that is known of one."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from math import isnan
from typing import Any

from rapidfuzz.distance import LCSseq

from evals.metrics.citation_support import CITATION_SUPPORT, placed_statements
from evals.metrics.judge_tasks import ANSWER_CLAIMS, ANSWER_IN_CONTEXTS, REFERENCE_CLAIMS, REFERENCE_IN_CONTEXTS
from evals.metrics.sample import Sample
from evals.report.parts import wrong_line
from evals.report.wording import label_of, number, one_line, place_of, plain, printable, six_digits
from evals.schemas.dataset import EvalQuestion, GoldPassage
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord, MetricResult
from evals.schemas.verdicts import JudgeVerdict
from evals.scoring.conclusion import Measured
from evals.scoring.config import confidence
from evals.scoring.diagnosis.counts import WrongSlice, wrong_slices
from evals.scoring.diagnosis.stages import Link
from evals.scoring.digest import BrokenLink
from evals.scoring.run_columns import spelled
from evals.text.numbers import counted

# What the judge said of a question: labels, quotes and reasons.


_CLAIMS_OF = {ANSWER_IN_CONTEXTS.name: ANSWER_CLAIMS.name, REFERENCE_IN_CONTEXTS.name: REFERENCE_CLAIMS.name}
"""By inquiry, that which found the claims that it names by their numbers alone."""


def verdict_of(verdict: JudgeVerdict, beside: Sequence[JudgeVerdict]) -> dict[str, Any]:
    """A verdict: what was asked, and the reply, or how the judge failed.

    Args:
        verdict: The verdict.
        beside: All on the same question: a reply names claims by numbers that another one gave them.
    """
    wanted = (_CLAIMS_OF.get(verdict.request), verdict.repeat)
    replies = [one.reply for one in beside if (one.request, one.repeat) == wanted and one.reply is not None]
    claims = replies[0].get("claims") if replies else None
    told: dict[str, Any] = {
        "request": plain(verdict.request),
        "repeat": verdict.repeat,
        "failure": verdict.failure,
        "message": plain(verdict.message or ""),
        "suspected": verdict.injection_suspected,
        "ranks": verdict.passages,
    }
    if verdict.reply is not None:
        told["reply"] = printed(verdict.ranked_reply)
        told["claims"] = [plain(str(one.get("claim", ""))) for one in claims] if isinstance(claims, list) else []
    return told


def printed(value: Any) -> Any:
    """A value of JSON with all its texts made printable."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, Mapping):
        return {plain(str(key)): printed(item) for key, item in value.items() if key != "injection_suspected"}
    if isinstance(value, list | tuple):
        return [printed(item) for item in value]
    return value


# Texts in pieces: where a chunk holds the words of a gold passage, and what each sentence of an answer cites.


_WORD = re.compile(r"\w+")


_LEAST = 4
"""Words in a row that are marked: fewer are found anywhere."""


_MOST_WORDS = 20_000
"""In one text; of longer ones nothing is marked."""


def marked(text: str, golds: Iterable[str]) -> list[list[Any]]:
    """A text in pieces [text, whether a gold says the same].

    What is marked is what both have in common, word by word and in order, in runs of at least four words, or of all the
    words of a shorter gold. It shows what the rule of matching has seen; it decides nothing.
    """
    words = list(_WORD.finditer(text))
    if len(words) > _MOST_WORDS:
        return [[plain(text), False]]
    is_gold = bytearray(len(text))
    for gold in golds:
        for start, end in _common(gold, words):
            is_gold[start:end] = b"\1" * (end - start)
    pieces = ((list(places), mark) for mark, places in groupby(range(len(text)), is_gold.__getitem__))
    return [[plain(text[places[0] : places[-1] + 1]), bool(mark)] for places, mark in pieces] or [["", False]]


def _common(gold: str, words: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """Where in a text of these words stand those of a gold."""
    said = [word.group().casefold() for word in words]
    wanted = [word.group().casefold() for word in _WORD.finditer(gold)][:_MOST_WORDS]
    for step in LCSseq.opcodes(wanted, said):
        if step.tag == "equal" and step.src_end - step.src_start >= min(_LEAST, len(wanted)):
            yield words[step.dest_start].start(), words[step.dest_end - 1].end()


def answer_pieces(case: Sample) -> list[dict[str, Any]]:
    """An answer in pieces: its sentences with what they cite and what the judge says of that, and what lies between.

    Where nothing says which sentence a citation stands in, it is one piece.
    """
    answer, place = case.response.answer or "", 0
    reply = next(iter(CITATION_SUPPORT.replies(case).values()), None)
    verdicts = {item["id"]: str(item["verdict"]) for item in reply["statements"]} if reply is not None else {}
    pieces: list[dict[str, Any]] = []
    for place_in_order, ((start, end), statement) in enumerate(placed_statements(case) or (), start=1):
        pieces.append({"text": plain(answer[place:start])})
        piece = {"text": plain(answer[start:end]), "cited": list(statement.cited), "invalid": statement.invalid}
        pieces.append(piece | ({"verdict": verdicts[place_in_order]} if place_in_order in verdicts else {}))
        place = end
    return [piece for piece in (*pieces, {"text": plain(answer[place:])}) if piece["text"]]


# One question whole: what was asked, expected, answered, retrieved, measured and judged.


_BODY = 2000
"""Characters of a body in which no answer was found."""

_DETAILS = 1000

_NAME = 200


def detail_of(record: EvalRecord, measured: Measured, broken: BrokenLink | None = None) -> dict[str, Any]:
    """All that is shown of a question.

    Args:
        record: The question with what happened to it.
        measured: Its run.
        broken: The first failure, if any.
    """
    question, response = record.question, record.response
    case = measured.cases.of(record)
    turns = zip(question.turns[:-1], response.turns if response else [], strict=False)
    return {
        "id": one_line(question.id, _NAME),
        "question": plain(question.question),
        "expected": None if question.expected_answer is None else plain(question.expected_answer),
        "unanswerable": question.is_unanswerable,
        "about": _about(question),
        "before": [[plain(message), plain(turn.answer or "–")] for message, turn in turns],
        "golds": [_gold(gold, case.matches.found.get(place)) for place, gold in enumerate(question.gold_passages)],
        "broken": broken and _broken(broken),
        "notes": list(map(plain, _notes(case, response))),
        "answer": answer_pieces(case),
        "chunks": _chunks(case),
        "citations": _citations(case),
        "scores": _scores(record, measured),
        "judge": [verdict_of(verdict, record.verdicts) for verdict in record.verdicts],
        "exchange": list(_exchange(response)) if response else [],
    }


def _about(question: EvalQuestion) -> list[list[str]]:
    pairs = ((key, spelled(value)) for key, value in {"dataset": question.dataset, **question.metadata}.items())
    return [[one_line(key, _NAME), one_line(value, _NAME)] for key, value in pairs if value]


def _broken(broken: BrokenLink) -> dict[str, Any]:
    return {
        "label": broken.link.label,
        "failure": broken.link.is_failure,
        "explanation": plain(broken.explanation),
        "remarks": [plain(remark) for remark in broken.remarks],
    }


def _gold(gold: GoldPassage, found: tuple[int, str] | None) -> dict[str, Any]:
    """Where a gold passage stands and what it says, or which chunk it is; and at which rank it was recognised."""
    where = " § ".join(part for part in (gold.document_id, gold.section) if part)
    text = gold.text or ("" if where else f"chunk {gold.chunk_id}")
    rank, rule = (None, None) if found is None else (found[0] + 1, found[1])
    return {"where": plain(where), "text": plain(text), "rank": rank, "rule": rule}


def _notes(case: Sample, response: EvalResponse | None) -> Iterator[str]:
    """What to know of the answer: why there is none, and who says whether it declines."""
    if response is None:
        yield "not asked"
        return
    if response.error is not None:
        yield f"no answer after {counted(response.attempts, 'attempt')}: {response.error.message}"
        if response.error.kind == "malformed" and response.raw:
            yield f"the body: {response.raw[:_BODY]}"
        return
    yield from _declining(case)
    yield from response.notes


def _declining(case: Sample) -> Iterator[str]:
    """Who says whether an answer declines."""
    if case.response.refused is not None:
        yield f"the server says that it {'declined' if case.is_flagged else 'did not decline'}"
    if case.abstention_disputed:
        sides = ("a refusal", "an answer") if case.reads_as_refusal else ("an answer", "a refusal")
        yield "the text rules read it as {}, the judge as {}".format(*sides)
    elif case.abstained and case.response.answer is not None:
        yield "the server declined to answer"


def _chunks(case: Sample) -> list[dict[str, Any]] | None:
    """The chunks in rank order; None where the server sent none."""
    chunks, golds = case.response.chunks, case.question.gold_passages
    if chunks is None:
        return None
    cited = {place for source in case.cited for place in source.places}
    places = zip(chunks, case.matches.by_chunk, case.listed.original, strict=True)
    return [
        {
            "place": plain(place_of(chunk)),
            "score": chunk.score,
            "cited": place in cited,
            "repeats": original + 1 if original != place else None,
            "golds": [[gold + 1, rule] for gold, rule in sorted(held.items())],
            "text": marked(chunk.text or "", (golds[gold].text for gold in held)),
        }
        for place, (chunk, held, original) in enumerate(places)
    ]


def _citations(case: Sample) -> list[dict[str, Any]] | None:
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
            "details": one_line(_detail_line(score), _DETAILS),
        }
        for score in record.scores
    ]


_SAID_BEFORE = [("abstained", True), ("abstained", False), ("price", "server")]
"""Details that say nothing that is not shown already."""


def _detail_line(score: MetricResult) -> str:
    """The details that can be read on a line, with their names: `label B, found ✓`; empty where there are none."""
    facts = score.details.get("facts")  # of a check, by the names that the dataset gave them
    pairs = [*score.details.items(), *(facts.items() if isinstance(facts, dict) else ())]
    told = ((key, _readable(value)) for key, value in pairs if (key, value) not in _SAID_BEFORE)
    return ", ".join(f"{key} {text}" for key, text in told if text is not None)


def _readable(detail: object) -> str | None:
    """A word, a number, yes or no, or a list of words; None for what cannot be read on a line."""
    if isinstance(detail, bool):
        return "✓" if detail else "✗"
    if isinstance(detail, list) and detail and all(isinstance(item, str) for item in detail):
        return f"[{'; '.join(detail)}]"
    if isinstance(detail, float):
        return f"{detail:.3g}"
    return str(detail) if isinstance(detail, str | int) else None


def _exchange(response: EvalResponse) -> Iterator[list[str]]:
    """How long it took, and what it used."""
    times = {
        "latency": response.latency_ms,
        "total": response.total_ms,
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


# Where questions end wrong more often than elsewhere: by dataset and by each key of the metadata.


MOST_VALUES = 200
"""A key with more values names questions rather than kinds of them, and is left out."""

_WRONG_BY_NAME = 80


def slice_keys(measured: Measured) -> list[str]:
    """`dataset` and the keys of the metadata that have more than one value and not too many."""
    keys = ["dataset", *measured.digest.keys]
    return [key for key in keys if 1 < len(set(measured.values(key)) - {None}) <= MOST_VALUES]


def wrong_by(measured: Measured, key: str) -> list[WrongSlice]:
    """How many questions failed for each value of a key, the worst first."""
    values = measured.values(key)
    asked = ((number, values[number]) for number in measured.columns.numbers)
    return wrong_slices(measured.digest.links, asked, confidence(measured.run), measured.questions())


def wrong_by_key(measured: Measured) -> list[dict[str, Any]]:
    """A table for each key: its values, the worst first."""
    return [
        {
            "key": one_line(key, _WRONG_BY_NAME),
            "values": [
                {
                    "name": one_line(one.value, _WRONG_BY_NAME),
                    "value": one.share,
                    "ci": one.interval,
                    "worse": one.is_worse,
                    "shown": printable(wrong_line(one)),
                }
                for one in wrong_by(measured, key)
            ],
        }
        for key in slice_keys(measured)
    ]


_TEXT = 240
"""Characters of a question, and of its answer, that the list holds."""

_ID = 120


def questions_of_run(measured: Measured, per_block: int) -> dict[str, Any]:
    """Columns over all questions, in their order.

    Args:
        measured: The run.
        per_block: How many questions a block of details has.
    """
    rows = [_row(record) for record in measured.records()]
    count, scored = len(rows), not measured.run.is_unscored
    links = measured.digest.links if scored else {}
    return {
        "perBlock": per_block,
        "count": count,
        **{name: [row[name] for row in rows] for name in ("ids", "questions", "answers", "errors", "golds")},
        "links": [links[number].value if number in links else None for number in range(count)],
        "labels": {link.value: link.label for link in Link},
        "metrics": list(_metrics(measured, count)) if scored else [],
        "slices": list(_slices(measured)) if scored else [],
    }


def _row(record: EvalRecord) -> dict[str, str | int | None]:
    """A question as the list shows it."""
    response = record.response
    answer = (response.answer if response else None) or ""
    error = response.error.kind if response and response.error else None
    return {
        "ids": one_line(record.question.id, _ID),
        "questions": one_line(record.question.question[: 4 * _TEXT], _TEXT),
        "answers": one_line(answer[: 4 * _TEXT], _TEXT),
        "errors": error if response else "not asked",
        "golds": len(record.question.gold_passages),
    }


def _metrics(measured: Measured, count: int) -> Iterator[dict[str, Any]]:
    """The metrics that any question has a value of: its value by question, None for none.

    Main are the first metrics of the objectives of the weighted score, or of the groups where there is no score.
    """
    columns, run = measured.columns, measured.run
    main = {names[0] for names in (run.weighted_score.fed_by or run.scorecard.by_group).values() if names}
    for summary in run.scorecard.metrics:
        column = columns.scores.get(summary.name)
        if column is None or column.is_empty:
            continue
        values: list[float | None] = [None] * count
        for place, value in zip(columns.numbers, column.values, strict=True):
            values[place] = None if isnan(value) else six_digits(value)
        yield {
            "name": summary.name,
            "label": label_of(summary.name),
            "unit": summary.unit,
            "better": summary.higher_is_better,
            "main": summary.name in main,
            "values": values,
        }


def _slices(measured: Measured) -> Iterator[dict[str, Any]]:
    """By key, the values, and by question the place of its own among them, -1 for none."""
    for key in slice_keys(measured):
        values = measured.values(key)
        table = list(dict.fromkeys(value for value in values if value is not None))
        places = {value: place for place, value in enumerate(table)}
        yield {
            "key": one_line(key, _ID),
            "values": [one_line(value, _ID) for value in table],
            "places": [-1 if value is None else places[value] for value in values],
        }
