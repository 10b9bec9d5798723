"""What makes runs hard to compare, and what else differs between them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.compare.models import ANSWERABLE_ABSTENTION_RATE
from evals.compare.pairing import Pairing, Side
from evals.metrics.base import BaseMetric, Need
from evals.metrics.checks import FactScore, IsCorrect, RulesCoverage
from evals.metrics.judge_tasks import chain
from evals.metrics.judged import JudgedMetric
from evals.metrics.sample import CORRECTNESS, DECIDING
from evals.schemas.results import EvalRun, MetricGroup
from evals.schemas.verdicts import JudgeRecord
from evals.scoring.settings import score_settings
from evals.text.numbers import counted

# When two runs say anything about which of their servers is faster.


NOT_IN_TURN = "the runs were not asked in turn, and nobody knows what else changed between them"

_CONCURRENCY = "the runs had different concurrency"


def same_load(runs: Sequence[EvalRun]) -> bool:
    """Whether all runs asked at the same concurrency throughout."""
    return len({run.concurrency for run in runs}) == 1 and not any(run.concurrencies for run in runs)


def why_no_latency(runs: Sequence[EvalRun]) -> str | None:
    """Why nobody can say that the answers of one of these runs come faster; None where one can.

    Between one hour and another a server, a network and a machine change, and no number of questions asked in one hour
    shows by how much. Runs that were asked in turn share their hours.
    """
    if not same_load(runs):
        return _CONCURRENCY
    ids = {run.id for run in runs}
    in_turn = all(ids <= {run.id, *run.interleaved_with} for run in runs)
    return None if in_turn else NOT_IN_TURN


# Which metrics get no verdict, because two runs measured them by different means.


Concerns = Callable[[BaseMetric], bool]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Something that the runs did differently.

    Attributes:
        reason: What.
        concerned: The metrics that it makes incomparable, in words.
        concerns: Whether a metric is one of them.
        warned_of: Whether it is worth a warning where no such metric is compared.
    """

    reason: str
    concerned: str
    concerns: Concerns
    warned_of: bool = True


def find_obstacles(pairing: Pairing) -> list[Obstacle]:
    """Everything that makes metrics incomparable between these runs."""
    runs = pairing.runs
    return [*_gold(pairing), *_matching(runs), *_judges(runs), *_counts(runs), *_abstentions(runs), *_text_models(runs)]


def why_withheld(metric: BaseMetric, obstacles: Sequence[Obstacle]) -> str | None:
    """Why the metric gets no verdict; None where it may get one."""
    return next((obstacle.reason for obstacle in obstacles if obstacle.concerns(metric)), None)


def _needs(*needs: Need) -> Concerns:
    return lambda metric: any(need in metric.needs for need in needs)


def _tells_answerable(metric: BaseMetric) -> bool:
    return Need.ANSWERABILITY in metric.needs or metric.name == ANSWERABLE_ABSTENTION_RATE


def _of_checks(metric: BaseMetric) -> bool:
    return isinstance(metric, (FactScore, IsCorrect, RulesCoverage))


_BY_GOLD: dict[str, Concerns] = {
    "gold passages": _needs(Need.GOLD),
    "expected answers": _needs(Need.EXPECTED_ANSWER),
    "answerability": _tells_answerable,
    "key sentences": _needs(Need.KEY_SENTENCES),
    "checks": _of_checks,
}


def _gold(pairing: Pairing) -> list[Obstacle]:
    return [
        Obstacle(
            f"{counted(len(ids), 'common question', 'has')} other {name}", f"what is measured by {name}", _BY_GOLD[name]
        )
        for name, ids in pairing.regraded.items()
    ]


def _matching(runs: Sequence[EvalRun]) -> list[Obstacle]:
    if len({score_settings(run).match for run in runs}) == 1:
        return []
    reason = "the runs recognised gold by different rules (`match`)"
    return [Obstacle(reason, "what is measured by gold passages", _needs(Need.GOLD))]


