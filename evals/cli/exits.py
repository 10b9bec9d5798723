"""From exceptions to exit codes: one clear message, and no traceback for what a user can cause."""

import os
import sys
import traceback
from typing import Any

import typer

from evals.errors import EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_OK, EvalsError, StoreError

# typer carries its own copy of the library that parses the command line; the class of usage errors is reached by what
# typer does publish.
_UsageError: Any = next(cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException")


def run(app: typer.Typer) -> int:
    """Run the command line and return its exit code."""
    try:
        result = app(standalone_mode=False)
    except EvalsError as error:
        _say(error.message, error.hint)
        return error.exit_code
    except (typer.Abort, KeyboardInterrupt):
        _say("interrupted", None)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone; keep Python from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except OSError as error:
        _say(f"cannot write the output: {error.strerror or error}", None)
        return StoreError.exit_code
    except Exception as error:  # noqa: BLE001 - the one place where what nobody foresaw becomes an exit code
        return _usage_or_bug(error)
    return result if isinstance(result, int) else EXIT_OK


def _usage_or_bug(error: Exception) -> int:
    if isinstance(error, _UsageError):
        error.show()
        return int(error.exit_code)
    traceback.print_exception(error)
    _say("this is a bug in evals; please report it with the lines above", None)
    return EXIT_INTERNAL


def _say(message: str, hint: str | None) -> None:
    print(f"error: {message}", file=sys.stderr)
    if hint:
        print(f"  {hint}", file=sys.stderr)
