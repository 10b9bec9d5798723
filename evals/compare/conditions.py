"""What makes runs hard to compare, and what else differs between them."""

from collections.abc import Mapping, Sequence
from typing import Any

from evals.compare.latency import same_load
from evals.compare.pairing import Pairing, Side
from evals.compare.withheld import find_obstacles
from evals.schemas import EvalRun
from evals.scoring.digest.run_columns import taken
from evals.text.counts import counted

_APPROXIMATE = "cost is approximate"
"""How the note of a run begins whose server counts the tokens of parallel questions together."""
_PACKAGE = "rag-evals"
FEW = 20
"""Fewer common questions than these are worth a warning."""
_SHOWN = 40
"""Characters of a value of a configuration."""


def find_warnings(pairing: Pairing) -> list[str]:
    """What a reader must know before believing the comparison."""
    obstacles = [
        f"{obstacle.reason}: no verdict on {obstacle.concerned}"
        for obstacle in find_obstacles(pairing)
        if obstacle.warned_of
    ]
    return [*_about_questions(pairing), *_about_conditions(pairing.runs), *obstacles, *_about_judges(pairing.runs)]


def _about_questions(pairing: Pairing) -> list[str]:
    warnings = []
    common, asked = len(pairing.ids), [run.question_count for run in pairing.runs]
    prints = {tuple(sorted((f.name, f.sha256) for f in run.fingerprints)) for run in pairing.runs}
    if len(prints) > 1:
        counts = ", ".join(f"{run.id} {run.question_count}" for run in pairing.runs)
        warnings.append(f"the runs were not asked the same questions ({counts}): compared are those they share")
    if common < FEW or 2 * common < max(asked):
        warnings.append(
            f"only {counted(common, 'question', 'is')} common: differences are uncertain, and say little of the rest"
        )
    if pairing.reworded:
        warnings.append(f"left out: {counted(len(pairing.reworded), 'id', 'stands')} for different questions")
    return warnings


def _about_conditions(runs: Sequence[EvalRun]) -> list[str]:
    warnings = [_incomplete(run) for run in runs if run.status != "complete"]
    return [*warnings, *_about_load(runs), *_about_cost(runs)]


def _incomplete(run: EvalRun) -> str:
    if run.is_unscored:
        return f"run {run.id} did not finish, and none of it is scored yet"
    return f"run {run.id} is {run.status}"


def _about_load(runs: Sequence[EvalRun]) -> list[str]:
    warnings = []
    if len({run.judge is not None and run.rescored_from is None for run in runs}) > 1:
        warnings.append("some runs were judged while they asked, which takes this machine's time: mind it in latency")
    if not same_load(runs):
        widths = ", ".join(f"{run.id} {' and '.join(map(str, run.concurrencies or [run.concurrency]))}" for run in runs)
        warnings.append(f"the runs had different concurrency ({widths}): no verdict on latency")
    return warnings


def _about_cost(runs: Sequence[EvalRun]) -> list[str]:
    approximate = dict.fromkeys(run.id for run in runs if any(note.startswith(_APPROXIMATE) for note in run.notes))
    return [f"{_APPROXIMATE} in {', '.join(approximate)}"] if approximate else []


def _about_judges(runs: Sequence[EvalRun]) -> list[str]:
    lost = {run.id: sum(run.outcomes.judge.values()) for run in runs}
    return [
        f"the judge failed on {counted(count, 'decision')} of run {run_id}: its judged metrics are of the rest"
        for run_id, count in lost.items()
        if count
    ]


def find_differences(pairing: Pairing) -> list[str]:
    """What differs between the runs beside their answers, which may be what is compared or explain what is found."""
    runs = pairing.runs
    facts: dict[str, list[str]] = {
        "seed": [str(run.seed) for run in runs],
        "evals": [run.package_versions.get(_PACKAGE, "unknown") for run in runs],
        "server's models": [_models(side) for side in pairing.sides],
    }
    facts.update(_configurations(runs))
    facts.update(_ways_of_asking(runs))
    return [_side_by_side(name, runs, values) for name, values in facts.items() if len(set(values)) > 1]


def _configurations(runs: Sequence[EvalRun]) -> dict[str, list[str]]:
    """What each server said of its configuration, by key."""
    configs = [_flat(run.config) for run in runs]
    keys = dict.fromkeys(key for config in configs for key in config)
    return {f"server's {key}": [config.get(key, "not said") for config in configs] for key in keys}


def _ways_of_asking(runs: Sequence[EvalRun]) -> dict[str, list[str]]:
    """How each server was asked and read, as the run's configuration has it, by key; its address stands elsewhere."""
    configs = [_flat(run.eval_config.get("server") or {}, "server.") for run in runs]
    keys = dict.fromkeys(key for config in configs for key in config if key != "server.url")
    return {key: [config.get(key, "not set") for config in configs] for key in keys}


def _side_by_side(name: str, runs: Sequence[EvalRun], values: Sequence[str]) -> str:
    return f"{name}: " + ", ".join(f"{run.id} {value}" for run, value in zip(runs, values, strict=True))


def _models(side: Side) -> str:
    models = set(taken(side.columns.models, side.rows)) - {""}
    return " and ".join(sorted(models)) or "not said"


def _flat(config: Mapping[str, Any], above: str = "") -> dict[str, str]:
    """The values of a nested configuration, by dotted key."""
    flat: dict[str, str] = {}
    for key, value in config.items():
        if isinstance(value, Mapping):
            flat.update(_flat(value, f"{above}{key}."))
        else:
            text = str(value)
            flat[f"{above}{key}"] = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
    return flat
