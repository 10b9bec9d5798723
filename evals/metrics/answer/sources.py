"""Does the answer say in its words where it comes from?"""

import re

from evals.case.case import Case
from evals.metrics.base import BaseMetric
from evals.schemas import MetricGroup, MetricResult
from evals.text.folding import fold
from evals.text.phrases import without_marks

INDICATORS = {
    "source:": re.compile(r"\bsources?\s*(?::|\d)"),
    "table:": re.compile(r"\btables?\s*(?::|\d)"),
    "page": re.compile(r"\bpages?\b"),
    "document": re.compile(r"\bdocuments?\b"),
    "pdf": re.compile(r"\bpdfs?\b"),
    "according to": re.compile(r"\baccording\s+to\b"),
    "based on": re.compile(r"\bbased\s+on\b"),
    "from": re.compile(r"\bfrom\b"),
}
"""What names a source. A colon or a number makes the difference between a citation and a piece of furniture."""
_ENOUGH = 3


class SourceCitationQuality(BaseMetric):
    """How plainly the answer's own words say where it comes from.

    Formula: min(kinds of indicators found / 3, 1). The eight kinds: "source:", "table:" (with a colon or a number),
    "page", "document", "pdf", "according to", "based on", "from"; each counts once however often it stands there, by
    whole words. Range 0 to 1, higher is better. It looks at words alone: whether what is cited is right is what
    `citation_precision` measures. None for an abstention, which has nothing to cite.
    Reference: ours.
    """

    name = "source_citation_quality"
    group = MetricGroup.CITATION
    suites = frozenset({"answer"})
    heeds_abstention = True
    of_answer = True

    def measure(self, case: Case) -> MetricResult:
        if case.abstained:
            return self.undefined("the answer abstains")
        text = fold(without_marks(case.response.answer or ""))
        found = [kind for kind, pattern in INDICATORS.items() if pattern.search(text)]
        return self.result(min(len(found) / _ENOUGH, 1.0), indicators=found)
