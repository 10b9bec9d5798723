"""Exact match and F1 of SQuAD v2, compared with a second derivation of the official script's rules."""

import string
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics.records import lack, score

from evals.metrics import squad
from evals.text.tokens import normalised


@pytest.mark.parametrize(
    ("answer", "question", "exact", "f1"),
    [
        ("The cat.", {"expected_answer": "cat"}, 1, 1),
        ("a black cat", {"expected_answer": "cat", "answers": ["black dog cat"]}, 0, 0.8),
        ("cat cat", {"expected_answer": "cat"}, 0, 2 / 3),
        ("dog", {"expected_answer": "cat"}, 0, 0),
        ("", {"expected_answer": "cat", "answers": ["the"]}, 0, 0),
        ("", {"expected_answer": "the", "answers": ["..."]}, 1, 1),
        ("cat", {"expected_answer": "the"}, 0, 0),
        ("Felix", {"expected_answer": "cat", "answers": ["Felix the cat", "Felix"]}, 1, 1),
        ("I don't know.", {"expected_answer": "cat"}, 0, 0),
        ("I don't know the cat.", {"expected_answer": "cat", "is_unanswerable": False}, 0, 0.4),
        ("Unknown", {"expected_answer": "unknown process", "is_unanswerable": False}, 0, 2 / 3),
        ("I don't know.", {"is_unanswerable": True}, 1, 1),
        ("I could not find it in the documents.", {"is_unanswerable": True}, 1, 1),
        *[(nothing, {"is_unanswerable": True}, 1, 1) for nothing in ("", "the", "NoAnswer")],
        ("a cat", {"is_unanswerable": True}, 0, 0),
        ("Nobody", {"is_unanswerable": True, "expected_answer": "Nobody"}, 0, 0),
    ],
)
def test_an_abstention_from_a_question_without_an_answer_is_the_empty_answer(
    answer: str, question: dict[str, Any], exact: float, f1: float
) -> None:
    """It is right there; on any other question the best gold that says something counts, by the answer's words."""
    has_answer = not question.get("is_unanswerable") and question["expected_answer"] != "the"
    for name, value in (("squad_em", exact), ("squad_f1", f1)):
        result = score(name, answer, **question)
        assert result.value == pytest.approx(value)
        assert result.details == {"has_answer": has_answer}


@pytest.mark.parametrize("name", ["squad_em", "squad_f1"])
@pytest.mark.parametrize(
    ("answer", "question", "reason"),
    [
        ("a cat", {}, "the question has no expected answer"),
        (None, {"expected_answer": "cat"}, "the server sent no answer"),
        (None, {"is_unanswerable": True}, "the server sent no answer"),
    ],
)
def test_without_gold_or_answer_there_is_no_value(
    name: str, answer: str | None, question: dict[str, Any], reason: str
) -> None:
    """An answer that was not sent is not an empty one."""
    assert lack(score(name, answer, **question)) == (None, "not_applicable", reason)


def rederived(prediction: str, golds: list[str]) -> tuple[float, float]:
    """The same rules, written another way: words by hand, tokens crossed off one by one."""

    def words(text: str) -> list[str]:
        kept = "".join(char for char in text.lower() if char not in string.punctuation)
        spaced, word = "", ""
        for char in f"{kept} ":
            if char.isalnum() or char == "_":
                word += char
                continue
            spaced += (" " if word in {"a", "an", "the"} else word) + char
            word = ""
        return spaced.split()

    wanted = [words(gold) for gold in golds if words(gold)] or [[]]
    given = words(prediction)
    exact = any(gold == given for gold in wanted)
    scores = []
    for gold in wanted:
        left = list(gold)
        shared = sum(1 for word in given if word in left and not left.remove(word))  # type: ignore[func-returns-value]
        both = len(given) + len(gold)
        scores.append(2 * shared / both if given and gold else float(given == gold))
    return float(exact), max(scores)


WORDS = st.lists(
    st.sampled_from(["a", "An", "THE", "cat", "Cat", "the.", "’", "“the”", "ÀB", "ß", "5%", "-", "", "_a", "ا"])
)
TEXTS = st.one_of(WORDS.map(" ".join), WORDS.map("".join), st.text(max_size=15))


@pytest.mark.slow
@settings(derandomize=True, max_examples=500)
@given(prediction=TEXTS, golds=st.lists(TEXTS, max_size=3))
def test_any_texts_give_what_the_rules_give_when_derived_again(prediction: str, golds: list[str]) -> None:
    """Whatever the script, exact match and F1 agree with the second derivation."""
    exact, f1 = rederived(prediction, golds)
    assert squad.best(squad.exact, prediction, golds) == exact
    assert squad.best(squad.f1, prediction, golds) == pytest.approx(f1)
    assert squad.best(squad.exact, prediction, golds) <= squad.best(squad.f1, prediction, golds) <= 1


def rederived_for_hotpotqa(prediction: str, gold: str) -> float:
    """HotpotQA's rules for one gold, step by step as its script takes them."""
    given, wanted = normalised(prediction), normalised(gold)
    if given != wanted and {given, wanted} & {"yes", "no", "noanswer"}:
        return 0.0
    shared = sum((Counter(given.split()) & Counter(wanted.split())).values())
    if shared == 0:
        return 0.0
    precision, recall = shared / len(given.split()), shared / len(wanted.split())
    return 2 * precision * recall / (precision + recall)


CLOSED = st.lists(st.sampled_from(["yes", "no", "Yes,", "noanswer", "cat", "the", "he", "was", ""]), max_size=4)


@settings(derandomize=True, max_examples=300)
@given(prediction=CLOSED.map(" ".join), gold=CLOSED.map(" ".join))
def test_rows_of_hotpotqa_are_compared_as_its_own_script_does(prediction: str, gold: str) -> None:
    """Yes and no must be met exactly, and nothing is worth nothing; other datasets keep SQuAD's rules."""
    assert squad.best(squad.hotpot_f1, prediction, [gold]) == pytest.approx(rederived_for_hotpotqa(prediction, gold))
