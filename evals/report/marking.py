"""Texts in pieces: where a chunk holds the words of a gold passage, and what each sentence of an answer cites."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rapidfuzz.distance import LCSseq

from evals.case.case import Case
from evals.metrics.citation_support import CITATION_SUPPORT, Statement, placed_statements
from evals.views.formatting import plain

_WORD = re.compile(r"\w+")
_LEAST = 4
"""Words in a row that are marked: fewer are found anywhere."""
_MOST_WORDS = 20_000
"""In one text; of longer ones nothing is marked."""

Span = tuple[int, int]


def marked(text: str, golds: Iterable[str]) -> list[list[Any]]:
    """A text in pieces [text, whether a gold says the same].

    What is marked is what both have in common, word by word and in order, in runs of at least four words, or of all the
    words of a shorter gold. It shows what the rule of matching has seen; it decides nothing.
    """
    golds = list(golds)
    if not golds:
        return [[plain(text), False]]
    words = [(match.group().casefold(), match.span()) for match in _WORD.finditer(text)]
    if len(words) > _MOST_WORDS:
        return [[plain(text), False]]
    spans = sorted(span for gold in golds for span in _common(gold, words))
    return [[plain(text[start:end]), is_gold] for start, end, is_gold in _cut(text, _merged(spans))]


def _common(gold: str, words: Sequence[tuple[str, Span]]) -> Iterator[Span]:
    wanted = [match.group().casefold() for match in _WORD.finditer(gold)][:_MOST_WORDS]
    least = min(_LEAST, len(wanted))
    for step in LCSseq.opcodes(wanted, [word for word, _ in words]):
        if step.tag == "equal" and step.src_end - step.src_start >= max(least, 1):
            yield words[step.dest_start][1][0], words[step.dest_end - 1][1][1]


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Spans in their order, those that overlap put together."""
    found: list[Span] = []
    for start, end in spans:
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _cut(text: str, spans: Iterable[Span]) -> Iterator[tuple[int, int, bool]]:
    """The spans and what stands between them."""
    place = 0
    for start, end in spans:
        if place < start:
            yield place, start, False
        yield start, end, True
        place = end
    if place < len(text):
        yield place, len(text), False


def answer_pieces(case: Case) -> list[dict[str, Any]]:
    """An answer in pieces: its sentences with what they cite and what the judge says of that, and what lies between.

    Where nothing says which sentence a citation stands in, it is one piece.
    """
    answer = case.response.answer or ""
    found = placed_statements(case)
    if found is None:
        return [{"text": plain(answer)}] if answer else []
    said = _support(case)
    statements = {span: (number, statement) for number, (span, statement) in enumerate(found, start=1)}
    pieces: list[dict[str, Any]] = []
    for start, end, is_sentence in _cut(answer, statements):
        piece: dict[str, Any] = {"text": plain(answer[start:end])}
        if is_sentence:
            number, statement = statements[start, end]
            piece |= _told(statement, said.get(number))
        pieces.append(piece)
    return pieces


def _told(statement: Statement, verdict: str | None) -> dict[str, Any]:
    told: dict[str, Any] = {"cited": list(statement.cited), "invalid": statement.invalid}
    return told if verdict is None else {**told, "verdict": verdict}


def _support(case: Case) -> dict[int, str]:
    """What the judge says of each examined sentence, by its number; empty where it was not asked."""
    reply = next(iter(CITATION_SUPPORT.replies(case).values()), None)
    return {} if reply is None else {item["id"]: str(item["verdict"]) for item in reply["statements"]}
