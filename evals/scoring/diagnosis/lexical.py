"""Correctness by words, without a judge: the expected answer is included, or another number is in its place."""

from evals.metrics.answer import language_for
from evals.metrics.qa import inclusion
from evals.schemas.dataset import EvalQuestion
from evals.text.numbers import numbers


def _accepted(question: EvalQuestion) -> list[str]:
    return [text for text in (question.expected_answer or "", *question.answers) if text.strip()]


def is_right(question: EvalQuestion, answer: str) -> bool | None:
    """Whether an accepted answer is included in an answer; None where none is expected."""
    accepted, language = _accepted(question), language_for(question)
    return any(inclusion(text, answer, language).holds for text in accepted) if accepted else None


def states_otherwise(question: EvalQuestion, answer: str) -> bool:
    """Whether an answer has another number than all accepted ones, or denies them."""
    language = language_for(question)
    denied = any(inclusion(text, answer, language).differs == "negation" for text in _accepted(question))
    return denied or has_other_value(question, answer)


def has_other_value(question: EvalQuestion, answer: str) -> bool:
    """Whether an answer has other numbers in the place of those expected."""
    language = language_for(question)
    wanted = [numbers(text, language, words=False) for text in _accepted(question)]
    said = numbers(answer, language) - numbers(question.question, language)
    return bool(wanted) and bool(said) and all(each and not each & said for each in wanted)


def is_evasive(question: EvalQuestion, answer: str) -> bool:
    """Whether a wrong answer states nothing else."""
    return not states_otherwise(question, answer)
