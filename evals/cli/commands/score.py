"""`evals score`: what is in files already, without a server; which form it is, is told by the second file."""

from pathlib import Path
from typing import Any

from evals.cli.flags import flag_name
from evals.errors import ConfigError

_FORMS = "score predictions.json gold.json, or score answers.jsonl --dataset-file questions.jsonl"
_DEFAULT_K = 10


def score(
    first: Path,
    gold: Path | None,
    *,
    k: int | None,
    output: Path | None,
    config: Path | None,
    dry_run: bool,
    as_json: bool,
    **flags: Any,
) -> None:
    """Score passages where gold is named as a second file, else saved answers.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    if gold is not None:
        _refuse("retrieved passages", config=config, dry_run=dry_run or None, **flags)
        from evals.cli.commands.score_passages import score_passages  # noqa: PLC0415 - without all that runs need

        score_passages(first, gold, _DEFAULT_K if k is None else k, output=output, as_json=as_json)
    else:
        _refuse("saved answers", k=k, output=output)
        from evals.cli.commands.eval import EvalFlags  # noqa: PLC0415
        from evals.cli.commands.score_answers import score_saved_answers  # noqa: PLC0415

        score_saved_answers(first, EvalFlags(**flags), config=config, dry_run=dry_run, as_json=as_json)


def _refuse(what: str, **flags: object) -> None:
    """Refuse flags of the other form, which would do nothing."""
    for name, value in flags.items():
        if value not in (None, []):
            raise ConfigError(f"{flag_name(name, value)} does nothing where {what} are scored", _FORMS)
