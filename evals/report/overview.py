"""What is said of a run as a whole: the block that its overview is drawn from."""

from collections.abc import Iterator
from functools import partial
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
from evals.scoring.conclusion import Measured
from evals.scoring.config import headline, percent
from evals.scoring.diagnosis.counts import Diagnosis
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
        links_of = [
            {
                "link": one.link.value,
                "label": one.link.label,
                "count": one.count,
                "share": one.share,
                "ci": one.interval,
            }
            for one in broken
        ]
        stages.append({"stage": stage, "says": says, "count": left, "links": links_of})
    return stages


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


def head_of(measured: Measured) -> dict[str, Any]:
    """What of a run is read without JavaScript: its headline, the scorecard, and what to know of both."""
    run = measured.run
    weighted, model, certainty = run.weighted_score, run.config.get("llm_model"), level(confidence(run))
    score = [f"of {percent(headline(run).coverage)} of the weight"]
    score += [f"{certainty} interval {score_range(weighted.ci)}"] if weighted.ci is not None else []
    score += [f"{score_range(weighted.bounds)} with lost questions"] if weighted.bounds is not None else []
    stopped = f"; asking ended early: {run.outcomes.stopped}" if run.outcomes.stopped else ""
    asked = questions_of(run.fingerprints, run.question_count)
    return {
        "run": run,
        "head": headline(run),
        "facts": [
            f"{run.server.url}{f' ({model})' if model else ''}",
            ", ".join(run.datasets),
            f"judge {run.judge.model}" if run.judge else "no judge",
            f"{run.created_at:%Y-%m-%d %H:%M} UTC{'' if run.is_unscored else f', {run.duration_s:.0f} s'}",
        ],
        "log": in_its_log(measured.source) if run.is_unscored else "",
        "score": score,
        "remarks": list(weighted_remarks(run, headline(run))),
        "outcomes": f"{asked}: {', '.join(outcome_parts(run.outcomes))}{stopped}",
        "notes": [*reading_notes(run.fingerprints), *run.notes, *interval_notes(run)],
        "groups": scorecard_groups(run),
        "level": certainty,
    }


def overview_of(measured: Measured) -> dict[str, Any]:
    """What a page says of a run, but for what stands in its head; of one that did not finish, what is known of it."""
    run = measured.run
    return {
        "id": run.id,
        "scored": not run.is_unscored,
        "scorecard": scorecard_groups(run),
        "cost": [printable(line) for line in cost_lines(run)],
        "judge": [printable(line) for line in (judge_line(run), *card_lines(run)) if line],
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
    points = [{"coverage": one.coverage, "risk": one.risk} for one in curve.points] if curve else []
    return {
        "funnel": funnel(digest.diagnosis),
        "links": list(link_lines(digest.diagnosis)),
        "toVerify": [measured.source[number].question.id for number in digest.to_verify],
        "slices": wrong_by_key(measured),
        "abstention": table and {"cells": abstention_cells(table), "rates": abstention_rates(table)},
        "risk": curve and {"line": risk_line(curve), "points": points},
        "stages": [{"name": printable(name), "said": said} for name, said in stage_lines(digest.stages)],
    }


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
    written = partial(yaml.safe_dump, allow_unicode=True, sort_keys=False, width=100)
    return [{"title": title, "text": plain(written(part))} for title, part in parts.items() if part]
