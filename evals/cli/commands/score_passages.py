"""`evals score PREDICTIONS GOLD`: retrieved passages against gold passages."""

import json
import sys
from pathlib import Path

import typer

from evals.cli.flags import ScoreFlags, given_flags, refuse_idle
from evals.cli.terminal.console import DOUBTFUL, clean, console
from evals.cli.terminal.output import check_output
from evals.scoring.passages import PassageScores, score_predictions
from evals.store.atomic import write_output

_RULE = "=" * 26
_DEFAULT_K = 10


def score_passages(predictions: Path, gold: Path, flags: ScoreFlags, *, k: int | None, output: Path | None) -> None:
    """Score the files and print the means; what to know about them goes to stderr.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    names = ("dry_run", "lenient", "quiet", "verbose", "no_fail", "junit", "comment")
    switches = {name: getattr(flags, name) or None for name in names}
    refuse_idle("retrieved passages", config=flags.config, **switches, **given_flags(flags))
    if output is not None:
        check_output(output)
    scores = score_predictions(predictions, gold, k=_DEFAULT_K if k is None else k)
    err = console(sys.stderr)
    for note in scores.notes:
        err.print(clean(f"! {note}"), style=DOUBTFUL, soft_wrap=True)
    text = json.dumps(scores.labelled(), indent=2)
    if output is not None:
        write_output(output, f"{text}\n".encode())
    typer.echo(text if flags.as_json else _block(scores))


def _block(scores: PassageScores) -> str:
    lines = [f"{label}: {value:.4f}" for label, value in scores.labelled().items()]
    return "\n".join(["Evaluation Results:", _RULE, *lines, _RULE])
