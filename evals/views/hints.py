"""What a pattern of metrics usually means: rules kept as data, applied to a scorecard."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from evals.metrics.registry import default_names
from evals.schemas import Outcomes, Scorecard
from evals.scoring.gates import Gate, parse_gate

_RULES = Path(__file__).resolve().parent.parent / "data" / "hints.yml"


@dataclass(frozen=True, slots=True)
class Hint:
    """One rule.

    Attributes:
        name: What it is called.
        when: Conditions that must all hold; a metric without a value holds none.
        where_measured: Conditions that must hold of those metrics that have a value.
        text: What the pattern usually means.
        void_where_cited: It means nothing where the answers come with citations.
    """

    name: str
    when: tuple[Gate, ...]
    where_measured: tuple[Gate, ...]
    text: str
    void_where_cited: bool = False

    def applies(self, scorecard: Scorecard) -> bool:
        """Whether the scorecard shows the pattern."""
        values = {metric.name: metric.value for metric in scorecard.metrics}
        required = ((condition, values.get(condition.metric)) for condition in self.when)
        if not all(value is not None and condition.holds(value) for condition, value in required):
            return False
        optional = ((condition, values.get(condition.metric)) for condition in self.where_measured)
        return all(value is None or condition.holds(value) for condition, value in optional)

    def evidence(self, scorecard: Scorecard) -> str:
        """The metrics that show the pattern, with their values: `keyword_coverage 0.91, number_match 0.42`."""
        names = [condition.metric for condition in (*self.when, *self.where_measured)]
        found = ((name, scorecard.find(name)) for name in names)
        return ", ".join(f"{name} {metric.value:.2f}" for name, metric in found if metric and metric.value is not None)


def applying(scorecard: Scorecard, outcomes: Outcomes) -> list[Hint]:
    """The hints that apply to a scorecard of questions that ended so, in the order of the rules."""
    cited = _cites(outcomes)
    return [hint for hint in all_hints() if hint.applies(scorecard) and not (hint.void_where_cited and cited)]


@cache
def all_hints() -> tuple[Hint, ...]:
    """Every hint that there is."""
    rules: list[dict[str, Any]] = yaml.safe_load(_RULES.read_text(encoding="utf-8"))
    known = default_names()
    return tuple(
        Hint(
            name=rule["name"],
            when=_conditions(rule["when"], known),
            where_measured=_conditions(rule.get("where_measured", ()), known),
            text=rule["text"],
            void_where_cited=rule.get("void_where_cited", False),
        )
        for rule in rules
    )


def _cites(outcomes: Outcomes) -> bool:
    """Whether there are citations for most answers that have something to cite."""
    return 2 * (outcomes.citations or 0) > outcomes.answered - outcomes.abstained


def _conditions(texts: Iterable[str], known: list[str]) -> tuple[Gate, ...]:
    return tuple(parse_gate(text, known) for text in texts)
