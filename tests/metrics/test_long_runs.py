"""Long runs of white space and long clauses: what reads them goes over them once."""

from collections.abc import Callable
from time import process_time

import pytest

from evals.metrics.abstention_detector import is_abstention
from evals.metrics.case import Case
from evals.metrics.citation_support import statements
from evals.metrics.fact_inclusion import inclusion
from evals.metrics.text import plain
from evals.schemas import EvalQuestion, EvalResponse

SHORT, LONG = 10_000, 40_000
_MOST = 9
"""Times as long that four times the length may take: squared it would be sixteen."""


def _slowdown(read: Callable[[str], object], unit: str) -> float:
    """How many times as long the longer text takes, at the best of three; times too short to tell count as alike."""

    def seconds(length: int, turn: int) -> float:
        text = f"a{turn}{unit * (length // len(unit))}b"
        start = process_time()
        read(text)
        return process_time() - start

    short, long = (min(seconds(length, turn) for turn in range(3)) for length in (SHORT, LONG))
    return long / max(short, 0.005)


def _statements(answer: str) -> object:
    return statements(Case(EvalQuestion(question="?"), EvalResponse(answer=answer, chunks=[], citations=[])))


@pytest.mark.parametrize("unit", [" ", "\t", "\n", "\r\n", "\u00a0", " \n"])
@pytest.mark.parametrize(
    "read", [lambda text: inclusion("5%", text), plain, _statements], ids=["fact_inclusion", "plain", "statements"]
)
def test_a_run_of_white_space_is_read_once(read: Callable[[str], object], unit: str) -> None:
    """Four times the length takes about four times as long, and not sixteen."""
    assert _slowdown(read, unit) < _MOST


@pytest.mark.parametrize("unit", ["[1 ", "[1, ", "[1 -"])
def test_marks_that_are_never_closed_are_read_once(unit: str) -> None:
    """A bracket looks ahead once, also where blanks follow."""
    assert _slowdown(_statements, unit) < _MOST
    assert _slowdown(lambda text: _statements(unit + text), " ") < _MOST


@pytest.mark.parametrize(
    "unit", ["it is unclear ", "nothing ", "we would need ", "none of them,", "«", "sorry ", "the text does not "]
)
def test_a_clause_without_an_end_is_read_once(unit: str) -> None:
    """The beginnings of declining phrases, again and again, look no further than a sentence goes."""
    assert _slowdown(is_abstention, unit) < _MOST
