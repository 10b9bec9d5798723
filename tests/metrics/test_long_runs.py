"""Long runs of white space, long clauses and long texts: what reads them goes over them once."""

from collections.abc import Callable
from itertools import count
from random import Random
from time import process_time

import pytest

from evals.metrics.citation_support import statements
from evals.metrics.qa import inclusion
from evals.metrics.sample import Sample
from evals.schemas import Citation, EvalQuestion, EvalResponse, GoldPassage, RetrievedChunk
from evals.text.folding import fold, plain
from evals.text.matching import MatchSettings, match
from evals.text.quantities import distinct, missing
from evals.text.refusals.detector import is_abstention

pytestmark = pytest.mark.slow
SECONDS = 2.0
"""What is done in one go over 100,000 characters takes a tenth of it; squared it takes ten times as much and more."""
SHORT, LONG = 10_000, 40_000
_TURNS = count()
"""Each text is another one: a text that was read before may be known."""
_MOST = 9
"""Times as long that four times the length may take: squared it would be sixteen."""


def _slowdown(read: Callable[[str], object], unit: str) -> float:
    """How many times as long the longer text takes, at the best of three; times too short to tell count as alike."""

    def seconds(length: int) -> float:
        text = f"a{next(_TURNS)}{unit * (length // len(unit))}b"
        start = process_time()
        read(text)
        return process_time() - start

    short, long = (min(seconds(length) for _ in range(3)) for length in (SHORT, LONG))
    return long / max(short, 0.005)


def _statements(answer: str) -> object:
    return statements(Sample(EvalQuestion(question="?"), EvalResponse(answer=answer, chunks=[], citations=[])))


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
    "unit",
    [
        *("it is unclear ", "nothing ", "we would need ", "none of them,", "«", "sorry ", "the text does not "),
        *("no data about ", "the price is ", "based on the text ", "there is no ", "it is not known "),
        *("A. B c. ", "the policy does not ", "we do not have ", "it is not given ", "no se ", "[1, ", "is not "),
    ],
)
def test_a_clause_without_an_end_is_read_once(unit: str) -> None:
    """The beginnings of declining phrases, again and again, look no further than a sentence goes."""
    assert _slowdown(is_abstention, unit) < _MOST


@pytest.mark.parametrize(
    "unit",
    [
        *("1 ", "1 000 ", "12 345", "1,", "1.", "-", "$ ", "1/", "one ", "two hundred ", "between 1 and ", "5 to "),
        *("1\n", "1.234,5 ", "1 million "),
    ],
)
def test_numbers_are_read_once(unit: str) -> None:
    """What stands around a number is looked for in a few words."""
    assert _slowdown(lambda text: missing(distinct("7 days"), text), unit) < _MOST


@pytest.mark.parametrize("unit", ["A.", "A. ", "many ", "it might be but ", "really ", "actually it is ", "1 000 "])
def test_corrections_are_read_once(unit: str) -> None:
    """A hedge is looked for near the fact, and so is what takes the fact back."""
    assert _slowdown(lambda text: inclusion("Paris", f"maybe Paris, but {text}"), unit) < _MOST
    assert _slowdown(lambda text: inclusion("Paris", f"many {text} Paris, but really"), unit) < _MOST


def _seconds(do: Callable[[], object]) -> float:
    start = process_time()
    do()
    return process_time() - start


def _random_words(count: int, seed: int) -> str:
    rng = Random(seed)  # noqa: S311 - test data
    return " ".join(f"w{rng.randrange(3000)}" for _ in range(count))


@pytest.mark.parametrize("words", [_random_words(15_000, 1), "ab cd " * 16_000, "it is not " * 10_000])
def test_an_expected_answer_as_long_as_the_answer_is_compared_once(words: str) -> None:
    """Nothing is looked for in a text no longer than itself: the two are compared whole."""
    inclusion("warm", "up")
    assert _seconds(lambda: inclusion(f"{words} x", f"z {words}")) < SECONDS