def _judges(runs: Sequence[EvalRun]) -> list[Obstacle]:
    found = []
    if len({run.judge is None for run in runs}) > 1:
        found.append(
            Obstacle("some runs were judged and others not", "judged metrics", _needs(Need.JUDGE), warned_of=False)
        )
    judges = [run.judge for run in runs if run.judge]
    if len({(judge.model, judge.origin) for judge in judges}) > 1:
        reason = "the runs were judged by different models or at different addresses"
        found.append(Obstacle(reason, "judged metrics", _needs(Need.JUDGE)))
    found += _efforts(judges)
    prompts = _differing([judge.prompt_hashes for judge in judges])
    if prompts:
        reason = f"the runs were judged by different prompts ({', '.join(sorted(prompts))})"
        found.append(Obstacle(reason, "the metrics that ask them", lambda metric: _asks(metric, prompts)))
    return found


def _efforts(judges: Sequence[JudgeRecord]) -> list[Obstacle]:
    efforts = sorted({judge.effort or "the model's own" for judge in judges})
    if len(efforts) < 2:
        return []
    reason = f"the runs were judged with different effort ({', '.join(efforts)})"
    return [Obstacle(reason, "judged metrics", _needs(Need.JUDGE))]


def _asks(metric: BaseMetric, prompts: set[str]) -> bool:
    """Whether a metric asks one of the prompts; of one that does not say what it asks, nobody knows."""
    if Need.JUDGE not in metric.needs:
        return False
    if not isinstance(metric, JudgedMetric) or not metric.inquiries:
        return True
    return any(inquiry.name in prompts for inquiry in chain(metric.inquiries))


_FORMER = "answer_classification"
"""A prompt of runs of before, which is no more: what it decided follows from the labels of `answer_correctness`."""


_COUNTS = ("correct_answers_count", "wrong_answers_count")
"""The metrics that asked it."""


def _counts(runs: Sequence[EvalRun]) -> list[Obstacle]:
    """Whether answers were counted by the prompt that is no more."""
    if len({run.judge.prompt_hashes.get(_FORMER) for run in runs if run.judge}) < 2:
        return []
    reason = f"the runs were judged by different prompts ({_FORMER}, {CORRECTNESS})"
    return [Obstacle(reason, "counts of answers", lambda metric: metric.name in _COUNTS, warned_of=False)]


def _abstentions(runs: Sequence[EvalRun]) -> list[Obstacle]:
    """By whose word answers abstain: the text rules miss refusals that a judge sees, and judges differ."""
    if len({_who_tells(run) for run in runs}) == 1 and not _differing([_deciding(run) for run in runs]):
        return []
    reason = "the runs told by different means which answers abstain"
    return [Obstacle(reason, "what counts abstentions", _of_abstention, warned_of=False)]


def _who_tells(run: EvalRun) -> tuple[str, ...]:
    """The judge that has the word on answers too, not only on what the text rules take for a refusal; else nobody."""
    settings = score_settings(run)
    if run.judge is None or not settings.judged or settings.declining.answers != "every":
        return ()
    return run.judge.model, run.judge.origin


def _deciding(run: EvalRun) -> dict[str, str]:
    hashes = run.judge.prompt_hashes if run.judge is not None and _who_tells(run) else {}
    return {name: value for name, value in hashes.items() if name in DECIDING}


def _of_abstention(metric: BaseMetric) -> bool:
    return metric.group is MetricGroup.ABSTENTION


def _text_models(runs: Sequence[EvalRun]) -> list[Obstacle]:
    used = [run.semantics or {} for run in runs]
    differing = _differing([run.semantics for run in runs if run.semantics])
    # Without an embedder, relevance is assessed by the judge instead: that is another metric by the same name.
    absent = {"embedder": 0 < sum("embedder" in models for models in used) < len(used)}
    found = []
    for name, need in (("embedder", Need.EMBEDDER), ("scorer", Need.TEXT_SCORER)):
        if name in differing or absent.get(name):
            reason = f"the runs compared texts by different models ({name})"
            found.append(Obstacle(reason, "semantic metrics", _needs(need)))
    return found


def _differing(tables: Sequence[Mapping[str, str]]) -> set[str]:
    """The names under which two of the tables have different values; runs may have measured different things."""
    known: dict[str, str] = {}
    return {name for table in tables for name, value in table.items() if known.setdefault(name, value) != value}


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
    models = {side.columns.models[row] for row in side.rows} - {""}
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
