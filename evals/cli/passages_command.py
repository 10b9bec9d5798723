"""`evals score PREDICTIONS GOLD`: retrieved passages against gold passages."""

import json
import sys
from pathlib import Path

import typer

from evals.cli.console import clean, console
from evals.errors import ConfigError, StoreError
from evals.passages import PassageScores, score_predictions
from evals.store import write_atomically

_RULE = "=" * 26


def score_passages(predictions: Path, gold: Path, k: int, *, output: Path | None, as_json: bool) -> None:
    """Score the files and print the means; what to know about them goes to stderr.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    if output is not None and (not output.name or output.is_dir()):
        raise ConfigError(f"--output {output} is a folder", f"name a file, such as {output / 'scores.json'}")
    scores = score_predictions(predictions, gold, k=k)
    err = console(sys.stderr)
    for note in scores.notes:
        err.print(clean(f"! {note}"), style="yellow", soft_wrap=True)
    text = json.dumps(scores.labelled(), indent=2)
    if output is not None:
        _write(output, text)
    typer.echo(text if as_json else _block(scores))


def _write(output: Path, text: str) -> None:
    try:
        write_atomically(output, [text.encode(), b"\n"])
    except StoreError as error:  # its hint is for a run, and there is none
        raise StoreError(error.message, "nothing was written; name another file with --output") from error


def _block(scores: PassageScores) -> str:
    lines = [f"{label}: {value:.4f}" for label, value in scores.labelled().items()]
    return "\n".join(["Evaluation Results:", _RULE, *lines, _RULE])
