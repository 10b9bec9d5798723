"""How a flag is declared, read and completed. Nothing heavy is imported here, as `--help` needs it."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, get_annotations
from pathlib import Path
from typing import Annotated, Any, ClassVar

from typer import Argument, Context, Option

from evals.errors import ConfigError

# What the shell completes: runs, profiles, datasets, suites and metrics; nothing is imported before it is asked.


_RUNS_DIR = "data/eval_runs"


def runs(ctx: Context, incomplete: str) -> list[str]:
    """Ids of saved runs, the latest first, and `last`."""
    folder = Path(ctx.params.get("runs_dir") or _RUNS_DIR)
    files = sorted(folder.glob("*_*.json"), key=lambda path: path.name.rpartition("_")[2], reverse=True)
    return _beginning(incomplete, ["last", *(path.name.rpartition("_")[0] for path in files)])


def profiles(incomplete: str) -> list[str]:
    """Names of profiles."""
    from evals.client.profile import list_profiles

    return _beginning(incomplete, list_profiles())


def datasets(incomplete: str) -> list[str]:
    """Names of datasets; several with commas."""
    from evals.datasets.registry import list_available

    return _last_of_many(incomplete, list_available())


def suites(incomplete: str) -> list[str]:
    """Names of suites; several with commas."""
    from evals.metrics.registry import suites as names_of_suites

    return _last_of_many(incomplete, names_of_suites())


def metrics(incomplete: str) -> list[str]:
    """Names of metrics; several with commas."""
    from evals.metrics.registry import default_names

    return _last_of_many(incomplete, default_names())


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _last_of_many(incomplete: str, names: Iterable[str]) -> list[str]:
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in _beginning(last, names)]


# What reads a flag's value.


Reader = Callable[[Any, str], Any]
"""Makes a key's value of a flag's value; it is given the flag as it is typed too, for its messages."""


def flag_name(name: str, value: object = None) -> str:
    """The flag as it was typed: `dry_run` is --dry-run, and a judge that is switched off (False) is --no-judge."""
    return f"--{'no-' if value is False else ''}{name.replace('_', '-')}"


def names_of(text: str, flag: str) -> list[str]:
    """The names in a list with commas, without blanks around them; one comma too many does no harm.

    Args:
        text: The list.
        flag: What it was given with, such as "--suite".

    Raises:
        ConfigError: It holds no name.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ConfigError(f"{flag} {text!r} names nothing", f"leave {flag} out, or name one or more, with commas")
    return names


def sample_count(samples: int, flag: str = "--samples") -> int | None:
    """How many questions of each dataset the flag asks for; None for all.

    Raises:
        ConfigError: The number is below 0.
    """
    if samples < 0:
        raise ConfigError(f"{flag} must be 0 (all) or more, not {samples}")
    return samples or None


def seconds(value: float, flag: str) -> float:
    """A number of seconds above 0."""
    if not math.isfinite(value) or value <= 0:
        raise ConfigError(f"{flag} must be a number of seconds above 0, not {value:g}")
    return value


def widths(value: object, flag: str) -> int | list[int]:
    """One number of questions in flight, or several with commas."""
    parts = [part.strip() for part in str(value).split(",")]
    if not all(part.lstrip("-").isdecimal() for part in parts):
        raise ConfigError(f"{flag} must be a number, or several with commas, not {value!r}")
    widths = [int(part) for part in parts]
    return widths if len(widths) > 1 else widths[0]


# How a flag is declared.


@dataclass(frozen=True)
class Flag:
    """A flag, or an argument, of a command.

    Attributes:
        help: What it does.
        key: Of the configuration, which it sets; empty where it sets none.
        read: Makes the key's value of the flag's.
        default: Of the flag.
        names: As they are typed; "" for that of the attribute, with a negation where it is true or false.
        kind: Option or argument of typer.
        how: What else typer is told.
    """

    help: str
    key: str = ""
    read: Reader | None = None
    default: Any = None
    names: str = ""
    kind: Callable[..., Any] = Option
    how: Mapping[str, Any] = field(default_factory=dict)


def flag(help: str, key: str = "", read: Reader | None = None, **how: Any) -> Any:  # noqa: A002 - as typer says
    """A flag with a value, or with a negation; None where it is not given."""
    return Flag(help, key, read, how.pop("default", None), how.pop("names", ""), how=how)


def switch(help: str, key: str = "", names: str = "--{}") -> Any:  # noqa: A002 - as typer says
    """A flag that is there or not; one that sets a key is None where it is not given."""
    return Flag(help, key, default=None if key else False, names=names)


def argument(help: str, *, default: Any = Parameter.empty, **how: Any) -> Any:  # noqa: A002 - as typer says
    """What is given without a name; it must be, unless it has a default."""
    return Flag(help, default=default, kind=Argument, how=how)


class Flags:
    """The flags of a command: an attribute each, those of a class before those of its bases.

    Attributes:
        panel: Title of the group in which the help shows those of this class.
        words: By flag, the help of this command where it differs.
    """

    panel: ClassVar[str | None] = None
    words: ClassVar[Mapping[str, str]] = {}

    def __init__(self, **given: Any) -> None:
        for name, (_, each) in flags_of(type(self)).items():
            setattr(self, name, given.pop(name, each.default))
        if given:
            raise TypeError(f"{type(self).__name__} has no {', '.join(given)}")


def flags_of(kind: type[Flags]) -> dict[str, tuple[type[Flags], Flag]]:
    """By name, each flag with the class that declares it."""
    found: dict[str, tuple[type[Flags], Flag]] = {}
    for owner in kind.__mro__:
        for name, value in vars(owner).items():
            if isinstance(value, Flag):
                found.setdefault(name, (owner, value))
    return found


def parameters(kind: type[Flags]) -> Iterator[Parameter]:
    """The flags as the parameters of a function, which typer reads."""
    for name, (owner, each) in flags_of(kind).items():
        names = each.names.format(name.replace("_", "-")).split()
        panel = {"rich_help_panel": vars(owner).get("panel")} if each.kind is Option else {}
        told = each.kind(*names, help=kind.words.get(name, each.help), **panel, **each.how)
        value: Any = get_annotations(owner)[name]
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=each.default, annotation=Annotated[value, told])


def keys_of(flags: Flags) -> dict[str, tuple[str, Reader | None]]:
    """By flag that sets a key of the configuration: the key, and what reads the flag's value."""
    return {name: (each.key, each.read) for name, (_, each) in flags_of(type(flags)).items() if each.key}


def given_flags(flags: Flags) -> dict[str, Any]:
    """The values of the flags given that set a key; one that is left out is None, or an empty list."""
    values = {name: getattr(flags, name) for name in keys_of(flags)}
    return {name: value for name, value in values.items() if value not in (None, [])}
