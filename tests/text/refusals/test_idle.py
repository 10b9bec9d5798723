"""A look at the words alone gives what reading the whole answer gives."""

import json
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.text.refusals import detector
from evals.text.refusals.evidence import HINTS, WITHOUT_APOSTROPHE
from evals.text.refusals.evidence import is_idle as is_idle_word
from evals.text.refusals.roles import every_lexicon

LABELLED = Path(__file__).with_name("answers.jsonl")
PLAIN = [
    "Paris",
    "in",
    "1973",
    "the",
    "price",
    "of",
    "oil",
    "rose",
    "dont",
    "cannot",
    "n/a",
    "12%",
    "a.",
    "(b)",
    "and,",
]
QUESTIONS = ["", "How many are there?", "Is it so?", "What does error 4 mean?"]


def words_of_lexicons() -> list[str]:
    """Words that can decline, hint at it, or play any other part, in all languages."""
    return sorted({word for one in every_lexicon() for word in [*one._exact, *one._begins, *one.function, *one.hints]})


def is_idle(answer: str, question: str = "") -> bool:
    """Whether it is decided at a glance, or early, that an answer does not decline."""
    return detector._is_simple_and_idle(answer) or detector.read_answer(answer, question) is False


@settings(derandomize=True, deadline=None)
@given(st.one_of(st.sampled_from(words_of_lexicons()), st.text("abcdefghijklmnopqrstuvwxyz1", min_size=1, max_size=12)))
def test_a_word_is_idle_only_where_every_lexicon_says_so(word: str) -> None:
    """The lists of all languages together say what each lexicon says of the word."""
    told = [one.may_decline({word}) or bool(one.shown([word]) & HINTS) for one in every_lexicon()]
    assert is_idle_word(word) == (not any(told)) or word in {"cannot", *WITHOUT_APOSTROPHE}


def read_whole(answer: str, question: str) -> object:
    """What reading it gives, where nothing is decided at a glance."""
    with patch.object(detector, "is_idle", return_value=False):
        return detector.read_answer(answer, question)


@settings(derandomize=True, deadline=None)
@given(st.lists(st.sampled_from([*PLAIN, *words_of_lexicons()]), min_size=1, max_size=6), st.sampled_from(QUESTIONS))
def test_an_answer_of_idle_words_declines_nothing_by_any_rule(words: Sequence[str], question: str) -> None:
    """What is decided at a glance is what all rules come to."""
    answer = " ".join(words)
    if is_idle(answer, question):
        assert read_whole(answer, question) is False


def test_labelled_answers_and_parts_of_them_are_decided_alike() -> None:
    """Real sentences, whole and cut: a glance never calls an answer what reading calls declining."""
    answers = [json.loads(line)["answer"] for line in LABELLED.read_text(encoding="utf-8").splitlines()]
    cut = [part for answer in answers for part in answer.replace("'", "").split(".")]
    idle = [answer for answer in [*answers, *cut][::8] if is_idle(answer)]
    assert len(idle) > 50
    assert [answer for answer in idle if read_whole(answer, "") is not False] == []


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "n/a",
        "No answer",
        "unknown",
        "dont know",
        "I cannot say",
        "Is it Paris?",
        "niet gevonden",
        "“Paris”",
        "[42]",
    ],
)
def test_what_may_decline_is_read(answer: str) -> None:
    """Bare words, words that decline in any language, questions and quotes are not decided at a glance."""
    assert not detector._is_simple_and_idle(answer)


@pytest.mark.parametrize("answer", ["Paris", "12%", "October 1973", "the Normans, in Normandy"])
def test_a_short_fact_is_not_read(answer: str) -> None:
    """Most answers of reading comprehension are a few words, none of which can decline."""
    assert detector._is_simple_and_idle(answer)
    assert not detector.is_abstention(answer)
