"""`--dry-run`: what would be done, without asking a server or a judge."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import typer

from evals.cli.terminal.console import console
from evals.config import EvalConfig
from evals.credentials.stored import public_url
from evals.metrics.base import BaseMetric, Need
from evals.run.checks import check_config, refusal_for_key, wants_judge
from evals.run.estimate import Estimate
from evals.run.instruments import estimate_of
from evals.run.saved import estimate_saved
from evals.run.work import Work
from evals.run.workload import check_conversations, load_workload
from evals.text.counts import counted
from evals.views.questions import questions_of, reading_notes


def describe_asking(config: EvalConfig, *, as_json: bool) -> None:
    """Say what `eval` would do.

    Raises:
        EvalsError: It could not be done.
    """
    metrics = check_config(config, asking=False)
    workload = load_workload(config)
    check_conversations(config.server_spec(), workload.questions)
    estimate = estimate_of(config, metrics, workload.questions, workload.documents)
    plan: dict[str, Any] = {
        "server": "embedded" if config.embedded else public_url(config.rag_server_url),
        "profile": config.server_spec().profile,
        "questions": len(workload.questions),
        "datasets": [each.model_dump(mode="json") for each in workload.fingerprints],
        "seed": config.seed,
        "concurrency": config.concurrency,
        "upload_documents": len(workload.documents) if config.ingest or config.embedded else 0,
        **_measuring(metrics, config, estimate),
        "runs_dir": str(config.runs_dir),
    }
    asked = questions_of(workload.fingerprints, len(workload.questions))
    lines = [
        f"would ask {plan['server']} {asked}, {config.concurrency} at a time, nothing asked",
        *(
            f"  {e.name}: {questions_of([e], e.questions)}, {counted(e.documents, 'document')}, from {e.source}"
            for e in workload.fingerprints
        ),
        *reading_notes(workload.fingerprints),
        *([f"would upload {counted(plan['upload_documents'], 'document')} first"] if plan["upload_documents"] else []),
        *_measured(plan, estimate),
        f"seed {config.seed}, runs in {config.runs_dir}",
    ]
    _print(plan, lines, as_json=as_json)


def describe_measuring(work: Work, metrics: Sequence[BaseMetric], config: EvalConfig, *, as_json: bool) -> None:
    """Say what `rescore` and `score` would do over answers that are there.

    Raises:
        EvalsError: It could not be done.
    """
    estimate = estimate_saved(work, metrics, config)
    answered = len(work.answered)
    plan: dict[str, Any] = {
        "source": work.run.rescored_from or work.run.server.url,
        "questions": len(work.questions),
        "answered": answered,
        **_measuring(metrics, config, estimate),
        "runs_dir": str(config.runs_dir),
    }
    lines = [
        f"would measure {counted(answered, 'answer')} to {counted(len(work.questions), 'question')} "
        f"of {plan['source']}, nothing judged",
        *_measured(plan, estimate),
        f"runs in {config.runs_dir}",
    ]
    _print(plan, [*work.notes, *lines], as_json=as_json)


def _measuring(metrics: Sequence[BaseMetric], config: EvalConfig, estimate: Estimate | None) -> dict[str, Any]:
    judged = wants_judge(config, metrics)
    refusal = refusal_for_key(config, metrics)
    return {
        "metrics": [metric.name for metric in metrics if judged or Need.JUDGE not in metric.needs],
        "judge": config.judge.model if judged else None,
        "estimate": asdict(estimate) if estimate else None,
        "refusal": {"message": refusal.message, "hint": refusal.hint} if refusal else None,
    }


def _measured(plan: dict[str, Any], estimate: Estimate | None) -> list[str]:
    judge = f"would judge with {plan['judge']}: {estimate}" if plan["judge"] else "no judge"
    return [f"would compute {', '.join(plan['metrics'])}", judge, *_refused(plan["refusal"])]


def _refused(refusal: dict[str, str] | None) -> list[str]:
    """What would stop the run before it begins; a plan is made all the same."""
    if refusal is None:
        return []
    return [f"! as it stands the run would refuse to begin: {refusal['message']}", f"  {refusal['hint']}"]


def _print(plan: dict[str, Any], lines: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(plan, indent=2))
        return
    for line in lines:
        console().print(line)
