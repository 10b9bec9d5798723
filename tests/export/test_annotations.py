"""Annotations of GitHub Actions: one line each, whatever a server said."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.report.ci import LIMIT, MARKER, CommandEnd, CommandProblem, annotation, to_comment, to_summary

_WRITTEN = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}


def as_github_reads(line: str) -> tuple[str, str, str]:
    """Kind, title and message of a line, as the runner takes it apart."""
    found = re.fullmatch(r"::(\w+) title=([^:,\r\n]*)::([^\r\n]*)", line)
    assert found is not None, line
    kind, *texts = found.groups()
    title, message = (re.sub("%(?:0D|0A|3A|2C|25)", lambda code: _WRITTEN[code[0]], text) for text in texts)
    return kind, title, message


@pytest.mark.parametrize(
    ("title", "message"),
    [("a, b: c", "x: y, z"), ("100 %", "%0A and %25 stay"), ("::error::", "::add-mask::x ##[add-mask]y")],
)
def test_what_means_something_to_github_is_escaped(title: str, message: str) -> None:
    """And comes back as it was."""
    assert as_github_reads(annotation("warning", title, message)) == ("warning", title, message)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=700), st.text(max_size=700))
def test_any_text_is_one_line_of_bounded_length(title: str, message: str) -> None:
    """Line breaks and control characters are gone."""
    line = annotation("error", title, message)
    assert len(line.splitlines()) == 1
    _, read, said = as_github_reads(line)
    assert len(read) <= 100
    assert len(said) <= 500


@pytest.mark.parametrize("write", [to_comment, to_summary])
def test_an_error_of_any_length_fits_a_comment(write: Any) -> None:
    """And nothing in it is Markdown."""
    problem = CommandProblem("ConfigError", "@octocat | <b> " * 100_000, "#1 " * 100_000)
    text = write(CommandEnd(problem=problem))
    assert len(text) <= LIMIT
    assert not re.search(r"@octocat|#1\b|<b>", text)
    assert (MARKER in text) == (write is to_comment)
