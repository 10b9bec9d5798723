"""What is read from a reply that is not JSON alone, as local models give."""

import json
from typing import Any

import pytest
from evals.judges.backends.base import objects_in
from judges.test_llm_judge import ASKED, RIGHT, Scripted, decide, says

SAID = json.dumps(RIGHT)
WRONG = json.dumps({**RIGHT, "verdict": "incorrect"})
DRAFT = json.dumps({"verdict": "maybe"})


@pytest.mark.parametrize(
    "text",
    [
        SAID,
        f"<think>The answer says 96 hours, so {WRONG} would be wrong.</think>{SAID}",
        f"<think>\n{WRONG}\n</think>\n\n{SAID}",
        f"The answer says so {WRONG}</think>{SAID}",
        f"<thinking>hm</thinking>\n```json\n{SAID}\n```",
        f"Sure! {SAID}",
        f"Here is the verdict:\n\n```json\n{SAID}\n```\nLet me know if you need more.",
        f"Draft: {DRAFT}\nFinal: {SAID}",
        f"{SAID}\n{SAID}",
        f"{{broken {SAID}",
        f"{SAID} {{and so on",
        f"{SAID}\n<think>Was {WRONG} better?</think>",
    ],
)
def test_the_verdict_is_read_from_among_other_words(text: str) -> None:
    """Thoughts, a greeting, a fence and a draft of another form do not cost a second call."""
    verdict = decide(Scripted(says(text)))
    assert (verdict.reply, verdict.attempts) == (RIGHT, 1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{WRONG} or rather {SAID}", "2 replies in one, which differ"),
        (f"Sure! {DRAFT}", "reply lacks 'quote'"),
        (SAID[:-5], "not JSON"),
        (f"<think>{SAID}", "not JSON"),
        (f"<think>{SAID}</think>", "not JSON"),
        ("{" * 100_000, "not JSON"),
        ('{"a": ' * 60_000, "not JSON"),
    ],
)
def test_nothing_is_guessed(text: str, why: str) -> None:
    """Two verdicts that differ are none, and neither is one that was only thought of, or cut off."""
    verdict = decide(Scripted(says(text)))
    assert (verdict.reply, verdict.failure) == (None, "unparsable")
    assert why in (verdict.message or "")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1} {"b": {"c": 2}}', [{"a": 1}, {"b": {"c": 2}}]),
        ('x {"a": "\\ud800"} y', [{"a": "?"}]),
        ('x {"a": NaN}', [{"a": None}]),
        ("5", [5]),
        ("nothing", []),
    ],
)
def test_objects_are_found_whole(text: str, found: list[Any]) -> None:
    """One inside another is none of its own; what no file can hold is replaced."""
    assert objects_in(text) == found


def test_the_second_call_says_what_was_wrong() -> None:
    """With the reply that it is about, behind the data."""
    backend = Scripted(says(f"Sure! {DRAFT}"), says(RIGHT))
    assert decide(backend).reply == RIGHT
    first, second = backend.calls
    assert second.content == first.content == json.dumps(ASKED.data)
    assert first.message == first.content
    assert second.message.startswith(first.content)
    assert "reply lacks 'quote'" in second.message
    assert DRAFT in second.message
