"""What is said of a run as a whole: the block that its overview is drawn from."""

from typing import Any

import yaml

from evals.report import wording
from evals.report.questions import wrong_by_key
from evals.schemas.results import EvalRun, MetricSummary
from evals.scoring.conclusion import Measured
from evals.scoring.config import headline, percent
from evals.scoring.diagnosis.counts import Diagnosis
from evals.scoring.diagnosis.stages import Link
from evals.scoring.settings import confidence

# First broken links as a funnel: how many questions got how far down the chain.

PLACES = {
    Link.TRANSPORT: ("answered", "transport"),
    Link.CORPUS: ("retrieved", "retrieval"),
    Link.NOT_RETRIEVED: ("retrieved", "retrieval"),
    Link.PART_RETRIEVED: ("retrieved", "retrieval"),
    Link.BELOW_K: ("retrieved", "retrieval"),
    Link.SHOULD_HAVE_ABSTAINED: ("used", "abstention"),
    Link.WRONG_ABSTENTION: ("used", "abstention"),
    Link.CONTRADICTS_REFERENCE: ("used", "generation"),
    Link.NO_MATCH_BY_WORDS: ("used", "generation"),
    Link.UNUSED: ("used", "generation"),
    Link.WRONG_CITATION: ("right", "citation"),
    Link.PARTLY_CORRECT: ("right", "generation"),
    Link.JUDGE_COULD_NOT_TELL: ("right", "generation"),
}
"""For each link the stage of the funnel before which it breaks, and the group of metrics that sees it."""

_STAGES = {
    "answered": "an answer came",
    "retrieved": "the gold was found, and sent on, as far as it is known",
    "used": "the answer makes use of it, and declines only where it should",
    "right": "nothing is known to have gone wrong",
}


def funnel(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """The stages, each with how many questions no link is known to have broken up to it, and which broke before it."""
    left = diagnosis.asked
    stages: list[dict[str, Any]] = [{"stage": "asked", "says": "questions asked", "count": left, "links": []}]
    for stage, says in _STAGES.items():
        broken = [one for one in diagnosis.links if PLACES[one.link][0] == stage]
        left -= sum(one.count for one in broken)
        links = [
            {
                "link": one.link.value,
                "label": one.link.label,
                "count": one.count,
                "share": one.share,
                "ci": one.interval,
            }
            for one in broken
        ]
        stages.append({"stage": stage, "says": says, "count": left, "links": links})
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
        "arrow": wording.arrow(summary.higher_is_better),
        "better": summary.higher_is_better,
        "unit": summary.unit,
        "value": summary.value,
        "shown": wording.value(summary),
        "ci": summary.ci,
        "interval": wording.interval(summary),
        "n": summary.sample_size,
        "remarks": _remarks(summary),
    }


def _remarks(summary: MetricSummary) -> list[str]:
    found = [
        wording.lost(summary),
        summary.reason,
        " ".join(f"{label} {count}" for label, count in summary.labels.items()),
    ]
    if summary.bounds is not None and summary.value is not None:
        found.append(f"with lost questions {wording.bounds(summary)}")
    return [wording.printable(remark) for remark in (*found, *wording.sampling(summary)) if remark]


def not_measured(run: EvalRun) -> list[dict[str, str]]:
    """What has no value, and why: metrics of the scorecard, then objectives of the weighted score and their metrics."""
    found = {one.name: one.reason or "no question has a value" for one in run.scorecard.metrics if one.value is None}
    weighted = run.weighted_score
    found |= {f"objective {name}": reason for name, reason in weighted.left_out.items()}
    for name, metrics in weighted.left_out_metrics.items():
        found |= {f"{metric} in objective {name}": reason for metric, reason in metrics.items()}
    return [{"name": name, "reason": wording.printable(reason)} for name, reason in found.items()]


def head_of(measured: Measured) -> dict[str, Any]:
    """What of a run is read without JavaScript: its headline, the scorecard, and what to know of both."""
    run = measured.run
    weighted, model, certainty = run.weighted_score, run.config.get("llm_model"), wording.level(confidence(run))
    score = [f"of {percent(headline(run).coverage)} of the weight"]
    score += [f"{certainty} interval {wording.score_range(weighted.ci)}"] if weighted.ci is not None else []
    score += [f"{wording.score_range(weighted.bounds)} with lost questions"] if weighted.bounds is not None else []
    stopped = f"; asking ended early: {run.outcomes.stopped}" if run.outcomes.stopped else ""
    asked = wording.questions_of(run.fingerprints, run.question_count)
    return {
        "run": run,
        "head": headline(run),
        "facts": [
            f"{run.server.url}{f' ({model})' if model else ''}",
            ", ".join(run.datasets),
            f"judge {run.judge.model}" if run.judge else "no judge",
            f"{run.created_at:%Y-%m-%d %H:%M} UTC{'' if run.is_unscored else f', {run.duration_s:.0f} s'}",
        ],
        "log": wording.in_its_log(measured.source) if run.is_unscored else "",
        "score": score,
        "remarks": list(wording.weighted_remarks(run, headline(run))),
        "outcomes": f"{asked}: {', '.join(wording.outcome_parts(run.outcomes))}{stopped}",
        "notes": [*wording.reading_notes(run.fingerprints), *run.notes, *wording.interval_notes(run)],
        "groups": scorecard_groups(run),
        "level": certainty,
    }


def overview_of(measured: Measured) -> dict[str, Any]:
    """What a page says of a run, but for what stands in its head; of one that did not finish, what is known of it."""
    run = measured.run
    hints = wording.applying(run.scorecard, run.outcomes)
    return {
        "id": run.id,
        "scored": not run.is_unscored,
        "scorecard": scorecard_groups(run),
        "cost": [wording.printable(line) for line in wording.cost_lines(run)],
        "judge": [wording.printable(line) for line in (wording.judge_line(run), *wording.card_lines(run)) if line],
        "notMeasured": not_measured(run),
        "hints": [{"text": one.text, "evidence": one.evidence(run.scorecard)} for one in hints],
        "gates": [
            {"gate": one.gate, "outcome": one.outcome, "message": wording.printable(one.message)} for one in run.gates
        ],
        "configuration": _configuration(run),
        **({} if run.is_unscored else _derived(measured)),
    }


def _derived(measured: Measured) -> dict[str, Any]:
    """What follows from the records of a finished run."""
    digest = measured.digest
    table, curve = measured.abstention, digest.risk
    stages = wording.stage_lines(digest.stages)
    points = [{"coverage": one.coverage, "risk": one.risk} for one in curve.points] if curve else []
    return {
        "funnel": funnel(digest.diagnosis),
        "links": list(wording.link_lines(digest.diagnosis)),
        "toVerify": [measured.source[number].question.id for number in digest.to_verify],
        "slices": wrong_by_key(measured),
        "abstention": table and {"cells": wording.abstention_cells(table), "rates": wording.abstention_rates(table)},
        "risk": curve and {"line": wording.risk_line(curve), "points": points},
        "stages": [{"name": wording.printable(name), "said": said} for name, said in stages],
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
    written = {
        title: str(yaml.safe_dump(part, allow_unicode=True, sort_keys=False, width=100))
        for title, part in parts.items()
        if part
    }
    return [{"title": title, "text": wording.plain(text)} for title, text in written.items()]
