"""Numbers of texts, by value."""

import json
import os
from pathlib import Path

import pytest

from evals.metrics.answer import NumberMatch
from evals.schemas import EvalQuestion, EvalResponse
from evals.text.numbers import agree, counted, language_of, number_or_none, numbers, share


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,250 and 1250.00 and 1.250,00", {"1250"}),
        ("2.061 = 2.0610", {"2.061"}),
        ("0,305 and .5 and 3,5", {"0.305", "0.5", "3.5"}),
        ("1.200.000", {"1200000"}),
        ("1,2,3", {"1", "2", "3"}),
        ("2.000", {"2000"}),
        ("1’000 and 1\u202f000", {"1000"}),
        ("5% of 5, 5 percent, 5 per cent", {"5%", "5"}),
        ("-5, −5.5 %, minus 6, x=-7", {"-5", "-5.5%", "-6", "-7"}),
        ("C-1, 2018-2026, pages 3-5", {"1", "2018", "2026", "3", "5"}),
        ("(1,234) and (1998) and ($5)", {"-1234", "1998", "-5"}),
        ("(5)", {"-5"}),
        ("$1.5 million, €2bn, 10k, 7B, $5m, 42 m", {"1500000", "2000000000", "10000", "7000000000", "5000000", "42"}),
        ("5 lakh, 2 crore", {"500000", "20000000"}),
        ("3万円 and 1億人 and 5亿元", {"30000", "100000000", "500000000"}),
        ("2024-01-05, 3.10.2, 10:30, 1/2", {"2024-01-05", "3.10.2", "10", "30", "1", "2"}),
        ("$96$ hours, $42\\text{ kg}$, $1{,}500$, \\(7\\)", {"96", "42", "1500", "7"}),
        ("B2B and H2O", set()),
        ("twenty-one, three and five, two million", {"21", "3", "5", "2000000"}),
        ("between twenty and thirty", {"20", "30"}),
        ("In 2020[1], it rose.", {"2020", "1"}),
        ("٢٤٠", {"240"}),
        ("9" * 30, {"9" * 30}),
        ("no number", set()),
    ],
)
def test_numbers_are_read_by_value(text: str, found: set[str]) -> None:
    """As in English, where nothing says another language."""
    assert numbers(text) == found


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("2.000 und 2 000 und 3,5", "de", {"2000", "3.5"}),
        ("1.234,56", "fr", {"1234.56"}),
        ("1,234.56", "de", {"1234.56"}),
        ("2.5 Mio.", "de", {"2500000"}),
        ("2 000", "en", {"2", "0"}),
        ("drei und fünf", "de", {"3", "5"}),
        ("dos millones", "es", {"2000000"}),
        ("neuf et dix-neuf", "fr", {"9", "19"}),
        ("1,500", "ja", {"1500"}),
    ],
)
def test_digits_and_words_are_read_by_the_language(text: str, language: str, found: set[str]) -> None:
    """Comma groups in English and Japanese, and parts decimals in German."""
    assert numbers(text, language) == found


@pytest.mark.parametrize(
    ("text", "language"),
    [("How many?", "en"), ("Wie viele?", "de"), ("¿Cuánto?", "es"), ("人口は?", ""), ("Rate?", "")],
)
def test_a_language_is_told_by_its_function_words(text: str, language: str) -> None:
    """English wins where as many words are of both."""
    assert language_of(text) == language


def test_number_words_count_where_they_are_wanted() -> None:
    """No answer must repeat the number in "one of the parties"."""
    assert numbers("one of the parties", words=False) == frozenset()


@pytest.mark.real_rows
def test_the_cases_of_real_inputs_hold() -> None:
    """Each row is an answer with the value that a person gives."""
    folder = os.environ.get("EVALS_REAL_DATA")
    if not folder:
        pytest.skip("EVALS_REAL_DATA names no folder")
    rows = [json.loads(line) for line in (Path(folder) / "cases/numbers.jsonl").read_text("utf-8").splitlines()]
    for row in rows:
        wanted = row.pop("number_match")
        answer = row.pop("answer")
        assert NumberMatch().compute(EvalQuestion(id="q", **row), EvalResponse(answer=answer)).value == wanted, row


@pytest.mark.parametrize(
    ("value", "number"),
    [("0.5", 0.5), (3, 3.0), (True, None), ("x", None), (1e13, None), (float("nan"), None), (None, None)],
)
def test_what_a_server_gives_as_a_number(value: object, number: float | None) -> None:
    """What is no number, or beyond what is plausible, is none."""
    assert number_or_none(value) == number


def test_counts_stand_with_their_nouns_and_verbs() -> None:
    """As English wants them."""
    assert counted(1, "question") == "1 question"
    assert counted(2, "question", "was") == "2 questions were"
    assert share(1, 12, "question", "has") == "1 of 12 questions has"
    assert share(2, 12, "question", "needs") == "2 of 12 questions need"
    assert agree(1, "is", "are") == "is"
