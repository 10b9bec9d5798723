"""What is said of a run as a whole: the block that its overview is drawn from."""

from typing import Any

import yaml

from evals.report.funnel import funnel
from evals.report.scorecard import not_measured, scorecard_groups
from evals.report.wrong_by import wrong_by_key
from evals.schemas import EvalRun
from evals.scoring.measured import Measured
from evals.scoring.risk_coverage import RiskCoverage
from evals.views.abstention import abstention_cells, abstention_rates
from evals.views.cost import cost_lines
from evals.views.formatting import plain, printable
from evals.views.hints import applying
from evals.views.judge_card import card_lines
from evals.views.judge_line import judge_line
from evals.views.links import link_lines
from evals.views.risk import risk_line
from evals.views.stages import stage_lines


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
