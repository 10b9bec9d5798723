"""The judge's prompts: `evals prompts` copies them, `evals rubric` tries a judged metric on one answer."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evals.cli.flags import PromptsFlags, RubricFlags
from evals.cli.measuring import config_layers
from evals.cli.terminal import check_place, clean, console, print_json, show
from evals.config import EvalConfig
from evals.errors import ConfigError, UnknownNameError
from evals.judges.prompt import FOLDER, load_prompt, prompt_names
from evals.metrics.base import BaseMetric, Need
from evals.metrics.judged import decide_all, judged_abstention
from evals.report.elements import TableRow, TextTable
from evals.run.setup import check_config, make_judge
from evals.runtime import run_anywhere
from evals.schemas.results import EvalRecord
from evals.schemas.verdicts import JudgeVerdict, VerdictRequest
from evals.scoring.settings import ScoringContext, score_of
from evals.store.atomic import write_output
from evals.store.naming import DEFAULT_RUNS_DIR
from evals.store.runs import RunStore


def prompts(flags: PromptsFlags) -> None:
    """List our prompts, or write them to a folder, from which `judge.prompts` reads what was changed.

    Raises:
        ConfigError: The folder holds one of them already.
        StoreError: It cannot be written.
    """
    folder, out = flags.copy, console()
    if folder is None:
        prompts = map(load_prompt, prompt_names())
        rows = [TableRow([each.name, str(each.version), each.hash]) for each in prompts]
        show(out, [TextTable(("prompt", "version", "hash"), rows, words=("hash",))])
        out.print("\n--copy FOLDER writes them; keep what you change, and name the folder with `judge.prompts`")
        return
    check_place(folder, "--copy")
    there = next((path for name in prompt_names() if (path := folder / f"{name}.yml").exists()), None)
    if there is not None:
        raise ConfigError(f"{there} is there already", "name an empty folder: what you changed would be lost")
    folder.mkdir(parents=True, exist_ok=True)
    for name in prompt_names():
        write_output(folder / f"{name}.yml", (FOLDER / f"{name}.yml").read_bytes())
    out.print(f"wrote {len(prompt_names())} prompts to {folder}; change `system`, delete those that stay, and name the "
              f"folder in the configuration: judge: {{prompts: {folder}}}", soft_wrap=True)  # fmt: skip


def try_rubric(flags: RubricFlags) -> None:
    """Have the judge decide on one saved answer by a rubric, and print its prompt, its reply and the price.

    Raises:
        ConfigError: A judge does not decide on the metric.
        UnknownNameError: There is no such metric, or the run has no such question.
        RunNotFoundError: There is no such run.
        JudgeError: The judge cannot be used.
    """
    layers = config_layers(flags)
    store = RunStore(flags.runs_dir or DEFAULT_RUNS_DIR)
    run = store.load(flags.run)
    own = {key: value for key, value in run.eval_config.items() if key in {"judged", "judge", "prices"}}
    only = {"suite": [], "metrics": [flags.name], "gate": [], "judge": {"enabled": True, "batch": False}}
    config = EvalConfig.build(own, *layers, only)
    metric = next(each for each in check_config(config) if each.name == flags.name)
    if Need.JUDGE not in metric.needs:
        raise ConfigError(f"{flags.name} is not decided by a judge", "name a rubric, or another judged metric")
    records = {record.question.id: record for record in store.records(run)}
    if flags.question not in records:
        raise UnknownNameError("question", flags.question, records)
    told = run_anywhere(_tried(config, metric, records[flags.question]))
    if flags.as_json:
        print_json(json.dumps(told, indent=2, ensure_ascii=False))
    else:
        _print_tried(flags.name, told)


def _print_tried(name: str, told: Mapping[str, Any]) -> None:
    out = console()
    for call in told["calls"]:
        parts = {
            f"told ({call['request']}, prompt {call['prompt_hash']}):": call["system"],
            "given:": json.dumps(call["data"], indent=2, ensure_ascii=False),
            "said:": call["failure"] or json.dumps(call["reply"], indent=2, ensure_ascii=False),
        }
        for title, text in parts.items():
            out.print(clean(title), style="bold")
            out.print(clean(text), soft_wrap=True)
    found = told["reason"] if told["value"] is None else f"{told['value']:g}"
    out.print(clean(f"{name}: {found} ({_price(told)})"), style="bold")


def _price(told: Mapping[str, Any]) -> str:
    if not told["calls"]:
        return "nothing was asked"
    if told["cached"]:
        return "from the cache"
    return "of unknown price" if told["cost_usd"] is None else f"${told['cost_usd']:.4f}"


async def _tried(config: EvalConfig, metric: BaseMetric, record: EvalRecord) -> dict[str, Any]:
    """What the judge was asked about a record, what it said, and what follows."""
    settings = replace(config.score_settings(judged=True), declining=judged_abstention([metric]))
    case = ScoringContext(settings).of(record.model_copy(update={"verdicts": []}))
    judge = make_judge(config)
    try:
        requests = {request.name: request for request in await decide_all(metric, case, judge)}
    finally:
        await judge.aclose()
    result, verdicts = score_of(metric, case), case.verdicts
    costs = [verdict.cost_usd for verdict in verdicts if verdict.cost_usd is not None]
    return {
        "value": result.value,
        "reason": result.reason,
        "cost_usd": sum(costs) if len(costs) == len(verdicts) else None,
        "cached": all(verdict.cached for verdict in verdicts),
        "calls": [_call(requests[verdict.request], verdict) for verdict in verdicts],
    }


def _call(request: VerdictRequest, verdict: JudgeVerdict) -> dict[str, Any]:
    return {
        "request": request.name,
        "prompt_hash": verdict.prompt_hash,
        "system": load_prompt(request.prompt).system,
        "data": request.data,
        "reply": verdict.reply,
        "failure": verdict.failure and f"{verdict.failure}: {verdict.message}",
    }
