"""What other packages add by entry points: each is loaded by itself, so that a broken one breaks no other."""

from importlib.metadata import EntryPoint
from typing import Any

from evals.errors import ConfigError, EvalsError


def load(point: EntryPoint, error_class: type[EvalsError] = ConfigError) -> Any:
    """What an entry point names.

    Args:
        point: The entry point.
        error_class: What is raised where it cannot be loaded.

    Raises:
        EvalsError: It cannot be loaded; the message names the package that it is from.
    """
    try:
        return point.load()
    except Exception as error:  # foreign code may raise anything; it is raised again, with the package named
        raise broken(point, f"cannot be loaded: {type(error).__name__}: {error}", error_class) from error


def broken(point: EntryPoint, what: str, error_class: type[EvalsError] = ConfigError) -> EvalsError:
    """The error for a plug-in that is of no use.

    Args:
        point: Its entry point.
        what: What is wrong with it, to follow its name.
        error_class: The class of the error.
    """
    package = point.dist.name if point.dist else None
    owner = f" of the package {package}" if package else ""
    hint = f"repair the package or remove it: pip uninstall {package}" if package else f"it names {point.value}"
    return error_class(f"plug-in {point.name!r}{owner} {what}", hint)
