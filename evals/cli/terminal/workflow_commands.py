"""Where GitHub Actions reads what is printed: a line may be a command to it."""

import os
import re

_COMMAND = re.compile(r"^(\s*:)(?=:)|(#)(?=#\[)", re.MULTILINE)
"""`::name::` begins a line; the older `##[name]` may stand anywhere in it."""


def in_github_actions() -> bool:
    """Whether this is a job of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def no_workflow_command(text: str) -> str:
    """The text with a blank in what GitHub would take for a command, such as a server's answer in a message.

    Elsewhere it stays as it is.
    """
    return _COMMAND.sub(r"\1\2 ", text) if in_github_actions() else text
