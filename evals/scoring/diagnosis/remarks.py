"""What is worth a look beside the link that broke, in right answers too."""

from dataclasses import dataclass
from typing import Literal

from evals.case.case import Case
from evals.schemas import EvalRecord, MetricResult

RemarkKind = Literal["unsupported_claims", "needs_verification"]


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing to look at."""

    kind: RemarkKind
    text: str


def remarks_on(record: EvalRecord, case: Case) -> list[Remark]:
    """Claims that no chunk supports, and where fuzzy match and judge disagree."""
    found = []
    grounded = next((score for score in record.scores if score.name == "faithfulness"), None)
    if grounded is not None and grounded.details.get("unsupported") and not case.abstained:
        claims = grounded.details["unsupported"]
        said = f"{len(claims)} of {grounded.details['claims']} claims unsupported: {claims[0]}"
        found.append(Remark("unsupported_claims", said))
    disputed = needs_verification(record)
    if disputed is not None:
        by_letters, by_meaning = disputed.details["fuzzy_match"], disputed.details["gptscore"]
        found.append(Remark("needs_verification", f"verify: fuzzy match says {by_letters:g}, the judge {by_meaning:g}"))
    return found


def needs_verification(record: EvalRecord) -> MetricResult | None:
    """The factual match whose two halves disagree, which a person should settle; None where there is none."""
    for score in record.scores:  # no generator, which takes longer: it is asked of every record
        if score.details.get("needs_verification"):
            return score
    return None
