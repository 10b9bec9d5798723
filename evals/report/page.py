"""Runs as one HTML page: verdict and score, what went wrong, scorecard, comparison, every question.

The page reads without JavaScript and loads nothing; `page.js` sorts, filters and pages the questions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup

from evals.compare.models import Comparison
from evals.compare.paired import compare_runs
from evals.compare.pareto import common_objectives
from evals.errors import ConfigError
from evals.report import summary, wording
from evals.report.compared import comparison_parts
from evals.report.summary import applying
from evals.report.wording import by_reason, level, missing_golds, place_of
from evals.schemas.results import EvalRecord, EvalRun, MetricSummary
from evals.scoring.config import confidence, headline
from evals.scoring.outcomes import Outcome, count_outcomes, remarks_on, wrong_headline
from evals.scoring.saved import SavedRun
from evals.store.atomic import write_output
from evals.text.foreign import one_line, printable

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
    environment.globals |= {"summary": summary, "wording": wording}  # terminal and Markdown say the same
    environment.globals |= {"applying": applying, "bar": bar, "wrong_headline": wrong_headline}
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


def list_page(runs: Sequence[EvalRun], unreadable: Sequence[str], folder: str) -> str:
    """The list of the runs of a folder, in the order given, each a link to its page."""
    template = _environment().get_template("list.html.j2")
    rows = [(summary.server_of(run), run, str(headline(run))) for run in runs]
    return template.render(rows=rows, unreadable=unreadable, folder=folder)


# A comparison.


def _compared(runs: Sequence[SavedRun]) -> dict[str, Any] | None:
    """What the terminal says of a comparison, and a picture of its front; None of a single run."""
    if len(runs) < 2:
        return None
    try:
        has_front = len(runs) > 2 and bool(common_objectives([saved.run for saved in runs]))
        comparison = compare_runs(runs, with_pareto=has_front)
    except ConfigError as error:
        return {"why_not": error.message}
    return {"parts": [*comparison_parts(comparison, every=True)], "scatter": _scatter(comparison)}


def _scatter(comparison: Comparison) -> dict[str, Any] | None:
    """Runs as points: score without cost and latency across, latency or cost up; None without both."""
    front = comparison.pareto
    lower = [name for name, way in front.objectives.items() if way == "lower"] if front else []
    higher = [name for name, way in front.objectives.items() if way == "higher"] if front else []
    if front is None or not lower or not higher:
        return None
    points = [
        (sum(point.objectives[name] for name in higher) / len(higher), point.objectives[lower[0]], point)
        for point in front.points
    ]
    most = max(y for _, y, _ in points) or 1.0
    return {
        "axis": lower[0],
        "unit": front.units[lower[0]],
        "quality": ", ".join(higher),
        "points": [{"x": x, "y": y / most, "name": point.name, "on_front": point.on_front} for x, y, point in points],
    }


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
    def title(self) -> str:
        """For the head of the page."""
        return f"{self.saved.run.name}: {headline(self.saved.run)}"

    @property
    def counts(self) -> list[tuple[Outcome, int, list[tuple[str, str]]]]:
        """What went wrong, how often, and the first questions with their anchors."""
        ids = self.saved.results.ids
        return [
            (count.outcome, len(count.rows), [(ids[row], f"{self.prefix}q{row}") for row in count.rows[:10]])
            for count in count_outcomes(self.saved.results)
        ]

    @property
    def level(self) -> str:
        """Of the intervals."""
        return level(confidence(self.saved.run))

    @property
    def groups(self) -> list[tuple[str, list[MetricSummary]]]:
        """The metrics that have a value, by group."""
        card = self.saved.run.scorecard
        valued = {one.name: one for one in card.metrics if one.value is not None}
        groups = [(group, [valued[name] for name in names if name in valued]) for group, names in card.by_group.items()]
        return [(group, metrics) for group, metrics in groups if metrics]

    @property
    def columns(self) -> list[str]:
        """The metrics that the list of questions shows: the first of each objective."""
        fed = self.saved.run.weighted_score.fed_by.values()
        return [names[0] for names in fed if names][:5]

    @property
    def histogram(self) -> list[tuple[float, float, int]] | None:
        """How latencies are distributed: ends of each bin in milliseconds, and its count; None with fewer than ten."""
        column = self.saved.results.columns.get("latency_p50")
        values = column.numbers[~np.isnan(column.numbers)] if column is not None else np.array([])
        if len(values) < 10:
            return None
        counts, edges = np.histogram(values, bins=_BINS)
        return [*zip(edges.tolist(), edges[1:].tolist(), counts.tolist(), strict=False)]

    @property
    def questions(self) -> Iterator[dict[str, Any]]:
        """Every question with what happened to it."""
        run, in_columns = self.saved.run, set(self.columns)
        for row, record in enumerate(self.saved.records()):
            ending = self.saved.ending(record)
            values = {score.name: f"{score.value:.3g}" for score in record.scores if score.value is not None}
            reasons = by_reason((score.name, score.reason or None) for score in record.scores if score.value is None)
            yield {
                "anchor": f"{self.prefix}q{row}",
                "question": record.question,
                "response": record.response,
                "outcome": ending.outcome,
                "why": ending.why,
                "remarks": remarks_on(record),
                "chunks": (chunks := _chunks(self.saved, record)),
                "hidden": len(record.response.chunks or []) - len(chunks) if record.response else 0,
                "missing": list(missing_golds(self.saved.settings.sample_of(record))),
                "values": values,
                "others": {name: text for name, text in values.items() if name not in in_columns},
                "reasons": [f"{reason} ({len(names)})" for reason, names in reasons.items()],
                "verdicts": record.verdicts,
                "judged": run.judge is not None,
            }


def bar(one: MetricSummary) -> tuple[float, float, float] | None:
    """Interval and value of a metric as a bar from 0 to 1; None where it has another range."""
    if one.unit != "ratio" or one.value is None or not 0 <= one.value <= 1:
        return None
    low, high = one.ci or (one.value, one.value)
    return max(0.0, low), min(1.0, high), one.value


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
