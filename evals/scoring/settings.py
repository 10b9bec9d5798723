"""Settings by which records are scored, from a configuration or a saved run.

This is the one place where `ScoreSettings` are made. A run is read with what it says of itself and nothing else: the
profile of its server need not be here any more. Keys that this version does not know are passed over, as a newer one
may have written them.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from traceback import extract_tb

from evals.errors import EvalsError
from evals.judges.prompts import PromptBook
from evals.metrics.base import BaseMetric
from evals.metrics.custom import FunctionMetric, file_of
from evals.metrics.embedders import Semantics
from evals.metrics.judged import judged_abstention
from evals.metrics.registry import known_metric
from evals.metrics.sample import OF_BEFORE, JudgedAbstention, Sample
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord, EvalRun, MetricResult
from evals.schemas.verdicts import JudgeVerdict
from evals.scoring.config import BY_DOCUMENT, confidence, valid_part
from evals.text.matching.corpus import evidence_of
from evals.text.matching.documents import MatchSettings, RunEvidence

# One metric of one question, measured so that a fault of the metric costs this value and not the run.


def score_of(metric: BaseMetric, case: Sample) -> MetricResult:
    """What the metric gives; where it raises, or gives no finite number, a result that is missing for a `fault`.

    Raises:
        EvalsError: What a user can do something about is theirs to know, unless a function of theirs raised it.
    """
    try:
        return _checked(metric.score(case))
    except (Exception, SystemExit) as error:  # whatever a metric does wrong, answers that are paid for are scored
        if isinstance(error, EvalsError) and not isinstance(metric, FunctionMetric):
            raise
        # Without words of the answer, which the error's own message may hold.
        frames, own = extract_tb(error.__traceback__), file_of(metric)
        last = next((frame for frame in reversed(frames) if frame.filename == own), frames[-1])
        place = f"{Path(last.filename).name}, line {last.lineno}"
        reason = f"a fault of the metric {metric.pattern()}: {type(error).__name__} ({place})"
        return MetricResult(name=metric.name, group=metric.group, reason=reason, missing="fault")


def _checked(result: MetricResult) -> MetricResult:
    if not isinstance(result, MetricResult):
        raise TypeError("a metric gives `self.result(…)` or `self.undefined(…)`")
    return result


_HELD = 32
"""Cases that are held: those of most answers in flight to the judge, and of the record in hand.

Each holds the words of its chunks: a hundred more take 9 MB.
"""


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
        cluster: What questions belong together by: "document", "question", or a key of their metadata.
        evidence: What the run says about matching; None where each response speaks for itself.
        declining: Of which answers a judge that takes part has the word on whether they decline.
        keeps_flagged: Whether verdicts count of which the judge says that the data tells it what to decide.
        prompts: By which the judge is asked.
    """

    match: MatchSettings = field(default_factory=MatchSettings)
    citation_base: int = 1
    worst_on_error: bool = False
    confidence: float = 0.95
    judged: bool = False
    semantics: Semantics | None = None
    cluster: str = BY_DOCUMENT
    evidence: RunEvidence | None = None
    declining: JudgedAbstention = field(default_factory=JudgedAbstention)
    keeps_flagged: bool = False
    prompts: PromptBook = field(default_factory=PromptBook, compare=False)


