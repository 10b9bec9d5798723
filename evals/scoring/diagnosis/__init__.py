"""What went wrong, question by question: the first link of the chain that broke.

from evals.scoring.diagnosis import diagnose, facts_of, first_link

first_link(record, cases, cites=True, k=5)     # Link.BELOW_K, or None
diagnose(records, cases, facts_of(run, records, cases))
"""

from evals.scoring.diagnosis.counts import Diagnosis, LinkCount, count_links
from evals.scoring.diagnosis.facts import DEFAULT_K, RunFacts, facts_of
from evals.scoring.diagnosis.findings import Finding, diagnose, in_turn
from evals.scoring.diagnosis.first import answered_right, find_failure, first_link
from evals.scoring.diagnosis.links import Link
from evals.scoring.diagnosis.remarks import Remark, needs_verification, remarks_on
from evals.scoring.diagnosis.slices import WrongSlice, wrong_by
from evals.scoring.diagnosis.stages import StageRecall, recall_by_stage

__all__ = [
    "DEFAULT_K",
    "Diagnosis",
    "Finding",
    "Link",
    "LinkCount",
    "Remark",
    "RunFacts",
    "StageRecall",
    "WrongSlice",
    "answered_right",
    "count_links",
    "diagnose",
    "facts_of",
    "find_failure",
    "first_link",
    "in_turn",
    "needs_verification",
    "recall_by_stage",
    "remarks_on",
    "wrong_by",
]
