"""More metrics of a file, selected by `--metrics ./metrics.py:names_a_section`: docs/own-measures.md."""

import re

from rapidfuzz.fuzz import partial_ratio

from evals import metric


@metric
def names_a_section(sample):
    """Whether the answer refers to a section, a rule or a form by its number."""
    return bool(re.search(r"(§|\b(?:section|rule|form)) ?\w*-?\d+", sample.response.answer or "", re.IGNORECASE))


@metric(unit="percent", low=0, high=100, higher_is_better=False, needs="answer")
def repeats_question(sample):
    """How much of the question the answer repeats."""
    return partial_ratio(sample.question.question, sample.answer)
