"""Metrics of answers without a reference: numbers and quotations that no chunk holds, and the share that declines."""

from typing import Any

import pytest
from metrics.records import lack, score

from evals.schemas import MetricResult, RetrievedChunk

DECLINES = "I could not find this in the documents."


def measure(name: str, answer: str | None, *texts: str | None, **fields: Any) -> MetricResult:
    """The metric of an answer to chunks of these texts; a text of None is a chunk with an id alone."""
    chunks = [RetrievedChunk(chunk_id=f"c{n}", text=text) for n, text in enumerate(texts)]
    return score(name, answer, **({"question": "How?", "chunks": chunks} | fields))


@pytest.mark.parametrize(
    ("answer", "text", "value", "unsupported"),
    [
        ("It is 35 euros [1].", "The fee is 35 EUR.", 0.0, []),
        ("It is 35 euros or 40.", "The fee is 35 EUR.", 0.5, ["40"]),
        ("It is 1,000.", "A sum of 1000 is due.", 0.0, []),
        ("It is 5%.", "The rate is 5.", 1.0, ["5%"]),
        ("After 3 months.", "Notice is three months.", 0.0, []),
        ("1. Write a letter.\n2. Wait 4 weeks.", "Wait 4 weeks after the letter.", 0.0, []),
        ("On 2024-01-05.", "Signed on 2024-01-06.", 1.0, ["2024-01-05"]),
        ("Es kostet 2.000 Euro, wie es der Vertrag sagt.", "Der Preis ist 2000 Euro.", 0.0, []),
        ("It is 7 and 8.", "Seven of them.", 0.5, ["8"]),
    ],
)
def test_numbers_that_no_chunk_holds_are_counted(answer: str, text: str, value: float, unsupported: list[str]) -> None:
    """By value; marks of citations and numbers of list items are none."""
    result = measure("unsupported_numbers", answer, text)
    assert (result.value, result.details["unsupported"]) == (value, unsupported)


def test_a_number_of_the_question_needs_no_chunk() -> None:
    """The answer repeats it; of any other, nothing retrieved holds nothing."""
    asked = {"question": "Is there room for 12?"}
    assert measure("unsupported_numbers", "For 12 people, yes.", "Yes.", **asked).value == 0.0
    assert measure("unsupported_numbers", "It is 7.").value == 1.0


@pytest.mark.parametrize(
    ("answer", "text", "value"),
    [
        ('It says "notice is three months long".', "Notice is three months long.", 0.0),
        ("It says “notice is three years long”.", "Notice is three months long.", 1.0),
        ("Es heißt „die Frist beträgt drei Monate“.", "Die Frist beträgt drei Monate.", 0.0),
        ('Both "notice is three months long" and "rent is due in advance".', "Notice is three months long.", 0.5),
        ('Both "notice is three months long" and "notice is three months long".', "Other text, long enough.", 1.0),
    ],
)
def test_quotations_that_no_chunk_holds_are_counted(answer: str, text: str, value: float) -> None:
    """Word by word, in every kind of quotation mark; each once."""
    assert measure("unsupported_quotations", answer, text).value == value


@pytest.mark.parametrize(
    ("name", "answer", "texts", "reason"),
    [
        ("unsupported_numbers", "It is long.", ["96 hours"], "the answer holds no numbers"),
        ("unsupported_numbers", DECLINES, ["96 hours"], "the answer abstains"),
        ("unsupported_numbers", "96 hours", ["96 hours", None], "some chunks carry no text"),
        ("unsupported_quotations", 'It is called a "model".', ["Some text."], "the answer holds no quotations"),
        ("unsupported_quotations", DECLINES, ["text"], "the answer abstains"),
        ("declined_rate", None, ["text"], "this server only retrieves"),
    ],
)
def test_where_there_is_nothing_to_measure_there_is_no_value(
    name: str, answer: str | None, texts: list[str | None], reason: str
) -> None:
    """A chunk without its text may hold what is looked for."""
    assert lack(measure(name, answer, *texts)) == (None, "not_applicable", reason)
