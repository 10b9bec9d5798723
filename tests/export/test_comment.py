"""The text of a comment and of the summary of a job."""

import re
from typing import Any

import pytest

from evals.report.markdown import LIMIT, MARKER, CommandEnd, CommandProblem, to_comment, to_summary


@pytest.mark.parametrize("write", [to_comment, to_summary])
def test_an_error_of_any_length_fits_a_comment(write: Any) -> None:
    """And nothing in it is Markdown."""
    problem = CommandProblem("ConfigError", "@octocat | <b> " * 100_000, "#1 " * 100_000)
    text = write(CommandEnd(problem=problem))
    assert len(text) <= LIMIT
    assert not re.search(r"@octocat|#1\b|<b>", text)
    assert (MARKER in text) == (write is to_comment)
