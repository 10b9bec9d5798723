"""`--help`: what a reader finds without reading all of it."""

from collections.abc import Callable
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


def test_the_flags_of_eval_stand_in_few_groups() -> None:
    """Whoever looks for a flag of the judge reads a few lines, not thirty."""
    found = panels("eval")
    assert list(found) == ["Questions", "Server", "Variants", "Measures", "Judge", "Engine", "Output", "Run", "CI"]
    assert max(map(len, found.values())) <= 9


@pytest.mark.parametrize("command", ["rescore", "score"])
def test_a_flag_stands_in_the_same_group_in_every_command(command: str) -> None:
    """What measures answers is in one place, whether they are asked for, saved, or read from a file."""
    known = panels("eval")
    for title, flags in panels(command).items():
        if title:
            assert set(flags) - {"remap"} <= set(known[title])
    assert panels(command)["Judge"] == known["Judge"]


@pytest.mark.parametrize("command", ["eval", "rescore", "score", "compare", "show", "calibrate", "review"])
def test_help_can_be_read_in_80_columns(
    evals_cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """No flag and no word of what it does is cut."""
    monkeypatch.setenv("COLUMNS", "80")
    out = evals_cli(command, "--help").out
    assert "…" not in out
    group: Any = typer.main.get_command(app)
    words = " ".join(out.replace("│", " ").split())
    for flag in group.commands[command].params:
        assert all(name in words for name in flag.opts)
        assert flag.help in words


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("show", "or last"),
        ("compare", "or last"),
        ("rescore", "or last"),
        ("eval", "flags override it"),
        ("eval", "worst (exclude)"),
        ("eval", "ends with 4 (0.1)"),
        ("eval", "(data/eval_runs)"),
    ],
)
def test_help_names_defaults_and_what_else_may_be_given(command: str, said: str) -> None:
    """What a flag does is said in a sentence that stands by itself."""
    group: Any = typer.main.get_command(app)
    assert any(said in (parameter.help or "") for parameter in group.commands[command].params)
