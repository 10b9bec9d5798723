"""What of several runs is read without JavaScript: which they are, and what moved."""

from collections.abc import Iterator, Sequence
from html import escape

from evals.compare import Comparison, MetricPair, RunComparison
from evals.report.comparison import worst_first
from evals.views.compared import (
    facts_of,
    label_runs,
    legend,
    pair_cells,
    said_of,
    sum_of,
    title_of,
    warnings_of,
)
from evals.views.differences import row_values
from evals.views.formatting import one_line

_LONGEST = 300


def several_head(comparison: Comparison | None, why: str) -> Iterator[str]:
    """A section with the runs, the warnings, and a table of metrics.

    Args:
        comparison: Of the runs; None where they do not compare.
        why: They do not.
    """
    yield '<section class="several">\n'
    if comparison is None:
        yield f"<h2>Several runs</h2>\n<p>They are not compared: {_text(why)}.</p>\n"
    else:
        yield from _compared(comparison)
    yield "</section>\n"


def _compared(comparison: Comparison) -> Iterator[str]:
    labels = label_runs(comparison)
    yield f"<h2>{len(labels)} runs beside each other</h2>\n"
    yield from _runs(comparison, labels)
    for warning in warnings_of(comparison):
        yield f'<p class="note">{_text(warning)}</p>\n'
    for label, one in zip(labels[1:], comparison.against, strict=True):
        yield f'<p class="sum">{_text(sum_of(one, label, labels[0]))}</p>\n'
    if len(labels) == 2:
        yield from _pairs(comparison.against[0])
    else:
        yield from _rows(comparison, labels)


def _runs(comparison: Comparison, labels: Sequence[str]) -> Iterator[str]:
    yield '<ul class="runs">\n'
    for label, run in zip(labels, comparison.runs, strict=True):
        facts = ", ".join([run.url, *facts_of(run)])
        named = f"<code>{escape(run.id)}</code> <bdi>{_text(run.name)}</bdi>"
        yield f'<li><strong>{label}</strong> {named} <span class="facts">{_text(facts)}</span></li>\n'
    yield "</ul>\n"


def _pairs(one: RunComparison) -> Iterator[str]:
    rows = []
    for pair in sorted(one.pairs, key=worst_first):
        name, *values, verdict = pair_cells(pair)
        rows.append(([name, verdict, *values], _kind(pair)))
    yield from _table("What moved", ["metric", "B is", "A", "B", "B − A", "interval", "p", "n"], rows)
    yield f'<p class="faint">{escape("; ".join(legend("B", "A")))}</p>\n'


def _rows(comparison: Comparison, labels: Sequence[str]) -> Iterator[str]:
    titles = ["metric", *(f"{label} against {labels[0]}" for label in labels[1:]), *labels, "n"]
    rows = []
    for row in comparison.metrics:
        said = [said_of(row, one) for one in comparison.against]
        rows.append(([title_of(row), *said, *row_values(row), str(row.n)], ""))
    yield from _table("Metrics", titles, rows)


def _table(title: str, titles: Sequence[str], rows: Sequence[tuple[Sequence[str], str]]) -> Iterator[str]:
    heads = "".join(f'<th scope="col">{escape(each)}</th>' for each in titles)
    yield f'<div class="wide" tabindex="0" role="region" aria-label="{escape(title)}">\n<table class="moved">\n'
    yield f"<caption>{escape(title)}</caption>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n"
    for (first, *rest), kind in rows:
        cells = "".join(f"<td>{_text(each)}</td>" for each in rest)
        yield f'<tr class="{kind}"><th scope="row">{_text(first)}</th>{cells}</tr>\n'
    yield "</tbody>\n</table>\n</div>\n"


def _kind(pair: MetricPair) -> str:
    return pair.verdict if pair.verdict in {"better", "worse", "changed"} else "same"


def _text(text: str) -> str:
    """Foreign text on one line, without what steers or hides, escaped."""
    return escape(one_line(text, _LONGEST))
