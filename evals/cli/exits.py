"""From exceptions to exit codes: one clear message, and no traceback for what a user can cause."""

import os
import sys
import traceback

import click
import typer

from evals.errors import EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_OK, EvalsError


def run(app: typer.Typer) -> int:
    """Run the command line and return its exit code."""
    try:
        result = app(standalone_mode=False)
    except EvalsError as error:
        _say(error.message, error.hint)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted", "what was answered is saved: `evals runs` lists it, `evals eval --resume RUN` goes on")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone; keep Python from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except Exception:  # noqa: BLE001 - the one place where what nobody foresaw becomes an exit code
        traceback.print_exc()
        _say("this is a bug in evals; please report it with the lines above", None)
        return EXIT_INTERNAL
    return result if isinstance(result, int) else EXIT_OK


def _say(message: str, hint: str | None) -> None:
    print(f"error: {message}", file=sys.stderr)
    if hint:
        print(f"  {hint}", file=sys.stderr)
