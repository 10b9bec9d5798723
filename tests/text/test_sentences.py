"""Where sentences end, with no data downloaded."""

import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.text.sentences import sentence_spans, sentences

TEXTS = st.text(alphabet=st.sampled_from("aB1 .!?。\n\t-#|)(['\"”*é…\u2028\r"), max_size=60) | st.text(max_size=40)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t ", []),
        ("---", []),
        ("One sentence", ["One sentence"]),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("It costs 3.50 or 1,200.75 euros. Yes.", ["It costs 3.50 or 1,200.75 euros.", "Yes."]),
        ("Dr. Smith v. Jones, e.g. The Times. Done.", ["Dr. Smith v. Jones, e.g. The Times.", "Done."]),
        ("He lives in the U.S. The rest do not.", ["He lives in the U.S.", "The rest do not."]),
        ("The U.S. Army came at 5 p.m. It left.", ["The U.S. Army came at 5 p.m.", "It left."]),
        ("See No. 5 and Fig. 2a. The answer is no. Next.", ["See No. 5 and Fig. 2a.", "The answer is no.", "Next."]),
        ("It was 2019. The year after.", ["It was 2019.", "The year after."]),
        ("J. S. Bach wrote it. Plan B. The end.", ["J. S. Bach wrote it.", "Plan B.", "The end."]),
        ('He said "Stop." Then (so.) he left.', ['He said "Stop."', "Then (so.)", "he left."]),
        ("Covered [1]. Not so. [2, 3] End.[4] Ok", ["Covered [1].", "Not so. [2, 3]", "End.[4]", "Ok"]),
        ("Wait... what? Really?! Yes.", ["Wait... what?", "Really?!", "Yes."]),
        ("一つです。[1]二つです。[2, 3]", ["一つです。[1]", "二つです。[2, 3]"]),
        ("一つです。もう一つ！「はい。」終わり", ["一つです。", "もう一つ！", "「はい。」", "終わり"]),
        ("wrapped\nline. Next", ["wrapped\nline.", "Next"]),
        ("First paragraph\n\nsecond one", ["First paragraph", "second one"]),
        ("First\r\n\r\nsecond", ["First", "second"]),
        ("Title\n---\nText", ["Title", "Text"]),
        ("Intro:\n- one thing. And more\n* two\n  + three", ["Intro:", "one thing.", "And more", "two", "three"]),
        ("1. First item\n2) Second. Yes\n10. Tenth", ["First item", "Second.", "Yes", "Tenth"]),
        ("## Head\nText goes\non", ["Head", "Text goes\non"]),
        ("| a | b |\n|---|---|\n| c | d |\nAfter", ["| a | b |", "| c | d |", "After"]),
        ("A -5 degree day. x - y", ["A -5 degree day.", "x - y"]),
    ],
)
def test_a_text_has_these_sentences(text: str, expected: list[str]) -> None:
    """Abbreviations, numbers, quotes, citations, lists and paragraphs end where a reader sees the end."""
    assert sentences(text) == expected


@settings(derandomize=True, max_examples=200)
@given(TEXTS)
def test_spans_are_in_order_and_lose_no_word(text: str) -> None:
    """Whatever the text: spans do not overlap, are stripped, and leave out only list marks and what says nothing."""
    spans = sentence_spans(text)
    assert all(start < end for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    assert [text[start:end] for start, end in spans] == sentences(text) == [s.strip() for s in sentences(text)]
    kept = sum(char.isalpha() for sentence in sentences(text) for char in sentence)
    assert kept == sum(char.isalpha() for char in text)


def test_the_tokenizers_are_loaded_only_when_they_are_used() -> None:
    """Importing all metrics does not import NLTK."""
    code = "import evals.metrics.registry, sys; print('nltk' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
