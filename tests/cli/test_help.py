"""`--help`: what a reader finds without reading all of it."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import typer

from evals.cli import COMMANDS, app

Cli = Callable[..., Any]


def parameters(name: str) -> list[Any]:
    """The flags and arguments of a command, without --help."""
    command: Any = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    command.get_params(command.make_context(name, [], resilient_parsing=True))
    return list(command.params)


def panels(command: str) -> dict[str, list[str]]:
    """The flags of a command under the titles of their groups; those without one under ""."""
    found: dict[str, list[str]] = {}
    for flag in parameters(command):
        if flag.param_type_name == "option":
            found.setdefault(flag.rich_help_panel or "", []).append(flag.name)
    return found


def test_the_flags_of_eval_stand_in_few_groups() -> None:
    """Whoever looks for a flag of the judge reads a few lines, not thirty."""
    found = panels("eval")
    groups = ["Questions", "Server", "Variants", "Measures", "Gates", "Judge", "Engine", "Output", "Run", "CI"]
    assert sorted(found) == sorted(["", *groups])
    assert max(map(len, found.values())) <= 9


@pytest.mark.parametrize("command", ["rescore", "score", "gate", "merge"])
def test_a_flag_stands_in_the_same_group_in_every_command(command: str) -> None:
    """What measures answers is in one place, whether they are asked for, saved, or read from a file."""
    known = panels("eval")
    places = {flag: title for title, flags in known.items() for flag in flags}
    for title, flags in panels(command).items():
        assert {places.get(flag, title) for flag in flags if title != "Baseline"} <= {title, "Questions"}


def test_every_command_stands_in_a_group_of_the_help(evals_cli: Cli) -> None:
    """By what they are for; the one that a reader wants first is the first."""
    out = evals_cli("--help").out
    titles = dict.fromkeys(panel for _, _, panel in COMMANDS.values())
    assert list(titles) == ["Run", "Look", "Decide", "Data and server", "Judge"]
    assert all(f"─ {title} ─" in out for title in titles)
    assert re.findall(r"^│ (\w+)  ", out, re.MULTILINE) == list(COMMANDS)


@pytest.mark.parametrize("command", ["eval", "doctor", "rescore", "score", "calibrate"])
def test_the_short_help_shows_the_common_flags_and_names_the_long_one(evals_cli: Cli, command: str) -> None:
    """On one screen; a flag that is not shown can be given all the same."""
    short, long = (evals_cli(command, flag).out for flag in ("--help", "--help-all"))
    assert len(short.splitlines()) < 60
    shown, every = (set(re.findall(r"^│ +(?:\*? +)?(--[\w-]+)", text, re.MULTILINE)) for text in (short, long))
    assert {"--help-all", "--judge-model"} <= shown < every
    assert {"--judge-effort", "--name"} <= every - shown or command == "rescore"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_can_be_read_in_80_columns(evals_cli: Cli, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """No flag and no word of what it does is cut."""
    monkeypatch.setenv("COLUMNS", "80")
    flags = parameters(command)
    out = evals_cli(command, "--help-all").out
    assert "…" not in out
    words = " ".join(out.replace("│", " ").split())
    for flag in flags:
        assert flag.param_type_name == "argument" or all(name in words for name in flag.opts)
        assert " ".join((flag.help or "").split()) in words


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
    assert any(said in (parameter.help or "") for parameter in parameters(command))
