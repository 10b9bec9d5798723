"""Expected answers that are none: marks that there is no answer, and answers of a model that declined."""

import re
from collections import Counter
from collections.abc import Collection
from typing import Any

from evals.case.abstention.clear import is_clear_refusal
from evals.case.abstention.detector import is_abstention
from evals.errors import DatasetError
from evals.inputs.cells import is_nothing

_MARK = re.compile(r"\W*(?:no[ _-]?answer(?:[ _-]present)?|unanswerable)\W*", re.IGNORECASE)
"""How datasets say that there is no answer: MS MARCO, RAGBench, Qasper."""
_PROSE = 3
"""Words from which an answer that declines is a sentence: "none" and "unknown" may be what is asked for."""

DECLINED = "expected answer that declines to answer"
_DISAGREE = "answerability: the expected answers disagree"
_PASSAGES = "gold passage of a question without an answer"


def is_mark(reference: str) -> bool:
    """Whether it says that the question has no answer: "No Answer Present.", "NoAnswer", "unanswerable"."""
    return _MARK.fullmatch(reference.strip()) is not None


def declines(reference: str, question: str) -> bool:
    """Whether the expected answer is a refusal in prose: a model wrote it, and no right answer could be told by it."""
    return len(reference.split()) >= _PROSE and is_abstention(reference, question)


def _is_refusal(reference: str, question: str) -> bool:
    """Whether an expected answer of a user is clearly a refusal; a finding ("no defects were found") is none."""
    return len(reference.split()) >= _PROSE and is_clear_refusal(reference, question)


def _is_answerable(references: Collection[str], question: str, golds: Any, gold_answers: bool) -> bool:
    """Whether there is a reference or a gold that answers, and no reference may decline, however short it is."""
    known = references or (gold_answers and golds)
    return bool(known) and not any(is_mark(text) or is_abstention(text, question) for text in references)


def settle(data: dict[str, Any], where: str, dropped: Counter[str], *, gold_is_said: bool, gold_answers: bool) -> None:
    """Take what is no expected answer out of the fields of a question, and note what it says of answerability.

    A question with an expected answer or gold is answerable where the file does not say it, unless one of its
    references declines.

    Args:
        data: The fields; `expected_answer` may be a list. Changed in place.
        where: The row, for messages.
        dropped: Counts what is left out, by reason.
        gold_is_said: Whether the file calls its passages gold; a context may go with any question, and is none of one
            that it does not answer.
        gold_answers: Whether a gold passage shows that the question has an answer.

    Raises:
        DatasetError: The expected answer says that there is none, and is_unanswerable that there is one.
    """
    said = data.get("is_unanswerable")
    expected, answers = _texts(data.get("expected_answer")), _texts(data.get("answers"))
    if not all(isinstance(text, str) for text in (*expected, *answers)):
        return  # which the check of the types will tell
    given, asked = {*expected, *answers}, str(data.get("question", ""))
    marks = {text for text in given if is_mark(text)}
    if marks and said is False:
        raise DatasetError(
            f"{where}: the expected answer is {min(marks)!r}, and is_unanswerable is false", "one of the two is wrong"
        )
    if marks and marks < given:
        dropped[_DISAGREE] += 1
    elif marks and said is None:
        data["is_unanswerable"] = said = True
        gold_is_said = False
    if said and not gold_is_said and (passages := data.pop("gold_passages", None)):
        dropped[_PASSAGES] += len(passages)
    out = set(marks)
    if said is None:
        out |= {text for text in given if _is_refusal(text, asked)}
        data["answerable_by_gold"] = _is_answerable(given, asked, data.get("gold_passages"), gold_answers)
    if out - marks:
        dropped[DECLINED] += 1
    _keep(data, [text for text in expected if text not in out], [text for text in answers if text not in out])


def _texts(value: Any) -> list[Any]:
    items = value if isinstance(value, list) else [value]
    return [item for item in items if not is_nothing(item)]


def _keep(data: dict[str, Any], expected: list[str], answers: list[str]) -> None:
    """Put back what is left: the first expected answer, and of several all as accepted variants."""
    variants = list(dict.fromkeys([*(expected if len(expected) > 1 else []), *answers]))
    data.pop("expected_answer", None)
    data.pop("answers", None)
    if expected:
        data["expected_answer"] = expected[0]
    if variants:
        data["answers"] = variants
