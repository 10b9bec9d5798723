"""Which answers decline: by a linear model of their words, whose errors are counted on labelled answers."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics.abstention import UNCERTAIN
from evals.metrics.sample import Sample
from evals.schemas import EvalQuestion, EvalResponse
from evals.text.refusals import gives_expected, reading, unwrapped

HOME = Path(__file__).resolve().parents[3]
LABELS = Path(__file__).parent


def rows_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def is_wrong(row: dict[str, Any]) -> bool:
    question = EvalQuestion(question=row["question"] or "?", expected_answer=row.get("expected") or None)
    declines = reading(row["answer"], row["question"] or "").declines and not gives_expected(row["answer"], question)
    return declines is not row["abstained"]


@pytest.mark.parametrize("phrase", [*UNCERTAIN, "I don't have enough information", "", " \n", "...", "**", "[1]"])
@pytest.mark.parametrize("form", ["{}", "{}.", "**{}**", "({})"])
def test_a_phrase_of_uncertainty_as_a_whole_answer_declines(phrase: str, form: str) -> None:
    for text in (phrase, phrase.replace("'", "’"), phrase.upper()):
        found = reading(form.format(text), "Who built the tower?")
        assert (found.declines, found.doubtful) == (True, False)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is in the abbey?", "The tomb of the unknown soldier."),
        ("How many were hurt?", "Nobody was hurt."),
        ("Who wrote it?", "Ana Ruiz"),
        ("Who painted it?", "Henrik Vos"),
        ("Where is it?", "Leeds"),
        ("How many bridges are there?", "42"),
        ("When was it built?", "In 1240"),
        ("Which option is right, A or B?", "A"),
        ("Which option is right, A or B?", "(A)."),
        ("How long is the warranty?", "three weeks"),
        ("How long is the warranty?", "Three years."),
        ("How often is it cleaned?", "every three weeks"),
        ("How long does it take?", "about four minutes"),
        ("What did most people reply?", 'The most frequent reply was "I don\'t know".'),
        ("Is the lamp lit?", "No, there is no lamp."),
    ],
)
def test_a_bare_value_and_a_negative_fact_answer(question: str, answer: str) -> None:
    assert not reading(answer, question).declines


@pytest.mark.parametrize(
    ("question", "answer", "declines"),
    [
        ("What is the fee?", "I'm sorry, but the documents do not mention the fee.", True),
        ("What is the fee?", "Based on the provided context, the fee cannot be determined.", True),
        ("What is the fee?", "The fee is 35 euros [1].", False),
        ("Wie hoch ist die Gebühr?", "Das geht aus den Dokumenten nicht hervor.", True),
        ("Wie hoch ist die Gebühr?", "Die Gebühr beträgt 35 Euro.", False),
        ("Quels sont les frais ?", "Je ne sais pas, les documents n'en parlent pas.", True),
        ("Quels sont les frais ?", "Les frais s'élèvent à 35 euros.", False),
        ("¿Cuál es la tarifa?", "Los documentos no mencionan la tarifa.", True),
        ("¿Cuál es la tarifa?", "La tarifa es de 35 euros.", False),
        ("Qual è la tariffa?", "I documenti non riportano la tariffa.", True),
        ("Qual è la tariffa?", "La tariffa è di 35 euro.", False),
        ("Qual é a taxa?", "Não há informações sobre a taxa nos documentos.", True),
        ("Qual é a taxa?", "A taxa é de 35 euros.", False),
    ],
)
def test_six_languages_are_read(question: str, answer: str, *, declines: bool) -> None:
    assert reading(answer, question).declines is declines


@pytest.mark.parametrize(
    ("name", "split", "most"),
    [
        ("answers", "learnt", 55),
        ("answers", "cases", 8),
        ("answers", "held_out", 12),
        ("more", None, 150),
        ("shapes", "before", 12),
        ("shapes", "after", 6),
    ],
)
def test_errors_on_labelled_answers_stay_within_their_bound(name: str, split: str | None, most: int) -> None:
    """The held_out answers are in no fit; the others are, so that their errors say that weights and words agree."""
    rows = [row for row in rows_of(LABELS / f"{name}.jsonl") if row.get("split") == split]
    assert len(rows) > 50
    wrong = [row["id"] for row in rows if is_wrong(row)]
    assert len(wrong) <= most, wrong


@pytest.mark.real_rows
def test_errors_on_fresh_answers_stay_within_their_bound() -> None:
    if "EVALS_REAL_DATA" not in os.environ:
        pytest.skip("EVALS_REAL_DATA names no folder")
    rows = rows_of(Path(os.environ["EVALS_REAL_DATA"]) / "refusals" / "fresh.jsonl")
    assert sum(map(is_wrong, rows)) <= 2


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('{"answer": "No.", "text": "x"}', "No."),
        ('```json\n{"response": "No."}\n```', "No."),
        ('{"result": null}', ""),
        ('{"answer": 42}', '{"answer": 42}'),
        ('{"name": "No."}', '{"name": "No."}'),
        ('{"answer": "cut off', '{"answer": "cut off'),
        ('["answer"]', '["answer"]'),
        ("{" * 5000, "{" * 5000),
    ],
)
def test_a_json_object_is_read_by_its_answer(written: str, text: str) -> None:
    assert unwrapped(written) == text


def test_the_data_of_the_model_stay_small() -> None:
    data = HOME / "evals" / "data"
    assert (data / "refusals.npz").stat().st_size <= 150_000
    words = (data / "refusal_words.toml").read_text(encoding="utf-8")
    assert len(words.encode()) <= 70_000
    assert max(map(len, words.splitlines())) <= 160


@settings(derandomize=True, max_examples=100)
@given(answer=st.text(max_size=200), question=st.text(max_size=60))
def test_any_text_can_be_read(answer: str, question: str) -> None:
    assert -9 <= reading(answer, question).score <= 9


def test_the_reading_does_not_depend_on_the_order_of_sets() -> None:
    code = "from evals.text.refusals import reading; print(reading('It is 3 m high; no date is given.', 'When?').score)"
    scores = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=HOME,
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(scores) == 1


@pytest.mark.parametrize("piece", ["no ", "„", "“", "[1", "'x", "\t\t\n", "—  ", "I do not know. "])
def test_a_megabyte_is_read_in_bounded_time(piece: str) -> None:
    start = time.process_time()
    reading(piece * (1_000_000 // len(piece)), "Who?")
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("answer", "expected", "gives"),
    [
        ("I could not find it, but Paris is mentioned.", "Paris", True),
        ("The documents do not say it.", "it", False),
        ("No, I do not know.", "No", False),
        ("Nein, das weiß ich nicht.", "nein", False),
        ("I found 3 documents, and none says it.", "3", False),
        ("I found 31 documents, and none says it.", "31", True),
        ("None of the three documents says it.", "three", False),
        ("I know nothing about the capital of France.", "the capital of France", False),
        ("I know nothing about Parisians.", "Paris", False),
        ("", "Paris", False),
    ],
)
def test_an_expected_answer_counts_where_a_refusal_would_not_hold_it(
    answer: str, expected: str, *, gives: bool
) -> None:
    question = EvalQuestion(question="What is the capital of France?", expected_answer=expected)
    assert gives_expected(answer, question) is gives


@pytest.mark.parametrize(("is_unanswerable", "abstains"), [(True, True), (False, False), (None, False)])
def test_an_answer_that_holds_the_expected_one_declines_nothing(
    is_unanswerable: bool | None, *, abstains: bool
) -> None:
    question = EvalQuestion(question="Who built it?", expected_answer="Kings", is_unanswerable=is_unanswerable)
    answer = EvalResponse(answer="I don't know for sure whether the Kings built it.")
    assert Sample(question, answer).abstained is abstains


def test_a_finding_that_reads_like_a_refusal_is_an_answer_where_it_is_expected() -> None:
    expected = "No information on material weaknesses was found in the audit."
    question = EvalQuestion(question="What did the audit find?", expected_answer=expected, is_unanswerable=False)
    answer = EvalResponse(answer="In the audit, no information on material weaknesses was found.")
    assert not Sample(question, answer).abstained


def test_nearly_the_words_of_a_statement_do_not_count() -> None:
    """A refusal that repeats a question shares most words with what answers it."""
    question = EvalQuestion(question="What does Pro cost a month?", expected_answer="Pro costs 9 euros a month.")
    assert Sample(question, EvalResponse(answer="What Pro costs a month is not specified.")).abstained
