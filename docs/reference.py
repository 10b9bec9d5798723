"""Pages of reference that are made of the code: commands and flags, exit codes, kinds of servers."""

import inspect
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import typer

from evals import errors
from evals.cli import app
from evals.client.profile import about_profile, resolve_spec
from evals.client.spec import measurable

_SAME = {"help", "help_all"}
"""Flags that every command has."""
_PROFILES = Path(__file__).resolve().parent.parent / "evals" / "client" / "profiles"
_KINDS = {"str": "text", "int": "number", "float": "number", "Path": "path"}


def commands_page() -> str:
    """docs/commands.md, from the command line itself."""
    group = typer.main.get_command(app)
    commands: dict[str, Any] = group.commands  # type: ignore[attr-defined]
    parts = [
        "# Commands and flags\n",
        "Generated from the command line by `python docs/generate.py`. `evals COMMAND --help` prints the common\n"
        "flags of a command, `--help-all` all of them; [exit-codes.md](exit-codes.md) says what a command ends with.\n",
        _table(group.params),
        *(part for name, command in commands.items() for part in _command(name, command)),
    ]
    return "\n".join(parts)


def _command(name: str, command: Any) -> Iterator[str]:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    usage = " ".join(["evals", name, *map(_argument, arguments)])
    yield f"## {name}\n\n{command.help}\n\n```text\n{usage} [FLAGS]\n```\n"
    flags = [each for each in command.params if each.param_type_name == "option" and each.name not in _SAME]
    for panel, of_panel in groupby(flags, key=lambda each: getattr(each, "rich_help_panel", None)):
        if isinstance(panel, str):
            yield f"**{panel}**\n"
        yield _table(list(of_panel))
    yield from (f"`{_argument(each)}`: {each.help}\n" for each in arguments if getattr(each, "help", None))


def _argument(argument: Any) -> str:
    name = (argument.metavar or argument.name).upper().strip("[]").removesuffix("...").rstrip("…")
    several = "…" if argument.nargs == -1 else ""
    return f"{name}{several}" if argument.required else f"[{name}{several}]"


def _table(flags: list[Any]) -> str:
    rows = [f"| {_names(each)} | {_value(each)} | {_cell(each.help or '')} |" for each in flags if not each.hidden]
    return "\n".join(["| flag | value | meaning |", "|---|---|---|", *rows, ""])


def _names(flag: Any) -> str:
    return " ".join(f"`{name}`" for name in (*flag.opts, *flag.secondary_opts))


def _value(flag: Any) -> str:
    if flag.is_flag:
        return ""
    kind = _KINDS[flag.bare_type().removeprefix("list[").removesuffix("]")]
    return f"{kind}; repeatable" if flag.multiple else kind


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def exit_codes_page() -> str:
    """docs/exit-codes.md, from the tree of errors."""
    kinds = sorted(_errors(errors.EvalsError), key=lambda kind: kind.exit_code)
    codes = {errors.EXIT_OK: ["done"]}
    for code, of_code in groupby(kinds, key=lambda kind: kind.exit_code):
        codes[code] = [f"`{kind.__name__}`: {_first_line(kind)}" for kind in of_code]
    codes[errors.EXIT_INTERNAL] = ["a bug of ours"]
    rows = [f"| {code} | {'<br>'.join(codes[code])} |" for code in sorted(codes)]
    return "\n".join(
        [
            "# Exit codes\n",
            "Generated from the errors of `evals.errors` by `python docs/generate.py`. The\n"
            "[README](../README.md#gate-a-release) has the same in short.\n",
            "| code | error, and what it means |",
            "|---|---|",
            *rows,
            "",
        ]
    )


def _errors(kind: type[errors.EvalsError]) -> Iterator[type[errors.EvalsError]]:
    """All kinds below one, and itself unless it is the root."""
    below = [each for each in kind.__subclasses__() if each.__module__ == errors.__name__]
    if kind is not errors.EvalsError:
        yield kind
    for each in below:
        yield from _errors(each)


def _first_line(kind: type) -> str:
    return _cell(inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0]).rstrip(".")


def servers_page() -> str:
    """docs/servers.md, from the profiles that are shipped."""
    rows = [f"| `{name}` | {_cell(about_profile(name))} | {_measurable(name)} |" for name in built_in_profiles()]
    return "\n".join(
        [
            "# Kinds of servers\n",
            "Generated from `evals/client/profiles/*.yml` by `python docs/generate.py`. `evals profiles` prints the\n"
            "same, with those of plug-ins, and `evals profiles NAME` the file, which says what a server cannot tell.\n"
            "Any other server is a few lines of YAML ([profiles.md](profiles.md)).\n",
            "| profile | for | what can be measured, as far as the server sends it |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def built_in_profiles() -> list[str]:
    """Their names."""
    return sorted(path.stem for path in _PROFILES.glob("*.yml"))


def _measurable(name: str) -> str:
    return ", ".join(measurable(resolve_spec({"profile": name})))
