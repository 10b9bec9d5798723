"""Obstacles to the comparison of runs, and other differences between them."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
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
from evals.scoring.settings import score_settings
from evals.text.numbers import counted

# When two runs say anything about which of their servers is faster.


NOT_IN_TURN = "latencies of runs made at different times are not compared"

_CONCURRENCY = "the runs had different concurrency"


def same_load(runs: Sequence[EvalRun]) -> bool:
    """Whether all runs asked at the same concurrency throughout."""
    return len({run.concurrency for run in runs}) == 1 and not any(run.concurrencies for run in runs)


def why_no_latency(runs: Sequence[EvalRun]) -> str | None:
    """Why it cannot be decided whether one of these runs answers faster; None if it can.

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


def why_withheld(metric: BaseMetric, obstacles: Sequence[Obstacle]) -> str | None:
    """Why the metric gets no verdict; None where it may get one."""
    return next((obstacle.reason for obstacle in obstacles if obstacle.concerns(metric)), None)


def _needs(*needs: Need) -> Concerns:
    return lambda metric: any(need in metric.needs for need in needs)


def _asks(prompts: set[str], known: set[str]) -> Concerns:
    """Whether a metric asks one of the prompts; one that names no prompt may ask any.

    Args:
        prompts: Which.
        known: All that the runs asked by; one that is called as the metric is a rubric's.
    """

    def asks(metric: BaseMetric) -> bool:
        if Need.JUDGE not in metric.needs:
            return False
        if not isinstance(metric, JudgedMetric) or not metric.inquiries:
            return metric.name in prompts or metric.name not in known
        return any(inquiry.name in prompts for inquiry in chain(metric.inquiries))

    return asks


_BY_GOLD: dict[str, Concerns] = {
    "gold passages": _needs(Need.GOLD),
    "expected answers": _needs(Need.EXPECTED_ANSWER),
    "answerability": lambda metric: Need.ANSWERABILITY in metric.needs or metric.name == ANSWERABLE_ABSTENTION_RATE,
    "key sentences": _needs(Need.KEY_SENTENCES),
    "checks": lambda metric: isinstance(metric, (FactScore, IsCorrect, RulesCoverage)),
    "rubrics": _needs(Need.RUBRIC),
}

_JUDGED = "judged metrics"


_FORMER = "answer_classification"
"""A prompt of earlier runs, which is no more: what it decided follows from the labels of `answer_correctness`."""


_COUNTS = ("correct_answers_count", "wrong_answers_count")
"""The metrics that asked it."""


def find_obstacles(pairing: Pairing) -> list[Obstacle]:
    """Everything that makes metrics incomparable between these runs."""
    runs = pairing.runs
    found = [
        Obstacle(f"{counted(len(ids), 'question', 'differs')} in {name}", f"what is measured by {name}", _BY_GOLD[name])
        for name, ids in pairing.regraded.items()
    ]
    if _differ(score_settings(run).match for run in runs):
        reason = "the runs recognised gold by different rules (`match`)"
        found.append(Obstacle(reason, "what is measured by gold passages", _needs(Need.GOLD)))
    found += _definitions(runs)
    return [*found, *_judges(runs), *_prompts(runs), *_abstentions(runs), *_text_models(runs)]


def _definitions(runs: Sequence[EvalRun]) -> Iterator[Obstacle]:
    """Metrics that are not built in may be changed from run to run."""
    for name in sorted(_differing([{one.name: one.meaning for one in run.metric_definitions} for run in runs])):
        reason = f"the runs defined {name} differently, or measured it by different code"
        yield Obstacle(reason, name, _is_called(name))


def _is_called(name: str) -> Concerns:
    return lambda metric: metric.name == name


def _judges(runs: Sequence[EvalRun]) -> Iterator[Obstacle]:
    judges = [run.judge for run in runs if run.judge]
    if _differ(run.judge is None for run in runs):
        reason = "some runs were judged and others not"
        yield Obstacle(reason, _JUDGED, _needs(Need.JUDGE), warned_of=False)
    if _differ((judge.model, judge.origin) for judge in judges):
        reason = "the runs were judged by different models or at different addresses"
        yield Obstacle(reason, _JUDGED, _needs(Need.JUDGE))
    efforts = sorted({judge.effort or "the model's own" for judge in judges})
    if len(efforts) > 1:
        reason = f"the runs were judged with different effort ({', '.join(efforts)})"
        yield Obstacle(reason, _JUDGED, _needs(Need.JUDGE))


def _prompts(runs: Sequence[EvalRun]) -> Iterator[Obstacle]:
    hashes = [run.judge.prompt_hashes for run in runs if run.judge]
    if prompts := _differing(hashes):
        reason = f"the runs were judged by different prompts ({', '.join(sorted(prompts))})"
        yield Obstacle(reason, "the metrics that ask them", _asks(prompts, set().union(*hashes)))
    if _differ(each.get(_FORMER) for each in hashes):
        reason = f"the runs were judged by different prompts ({_FORMER}, {CORRECTNESS})"
        yield Obstacle(reason, "counts of answers", lambda metric: metric.name in _COUNTS, warned_of=False)


