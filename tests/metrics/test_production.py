"""Metrics of answers without a reference: numbers and quotations that no chunk holds, and the share that declines."""

from collections.abc import Sequence

import pytest

from evals.metrics import DeclinedRate, UnsupportedNumbers, UnsupportedQuotations
from evals.metrics.base import BaseMetric
from evals.schemas import EvalQuestion, EvalResponse, MetricResult, RetrievedChunk

DECLINES = "I could not find this in the documents."


def measure(
    metric: BaseMetric, answer: str | None, texts: Sequence[str | None] | None, question: str = "How?"
) -> MetricResult:
    """The metric of an answer to chunks of these texts; a text of None is a chunk with an id alone."""
    chunks = None if texts is None else [RetrievedChunk(chunk_id=f"c{n}", text=text) for n, text in enumerate(texts)]
    return metric.compute(EvalQuestion(id="q", question=question), EvalResponse(answer=answer, chunks=chunks))


@pytest.mark.parametrize(
    ("answer", "texts", "value", "unsupported"),
    [
        ("It is 35 euros [1].", ["The fee is 35 EUR."], 0.0, []),
        ("It is 35 euros or 40.", ["The fee is 35 EUR."], 0.5, ["40"]),
        ("It is 1,000.", ["A sum of 1000 is due."], 0.0, []),
        ("It is 5%.", ["The rate is 5."], 1.0, ["5%"]),
        ("After 3 months.", ["Notice is three months."], 0.0, []),
        ("1. Write a letter.\n2. Wait 4 weeks.", ["Wait 4 weeks after the letter."], 0.0, []),
        ("On 2024-01-05.", ["Signed on 2024-01-06."], 1.0, ["2024-01-05"]),
        ("Es kostet 2.000 Euro, wie es der Vertrag sagt.", ["Der Preis ist 2000 Euro."], 0.0, []),
        ("It is 7 and 8.", ["Seven of them."], 0.5, ["8"]),
        ("It is 7.", [], 1.0, ["7"]),
    ],
)
def test_numbers_that_no_chunk_holds_are_counted(
    answer: str, texts: list[str], value: float, unsupported: list[str]
) -> None:
    """By value; marks of citations and numbers of list items are none."""
    result = measure(UnsupportedNumbers(), answer, texts)
    assert (result.value, result.details["unsupported"]) == (value, unsupported)


def test_a_number_of_the_question_needs_no_chunk() -> None:
    """The answer repeats it."""
    assert measure(UnsupportedNumbers(), "For 12 people, yes.", ["Yes."], "Is there room for 12?").value == 0.0


@pytest.mark.parametrize(
    ("answer", "texts", "value"),
    [
        ('It says "notice is three months long".', ["Notice is three months long."], 0.0),
        ("It says “notice is three years long”.", ["Notice is three months long."], 1.0),
        ("Es heißt „die Frist beträgt drei Monate“.", ["Die Frist beträgt drei Monate."], 0.0),
        ('Both "notice is three months long" and "rent is due in advance".', ["Notice is three months long."], 0.5),
        ('Both "notice is three months long" and "notice is three months long".', ["Other text, long enough."], 1.0),
    ],
)
def test_quotations_that_no_chunk_holds_are_counted(answer: str, texts: list[str], value: float) -> None:
    """Word by word, in every kind of quotation mark; each once."""
    assert measure(UnsupportedQuotations(), answer, texts).value == value


@pytest.mark.parametrize(
    ("metric", "answer", "texts", "reason"),
    [
        (UnsupportedNumbers(), "It is long.", ["96 hours"], "the answer holds no numbers"),
        (UnsupportedNumbers(), DECLINES, ["96 hours"], "the answer abstains"),
        (UnsupportedNumbers(), "96 hours", None, "the server sent no chunks"),
        (UnsupportedNumbers(), "96 hours", ["96 hours", None], "some chunks carry no text"),
        (UnsupportedNumbers(), None, ["96 hours"], "this server only retrieves"),
        (
            UnsupportedQuotations(),
            'It is called a "model".',
            ["Some text of a chunk."],
            "the answer holds no quotations",
        ),
        (UnsupportedQuotations(), DECLINES, ["text"], "the answer abstains"),
        (DeclinedRate(), None, ["text"], "this server only retrieves"),
    ],
)
def test_where_there_is_nothing_to_measure_there_is_no_value(
    metric: BaseMetric, answer: str | None, texts: list[str | None] | None, reason: str
) -> None:
    """A chunk without its text may hold what is looked for."""
    result = measure(metric, answer, texts)
    assert (result.value, result.reason) == (None, reason)


@pytest.mark.parametrize(("answer", "value"), [(DECLINES, 1.0), ("It is 35 euros.", 0.0), ("", 1.0)])
def test_an_answer_that_declines_counts_whatever_is_known_of_the_question(answer: str, value: float) -> None:
    """No dataset says whether it can be answered."""
    assert measure(DeclinedRate(), answer, None).value == value