class ScoringContext:
    """The records of a run as metrics see them; values derived from a record are shared.

    The last few are held; of a record that comes again later all is derived again.

    Args:
        settings: How the records are scored.
    """

    def __init__(self, settings: ScoreSettings) -> None:
        self._settings = settings
        self._known: OrderedDict[str, Sample] = OrderedDict()
        self._lock = Lock()

    @property
    def settings(self) -> ScoreSettings:
        """How the records are scored."""
        return self._settings

    def of(self, record: EvalRecord) -> Sample:
        """The case of a record; without a response it is that of an empty one."""
        return self.about(record.question, record.response or EvalResponse(), record.verdicts)

    def about(self, question: EvalQuestion, response: EvalResponse, verdicts: Sequence[JudgeVerdict] = ()) -> Sample:
        """The case of a question and its response, with what the judge said so far."""
        case = self._known.get(question.id)
        if case is None or case.question is not question or case.response is not response:
            own = self._settings
            how = (
                own.match,
                own.citation_base,
                own.judged,
                own.semantics,
                own.evidence,
                own.declining,
                own.keeps_flagged,
                own.prompts.of,
            )
            case = Sample(question, response, (), *how)
            with self._lock:  # asking and judging run in two threads
                self._known[question.id] = case
                self._known.move_to_end(question.id)
                if len(self._known) > _HELD:
                    self._known.popitem(last=False)
        case.verdicts = verdicts
        return case

    def within(self, records: Sequence[EvalRecord]) -> "ScoringContext":
        """From here on, match with what all these records of a run say about matching; returns itself."""
        if self._settings.evidence is None:
            self.match_with(evidence_of(records, self._settings.match))
        return self

    def match_with(self, evidence: RunEvidence) -> "ScoringContext":
        """From here on, match with this; returns itself."""
        self._settings = replace(self._settings, evidence=evidence)
        self._known.clear()
        return self

    def compare_by(self, semantics: Semantics) -> None:
        """From here on, compare texts by these models."""
        self._settings = replace(self._settings, semantics=semantics)
        self._known.clear()


def configured_settings(
    match: MatchSettings,
    *,
    citation_base: int,
    on_error: str,
    confidence: float,
    judged: bool,
    semantics: Semantics | None = None,
    cluster: str = BY_DOCUMENT,
    keeps_flagged: bool = False,
) -> ScoreSettings:
    """How a run of these values of its configuration scores its records.

    Args:
        match: How chunks are recognised as gold.
        citation_base: Of the server.
        on_error: "exclude" or "worst".
        confidence: Of the intervals.
        judged: Whether a judge takes part.
        semantics: What texts are compared with, where it is known already.
        cluster: What questions belong together by.
        keeps_flagged: Whether verdicts count that the judge flags.
    """
    return ScoreSettings(
        match,
        citation_base,
        on_error == "worst",
        confidence,
        judged,
        semantics,
        cluster,
        keeps_flagged=keeps_flagged,
    )


def cases_of(run: EvalRun, records: Sequence[EvalRecord]) -> ScoringContext:
    """The records of a saved run as they were scored.

    Raises:
        ConfigError: Its configuration was changed by hand to something that cannot be.
    """
    return ScoringContext(score_settings(run)).within(records)


def score_settings(run: EvalRun) -> ScoreSettings:
    """How the records of a saved run were scored; models that compare texts are not loaded again.

    Raises:
        ConfigError: The rules of matching were changed by hand to something that cannot be.
    """
    judge = run.eval_config.get("judge")
    settings = configured_settings(
        valid_part(MatchSettings, run, "match"),
        citation_base=run.server.citation_base,
        on_error=run.eval_config.get("on_error", "exclude"),
        confidence=confidence(run),
        # A judge of before was asked about no refusal: there the text rules decided, as they do without a judge.
        judged=run.judge is not None and run.outcomes.abstention_disputed is not None,
        cluster=run.eval_config.get("cluster", BY_DOCUMENT),
        # In runs of before, flagged verdicts count.
        keeps_flagged=not (isinstance(judge, dict) and judge.get("on_injection") == "exclude"),
    )
    # One of before had no word on what the text rules take for an answer.
    says = run.outcomes.abstention_by_judge is not None
    return replace(settings, declining=judged_abstention(known_metrics(run)) if says else OF_BEFORE)


def times_asked(run: EvalRun) -> int:
    """How often each question was asked: by repeats, and once at each level of load."""
    return int(run.eval_config.get("repeats") or 1) * max(1, len(run.eval_config.get("load") or ()))


def known_metrics(run: EvalRun) -> list[BaseMetric]:
    """The metrics of the run's scorecard that exist here, in its order."""
    found = (known_metric(summary.name) for summary in run.scorecard.metrics)
    return [metric for metric in found if metric is not None]
