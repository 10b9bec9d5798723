"""How records are scored: settings made of a configuration, or of what a saved run says of itself.

This is the one place where `ScoreSettings` are made. A run is read with what it says of itself and nothing else: the
profile of its server need not be here any more. Keys that this version does not know are passed over, as a newer one
may have written them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from pydantic import ValidationError

from evals.case.case import Case
from evals.case.matching import MatchSettings
from evals.errors import ConfigError
from evals.inputs.problems import first_problem
from evals.metrics.base import BaseMetric
from evals.metrics.registry import known_metric
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun, JudgeVerdict
from evals.scoring.config import ScoringConfig
from evals.semantics.base import Semantics


@dataclass(frozen=True, slots=True)
class ScoreSettings:
    """How records are scored.

    Attributes:
        match: How chunks are recognised as gold.
        citation_base: Number of the first chunk in citation indices.
        worst_on_error: Whether a question without an answer counts as the worst value.
        confidence: Of the intervals.
        judged: Whether a judge takes part.
        semantics: What texts are compared with; None where no metric wants that.
    """

    match: MatchSettings = field(default_factory=MatchSettings)
    citation_base: int = 1
    worst_on_error: bool = False
    confidence: float = 0.95
    judged: bool = False
    semantics: Semantics | None = None


class Cases:
    """The records of a run as metrics see them: what is derived of one is derived once, whoever asks for it.

    Args:
        settings: How the records are scored.
    """

    def __init__(self, settings: ScoreSettings) -> None:
        self._settings = settings
        self._known: dict[str, Case] = {}

    @property
    def settings(self) -> ScoreSettings:
        """How the records are scored."""
        return self._settings

    def of(self, record: EvalRecord) -> Case:
        """The case of a record; without a response it is that of an empty one."""
        return self.about(record.question, record.response or EvalResponse(), record.verdicts)

    def about(self, question: EvalQuestion, response: EvalResponse, verdicts: Sequence[JudgeVerdict] = ()) -> Case:
        """The case of a question and its response, with what the judge said so far."""
        case = self._known.get(question.id)
        if case is None or case.question is not question or case.response is not response:
            own = self._settings
            case = Case(question, response, (), own.match, own.citation_base, own.judged, own.semantics)
            self._known[question.id] = case
        case.verdicts = verdicts
        return case

    def compare_by(self, semantics: Semantics) -> None:
        """From here on, compare texts by these models."""
        self._settings = replace(self._settings, semantics=semantics)
        for case in self._known.values():
            case.semantics = semantics


def configured_settings(
    match: MatchSettings,
    *,
    citation_base: int,
    on_error: str,
    confidence: float,
    judged: bool,
    semantics: Semantics | None = None,
) -> ScoreSettings:
    """How a run of these values of its configuration scores its records.

    Args:
        match: How chunks are recognised as gold.
        citation_base: Of the server.
        on_error: "exclude" or "worst".
        confidence: Of the intervals.
        judged: Whether a judge takes part.
        semantics: What texts are compared with, where it is known already.
    """
    return ScoreSettings(match, citation_base, on_error == "worst", confidence, judged, semantics)


def score_settings(run: EvalRun) -> ScoreSettings:
    """How the records of a saved run were scored; models that compare texts are not loaded again."""
    known = {part.name for part in fields(MatchSettings)}
    match = {key: value for key, value in _part(run, "match").items() if key in known}
    return configured_settings(
        MatchSettings(**match),
        citation_base=run.server.citation_base,
        on_error=run.eval_config.get("on_error", "exclude"),
        confidence=confidence(run),
        judged=run.judge is not None,
    )


def confidence(run: EvalRun) -> float:
    """Of the run's intervals, such as 0.95."""
    default = ScoreSettings.__dataclass_fields__["confidence"].default
    return float(run.eval_config.get("confidence", default))


def scoring_config(run: EvalRun) -> ScoringConfig:
    """The weights, feeds and thresholds of the run's weighted score.

    Raises:
        ConfigError: They were changed by hand to something that cannot be.
    """
    part = _part(run, "scoring")
    known = {key: value for key, value in part.items() if key in ScoringConfig.model_fields}
    try:
        return ScoringConfig.model_validate(known)
    except ValidationError as error:
        problem = first_problem(error, ScoringConfig)
        raise ConfigError(
            f"run {run.id} has a configuration that cannot be: scoring.{problem}", problem.hint
        ) from error


def known_metrics(run: EvalRun) -> list[BaseMetric]:
    """The metrics of the run's scorecard that exist here, in its order."""
    found = (known_metric(summary.name) for summary in run.scorecard.metrics)
    return [metric for metric in found if metric is not None]


def _part(run: EvalRun, key: str) -> Mapping[str, Any]:
    part = run.eval_config.get(key)
    return part if isinstance(part, Mapping) else {}
