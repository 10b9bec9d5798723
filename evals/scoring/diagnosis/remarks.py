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
    """Claims that no chunk supports, and where fuzzy match and judge disagree.

    Details that a saved run cannot have of us say nothing: somebody changed them.
    """
    grounded = next((score for score in record.scores if score.name == "faithfulness"), None)
    claims = grounded.details.get("unsupported") if grounded is not None else None
    found = []
    if grounded is not None and isinstance(claims, list) and claims and not case.abstained:
        said = f"{len(claims)} of {grounded.details.get('claims', len(claims))} claims unsupported: {claims[0]}"
        found.append(Remark("unsupported_claims", said))
    halves = _halves(needs_verification(record))
    if halves is not None:
        found.append(Remark("needs_verification", f"verify: fuzzy match says {halves[0]:g}, the judge {halves[1]:g}"))
    return found


def _halves(disputed: MetricResult | None) -> tuple[float, float] | None:
    """What fuzzy match and judge say where they disagree."""
    if disputed is None:
        return None
    by_letters, by_meaning = disputed.details.get("fuzzy_match"), disputed.details.get("gptscore")
    if not isinstance(by_letters, int | float) or not isinstance(by_meaning, int | float):
        return None
    return by_letters, by_meaning


def needs_verification(record: EvalRecord) -> MetricResult | None:
    """The factual match whose two halves disagree, which a person should settle; None where there is none."""
    for score in record.scores:  # no generator, which takes longer: it is asked of every record
        if score.details.get("needs_verification"):
            return score
    return None
