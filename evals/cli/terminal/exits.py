"""From exceptions to exit codes: one clear message, and no traceback for what a user can cause."""

import signal
import sys
import traceback
from types import FrameType

import typer

from evals.cli.terminal.workflow_commands import no_workflow_command
from evals.credentials.known import masked
from evals.errors import EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_OK, EvalsError
from evals.views.formatting import plain

# typer carries its own copy of the library that parses the command line, and publishes of its errors only this child
# of the one that stands for wrong usage.
_UsageError: type[typer.BadParameter] = typer.BadParameter.__mro__[1]


def run(app: typer.Typer) -> int:
    """Run the command line and return its exit code."""
    try:
        result = _end(app)
    except EvalsError as error:
        _say(error.message, error.hint)
        return error.exit_code
    except (typer.Abort, KeyboardInterrupt):
        _say("interrupted", None)
        return EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the one place where what nobody foresaw becomes an exit code
        return _usage_or_bug(error)
    return result


def _end(app: typer.Typer) -> int:
    """Run a command to its end, all that it printed written."""
    result = app(standalone_mode=False)
    if sys.stdout is not None:
        sys.stdout.flush()  # while an error in it can still be told
    if result == EXIT_INTERRUPTED:  # newer typers end so on Ctrl-C, where older ones raise Abort
        raise typer.Abort
    return result if isinstance(result, int) else EXIT_OK


def end_like_ctrl_c() -> None:
    """Let what else asks a command to end do so as Ctrl-C does: what was answered is saved, and said so.

    SIGTERM comes of a time limit, SIGHUP of a terminal that is closed, SIGQUIT of its quit key. What runs under nohup
    goes on.
    """
    for name in ("SIGTERM", "SIGHUP", "SIGQUIT"):
        number = getattr(signal, name, None)  # not every system has them all
        if number is not None and (name == "SIGTERM" or signal.getsignal(number) is not signal.SIG_IGN):
            signal.signal(number, _interrupt)


def _interrupt(_: int, frame: FrameType | None) -> None:
    on_ctrl_c = signal.getsignal(signal.SIGINT)  # while asking, that of the event loop
    if not callable(on_ctrl_c):  # started in the background, where Ctrl-C is ignored
        raise KeyboardInterrupt
    on_ctrl_c(signal.SIGINT, frame)


def _usage_or_bug(error: Exception) -> int:
    if isinstance(error, _UsageError):
        error.show()
        return error.exit_code
    told = plain(masked("".join(traceback.format_exception(error))))
    print(no_workflow_command(told), end="", file=sys.stderr)
    _say("this is a bug in evals; please report it with the lines above", None)
    return EXIT_INTERNAL


def _say(message: str, hint: str | None) -> None:
    print(no_workflow_command(plain(f"error: {message}")), file=sys.stderr)
    if hint:
        print(no_workflow_command(plain(f"  {hint}")), file=sys.stderr)
