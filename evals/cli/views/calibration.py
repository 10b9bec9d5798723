"""A judge's calibration on the terminal: the judge beside annotators, a constant guess and the length of answers."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from evals.cli.terminal.console import DOUBTFUL, clean
from evals.schemas import EvalRun
from evals.schemas.calibration import Agreement, Calibration, Figure
from evals.text.counts import counted
from evals.views.judge_card import bracketed, ratio

_FIGURES = (
    ("agreement", "agreement"),
    ("kappa", "Cohen's kappa"),
    ("ac1", "Gwet's AC1"),
    ("sensitivity", "sensitivity"),
    ("specificity", "specificity"),
    ("auroc", "AUROC"),
    ("pearson", "Pearson"),
    ("spearman", "Spearman"),
    ("kendall", "Kendall"),
)
_WIDTHS = (15, 20, 20, 10, 10)


def print_calibration(out: Console, found: Calibration, run: EvalRun) -> None:
    """Print what was compared, a line a figure, and what there is to mind."""
    out.print()
    out.print(clean(f"{found.model} against people: {found.metric}"), style="bold")
    out.print(clean(_head(found)))
    out.print()
    for number, line in enumerate(_table(found)):
        out.print(Text(line.rstrip()), style=None if number else "bold")
    out.print()
    for line in _means(found):
        out.print(clean(line))
    if found.preference is not None:
        out.print(clean(_preference(found)))
    for reason in dict.fromkeys(_reasons(found.judge)):
        out.print(clean(f"– {reason}"), style="dim")
    if run.judge is not None:
        cost = "price unknown" if run.judge.cost_usd is None else f"${run.judge.cost_usd:.4f}"
        out.print(clean(f"{counted(run.judge.calls, 'call')}, {run.judge.cached} from the cache, {cost}"))
    for note in run.notes:
        out.print(clean(f"! {note}"), style=DOUBTFUL)


def _head(found: Calibration) -> str:
    clusters = len({answer.cluster for answer in found.answers})
    parts = [counted(len(found.answers), "labelled answer") + f" ({found.scale})"]
    parts += [counted(clusters, "cluster")] if clusters != len(found.answers) else []
    parts += [f"{found.lost} without a value of the judge"] if found.lost else []
    parts += [counted(found.unlabelled, "row") + " without a label"] if found.unlabelled else []
    return ", ".join(parts)


def _table(found: Calibration) -> Iterator[str]:
    yield _row("", "judge", "annotators", "constant", "length")
    for field, title in _FIGURES:
        others = [_of(agreement, field) for agreement in (found.annotators, found.always_the_same, found.length)]
        yield _row(title, bracketed(_of(found.judge, field)), bracketed(others[0]), *map(ratio, others[1:]))


def _of(agreement: Agreement | None, field: str) -> Figure:
    return Figure() if agreement is None else getattr(agreement, field)


def _row(*cells: str) -> str:
    return "".join(cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=True))


def _means(found: Calibration) -> Iterator[str]:
    if found.label_mean.value is None:
        return
    yield f"mean by people {bracketed(found.label_mean)}, by the judge {bracketed(found.score_mean)}"


def _preference(found: Calibration) -> str:
    preference = found.preference
    if preference is None:
        return ""
    said = f"{counted(preference.pairs, 'pair')} of answers, {preference.tied} tied by the judge"
    return f"{said}: agrees with people's preference on {bracketed(preference.agreement)}"


def _reasons(agreement: Agreement) -> Iterator[str]:
    for field, title in _FIGURES:
        figure = _of(agreement, field)
        if figure.value is None and figure.reason:
            yield f"no {title}: {figure.reason}"
