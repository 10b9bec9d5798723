"""Runs as one HTML page: verdict and score, what went wrong, scorecard, comparison, every question.

The page reads without JavaScript and loads nothing; `page.js` sorts, filters and pages the questions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup

from evals.compare.models import Comparison
from evals.compare.paired import compare_runs
from evals.compare.pareto import common_objectives
from evals.errors import ConfigError
from evals.report.compared import change_lines, name_of, pairs_table, pareto_parts, several_table, verdict_line
from evals.report.elements import ShownPart, TextTable
from evals.report.hints import applying
from evals.report.summary import (
    GATE_TONES,
    cost_lines,
    head_line,
    judge_lines,
    notes_of,
    outcome_line,
    score_line,
    score_parts,
    scorecard_lines,
)
from evals.report.wording import arrow, interval, label_of, level, one_line, place_of, printable, remarks_of, value
from evals.schemas.results import EvalRecord, MetricSummary
from evals.scoring.config import confidence, headline
from evals.scoring.outcomes import count_outcomes, remarks_on, wrong_headline
from evals.scoring.saved import SavedRun
from evals.store.atomic import write_output

_BINS = 20
_CITED, _OTHER = 200, 80
"""The page has this many characters of a chunk that is cited, and of one that is not; of one that holds gold, all."""
_RANKS = 5
"""Further chunks are shown only where they hold gold or are cited."""


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("evals.report"),
        autoescape=select_autoescape(default=True),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["clean"] = printable
    return environment


def write_report(path: Path, runs: Sequence[SavedRun]) -> None:
    """Write the page of one or several runs, the baseline first.

    Raises:
        StoreError: The file could not be written.
    """
    write_output(path, (piece.encode(errors="replace") for piece in page_of(runs)))


def to_html(saved: SavedRun) -> Iterator[str]:
    """The page of one run."""
    return page_of([saved])


def page_of(runs: Sequence[SavedRun], *, home: str | None = None) -> Iterator[str]:
    """The page piece by piece; one question is held at a time.

    Args:
        runs: The baseline first.
        home: The address of the list of runs, where the page is one of several.
    """
    template = _environment().get_template("page.html.j2")
    script = Markup((Path(__file__).parent / "templates" / "page.js").read_text(encoding="utf-8"))
    pages = [RunPage(saved, f"{place}-" if len(runs) > 1 else "") for place, saved in enumerate(runs, start=1)]
    return template.generate(pages=pages, comparison=_compared(runs), home=home, script=script)


def list_page(rows: Sequence[dict[str, Any]], unreadable: Sequence[str], folder: str) -> str:
    """The list of the runs of a folder, newest first, each a link to its page."""
    template = _environment().get_template("list.html.j2")
    return template.render(rows=rows, unreadable=unreadable, folder=folder)


# A comparison.


def _compared(runs: Sequence[SavedRun]) -> dict[str, Any] | None:
    """The comparison as the template has it; None of a single run."""
    if len(runs) < 2:
        return None
    try:
        has_front = len(runs) > 2 and bool(common_objectives([each.run for each in runs]))
        comparison = compare_runs(runs, with_pareto=has_front)
    except ConfigError as error:
        return {"why_not": error.message}
    names = {head.id: name_of(head.id, head.name) for head in comparison.runs}
    return {
        "why_not": None,
        "against": [
            {
                "verdict": verdict_line(one, names),
                "table": pairs_table(one, every=True),
                "changes": list(change_lines(one, every=False)),
                "questions": [*one.lost, *one.gained],
            }
            for one in comparison.against
        ],
        "several": several_table(comparison) if len(runs) > 2 else None,
        "pareto": _split(list(pareto_parts(comparison.pareto, names))) if comparison.pareto else None,
        "scatter": _scatter(comparison),
        "warnings": comparison.warnings,
        "differences": comparison.differences,
    }


def _split(parts: Sequence[ShownPart]) -> dict[str, list[Any]]:
    tables = [part for part in parts if isinstance(part, TextTable)]
    return {"tables": tables, "lines": [part for part in parts if not isinstance(part, TextTable)]}


def _scatter(comparison: Comparison) -> Markup | None:
    """Runs as points: score without cost and latency across, latency or cost up; the front is marked."""
    front = comparison.pareto
    if front is None:
        return None
    lower = [name for name, way in front.objectives.items() if way == "lower"]
    higher = [name for name, way in front.objectives.items() if way == "higher"]
    if not lower or not higher:
        return None
    axis = lower[0]
    points = [
        (sum(each.objectives[name] for name in higher) / len(higher), each.objectives[axis], each)
        for each in front.points
    ]
    most = max(y for _, y, _ in points) or 1.0
    dots = "".join(
        f'<g><circle cx="{40 + 340 * x:.1f}" cy="{170 - 150 * y / most:.1f}" r="5" '
        f'class="{"front" if each.on_front else "off"}"/>'
        f'<text x="{46 + 340 * x:.1f}" y="{166 - 150 * y / most:.1f}">{escape(printable(each.name))[:24]}</text></g>'
        for x, y, each in points
    )
    return Markup(
        f'<svg viewBox="0 0 420 200" role="img" aria-label="quality and {axis} of each run">'
        '<path d="M40 10V170H400" class="axis"/>'
        f'<text x="40" y="190">quality (mean of {escape(", ".join(higher))}) →</text>'
        f'<text x="4" y="10">{escape(axis)} ({escape(front.units[axis])})</text>{dots}</svg>'
    )


# One run.


@dataclass
class RunPage:
    """A run as the template has it.

    Attributes:
        saved: The run.
        prefix: Before the anchors of its questions.
    """

    saved: SavedRun
    prefix: str

    @property
    def head(self) -> dict[str, Any]:
        """Title, score, outcomes, notes."""
        run = self.saved.run
        return {
            "name": run.name,
            "id": run.id,
            "line": head_line(run),
            "score": score_line(run),
            "outcome": outcome_line(run),
            "wrong": wrong_headline(self.saved.results),
            "status": run.status,
            "parts": list(score_parts(run)),
            "cost": cost_lines(run),
            "judge": list(judge_lines(run)),
            "notes": notes_of(run),
            "below": list(scorecard_lines(run)),
            "hints": [hint.text for hint in applying(run.scorecard, run.outcomes)],
            "gates": [(gate, GATE_TONES[gate.outcome]) for gate in run.gates],
        }

    @property
    def title(self) -> str:
        """For the head of the page."""
        head = headline(self.saved.run)
        return f"{self.saved.run.name}: {head}"

    @property
    def counts(self) -> list[dict[str, Any]]:
        """What went wrong, with links to the first questions."""
        ids = self.saved.results.ids
        return [
            {
                "outcome": count.outcome,
                "count": len(count.rows),
                "questions": [(ids[row], f"{self.prefix}q{row}") for row in count.rows[:10]],
            }
            for count in count_outcomes(self.saved.results)
        ]

    @property
    def level(self) -> str:
        """Of the intervals."""
        return level(confidence(self.saved.run))

    @property
    def groups(self) -> list[dict[str, Any]]:
        """The scorecard by group."""
        card = self.saved.run.scorecard
        return [
            {"name": name, "metrics": [_metric(card.get(each)) for each in names if card.get(each).value is not None]}
            for name, names in card.by_group.items()
        ]

    @property
    def columns(self) -> list[str]:
        """The metrics that the list of questions shows: the first of each objective."""
        fed = self.saved.run.weighted_score.fed_by.values()
        return [names[0] for names in fed if names][:5]

    @property
    def histogram(self) -> Markup | None:
        """How latencies are distributed; None with fewer than ten."""
        column = self.saved.results.columns.get("latency_p50")
        if column is None:
            return None
        values = column.numbers[~np.isnan(column.numbers)]
        if len(values) < 10:
            return None
        counts, edges = np.histogram(values, bins=_BINS)
        most = counts.max()
        bars = "".join(
            f'<rect x="{place * 19}" y="{60 - 58 * count / most:.1f}" width="18" height="{58 * count / most:.1f}">'
            f"<title>{edges[place]:.0f} to {edges[place + 1]:.0f} ms: {count}</title></rect>"
            for place, count in enumerate(counts)
        )
        return Markup(
            f'<svg viewBox="0 0 380 78" role="img" aria-label="distribution of latency">{bars}'
            f'<text x="0" y="75">{edges[0]:.0f} ms</text>'
            f'<text x="380" y="75" text-anchor="end">{edges[-1]:.0f} ms</text></svg>'
        )

    @property
    def questions(self) -> Iterator[dict[str, Any]]:
        """Every question with what happened to it."""
        run, in_columns = self.saved.run, set(self.columns)
        for row, record in enumerate(self.saved.records()):
            ending = self.saved.ending(record)
            values = {one.name: f"{one.value:.3g}" for one in record.scores if one.value is not None}
            reasons: dict[str, list[str]] = {}
            for one in record.scores:
                if one.value is None and one.reason:
                    reasons.setdefault(one.reason, []).append(one.name)
            yield {
                "anchor": f"{self.prefix}q{row}",
                "question": record.question,
                "response": record.response,
                "outcome": ending.outcome,
                "why": ending.why,
                "remarks": remarks_on(record),
                "chunks": (chunks := _chunks(self.saved, record)),
                "hidden": len(record.response.chunks or []) - len(chunks) if record.response else 0,
                "missing": _missing(self.saved, record),
                "values": values,
                "others": {name: text for name, text in values.items() if name not in in_columns},
                "reasons": [f"{reason} ({len(names)})" for reason, names in reasons.items()],
                "verdicts": record.verdicts,
                "judged": run.judge is not None,
            }


def _metric(one: MetricSummary) -> dict[str, Any]:
    """A metric with the bar of its interval, where it has a range from 0 to 1."""
    bar = None
    if one.unit == "ratio" and one.value is not None and 0 <= one.value <= 1:
        low, high = one.ci or (one.value, one.value)
        low, high = max(0.0, low), min(1.0, high)
        bar = Markup(
            '<svg viewBox="0 0 100 10" class="bar" aria-hidden="true">'
            '<rect x="0" y="4" width="100" height="2" class="rail"/>'
            f'<rect x="{100 * low:.1f}" y="2" width="{max(1.0, 100 * (high - low)):.1f}" height="6" class="ci"/>'
            f'<rect x="{100 * one.value - 0.75:.1f}" y="0" width="1.5" height="10" class="value"/></svg>'
        )
    return {
        "name": one.name,
        "arrow": arrow(one.higher_is_better),
        "label": label_of(one.name),
        "remarks": ", ".join(remarks_of(one)),
        "value": value(one),
        "interval": interval(one),
        "n": one.sample_size,
        "bar": bar,
    }


def _chunks(saved: SavedRun, record: EvalRecord) -> list[dict[str, Any]]:
    """The first chunks, and those that hold gold or are cited, with the gold marked in their texts."""
    response = record.response
    if response is None or not response.chunks:
        return []
    sample = saved.settings.sample_of(record)
    hits = set(sample.matches.hit_ranks)
    cited = {source.place for source in sample.cited}
    golds = [gold.text for gold in record.question.gold_passages if gold.text]
    shown = []
    for rank, chunk in enumerate(response.chunks, start=1):
        is_gold, is_cited, text = rank in hits, rank - 1 in cited, chunk.text or ""
        if rank > _RANKS and not (is_gold or is_cited):
            continue
        if not is_gold:
            text = one_line(text, _CITED if is_cited else _OTHER)
        shown.append(
            {
                "rank": rank,
                "place": place_of(chunk),
                "is_gold": is_gold,
                "is_cited": is_cited,
                "text": marked(text, golds if is_gold else []),
            }
        )
    return shown


def marked(text: str, golds: Sequence[str]) -> Markup:
    """A text with the golds in it marked, where they stand in it letter by letter."""
    clean = printable(text)
    for gold in sorted(golds, key=len, reverse=True):
        start = clean.find(gold.strip())
        if start >= 0 and gold.strip():
            end = start + len(gold.strip())
            return Markup("{}<mark>{}</mark>{}").format(clean[:start], clean[start:end], clean[end:])
    return Markup("{}").format(clean)


def _missing(saved: SavedRun, record: EvalRecord) -> list[str]:
    """The golds that no chunk holds."""
    response = record.response
    if response is None or response.chunks is None:
        return []
    found = saved.settings.sample_of(record).matches.found
    golds = enumerate(record.question.gold_passages)
    return [
        f"{gold.document_id or ''} {gold.text or gold.chunk_id or ''}".strip() for at, gold in golds if at not in found
    ]
