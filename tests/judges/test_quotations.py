"""Quotations of real passages: faithful ones in the ways that judges write them, and altered ones."""

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from evals.judges.quotes import is_evidence, is_quoted

CORPUS = files("evals") / "data" / "golden_corpus"
HERE = Path(__file__).parent


def section(name: str) -> str:
    """A section of the golden corpus, by its document and number."""
    document, _, number = name.partition("#")
    text = (CORPUS / document).read_text(encoding="utf-8")
    return [part.strip() for part in re.split(r"(?m)^(?=#)", text) if len(part.split()) > 12][int(number)]


def rows(file: str) -> Iterator[tuple[str, bool, str, str]]:
    """Kind, whether it is to be found, quotation, and text or the name of one."""
    for line in (HERE / file).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row["kind"], row["found"], row["quote"], row["text"]


BY_RULE, BY_HAND = list(rows("quotations_by_rule.jsonl")), list(rows("quotations_by_hand.jsonl"))
KINDS = sorted({kind for kind, *_ in BY_RULE})


@pytest.mark.parametrize("kind", KINDS)
def test_quotations_of_the_golden_corpus_are_told_from_altered_ones(kind: str) -> None:
    """Made by a rule for each kind: none of the faithful is lost, none of the altered is taken for one."""
    wrong = [
        (quote, text)
        for this, found, quote, text in BY_RULE
        if this == kind and is_quoted(quote, [section(text)]) is not found
    ]
    assert wrong == []


@pytest.mark.parametrize(("kind", "found", "quote", "text"), BY_HAND)
def test_a_quotation_made_by_hand(kind: str, found: bool, quote: str, text: str) -> None:
    """The traps beside what they look like."""
    assert is_quoted(quote, [text]) is found, kind


def test_pieces_of_a_joined_quotation_may_stand_in_several_texts() -> None:
    """Each stands in one of those that may be quoted."""
    one, other = "Members may appeal in writing within 14 days.", "The board meets on the first of May."
    assert is_quoted("Members may appeal in writing; The board meets on the first of May", [one, other])
    assert not is_quoted("Members may appeal in writing; The board meets on the first of May", [one])


@pytest.mark.parametrize(
    ("quote", "text", "enough"),
    [
        ("14 days", "Members may appeal within 14 days.", False),
        ("within 14 days", "Members may appeal within 14 days.", False),
        ("appeal within 14 days", "Members may appeal within 14 days.", True),
        ("unconstitutional", "It was found to be unconstitutional.", True),
        ("14 days", "14 days.", True),
        ("14 days", "In 14 days.", True),
        ("巴黎首都", "法国的首都巴黎是大城市", True),
    ],
)
def test_what_proves_something_has_four_words_or_fifteen_characters(quote: str, text: str, enough: bool) -> None:
    """Two words stand nearly everywhere; of a text that has no more, they may be all."""
    assert is_evidence(quote, [text]) is enough


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["#" * 50_000, "\n" * 50_000, "| " * 50_000, "(" * 50_000, "the " * 30_000, "1," * 50_000, "[x] " * 30_000],
)
def test_a_strange_text_takes_no_time(text: str) -> None:
    """Nothing is searched in a time that grows by the square; the suite's own limit of time would end it."""
    assert not is_quoted("Members may appeal; in writing and within 14 days", [text])
    assert not is_quoted(text + " resign", ["Members may appeal in writing within 14 days."])
