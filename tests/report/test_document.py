"""The page as a file: what is allowed in it, and what is read without JavaScript."""

import re
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from test_docs import HOUSE_WORDS

import evals.report
from evals.errors import ConfigError
from evals.report.document import libraries, report_pieces
from evals.schemas import Outcomes
from evals.schemas.results import WeightedScore

PAGES = Path(evals.report.__file__).parent
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202egnp.exe"


def test_the_policy_allows_the_scripts_and_styles_of_the_page_by_hash_and_nothing_else(
    page_of: Callable[..., Any], a_run: Callable[..., Any]
) -> None:
    """No network, no inline handler, no other script: each hash is that of an element that stands there."""
    page = page_of(a_run())
    policy = next(
        attributes["content"]
        for tag, attributes in page.tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    parts = dict(part.split(" ", 1) for part in policy.split("; "))
    assert parts["default-src"] == "'none'"
    assert parts["script-src"].split() == [_hashed(text) for text in page.scripts]
    assert _hashed(page.styles[0]) in parts["style-src"].split()
    assert "unsafe" not in policy
    assert "http" not in policy


def _hashed(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_nothing_is_loaded(page_of: Callable[..., Any], a_run: Callable[..., Any]) -> None:
    """No element names an address outside the file."""
    page = page_of(a_run())
    addresses = [value for _, attributes in page.tags for key, value in attributes.items() if key in {"src", "href"}]
    assert [address for address in addresses if not str(address).startswith(("#", "data:"))] == []


def test_headline_and_scorecard_are_read_without_javascript(
    page_of: Callable[..., Any], a_run: Callable[..., Any]
) -> None:
    """They are HTML: score or the reason for none, outcomes, each metric with interval and n, and the notes."""
    outcomes = Outcomes(answered=2, transport={"timeout": 1})
    page = page_of(a_run(name="Nightly", notes=["mind the gap"], outcomes=outcomes))
    assert "Nightly" in page.words
    assert "No weighted score: " in page.words
    assert "2 answered, 0 declined, 1 timeout" in page.words
    assert "mind the gap" in page.words
    assert "mrr ↑" in page.words
    assert "0.750" in page.words


def test_a_run_that_failed_says_why(page_of: Callable[..., Any], a_run: Callable[..., Any]) -> None:
    """Its status stands in the head, and the reason in the place of the score."""
    failed = {"status": "failed", "completed_at": datetime(2026, 1, 15, 11, tzinfo=UTC)}
    score = WeightedScore(score=None, reason="the server gave no answer")
    page = page_of(a_run({"q1": "timeout", "q2": "connect"}, weighted_score=score, **failed))
    assert "failed" in page.words
    assert "No weighted score: the server gave no answer" in page.words


def test_a_run_that_did_not_finish_says_what_there_is(page_of: Callable[..., Any], a_run: Callable[..., Any]) -> None:
    """Its questions can be read, and nothing is said of scores."""
    run = a_run({"q1": {}, "q2": "timeout"}, status="partial")
    page = page_of(run)
    assert "This run did not finish: 2 of 2 answers are in its log" in page.words
    assert page.blocks["abcd1234/overview"]["scored"] is False
    assert page.blocks["abcd1234/questions"]["count"] == 2


def test_what_a_server_says_is_text(page_of: Callable[..., Any], a_run: Callable[..., Any]) -> None:
    """Names, notes and questions hold markup and marks of direction: none of it becomes an element or turns a line."""
    hostile = {"name": HOSTILE, "notes": [HOSTILE], "questions": {"q1": {"question": HOSTILE}}}
    page = page_of(*(a_run({"q1": {"mrr": 1.0}}, run_id, **hostile) for run_id in ("abcd1234", "ffff0000", "eeee0000")))
    assert len(page.scripts) == len(libraries()) + 1
    assert [tag for tag, _ in page.tags if tag == "img"] == []
    assert [run["id"] for run in page.blocks["report"]["runs"]] == ["abcd1234", "ffff0000", "eeee0000"]
    assert {"abcd1234/overview", "ffff0000/questions", "eeee0000/details/0"} <= page.blocks.keys()
    assert "<script>alert(1)" in page.text
    assert "\u202e" not in page.source
    assert "alert(1)" in page.blocks["abcd1234/questions"]["questions"][0]
    assert "\u202e" not in str(page.blocks)


@pytest.mark.parametrize("path", sorted(PAGES.glob("*/*.j*")), ids=lambda path: path.name)
def test_what_a_page_says_is_free_of_house_words(path: Path) -> None:
    """Texts of several words in scripts, and all of a template but its comments, use the terms of the field."""
    source = path.read_text(encoding="utf-8")
    said = [re.sub(r"{#.*?#}", "", source)]
    if path.suffix == ".js":
        literals = (text for pair in re.findall(r'"([^"\n]*)"|`([^`]*)`', source) for text in pair)
        said = [text for text in literals if " " in text]
    assert HOUSE_WORDS.findall(" ".join(said)) == []


def test_a_page_of_no_run_or_of_one_twice_is_refused(a_run: Callable[..., Any]) -> None:
    """Before anything is written."""
    with pytest.raises(ConfigError, match="needs a run"):
        report_pieces([])
    with pytest.raises(ConfigError, match="abcd1234 is named twice"):
        report_pieces([a_run(), a_run()])
