"""What of a run is read without JavaScript: its headline, the scorecard, and what to know of both."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from evals.report.scorecard import scorecard_groups
from evals.schemas import EvalRun
from evals.scoring.headline import headline, percent
from evals.scoring.measured import Measured
from evals.scoring.settings import confidence
from evals.views.formatting import level, one_line, plain, score_range
from evals.views.intervals import interval_notes
from evals.views.outcomes import outcome_parts
from evals.views.questions import questions_of, reading_notes
from evals.views.unfinished import in_its_log
from evals.views.weighted import weighted_remarks

_LONGEST = 300
_MOST_NOTES = 50


def runs_head(runs: Sequence[Measured]) -> Iterator[str]:
    """A section for each run."""
    for measured in runs:
        yield f'<section class="run" data-run="{escape(measured.run.id)}">\n'
        yield from _run_head(measured)
        yield "</section>\n"


def _run_head(measured: Measured) -> Iterator[str]:
    run = measured.run
    yield f'<h2><bdi dir="auto">{_text(run.name, 200)}</bdi></h2>\n<p class="facts">{_facts(run)}</p>\n'
    if run.is_unscored:
        yield f'<p class="score none">This run did not finish: {escape(in_its_log(measured.source))}.</p>\n'
    else:
        yield f"{_score(run)}\n"
        yield f'<p class="outcomes">{_text(_outcomes(run), 1000)}</p>\n'
    notes = [*reading_notes(run.fingerprints), *run.notes, *interval_notes(run)]
    yield _list("notes", "To know of these numbers", notes)
    yield from _scorecard(run)


def _facts(run: EvalRun) -> str:
    """Who was asked what, when, and by which judge."""
    model = run.config.get("llm_model")
    facts = [
        f"<code>{escape(run.id)}</code>",
        f'<span class="status {escape(run.status)}">{"unfinished" if run.is_unscored else escape(run.status)}</span>',
        _text(f"{run.server.url}{f' ({model})' if model else ''}", _LONGEST),
        _text(", ".join(run.datasets), _LONGEST),
        _text(f"judge {run.judge.model}" if run.judge else "no judge", _LONGEST),
        f"{run.created_at:%Y-%m-%d %H:%M} UTC{'' if run.is_unscored else f', {run.duration_s:.0f} s'}",
    ]
    return " · ".join(facts)


def _outcomes(run: EvalRun) -> str:
    asked = questions_of(run.fingerprints, run.question_count)
    stopped = f"; asking ended early: {run.outcomes.stopped}" if run.outcomes.stopped else ""
    return f"{asked}: {', '.join(outcome_parts(run.outcomes))}{stopped}"


def _score(run: EvalRun) -> str:
    """The weighted score with its coverage and intervals, or why there is none, and what it is made of."""
    head, weighted = headline(run), run.weighted_score
    made_of = _list("remarks", "", [*weighted_remarks(run, head)])
    if head.score is None:
        return f'<p class="score none">No weighted score: {_text(head.reason or "", _LONGEST)}</p>\n{made_of}'
    told = [f"of {percent(head.coverage)} of the weight"]
    if weighted.ci is not None:
        told.append(f"{level(confidence(run))} interval {score_range(weighted.ci)}")
    if weighted.bounds is not None:
        told.append(f"{score_range(weighted.bounds)} with lost questions")
    return (
        f'<p class="score"><span class="label">Weighted score</span> <strong>{head.score:.3f}</strong> '
        f"{escape(', '.join(told))}</p>\n{made_of}"
    )


def _list(kind: str, title: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    more = [f"… and {len(lines) - _MOST_NOTES} more"] if len(lines) > _MOST_NOTES else []
    items = "".join(f'<li dir="auto">{_text(line, 1000)}</li>' for line in [*lines[:_MOST_NOTES], *more])
    head = f"<h3>{escape(title)}</h3>" if title else ""
    return f'<div class="{kind}">{head}<ul>{items}</ul></div>\n'


def _scorecard(run: EvalRun) -> Iterator[str]:
    """A table for each group, into which charts are put where there is JavaScript."""
    groups = scorecard_groups(run)
    if not groups:
        return
    yield "<h3>Scorecard</h3>\n"
    for group in groups:
        name = escape(group["group"])
        yield f'<div class="group" data-group="{name}">\n<table class="scorecard">\n<caption>{name}</caption>\n'
        yield '<thead><tr><th scope="col">metric</th><th scope="col">value</th>'
        yield f'<th scope="col">{level(confidence(run))} interval</th><th scope="col">n</th></tr></thead>\n<tbody>\n'
        yield from map(_row, group["metrics"])
        yield "</tbody>\n</table>\n</div>\n"


def _row(metric: dict[str, Any]) -> str:
    remarks = f'<div class="remark">{_text(", ".join(metric["remarks"]), 600)}</div>' if metric["remarks"] else ""
    empty = ' class="empty"' if metric["value"] is None else ""
    return (
        f'<tr{empty}><th scope="row">{_text(metric["name"], 100)} {metric["arrow"]}{remarks}</th>'
        f"<td>{escape(metric['shown'])}</td><td>{escape(metric['interval'])}</td><td>{metric['n']}</td></tr>\n"
    )


def _text(text: str, limit: int) -> str:
    """Foreign text on one line, without what steers or hides, escaped."""
    return escape(one_line(plain(text), limit))
