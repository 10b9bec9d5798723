"""The command line: it parses, calls the library and prints. Commands are imported when they run."""

import gc
from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import Signature
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption
from typer.main import get_command

from evals.cli import flags
from evals.cli.flags import Flags, parameters

COMMANDS: dict[str, tuple[type[Flags], str, str]] = {
    "eval": (flags.EvalFlags, "eval.evaluate", "Run"),
    "rescore": (flags.RescoreFlags, "eval.rescore", "Run"),
    "score": (flags.ScoreFlags, "eval.score", "Run"),
    "merge": (flags.MergeFlags, "eval.merge_shards", "Run"),
    "runs": (flags.ListFlags, "runs.list_runs", "Look"),
    "show": (flags.ShowFlags, "runs.show", "Look"),
    "report": (flags.PageFlags, "runs.report", "Look"),
    "view": (flags.ViewFlags, "runs.view", "Look"),
    "export": (flags.ExportFlags, "runs.export", "Look"),
    "track": (flags.TrackFlags, "runs.track", "Look"),
    "compare": (flags.CompareFlags, "runs.compare", "Decide"),
    "gate": (flags.GateFlags, "runs.gate", "Decide"),
    "init": (flags.InitFlags, "server.init", "Data and server"),
    "doctor": (flags.DoctorFlags, "server.doctor", "Data and server"),
    "generate": (flags.GenerateFlags, "judge.generate", "Data and server"),
    "ingest": (flags.IngestFlags, "server.ingest", "Data and server"),
    "serve": (flags.ServeFlags, "server.serve", "Data and server"),
    "datasets": (flags.DatasetsFlags, "catalogue.list_datasets", "Data and server"),
    "stats": (flags.StatsFlags, "catalogue.show_stats", "Data and server"),
    "metrics": (flags.MetricsFlags, "catalogue.show_metrics", "Data and server"),
    "profiles": (flags.ProfilesFlags, "catalogue.show_profiles", "Data and server"),
    "calibrate": (flags.CalibrateFlags, "judge.calibrate", "Judge"),
    "review": (flags.ReviewFlags, "judge.review", "Judge"),
    "prompts": (flags.PromptsFlags, "catalogue.show_prompts", "Judge"),
}
"""In the order of the help: the flags, whose docstring is the help of the command; the function below `commands` that
is given them; the title under which the help shows it."""

_GC_THRESHOLDS = (20_000, 20, 100)
"""Thresholds of the cyclic collector: imports make many objects that stay, which it goes over again and again."""

app = typer.Typer(
    name="evals",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from evals import __version__

        typer.echo(f"rag-evals {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version")
    ] = False,
) -> None:
    """Measure a live RAG server over HTTP, with error bars."""


class ShortHelp(TyperCommand):
    """A command whose help shows its common flags, if it names some, and with --help-all every flag.

    Its parameters are made when they are first looked at: `evals --help` needs those of no command.
    """

    kind: type[Flags]
    common: Sequence[str]
    run: Callable[..., None]

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters of the command line."""
        if not self.params:
            self.run.__signature__ = Signature([*parameters(self.kind)])  # type: ignore[attr-defined]  # what typer reads
            alone = typer.Typer(add_completion=False)
            alone.command()(self.run)
            whole = get_command(alone)
            self.params, self.callback = whole.params, whole.callback
        return super().get_params(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        asked = ctx.params.get("help_all")
        for flag in self.get_params(ctx):
            if isinstance(flag, TyperOption):
                common = {"help", "help_all", *self.common} if self.common else {flag.name} - {"help_all"}
                flag.hidden = not asked and flag.name not in common
                flag.metavar = "" if flag.is_flag or flag.multiple else flag.metavar  # what `<bool>` says, names do
        super().format_help(ctx, formatter)


def _add(name: str, kind: type[Flags], place: str, panel: str) -> None:
    """Give the command line a command; its function may return an exit code."""

    def command(**given: Any) -> None:
        module, _, function = place.partition(".")
        code = getattr(import_module(f"evals.cli.commands.{module}"), function)(kind(**given))
        if code:
            raise typer.Exit(code)

    own = {"kind": kind, "common": kind.common.split(), "run": staticmethod(command)}
    cls = type("Command", (ShortHelp,), own)
    app.command(name, cls=cls, help=kind.__doc__, rich_help_panel=panel)(lambda: None)


for _name, _entry in COMMANDS.items():
    _add(_name, *_entry)


def main() -> None:
    """Run the command line; exit codes are those of `evals.errors`."""
    from evals.cli.terminal import end_like_ctrl_c, prepare_streams, run

    gc.set_threshold(*_GC_THRESHOLDS)
    prepare_streams()
    end_like_ctrl_c()
    raise SystemExit(run(app))
