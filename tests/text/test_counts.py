"""Counts with their nouns and verbs."""

import re
from pathlib import Path

import pytest

from evals.text.numbers import agree, counted, share

PACKAGE = Path(__file__).resolve().parent.parent.parent / "evals"
NOUNS = r"questions|answers(?! \{| with)|documents|decisions|citations|calls|chunks|texts|passages|queries|snippets|ids"
COUNT_BEFORE_NOUN = re.compile(rf"\{{[^{{}}]*\}} (?:common |gold )?(?:{NOUNS})\b[^\n]*")
NEVER_ONE = (
    "cli/views/scorecard.py",  # rows left out where there are more than twelve
    "run/asking.py",  # as many questions as two rounds have
    "judges/throttle.py",  # as many calls as make a silence
    "scoring/notes.py",  # a few at least
    "run/estimate.py",  # no reader sees it
    "run/expected_calls.py",  # constants
    "report/compared.py",  # enough for a verdict: six at least
    "scoring/gates.py",  # those that were asked, and more
    "compare/pareto.py",  # constants
    "compare/paired.py",  # the same
)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (counted(1, "question"), "1 question"),
        (counted(0, "question"), "0 questions"),
        (counted(1, "question", "was"), "1 question was"),
        (counted(2, "question", "was"), "2 questions were"),
        (counted(1, "answer", "needs"), "1 answer needs"),
        (counted(2, "answer", "needs"), "2 answers need"),
        (share(1, 1, "question"), "1 of 1 question"),
        (share(1, 12, "question", "has"), "1 of 12 questions has"),
        (share(2, 12, "question", "has"), "2 of 12 questions have"),
        (agree(1, "it", "them"), "it"),
        (agree(1.5, "it", "them"), "them"),
    ],
)
def test_nouns_and_verbs_go_with_their_count(said: str, expected: str) -> None:
    """One has the singular, none and more the plural; a verb goes with the part, a noun with the whole."""
    assert said == expected


def test_no_text_puts_a_plural_behind_a_count_that_may_be_one() -> None:
    """No "1 questions": what counts says it by these functions."""
    found = [
        (path.relative_to(PACKAGE).as_posix(), match[0])
        for path in sorted(PACKAGE.rglob("*.py"))
        for match in COUNT_BEFORE_NOUN.finditer(path.read_text(encoding="utf-8"))
        if not path.relative_to(PACKAGE).as_posix().startswith("reference_server/")
    ]
    assert [place for place in found if not place[0].endswith(NEVER_ONE)] == []
