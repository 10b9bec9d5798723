"""What is said of a run as a whole: the block that its overview is drawn from."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import yaml

from evals.report.questions import wrong_by_key
from evals.report.wording import (
    abstention_cells,
    abstention_rates,
    applying,
    arrow,
    bounds,
    card_lines,
    cost_lines,
    in_its_log,
    interval,
    interval_notes,
    judge_line,
    level,
    link_lines,
    lost,
    one_line,
    outcome_parts,
    plain,
    printable,
    questions_of,
    reading_notes,
    risk_line,
    sampling,
    score_range,
    stage_lines,
    value,
    weighted_remarks,
)
from evals.schemas.results import EvalRun, MetricSummary
from evals.scoring.abstention import RiskCoverage
from evals.scoring.conclusion import Measured
from evals.scoring.config import headline, percent
from evals.scoring.diagnosis.counts import Diagnosis, LinkCount
from evals.scoring.diagnosis.stages import Link
from evals.scoring.settings import confidence

# First broken links as a funnel: how many questions got how far down the chain.


_STAGES: tuple[tuple[str, str, frozenset[Link]], ...] = (
    ("answered", "an answer came", frozenset({Link.TRANSPORT})),
    (
        "retrieved",
        "the gold was found, and sent on, as far as it is known",
        frozenset({Link.CORPUS, Link.NOT_RETRIEVED, Link.PART_RETRIEVED, Link.BELOW_K}),
    ),
    (
        "used",
        "the answer makes use of it, and declines only where it should",
        frozenset(
            (
                *(Link.SHOULD_HAVE_ABSTAINED, Link.WRONG_ABSTENTION, Link.CONTRADICTS_REFERENCE),
                *(Link.NO_MATCH_BY_WORDS, Link.UNUSED),
            )
        ),
    ),
    (
        "right",
        "nothing is known to have gone wrong",
        frozenset({Link.WRONG_CITATION, Link.PARTLY_CORRECT, Link.JUDGE_COULD_NOT_TELL}),
    ),
)
"""Each stage with the links that break before it. `Link` has them in the order of the chain, and so have the stages."""


def funnel(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """The stages, each with how many questions no link is known to have broken up to it, and which broke before it."""
    left = diagnosis.asked
    stages: list[dict[str, Any]] = [{"stage": "asked", "says": "questions asked", "count": left, "links": []}]
    for stage, says, links in _STAGES:
        broken = [one for one in diagnosis.links if one.link in links]
        left -= sum(one.count for one in broken)
        stages.append({"stage": stage, "says": says, "count": left, "links": [_told(one) for one in broken]})
    return stages


def _told(one: LinkCount) -> dict[str, Any]:
    link = one.link
    return {"link": link.value, "label": link.label, "count": one.count, "share": one.share, "ci": one.interval}


# The scorecard as a page shows it: the same words as on the terminal, and the numbers for the charts.


def scorecard_groups(run: EvalRun) -> list[dict[str, Any]]:
    """The groups in their order, each with its metrics."""
    return [
        {"group": group, "metrics": [metric_row(run.scorecard.get(name)) for name in names]}
        for group, names in run.scorecard.by_group.items()
    ]


def metric_row(summary: MetricSummary) -> dict[str, Any]:
    """A metric: its name, value and interval in words and as numbers, and what there is to remark on it."""
    return {
        "name": summary.name,
        "arrow": arrow(summary.higher_is_better),
        "better": summary.higher_is_better,
        "unit": summary.unit,
        "value": summary.value,
        "shown": value(summary),
        "ci": summary.ci,
        "interval": interval(summary),
        "n": summary.sample_size,
        "remarks": [printable(remark) for remark in _remarks(summary)],
    }


def _remarks(summary: MetricSummary) -> Iterator[str]:
    yield from (remark for remark in (lost(summary), summary.reason) if remark)
    if summary.labels:
        yield " ".join(f"{label} {count}" for label, count in summary.labels.items())
    if summary.bounds is not None and summary.value is not None:
        yield f"with lost questions {bounds(summary)}"
    yield from sampling(summary)


def not_measured(run: EvalRun) -> list[dict[str, str]]:
    """What has no value, and why: metrics of the scorecard, then objectives of the weighted score and their metrics."""
    found = {one.name: one.reason or "no question has a value" for one in run.scorecard.metrics if one.value is None}
    weighted = run.weighted_score
    found |= {f"objective {name}": reason for name, reason in weighted.left_out.items()}
    for name, metrics in weighted.left_out_metrics.items():
        found |= {f"{metric} in objective {name}": reason for metric, reason in metrics.items()}
    return [{"name": name, "reason": printable(reason)} for name, reason in found.items()]


# What of a run is read without JavaScript: its headline, the scorecard, and what to know of both.


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


def overview_of(measured: Measured) -> dict[str, Any]:
    """What a page says of a run, but for what stands in its head; of one that did not finish, what is known of it."""
    run = measured.run
    return {
        "id": run.id,
        "scored": not run.is_unscored,
        "scorecard": scorecard_groups(run),
        "cost": [printable(line) for line in cost_lines(run)],
        "judge": _judge(run),
        "notMeasured": not_measured(run),
        "hints": [
            {"text": one.text, "evidence": one.evidence(run.scorecard)} for one in applying(run.scorecard, run.outcomes)
        ],
        "gates": [{"gate": one.gate, "outcome": one.outcome, "message": printable(one.message)} for one in run.gates],
        "configuration": _configuration(run),
        **({} if run.is_unscored else _derived(measured)),
    }


def _derived(measured: Measured) -> dict[str, Any]:
    """What follows from the records of a finished run."""
    digest = measured.digest
    table, curve = measured.abstention, digest.risk
    return {
        "funnel": funnel(digest.diagnosis),
        "links": list(link_lines(digest.diagnosis)),
        "toVerify": [measured.source[number].question.id for number in digest.to_verify],
        "slices": wrong_by_key(measured),
        "abstention": table and {"cells": abstention_cells(table), "rates": abstention_rates(table)},
        "risk": curve and _risk(curve),
        "stages": [{"name": printable(name), "said": said} for name, said in stage_lines(digest.stages)],
    }


def _risk(curve: RiskCoverage) -> dict[str, Any]:
    points = [{"coverage": one.coverage, "risk": one.risk} for one in curve.points]
    return {"line": risk_line(curve), "points": points}


def _judge(run: EvalRun) -> list[str]:
    line = judge_line(run)
    return [] if line is None else [printable(said) for said in (line, *card_lines(run))]


def _configuration(run: EvalRun) -> list[dict[str, str]]:
    """What was set, and what the server said of itself; credentials are not in a saved run."""
    parts = {
        "evals": run.eval_config,
        "server, as it said at the start": run.config,
        "datasets": [one.model_dump(mode="json", exclude_defaults=True) for one in run.fingerprints],
        "versions": run.package_versions,
        "run": {
            "seed": run.seed,
            "concurrency": run.concurrency,
            "profile": run.server.profile,
            "prompts": run.judge.prompt_hashes if run.judge else {},
            "rescored from": run.rescored_from,
        },
    }
    return [{"title": title, "text": plain(_as_yaml(part))} for title, part in parts.items() if part]


def _as_yaml(part: Any) -> str:
    return yaml.safe_dump(part, allow_unicode=True, sort_keys=False, width=100)
