"""What is said of a run as a whole: the block that its overview is drawn from."""

from dataclasses import asdict
from typing import Any

import yaml

from evals.report import hints, parts, wording
from evals.report.elements import TextTable, grid
from evals.report.questions import wrong_by_key
from evals.schemas.results import EvalRun, MetricSummary
from evals.scoring.conclusion import Measured
from evals.scoring.config import confidence, headline
from evals.scoring.diagnosis.counts import Diagnosis
from evals.scoring.diagnosis.stages import Link
from evals.text.numbers import counted

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
"""For each first failure the stage of the funnel that the question does not reach, and the group of its metrics."""


def failures(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """How many questions failed first in which way, over all questions that were asked."""
    return [
        {
            "link": one.link.value,
            "label": one.link.label,
            "stage": PLACES[one.link][0],
            **one.model_dump(include={"count", "share", "interval"}),
        }
        for one in diagnosis.links
    ]


# The scorecard as a page shows it: the same words as on the terminal, and the numbers for the charts.


def scorecard_groups(run: EvalRun) -> list[dict[str, Any]]:
    """The groups in their order, each with its metrics."""
    return [
        {"group": group, "metrics": [metric_row(run.scorecard.get(name)) for name in names]}
        for group, names in run.scorecard.by_group.items()
    ]


def metric_row(summary: MetricSummary) -> dict[str, Any]:
    """A metric: its name, value and interval in words and as numbers, its clusters and remarks."""
    sample = summary.interval
    remarks = wording.remarks_of(summary.model_copy(update={"interval": None}))
    return {
        "name": summary.name,
        "label": wording.label_of(summary.name),
        "arrow": wording.arrow(summary.higher_is_better),
        "unit": summary.unit,
        "value": summary.value,
        "shown": wording.value(summary),
        "ci": summary.ci,
        "interval": wording.interval(summary),
        "n": summary.sample_size,
        "clusters": sample.clusters if sample is not None and sample.clusters != sample.n else None,
        "remarks": [*remarks, *([wording.printable(sample.note)] if sample is not None and sample.note else [])],
    }


def head_of(measured: Measured) -> dict[str, Any]:
    """What of a run is read without JavaScript: its headline, the scorecard, and what to know of both."""
    run = measured.run
    return {
        "run": run,
        "head": headline(run),
        "facts": parts.facts_of(run),
        "log": parts.in_its_log(measured.source) if run.is_unscored else "",
        "score": parts.score_texts(run),
        "remarks": list(parts.score_remarks(run)),
        "outcomes": parts.outcome_line(run),
        "notes": parts.notes_of(run),
        "groups": scorecard_groups(run),
        "clusters": _clusters_line(run),
        "level": wording.level(confidence(run)),
    }


def _clusters_line(run: EvalRun) -> str:
    """How many clusters the questions of metrics form, each number once; empty where every question is independent."""
    found = [one.interval for one in run.scorecard.metrics if one.interval is not None]
    pairs = sorted({(one.n, one.clusters) for one in found if one.clusters != one.n}, reverse=True)
    return ", ".join(f"{counted(n, 'question')} in {clusters} clusters" for n, clusters in pairs)


def _not_measured(run: EvalRun) -> TextTable:
    """Metrics of the scorecard, and objectives of the score with their metrics, that have no value, and why."""
    found = {one.name: one.reason or "no question has a value" for one in run.scorecard.metrics if one.value is None}
    found |= {f"objective {name}": reason for name, reason in run.weighted_score.left_out.items()}
    for name, metrics in run.weighted_score.left_out_metrics.items():
        found |= {f"{metric} in objective {name}": reason for metric, reason in metrics.items()}
    rows = [(name, wording.printable(reason)) for name, reason in found.items()]
    return grid("Metrics and objectives without a value", ["name", "reason"], rows)


def overview_of(measured: Measured) -> dict[str, Any]:
    """What a page says of a run besides its head; of one that did not finish, what is known of it."""
    run = measured.run
    return {
        "id": run.id,
        "scored": not run.is_unscored,
        "scorecard": scorecard_groups(run),
        "notMeasured": asdict(_not_measured(run)),
        "cost": list(map(wording.printable, parts.cost_lines(run))),
        "judge": list(map(wording.printable, parts.judge_lines(run))),
        "hints": [
            {"text": one.text, "evidence": one.evidence(run.scorecard)}
            for one in hints.applying(run.scorecard, run.outcomes)
        ],
        "gates": [
            {"gate": one.gate, "outcome": one.outcome, "message": wording.printable(one.message)} for one in run.gates
        ],
        "configuration": _configuration(run),
        **({} if run.is_unscored else _derived(measured)),
    }


def _derived(measured: Measured) -> dict[str, Any]:
    """What follows from the records of a finished run."""
    digest = measured.digest
    curve = digest.risk
    return {
        "failures": failures(digest.diagnosis),
        "links": list(parts.link_lines(digest.diagnosis))[len(digest.diagnosis.links) :],
        "slices": wrong_by_key(measured),
        "abstention": list(map(asdict, parts.abstention_tables(measured.abstention))),
        "risk": curve and {"line": parts.risk_line(curve), "points": [one.model_dump() for one in curve.points]},
        "stages": list(map(asdict, parts.stage_tables(digest.stages))),
    }


def _configuration(run: EvalRun) -> list[dict[str, str]]:
    """What was set, and what the server said of itself; credentials are not in a saved run."""
    known = {
        "evals": run.eval_config,
        "server, as reported at the start": run.config,
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
    return [
        {"title": title, "text": wording.plain(yaml.safe_dump(part, allow_unicode=True, sort_keys=False, width=100))}
        for title, part in known.items()
        if part
    ]
