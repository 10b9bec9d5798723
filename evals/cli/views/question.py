"""One question on the terminal, and a judge next to people."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console

from evals.cli.terminal import show
from evals.report.elements import ShownPart, TextLine, grid
from evals.report.questions import detail_of
from evals.report.wording import ratio
from evals.schemas.calibration import Agreement, Calibration, Figure
from evals.schemas.results import EvalRecord, EvalRun
from evals.scoring.conclusion import Measured
from evals.text.numbers import counted


def print_question(out: Console, record: EvalRecord, measured: Measured) -> None:
    """Print all that is known of a question, nothing of it cut: what was asked, answered, retrieved and measured."""
    show(out, _question_lines(record, measured))


def _question_lines(record: EvalRecord, measured: Measured) -> Iterator[TextLine]:
    found = detail_of(record, measured)
    yield TextLine(record.question.id, "strong")
    for message, answer in found["before"]:
        yield TextLine(f"before    {message}")
        yield TextLine(f"      →   {answer}")
    yield TextLine(f"question  {found['question']}")
    yield TextLine(f"expected  {found['expected'] or '–'}")
    for gold in found["golds"]:
        yield TextLine(f"gold      {': '.join(filter(None, (gold['where'], gold['text'])))}")
    if record.response is not None:
        yield TextLine(f"answer    {''.join(piece['text'] for piece in found['answer']) or '–'}")
    yield from (TextLine(f"note      {note}", "doubtful") for note in found["notes"])
    yield from _chunk_lines(found["chunks"] or [])
    yield from _score_lines(found["scores"])


def _score_lines(scores: Sequence[dict[str, Any]]) -> Iterator[TextLine]:
    for score in scores:
        shown = score["shown"] if score["shown"] != "–" else f"– {score['reason']}"
        yield TextLine(f"{score['name']:<32}{shown}")
        if score["details"]:
            yield TextLine(f"  {score['details']}", "faint")


def _chunk_lines(chunks: Sequence[dict[str, Any]]) -> Iterator[TextLine]:
    for rank, chunk in enumerate(chunks, start=1):
        marks = ("✓" if chunk["golds"] else " ") + ("c" if chunk["cited"] else " ")
        rules = f" [{', '.join(sorted({rule for _, rule in chunk['golds']}))}]" if chunk["golds"] else ""
        text = "".join(piece for piece, _ in chunk["text"])
        yield TextLine(f"{marks} {rank:>3}    {chunk['place']}{rules}: {text}")
    if chunks:
        yield TextLine("✓ holds gold, by the rule in brackets; c is cited by the answer", "faint")


_FIGURES = {
    "agreement": "agreement",
    "kappa": "Cohen's kappa",
    "ac1": "Gwet's AC1",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "auroc": "AUROC",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall",
}


def print_calibration(out: Console, found: Calibration, run: EvalRun) -> None:
    """Print a judge next to annotators, a constant guess and the length of answers, and what there is to mind."""
    show(out, _calibration_parts(found, run))


def _calibration_parts(found: Calibration, run: EvalRun) -> Iterator[ShownPart]:
    yield TextLine("")
    yield TextLine(f"{found.model} against people: {found.metric}", "strong")
    yield TextLine(", ".join(_labelled(found)))
    yield TextLine("")
    columns = ["", "judge", "annotators", "constant", "length"]
    yield grid("", columns, [[title, *_figures(found, name)] for name, title in _FIGURES.items()], columns)
    yield TextLine("")
    if found.label_mean.value is not None:
        yield TextLine(f"mean by people {ratio(found.label_mean)}, by the judge {ratio(found.score_mean)}")
    if (preference := found.preference) is not None:
        said = f"{counted(preference.pairs, 'pair')} of answers, {preference.tied} tied by the judge"
        yield TextLine(f"{said}: agrees with people's preference on {ratio(preference.agreement)}")
    for name, title in _FIGURES.items():
        figure = _figure(found.judge, name)
        if figure.value is None and figure.reason:
            yield TextLine(f"– no {title}: {figure.reason}", "faint")
    if run.judge is not None:
        cost = "price unknown" if run.judge.cost_usd is None else f"${run.judge.cost_usd:.4f}"
        yield TextLine(f"{counted(run.judge.calls, 'call')}, {run.judge.cached} from the cache, {cost}")
    yield from (TextLine(f"! {note}", "doubtful") for note in run.notes)


def _labelled(found: Calibration) -> Iterator[str]:
    yield f"{counted(len(found.answers), 'labelled answer')} ({found.scale})"
    clusters = len({answer.cluster for answer in found.answers})
    if clusters != len(found.answers):
        yield counted(clusters, "cluster")
    if found.lost:
        yield f"{found.lost} without a value of the judge"
    if found.unlabelled:
        yield f"{counted(found.unlabelled, 'row')} without a label"


def _figures(found: Calibration, name: str) -> Iterator[str]:
    yield from (ratio(_figure(one, name)) for one in (found.judge, found.annotators))
    yield from (ratio(_figure(one, name), interval=False) for one in (found.always_the_same, found.length))


def _figure(agreement: Agreement | None, name: str) -> Figure:
    return Figure() if agreement is None else getattr(agreement, name)
