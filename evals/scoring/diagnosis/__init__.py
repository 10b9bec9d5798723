"""Diagnosis: the first step of the pipeline that failed, question by question.

from evals.scoring.diagnosis import diagnose, facts_of, first_link

first_link(record, cases, cites=True, k=5)     # Link.BELOW_K, or None
diagnose(records, cases, facts_of(run, records, cases))
"""

from evals.scoring.diagnosis.counts import count_links
from evals.scoring.diagnosis.outcome import diagnose, first_link
from evals.scoring.diagnosis.stages import facts_of

__all__ = ["count_links", "diagnose", "facts_of", "first_link"]
