"""What whoever scores records must know beside them, and the scoring that follows from it."""

from collections.abc import Sequence
from dataclasses import dataclass

from evals.metrics.base import BaseMetric
from evals.schemas import EvalRun
from evals.scoring.conclusion import Conclusion, Terms
from evals.scoring.diagnosis.facts import RunFacts
from evals.scoring.digest.digest import DigestMaker
from evals.scoring.settings import Cases, ScoreSettings


@dataclass(frozen=True, slots=True)
class Scoring:
    """The scoring of a run, of which the first records may be done.

    Attributes:
        conclusion: Takes the records that are left.
        digest: Made of the same records.
        lines: Of the records that are done, each with the id of its question.
    """

    conclusion: Conclusion
    digest: DigestMaker
    lines: Sequence[tuple[str, bytes]] = ()


@dataclass(frozen=True, slots=True)
class HowToScore:
    """How the records of a run are scored; it can be sent to another process where no model compares texts.

    Attributes:
        run: As far as it is known.
        metrics: What to measure.
        settings: How records are scored, with what all of them say about matching.
        facts: What else they say together.
        terms: Prices, weights, gates and the error rate.
    """

    run: EvalRun
    metrics: Sequence[BaseMetric]
    settings: ScoreSettings
    facts: RunFacts
    terms: Terms

    def scoring(self, first: int = 0, lines: Sequence[tuple[str, bytes]] = ()) -> Scoring:
        """One that begins with the record of this number.

        Args:
            first: The number.
            lines: Where the lines of those that are done are going to be.
        """
        cases = Cases(self.settings)
        digest = DigestMaker(self.facts, cases)
        return Scoring(Conclusion(self.run, self.metrics, cases, self.terms, digest, first=first), digest, lines)
