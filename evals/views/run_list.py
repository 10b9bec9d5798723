"""A list of runs: what is said of each, and which of their scores compare."""

from collections.abc import Sequence
from string import ascii_lowercase

from evals.schemas import EvalRun
from evals.scoring.headline import headline, objectives_beside
from evals.views.formatting import one_line

TITLES = ("id", "created", "status", "questions", "score", "server", "profile", "datasets", "name")


def run_cells(run: EvalRun, mark: str) -> list[str]:
    """What is said of a run, in the order of the titles.

    Args:
        run: The run.
        mark: What stands behind its score; see `mark_of`.
    """
    return [
        run.id,
        f"{run.created_at:%Y-%m-%d %H:%M}",
        run.status if run.completed_at else "unfinished",
        f"{run.question_count}{f' ({run.error_count} failed)' if run.error_count else ''}",
        f"{headline(run)}{mark}",
        one_line("embedded" if run.eval_config.get("embedded") else run.server.url, 60),
        one_line(run.server.profile, 40),
        one_line(",".join(run.datasets), 40),
        one_line("" if run.id in run.name else run.name, 60),
    ]


def mark_of(run: EvalRun, groups: Sequence[Sequence[EvalRun]]) -> str:
    """What stands behind a run's score where not all scores measure the same: ` [a]`; else nothing."""
    if len(groups) < 2:
        return ""
    return next((f" [{_letter(place)}]" for place, group in enumerate(groups) if run in group), "")


def objective_lines(groups: Sequence[Sequence[EvalRun]]) -> list[str]:
    """That scores do not compare, and in what they differ; nothing where all measure the same."""
    if len(groups) < 2:
        return []
    lines = ["scores with another letter measure different objectives and do not compare:"]
    for place, group in enumerate(groups):
        beside = "; ".join(objectives_beside(groups[0][0], group[0]))
        told = _objectives(group[0]) if place == 0 else f"as [{_letter(0)}], but {beside}"
        lines.append(f"  [{_letter(place)}] {told}")
    return lines


def _objectives(run: EvalRun) -> str:
    fed_by = run.weighted_score.fed_by
    return ", ".join(f"{name} ({', '.join(fed_by.get(name, ()))})" for name in run.weighted_score.weights)


def _letter(place: int) -> str:
    """The letter of a group: a to z, then a2 and so on."""
    times, rest = divmod(place, len(ascii_lowercase))
    return f"{ascii_lowercase[rest]}{times + 1 if times else ''}"
