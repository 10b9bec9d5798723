"""More metrics of a file, selected by `--metrics ./metrics.py:names_a_section`: docs/own-measures.md."""

import json
import re

from jsonschema import ValidationError, validate  # pip install jsonschema
from rapidfuzz.fuzz import partial_ratio

from evals import metric, missing

SCHEMA = {"type": "object", "required": ["price"], "properties": {"price": {"type": "number"}}}


@metric(labels={"valid": 1, "another form": 0, "no JSON": 0}, needs="answer")
def json_answer(sample):
    """Whether the answer is JSON of the form that the program behind it expects."""
    try:
        validate(json.loads(sample.response.answer), SCHEMA)
    except json.JSONDecodeError:
        return "no JSON"
    except ValidationError:
        return "another form"
    return "valid"


@metric(needs=["answer", "gold"])
def gold_numbers(sample):
    """Share of the numbers of the gold passages that the answer gives."""
    numbers = {number for gold in sample.question.gold_passages for number in re.findall(r"\d+", gold.text or "")}
    if not numbers:
        return missing("the gold passages contain no number")
    return len(numbers & set(re.findall(r"\d+", sample.answer))) / len(numbers)


@metric
def names_a_section(sample):
    """Whether the answer refers to a section, a rule or a form by its number."""
    return bool(re.search(r"(§|\b(?:section|rule|form)) ?\w*-?\d+", sample.response.answer or "", re.IGNORECASE))


@metric(unit="percent", low=0, high=100, higher_is_better=False, needs="answer")
def repeats_question(sample):
    """How much of the question the answer repeats."""
    return partial_ratio(sample.question.question, sample.answer)
