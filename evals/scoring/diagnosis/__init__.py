"""What went wrong, question by question: the first link of the chain that broke.

from evals.scoring.diagnosis import diagnose, facts_of, first_link

first_link(record, cases, cites=True, k=5)     # Link.BELOW_K, or None
diagnose(records, cases, facts_of(run, records, cases))
"""

from evals.scoring.diagnosis.counts import Diagnosis, LinkCount, WrongSlice, count_links, wrong_by
from evals.scoring.diagnosis.outcome import (
    Finding,
    Remark,
    answered_right,
    diagnose,
    find_failure,
    first_link,
    in_turn,
    needs_verification,
    remarks_on,
)
from evals.scoring.diagnosis.stages import DEFAULT_K, Link, RunFacts, StageRecall, facts_of, recall_by_stage

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
