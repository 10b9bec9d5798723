"""How the questions of a run ended."""

from evals.schemas.base import Finite, Record
from evals.schemas.verdicts import VerdictLosses


class Outcomes(Record):
    """How the questions ended."""

    answered: int = 0
    abstained: int = 0
    abstention_disputed: int | None = None
    """Answers that one of text rules and judge takes for a refusal and the other does not; the judge's word counts.
    None without a judge, and where it was not asked, as in runs of before."""
    abstention_open: int = 0
    """Answers on which the judge should have the word, and it is lost: not counted as abstained."""
    abstention_by_judge: int | None = None
    """Answers that abstain or do not by the judge's word; the others by the text rules. None without a judge, and in
    runs of before, where it was asked about what the text rules take for a refusal alone."""
    not_asked: int = 0
    stopped: str | None = None
    """Why asking ended early; None where it did not, or where evals itself was interrupted."""
    transport: dict[str, int] = {}
    judge: dict[str, int] = {}
    judge_losses: list[VerdictLosses] = []
    """Whether lost verdicts were lost at random, one test each; none where too few were lost for a test."""
    citations: int | None = None
    """Distinct sources cited; None where the server sends no citations."""
    invalid_citations: int | None = None
    """Of these, how many point to no retrieved chunk: validity, apart from precision and recall."""
    retried: int = 0
    """Questions that needed more than one attempt."""
    median_chunks: Finite | None = None
    """Median number of chunks returned: recall_at_10 of five chunks says something else."""
    warmup_ms: list[Finite | None] = []
