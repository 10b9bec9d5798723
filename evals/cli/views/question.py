"""One question on the terminal, and a judge next to people."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console

from evals.cli.terminal import show
from evals.report.elements import ShownPart, TableRow, TextLine, TextTable, grid
from evals.report.questions import detail_of
from evals.report.wording import by_reason, label_of, one_line, ratio
from evals.schemas.calibration import Agreement, Calibration, Figure
from evals.schemas.results import EvalRun
from evals.scoring.conclusion import Measured
from evals.text.numbers import counted


def print_question(out: Console, number: int, measured: Measured, *, every: bool) -> None:
    """Print what is known of a question: what went wrong, was asked, answered, measured and retrieved.

    Args:
        out: Where it is printed.
        number: Of the question.
        measured: Its run.
        every: Whether chunks are printed whole, or about two lines of each.
    """
    broken = [] if measured.run.is_unscored else [one for one in measured.digest.found if one.number == number]
    found = detail_of(measured.source[number], measured, *broken)
    show(out, _question_parts(found, None if every else 2 * out.width - 30))


def _question_parts(found: dict[str, Any], limit: int | None) -> Iterator[ShownPart]:
    yield TextLine(found["id"], "strong")
    if broken := found["broken"]:
        yield TextLine(f"outcome   {broken['label']}: {broken['explanation']}", "bad" if broken["failure"] else "")
    for message, answer in found["before"]:
        yield TextLine(f"before    {message}")
        yield TextLine(f"      →   {answer}")
    yield TextLine(f"question  {found['question']}")
    yield TextLine(f"expected  {found['expected'] or '–'}")
    for gold in found["golds"]:
        yield TextLine(f"passage   {': '.join(filter(None, (gold['where'], gold['text'])))}")
    yield TextLine(f"answer    {''.join(piece['text'] for piece in found['answer']) or '–'}")
    yield from (TextLine(f"note      {note}", "doubtful") for note in found["notes"])
    yield from _score_parts(found["scores"])
    yield from _chunk_lines(found["chunks"] or [], limit)


def _score_parts(scores: Sequence[dict[str, Any]]) -> Iterator[ShownPart]:
    """Values with what they measure, rates as yes or no, and times once; then what has no value, by reason."""
    rows: dict[str, TableRow] = {}
    for score in scores:
        name = _PERCENTILE.sub("", score["name"])
        shown = _YES_NO.get(score["shown"], score["shown"]) if name.startswith(_RATES) else score["shown"]
        if shown != "–":
            rows.setdefault(name, TableRow([name, label_of(name), shown], remark=score["details"]))
    if rows:
        yield TextTable(["metric", "measures", "value"], list(rows.values()), words=["measures"], is_labelled=True)
    lacking = by_reason((one["name"], one["reason"] or "no reason") for one in scores if one["shown"] == "–")
    yield from (TextLine(f"no value: {', '.join(names)} ({reason})", "faint") for reason, names in lacking.items())


_PERCENTILE = re.compile(r"_p\d+$")
"""Of one question, all percentiles are the same number."""

_RATES, _YES_NO = ("abstention_", "unanswerable_"), {"1.000": "yes", "0.000": "no"}


def _chunk_lines(chunks: Sequence[dict[str, Any]], limit: int | None) -> Iterator[TextLine]:
    for rank, chunk in enumerate(chunks, start=1):
        rules = ", ".join(sorted({rule for _, rule in chunk["golds"]}))
        said = [f"holds a reference passage, by the rule {rules}"] * bool(rules) + ["cited"] * chunk["cited"]
        where = f"{chunk['place']} [{'; '.join(said)}]" if said else chunk["place"]
        told = f"{where}: {''.join(piece for piece, _ in chunk['text'])}"
        yield TextLine(f"{'✓' if rules else ' '} {rank:>3}    {told if limit is None else one_line(told, limit)}")
    if limit and chunks:
        yield TextLine("--all shows chunks whole", "faint")


_MOST_DISAGREEMENTS = 20


def print_calibration(out: Console, found: Calibration, run: EvalRun) -> None:
    """Print how a judge agrees with people, what it confuses, and where the two disagree."""
    show(out, _calibration_parts(found, run))


def _calibration_parts(found: Calibration, run: EvalRun) -> Iterator[ShownPart]:
    lost = [f"{found.lost} without a value of the judge"] if found.lost else []
    lost += [f"{counted(found.unlabelled, 'row')} without a label"] if found.unlabelled else []
    yield TextLine("")
    yield TextLine(f"{found.model} against people: {found.metric}", "strong")
    yield TextLine(", ".join([f"{counted(len(found.answers), 'labelled answer')} ({found.scale})", *lost]))
    yield TextLine("")
    for name in Agreement.model_fields:
        figure: Figure = getattr(found.judge, name)
        why = f" ({figure.reason})" if figure.value is None and figure.reason else ""
        yield TextLine(f"{name.rjust(12)}  {ratio(figure)}{why}")
    labels = list(dict.fromkeys([*found.confusion, *(each for row in found.confusion.values() for each in row)]))
    columns = ["people \\ judge", *labels]
    yield TextLine("")
    rows = [[label, *(str(found.confusion.get(label, {}).get(each, 0)) for each in labels)] for label in labels]
    yield grid("", columns, rows, columns)
    yield TextLine("")
    for each in found.disagreements[:_MOST_DISAGREEMENTS]:
        quote = f": {each.quote}" if each.quote else ""
        yield TextLine(f"{each.id}  people {each.label}, judge {each.judged}{quote}")
    if (more := len(found.disagreements) - _MOST_DISAGREEMENTS) > 0:
        yield TextLine(f"and {counted(more, 'further disagreement')}: --json lists them", "faint")
    if run.judge is not None:
        cost = "price unknown" if run.judge.cost_usd is None else f"${run.judge.cost_usd:.4f}"
        yield TextLine(f"{counted(run.judge.calls, 'call')}, {run.judge.cached} from the cache, {cost}")
    yield from (TextLine(f"! {note}", "doubtful") for note in run.notes)
