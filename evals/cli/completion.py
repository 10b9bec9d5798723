"""What the shell completes: runs, profiles, datasets, suites and metrics; nothing is imported before it is asked."""

from collections.abc import Iterable
from pathlib import Path

from typer import Context

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
