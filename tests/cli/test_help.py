"""`--help`: what a reader finds without reading all of it."""

from typing import Any

import pytest
import typer

from evals.cli import app


def panels(command: str) -> dict[str, list[str]]:
    """The flags of a command under the titles of their groups; those without one under ""."""
    group: Any = typer.main.get_command(app)
    found: dict[str, list[str]] = {}
    for flag in group.commands[command].params:
        if flag.param_type_name == "option":
            found.setdefault(flag.rich_help_panel or "", []).append(flag.name)
    return found


def test_the_flags_of_eval_stand_in_five_groups() -> None:
    """Whoever looks for a flag of the judge reads six lines, not thirty."""
    found = panels("eval")
    assert list(found) == ["Questions", "Server", "Measures", "Judge", "Run"]
    assert max(map(len, found.values())) <= 9


@pytest.mark.parametrize("command", ["rescore", "score"])
def test_a_flag_stands_in_the_same_group_in_every_command(command: str) -> None:
    """What measures answers is in one place, whether they are asked for, saved, or read from a file."""
    known = panels("eval")
    for title, flags in panels(command).items():
        if title:
            assert set(flags) - {"remap"} <= set(known[title])
    assert panels(command)["Judge"] == known["Judge"]
