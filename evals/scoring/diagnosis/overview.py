"""What is printed of a run when it ends, gathered while its records are scored: none is read or derived again."""

from collections import Counter
from collections.abc import Iterable

from evals.schemas import EvalRecord, EvalRun
from evals.scoring.diagnosis.counts import Diagnosis, LinkTally
from evals.scoring.diagnosis.facts import RunFacts, facts_of
from evals.scoring.diagnosis.findings import Finding, finding_of
from evals.scoring.diagnosis.links import Link
from evals.scoring.diagnosis.stages import StageRecall, StageTally
from evals.scoring.risk_coverage import RiskCoverage, RiskTally
from evals.scoring.settings import Cases

_EXAMPLES = 3
"""Findings of each link that are held, with their records."""


class Overview:
    """Where questions went wrong first, and what else is said of a run in a few lines.

    Args:
        facts: What the run says that one record cannot.
        examples: How many findings of each link are held, with their records.
    """

    def __init__(self, facts: RunFacts, examples: int = _EXAMPLES) -> None:
        self._facts = facts
        self._examples = examples
        self._held: list[Finding] = []
        self._seen: Counter[Link] = Counter()
        self._links = LinkTally()
        self._risk = RiskTally()
        self._stages = StageTally(facts.library)

    @classmethod
    def of(cls, run: EvalRun, records: Iterable[EvalRecord], cases: Cases, examples: int = _EXAMPLES) -> "Overview":
        """The overview of records that are scored already; they are walked twice."""
        overview = cls(facts_of(run, records), examples)
        for record in records:
            overview.add(record, cases)
        return overview

    def add(self, record: EvalRecord, cases: Cases) -> None:
        """Add the next record, scored."""
        finding = finding_of(record, cases, self._facts)
        if finding is not None:
            self._add_finding(finding)
        self._links.add(record, cases)
        self._risk.add(record, cases)
        self._stages.add(record, cases)

    def _add_finding(self, finding: Finding) -> None:
        self._seen[finding.link] += 1
        self._links.found(finding.link, finding.record.question.id)
        if self._seen[finding.link] <= self._examples:
            self._held.append(finding)

    @property
    def findings(self) -> list[Finding]:
        """The first of each link, in the order of the chain."""
        return sorted(self._held, key=lambda finding: finding.link.place)

    def diagnosis(self, confidence: float) -> Diagnosis:
        """How many questions ended wrong, by the first link that broke; intervals of this confidence."""
        return self._links.diagnosis(confidence)

    @property
    def found(self) -> int:
        """How many questions have a link, failures or not."""
        return self._seen.total()

    def risk(self) -> RiskCoverage | None:
        """The risk by coverage, where the server gives a confidence."""
        return self._risk.curve()

    def stages(self) -> list[StageRecall]:
        """The recall at each stage of the retrieval, where the server lists them."""
        return self._stages.recalls()
