"""How a flag is declared and completed. Nothing heavy is imported here, as `--help` needs it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import Parameter, get_annotations
from pathlib import Path
from typing import Annotated, Any, ClassVar

from typer import Argument, Context, Exit, Option, echo

from evals.errors import ConfigError

# What the shell completes: runs, profiles, datasets, suites and metrics; nothing is imported before it is asked.


_RUNS_DIR = "data/eval_runs"


def runs(ctx: Context, incomplete: str) -> list[str]:
    """Ids of saved runs, the latest first, and `last`."""
    folder = Path(ctx.params.get("runs_dir") or _RUNS_DIR)
    files = sorted(folder.glob("*_*.json"), key=lambda path: path.name.rpartition("_")[2], reverse=True)
    return _beginning(incomplete, ["last", *(path.name.rpartition("_")[0] for path in files)])


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _completer(place: str) -> Callable[[str], list[str]]:
    """A completer of the names that a function of the library lists; several with commas."""

    def complete(incomplete: str) -> list[str]:
        module, _, function = place.rpartition(".")
        before, comma, last = incomplete.rpartition(",")
        names = _beginning(last, getattr(import_module(module), function)())
        return [f"{before}{comma}{name}" for name in names]

    return complete


profiles = _completer("evals.client.profile.list_profiles")
datasets = _completer("evals.datasets.registry.list_available")
suites = _completer("evals.metrics.registry.suites")
metrics = _completer("evals.metrics.registry.default_names")


# How a flag is declared.


@dataclass(frozen=True)
class Flag:
    """A flag, or an argument, of a command.

    Attributes:
        help: What it does.
        key: Of the configuration, which it sets; empty where it sets none.
        default: Of the flag.
        names: As they are typed; "" for that of the attribute, with a negation where it is true or false.
        kind: Option or argument of typer.
        how: Other arguments of typer.
    """

    help: str
    key: str = ""
    default: Any = None
    names: str = ""
    kind: Callable[..., Any] = Option
    how: Mapping[str, Any] = field(default_factory=dict)


def flag(help: str, key: str = "", *, default: Any = None, names: str = "", **how: Any) -> Any:  # noqa: A002
    """A flag with a value, or with a negation; None where it is not given."""
    return Flag(help, key, default, names, how=how)


def switch(help: str, key: str = "", names: str = "--{}") -> Any:  # noqa: A002
    """A flag that is there or not; one that sets a key is None where it is not given."""
    return Flag(help, key, None if key else False, names)


def argument(help: str, *, default: Any = Parameter.empty, **how: Any) -> Any:  # noqa: A002
    """What is given without a name; it must be, unless it has a default."""
    return Flag(help, default=default, kind=Argument, how=how)


def _print_help(ctx: Context, wanted: bool) -> None:
    if wanted:
        ctx.params["help_all"] = True
        echo(ctx.get_help())
        raise Exit


class Flags:
    """The flags of a command: an attribute each, those of a class before those of its bases.

    Attributes:
        panel: Title of the group in which the help shows those of this class.
        common: Names of the flags that the short help of a command shows; all where it is empty.
        as_json: Whether standard output is for a program; this and the next are off where a command has no such flag.
        quiet: Whether only score, gates and place of the run are printed.
        verbose: Whether each answer has a line of its own.
        every: Whether every metric and table is printed.
        lenient: Whether a gate for which there is not enough evidence is no fault.
        junit: The JUnit report to write.
    """

    panel: ClassVar[str | None] = None
    common: ClassVar[str] = ""
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False
    every: bool = False
    lenient: bool = False
    junit: Path | None = None
    help_all: bool = flag(
        "Show every flag and exit", default=False, names="--help-all", callback=_print_help, is_eager=True
    )

    def __init_subclass__(cls, panel: str | None = None) -> None:
        cls.panel = panel

    def __init__(self, **given: Any) -> None:
        for name, (_, declared) in flags_of(type(self)).items():
            setattr(self, name, given.pop(name, declared.default))
        if given:
            raise TypeError(f"{type(self).__name__} has no {', '.join(given)}")

    def keys(self) -> dict[str, str]:
        """By flag, the key of the configuration that it sets, where it sets one."""
        return {name: declared.key for name, (_, declared) in flags_of(type(self)).items() if declared.key}

    def given(self) -> dict[str, Any]:
        """The values of the flags given that set a key; one that is left out is None, or an empty list."""
        values = {name: getattr(self, name) for name in self.keys()}
        return {name: value for name, value in values.items() if value not in (None, [])}


def flags_of(kind: type[Flags]) -> dict[str, tuple[type[Flags], Flag]]:
    """By name, each flag with the class that declares it."""
    declared: dict[str, tuple[type[Flags], Flag]] = {}
    for owner in kind.__mro__:
        for name, value in vars(owner).items():
            if isinstance(value, Flag):
                declared.setdefault(name, (owner, value))
    return declared


def parameters(kind: type[Flags]) -> Iterator[Parameter]:
    """The flags as the parameters of a function, which typer reads."""
    for name, (owner, declared) in flags_of(kind).items():
        names = declared.names.format(name.replace("_", "-")).split()
        panel = {"rich_help_panel": owner.panel} if declared.kind is Option else {}
        made = declared.kind(*names, help=declared.help, **panel, **declared.how)
        value: Any = get_annotations(owner)[name]
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=declared.default, annotation=Annotated[value, made])


def flag_name(name: str, value: object = None) -> str:
    """The flag as it was typed: `dry_run` is --dry-run, and a judge that is switched off (False) is --no-judge."""
    typed = {"as_json": "json", "every": "all"}.get(name, name.replace("_", "-"))
    return f"--{'no-' if value is False else ''}{typed}"


def refuse_pairs(flags: Flags, *pairs: tuple[str, str]) -> None:
    """See that of no pair both flags are given: one would silently win over the other.

    Raises:
        ConfigError: Both are; the message names them.
    """
    for pair in pairs:
        if all(getattr(flags, name, None) not in (None, False) for name in pair):
            raise ConfigError(f"{' and '.join(map(flag_name, pair))} exclude each other")


def names_of(text: str, flag: str) -> list[str]:
    """The names in a list with commas, without blanks around them; one comma too many does no harm.

    Raises:
        ConfigError: It holds no name; the message names the flag that it was given with.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ConfigError(f"{flag} {text!r} names nothing", f"leave {flag} out, or name one or more, with commas")
    return names
