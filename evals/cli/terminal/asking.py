"""Questions to whoever sits at a terminal, asked on stderr: stdout is for what comes out."""

import sys

from evals.cli.terminal.console import clean, console
from evals.errors import RunInterruptedError

_LONGEST = 300


def is_terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr is not None and sys.stderr.isatty()


def ask_line(text: str, default: str = "") -> str:
    """What somebody types, without blanks around it; the default where that is nothing.

    Raises:
        RunInterruptedError: The input ended.
    """
    out = console(sys.stderr)
    shown = f" [{default}]" if default else ""
    out.print(clean(f"{text}{shown}: ", _LONGEST), end=" ", soft_wrap=True)
    line = sys.stdin.readline()
    if not line:
        raise RunInterruptedError("the input ended before the last question")
    return line.strip() or default


def ask_yes(text: str, *, default: bool) -> bool:
    """Whether somebody says yes; what is neither is asked again.

    Raises:
        RunInterruptedError: The input ended.
    """
    while True:
        said = ask_line(f"{text} (y/n)", "y" if default else "n").lower()
        if said in {"y", "yes", "n", "no"}:
            return said.startswith("y")
