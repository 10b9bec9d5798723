"""How the records of a run are scored, from a configuration or a saved run."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from traceback import extract_tb

from evals.errors import EvalsError
from evals.judges.prompts import PromptBook
from evals.metrics.base import BaseMetric
from evals.metrics.custom import FunctionMetric, file_of
from evals.metrics.embedders import Semantics
from evals.metrics.judged import asks_correctness
from evals.metrics.registry import known_metric
from evals.metrics.sample import Sample
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord, EvalRun, MetricResult
from evals.schemas.verdicts import JudgeVerdict
from evals.scoring.config import confidence, scoring_config, valid_part
from evals.text.matching import MatchSettings


@dataclass(frozen=True, slots=True)
class ScoreSettings:
    """How records are scored.

    Attributes:
        match: How chunks are recognised as gold.
        citation_base: Number of the first chunk in citation indices.
        worst_on_error: Whether a question without an answer counts as the worst value.
        confidence: Of the intervals.
        judged: Whether a judge takes part.
        semantics: The models that compare texts; None where no metric needs one.
        cluster: What questions are grouped by; None: they are independent.
        asks_correctness: Whether a judge is asked if answers are correct.
        keeps_flagged: Whether verdicts count of which the judge says that the data tells it what to decide.
        prompts: By which the judge is asked.
    """

    match: MatchSettings = field(default_factory=MatchSettings)
    citation_base: int = 1
    worst_on_error: bool = False
    confidence: float = 0.95
    judged: bool = False
    semantics: Semantics | None = None
    cluster: str | None = None
    asks_correctness: bool = False
    keeps_flagged: bool = False
    prompts: PromptBook = field(default_factory=PromptBook, compare=False)

    def sample(self, question: EvalQuestion, response: EvalResponse, verdicts: Sequence[JudgeVerdict] = ()) -> Sample:
        """A question with its response as metrics see it."""
        return Sample(
            question,
            response,
            verdicts,
            self.match,
            self.citation_base,
            judged=self.judged,
            semantics=self.semantics,
            asks_correctness=self.asks_correctness,
            keeps_flagged=self.keeps_flagged,
            prompt_for=self.prompts.of,
        )

    def sample_of(self, record: EvalRecord) -> Sample:
        """A record as metrics see it; without a response, one of an empty response."""
        return self.sample(record.question, record.response or EvalResponse(), record.verdicts)


def settings_of(run: EvalRun) -> ScoreSettings:
    """How the records of a saved run were scored; models that compare texts are not loaded again.

    Raises:
        ConfigError: Its configuration was changed by hand to something that cannot be.
    """
    judge = run.eval_config.get("judge")
    return ScoreSettings(
        match=valid_part(MatchSettings, run, "match"),
        citation_base=run.server.citation_base,
        worst_on_error=run.eval_config.get("on_error") == "worst",
        confidence=confidence(run),
        judged=run.judge is not None,
        cluster=scoring_config(run).cluster,
        asks_correctness=asks_correctness(known_metrics(run)),
        keeps_flagged=isinstance(judge, dict) and judge.get("on_injection") == "keep",
    )


def known_metrics(run: EvalRun) -> list[BaseMetric]:
    """The metrics of the run's scorecard that exist here, in its order."""
    metrics = (known_metric(summary.name) for summary in run.scorecard.metrics)
    return [metric for metric in metrics if metric is not None]


def score_of(metric: BaseMetric, sample: Sample) -> MetricResult:
    """The result of a metric for a question; where the metric raises, a result that is missing for a `fault`.

    Raises:
        EvalsError: Of a built-in metric: what the user can do something about.
    """
    try:
        result = metric.score(sample)
        if not isinstance(result, MetricResult):
            raise TypeError("a metric gives `self.result(…)` or `self.undefined(…)`")  # noqa: TRY301
    except (Exception, SystemExit) as error:  # whatever a metric does wrong, paid-for answers are scored
        if isinstance(error, EvalsError) and not isinstance(metric, FunctionMetric):
            raise
        # The error's own message may hold words of the answer.
        frames, own = extract_tb(error.__traceback__), file_of(metric)
        last = next((frame for frame in reversed(frames) if frame.filename == own), frames[-1])
        place = f"{Path(last.filename).name}, line {last.lineno}"
        reason = f"a fault of the metric {metric.pattern()}: {type(error).__name__} ({place})"
        return MetricResult(name=metric.name, group=metric.group, reason=reason, missing="fault")
    return result
