"""What a pattern of metrics usually means: rules kept as data, applied to a scorecard."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from evals.metrics.registry import default_names
from evals.schemas.response import Outcomes
from evals.schemas.results import Scorecard
from evals.scoring.gates import Gate, parse_gate

_RULES = Path(__file__).resolve().parent.parent / "data" / "hints.yml"


@dataclass(frozen=True, slots=True)
class Hint:
    """One rule.

    Attributes:
        name: What it is called.
        text: What the pattern usually means.
        when: Conditions that must all hold; a metric without a value holds none.
        where_measured: Conditions that must hold of those metrics that have a value.
        void_where_cited: It means nothing where the answers come with citations.
    """

    name: str
    text: str
    when: tuple[Gate, ...] = ()
    where_measured: tuple[Gate, ...] = ()
    void_where_cited: bool = False

    def applies(self, scorecard: Scorecard) -> bool:
        """Whether the scorecard shows the pattern."""
        values = {metric.name: metric.value for metric in scorecard.metrics if metric.value is not None}
        required = (gate.metric in values and gate.holds(values[gate.metric]) for gate in self.when)
        optional = (gate.metric not in values or gate.holds(values[gate.metric]) for gate in self.where_measured)
        return all(required) and all(optional)

    def evidence(self, scorecard: Scorecard) -> str:
        """The metrics that show the pattern, with their values: `keyword_coverage 0.91, number_match 0.42`."""
        found = (scorecard.find(condition.metric) for condition in (*self.when, *self.where_measured))
        return ", ".join(f"{one.name} {one.value:.2f}" for one in found if one and one.value is not None)


def applying(scorecard: Scorecard, outcomes: Outcomes) -> list[Hint]:
    """The hints that apply to a scorecard of questions that ended so, in the order of the rules.

    Answers come with citations where most of those do that have something to cite.
    """
    cited = 2 * (outcomes.citations or 0) > outcomes.answered - outcomes.abstained
    return [hint for hint in all_hints() if hint.applies(scorecard) and not (hint.void_where_cited and cited)]


@cache
def all_hints() -> tuple[Hint, ...]:
    """Every hint that there is."""
    rules: list[dict[str, Any]] = yaml.safe_load(_RULES.read_text(encoding="utf-8"))
    known = default_names()
    for rule in rules:
        for key in ("when", "where_measured"):
            rule[key] = tuple(parse_gate(text, known) for text in rule.get(key, ()))
    return tuple(Hint(**rule) for rule in rules)
