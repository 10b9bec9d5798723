"""Which metrics get no verdict, because two runs measured them by different means."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evals.compare.models import ANSWERABLE_ABSTENTION_RATE
from evals.compare.pairing import Pairing
from evals.metrics.answer.checks import FactScore, IsCorrect, RulesCoverage
from evals.metrics.base import BaseMetric, Need
from evals.metrics.judged import JudgedMetric, chain
from evals.schemas import EvalRun
from evals.schemas.verdicts import JudgeRecord
from evals.scoring.settings import score_settings
from evals.text.counts import counted

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
    return [*_gold(pairing), *_matching(pairing.runs), *_judges(pairing.runs), *_text_models(pairing.runs)]


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