def _abstentions(runs: Sequence[EvalRun]) -> Iterator[Obstacle]:
    """By whose word answers abstain: the text rules miss refusals that a judge sees, and judges differ."""
    if _differ(map(_who_tells, runs)) or _differing([_deciding(run) for run in runs]):
        reason = "the runs decided abstention by different means"
        yield Obstacle(reason, "what counts abstentions", _is_of_abstention, warned_of=False)


def _is_of_abstention(metric: BaseMetric) -> bool:
    return metric.group is MetricGroup.ABSTENTION


def _differ(values: Iterable[Hashable]) -> bool:
    return len(set(values)) > 1


def _who_tells(run: EvalRun) -> tuple[str, ...]:
    """The judge that has the word on answers too, not only on what the text rules take for a refusal; else None."""
    settings = score_settings(run)
    if run.judge is None or not settings.judged or settings.declining.answers != "every":
        return ()
    return run.judge.model, run.judge.origin


def _deciding(run: EvalRun) -> dict[str, str]:
    hashes = run.judge.prompt_hashes if run.judge is not None and _who_tells(run) else {}
    return {name: value for name, value in hashes.items() if name in DECIDING}


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
    """Warnings about the comparison."""
    obstacles = [
        f"{obstacle.reason}: no verdict on {obstacle.concerned}"
        for obstacle in find_obstacles(pairing)
        if obstacle.warned_of
    ]
    return [*_about_questions(pairing), *_about_conditions(pairing.runs), *obstacles, *_about_judges(pairing.runs)]


def _about_questions(pairing: Pairing) -> Iterator[str]:
    runs, common = pairing.runs, len(pairing.ids)
    if _differ(tuple(sorted((f.name, f.sha256) for f in run.fingerprints)) for run in runs):
        counts = ", ".join(f"{run.id} {run.question_count}" for run in runs)
        yield f"the runs were not asked the same questions ({counts}): compared are those they share"
    if common < FEW or 2 * common < max(run.question_count for run in runs):
        yield f"only {counted(common, 'common question')}: differences are uncertain, and say little of others"
    if pairing.reworded:
        yield f"left out: {counted(len(pairing.reworded), 'id', 'stands')} for different questions"


def _about_conditions(runs: Sequence[EvalRun]) -> Iterator[str]:
    """What else was not the same, or not whole: runs that did not finish, load, costs."""
    for run in runs:
        if run.status != "complete":
            unscored = f"run {run.id} did not finish, and none of it is scored yet"
            yield unscored if run.is_unscored else f"run {run.id} is {run.status}"
    yield from _about_load(runs)
    approximate = dict.fromkeys(run.id for run in runs if any(note.startswith(_APPROXIMATE) for note in run.notes))
    if approximate:
        yield f"{_APPROXIMATE} in {', '.join(approximate)}"


def _about_load(runs: Sequence[EvalRun]) -> Iterator[str]:
    if _differ(run.judge is not None and run.rescored_from is None for run in runs):
        yield "some runs were judged while they asked, which takes this machine's time: mind it in latency"
    if not same_load(runs):
        widths = ", ".join(f"{run.id} {' and '.join(map(str, run.concurrencies or [run.concurrency]))}" for run in runs)
        yield f"the runs had different concurrency ({widths}): no verdict on latency"


def _about_judges(runs: Sequence[EvalRun]) -> Iterator[str]:
    for run in runs:
        if lost := sum(run.outcomes.judge.values()):
            yield f"the judge failed on {counted(lost, 'decision')} of run {run.id}: its judged metrics are of the rest"


def find_differences(pairing: Pairing) -> list[str]:
    """Differences between the runs other than their answers, which may be what is compared or explain what is found."""
    runs = pairing.runs
    facts: dict[str, list[str]] = {
        "seed": [str(run.seed) for run in runs],
        "evals": [run.package_versions.get(_PACKAGE, "unknown") for run in runs],
        "server's models": [_models(side) for side in pairing.sides],
    }
    facts |= _by_key([_flat(run.config, "server's ") for run in runs], "not said")
    facts |= _by_key([_flat(run.eval_config.get("server") or {}, "server.") for run in runs], "not set")
    return [_side_by_side(name, runs, values) for name, values in facts.items() if len(set(values)) > 1]


def _by_key(configs: Sequence[Mapping[str, str]], absent: str) -> dict[str, list[str]]:
    """The values of all configurations by key; the address of a server stands elsewhere."""
    keys = dict.fromkeys(key for config in configs for key in config if key != "server.url")
    return {key: [config.get(key, absent) for config in configs] for key in keys}


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