@pytest.mark.parametrize("ending", ["ab ab ab", "ab zbc", "zz zz zz zz"])
def test_a_long_expected_answer_is_looked_for_by_its_ends_in_a_very_long_answer(ending: str) -> None:
    """A thousand characters that nearly agree everywhere are not aligned at each of half a million places."""
    inclusion("warm", "up")
    assert _seconds(lambda: inclusion("ab " * 290 + ending, "ab " * 170_000)) < 2 * SECONDS


@pytest.mark.parametrize("placed", [True, False], ids=["spans", "marks"])
def test_many_citations_are_laid_on_many_sentences_once(placed: bool) -> None:
    """Each finds its sentence without looking at all, and the metrics that ask again get what was made."""
    unit = "Yes it is [1]. "
    marks = [Citation(index=1, start=start, end=start + 3) for start in range(0, 6000 * len(unit), len(unit))]
    response = EvalResponse(
        answer=unit * 6000, chunks=[RetrievedChunk(text="It is.")], citations=marks if placed else []
    )
    statements(Sample(EvalQuestion(question="?"), EvalResponse(answer="Warm up.", citations=[])))
    case = Sample(EvalQuestion(question="?"), response)
    assert _seconds(lambda: [statements(case) for _ in range(12)]) < SECONDS
    assert [one.cited for one in statements(case) or []] == [(1,)] * 6000


@pytest.mark.parametrize(
    "words", [_random_words(15_000, 2), "ab cd " * 16_000, "a " * 50_000], ids=["random", "repeated", "one word"]
)
@pytest.mark.parametrize("frame", ["z {} y", "{}", "z {}", "{} y"])
def test_a_large_chunk_is_laid_on_a_large_gold_once(words: str, frame: str) -> None:
    """Whether the one continues in the other is known after one walk through both."""
    gold = GoldPassage(text=f"{words} {words} q")
    chunk = RetrievedChunk(text=frame.format(words))
    assert _seconds(lambda: match([chunk], [gold], MatchSettings())) < SECONDS


CLAUSE = "burst pipes are covered up to 90 days after it and not later. "


def _laid_on(text: str, gold: str) -> float:
    """The seconds in which two chunks, one of them with a number changed, are compared with two golds."""
    golds = [GoldPassage(text=gold.format(part)) for part in (text[: len(text) // 2], text[:500])]
    chunks = [
        RetrievedChunk(text=f"{text} and on"),
        RetrievedChunk(text=f"so {text[:5000].replace('90', '80')} and on"),
    ]
    return _seconds(lambda: match(chunks, golds, MatchSettings()))


@pytest.mark.parametrize("gold", ["its start is this {}", "{} and this is its end", "{}"])
def test_a_chunk_of_a_megabyte_is_compared_once(gold: str) -> None:
    """A whole book as one chunk, and golds half as long."""
    assert _laid_on(CLAUSE * (1_000_000 // len(CLAUSE)), gold) < 3 * SECONDS


@pytest.mark.parametrize(
    "unit", ["ab ", "a", "保険料", "60 ", "not a b ", "&amp;", "insur- ance ", "a-\n", "\u00ad\n", "Page 7\n", CLAUSE]
)
def test_whatever_a_large_chunk_repeats_it_is_compared_once(unit: str) -> None:
    """In time linear in the lengths."""
    frame = "its start is this {} and on"
    short, long = (_laid_on(unit * (length // len(unit)), frame) for length in (25_000, 100_000))
    assert long < _MOST * max(short, 0.02)


@pytest.mark.parametrize("unit", [CLAUSE, "ab ", "a- ", "60 "])
def test_four_times_as_large_a_chunk_takes_four_times_as_long(unit: str) -> None:
    """And not sixteen times."""

    def compare(text: str) -> object:
        return match([RetrievedChunk(text=f"so {text}")], [GoldPassage(text=f"{text} and on")], MatchSettings())

    assert _slowdown(compare, unit) < _MOST


@pytest.mark.parametrize("marks", ["\u0315\u0300", "\u0301\uff9e"])
def test_a_run_of_combining_marks_is_put_into_order_once(marks: str) -> None:
    """Unicode's normalisation sorts the marks of a letter, and there is no letter with 100,000."""
    assert _seconds(lambda: fold("a" + marks * 50_000)) < SECONDS
