"""Nuggets: how many of the facts that a good answer conveys does this one convey?

The nuggets are the claims of the expected answer, vital or okay; their assignment is the comparison of claims that the
claim metrics use too. After TREC's AutoNuggetizer (Pradeep et al. 2024).
"""

from typing import ClassVar

from evals.case.case import Case
from evals.metrics.claims import ClaimMetric, Claims
from evals.metrics.inquiries import COMPARED, REFERENCE_CLAIMS


class _Nuggets(ClaimMetric):
    """A mean over nuggets. An abstention on an answerable question conveys none: 0."""

    inquiries = (COMPARED,)
    only_vital: ClassVar[bool] = False
    partly: ClassVar[float] = 0.5

    def counted(self, claims: Claims) -> list[float | None]:
        worth = {"conveyed": 1.0, "partly": self.partly, "missing": 0.0}
        pairs = zip(claims.conveyed, claims.vital, strict=True)
        return [worth.get(said) for said, vital in pairs if vital or not self.only_vital]

    def none_counts(self, claims: Claims) -> bool:
        if REFERENCE_CLAIMS.name not in claims.replies:
            return False
        return not any(claims.vital) if self.only_vital else claims.reference_has_none

    def nothing(self, case: Case) -> str:
        return "no fact of the expected answer is vital" if self.only_vital else "the expected answer states no facts"


class NuggetAll(_Nuggets):
    """Mean support of all nuggets.

    Formula: conveyed 1, partly 0.5, missing 0, mean over all nuggets. Range 0 to 1, higher is better. 0 for an
    abstention on an answerable question; None for an unanswerable one and for an expected answer without facts.
    Reference: Pradeep et al. 2024 (AutoNuggetizer, "all").
    """

    name = "nugget_all"


class NuggetAllStrict(_Nuggets):
    """Share of all nuggets that are fully conveyed.

    Formula: conveyed 1, partly 0, missing 0, mean over all nuggets. Range 0 to 1, higher is better. 0 for an
    abstention on an answerable question; None for an unanswerable one and for an expected answer without facts.
    Reference: Pradeep et al. 2024 (AutoNuggetizer, "strict all").
    """

    name = "nugget_all_strict"
    partly = 0.0


class NuggetVital(_Nuggets):
    """Mean support of the vital nuggets.

    Formula: conveyed 1, partly 0.5, missing 0, mean over the vital nuggets. Range 0 to 1, higher is better. 0 for an
    abstention on an answerable question; None for an unanswerable one and where no nugget is vital.
    Reference: Pradeep et al. 2024 (AutoNuggetizer, "vital").
    """

    name = "nugget_vital"
    only_vital = True


class NuggetVitalStrict(_Nuggets):
    """Share of the vital nuggets that are fully conveyed: the primary measure of TREC RAG.

    Formula: conveyed 1, partly 0, missing 0, mean over the vital nuggets. Range 0 to 1, higher is better. 0 for an
    abstention on an answerable question; None for an unanswerable one and where no nugget is vital.
    Reference: Pradeep et al. 2024 (AutoNuggetizer, "strict vital").
    """

    name = "nugget_vital_strict"
    only_vital = True
    partly = 0.0
