"""Every command that README and docs show is read by the real command line."""

import pytest
import typer
from fenced import Command, calls, commands

from evals.cli import app

SHOWN = commands()
EAGER = {"--install-completion"}
"""Flags that act while they are read: that they exist is all that can be asked."""


def parse(words: tuple[str, ...]) -> None:
    """Read a command line as the program does, and do nothing.

    Raises:
        click.ClickException: It is none.
    """
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    context = group.make_context("evals", list(words))
    rest = [*context._protected_args, *context.args]
    name, command, rest = group.resolve_command(context, rest)
    assert command is not None
    command.make_context(name, rest, parent=context)


@pytest.mark.parametrize("command", [each for each in SHOWN if not EAGER & set(each.words)], ids=str)
def test_every_command_of_a_page_is_one(command: Command) -> None:
    """Command, flags and their values are read by the real command line."""
    parse(command.words)


def test_a_flag_that_acts_at_once_is_there() -> None:
    """It is not tried: it would write into the home of whoever runs the tests."""
    known = {option for each in typer.main.get_command(app).params for option in each.opts}
    assert known >= EAGER


def test_commands_are_found_wherever_they_stand_in_a_line() -> None:
    """Behind another, by the path of the program, with a variable before it, and without what redirects."""
    line = "A=1 .venv/bin/evals runs --json > x.json && python -m evals.cli show last | less # evals nothing"
    assert calls(line) == [("runs", "--json"), ("show", "last")]
    assert calls("pip install -e . # evals") == []
