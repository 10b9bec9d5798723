"""The calls that judging an answer will take, composed as in the run, with replies that are there or made up."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evals.case.case import Case
from evals.judges.backends.base import Call
from evals.judges.cache import JudgeCache
from evals.judges.config import JudgeConfig
from evals.judges.prompt import load_prompt
from evals.judges.replies.checks import problem_with
from evals.judges.reuse import call_of, repeats_of
from evals.judges.stand_in import stand_in_reply
from evals.metrics.base import BaseMetric
from evals.metrics.judged import new_requests, prompts_asked_twice
from evals.schemas import JudgeVerdict
from evals.schemas.verdicts import VerdictRequest


@dataclass(frozen=True, slots=True)
class LikelyCall:
    """A request that will be made.

    Attributes:
        request: What is wanted.
        call: What is sent.
        times: How many of its repeats take a call.
        cached: How many of its repeats are in the cache.
    """

    request: VerdictRequest
    call: Call
    times: int
    cached: int


class LikelyCalls:
    """Composes the calls about one answer after the other.

    Args:
        metrics: Of the run.
        judge: Of the run.
        cache: Where replies are kept that cost nothing; None where none is used.
    """

    def __init__(self, metrics: Sequence[BaseMetric], judge: JudgeConfig, cache: JudgeCache | None) -> None:
        self._metrics = metrics
        self._judge = judge.identity
        self._repeats = judge.repeats
        self._shared = prompts_asked_twice(metrics)
        self._cache = cache

    def about(self, case: Case) -> Iterator[LikelyCall]:
        """Every call about the answer, round after round; verdicts that are there already take none.

        Args:
            case: With the verdicts that are there; those that will come are added.
        """
        there = {(verdict.request, verdict.repeat) for verdict in case.verdicts}
        asked: set[tuple[str, int | None]] = set()
        while todo := new_requests(self._metrics, case, asked):
            for request in todo:
                asked.add(request.place)
                repeats = repeats_of(request, self._repeats)
                yield self._likely(case, request, [n for n in repeats if (request.name, n) not in there])

    def _likely(self, case: Case, request: VerdictRequest, missing: Sequence[int]) -> LikelyCall:
        """The calls for the repeats that are missing; the replies that will come are put into the case."""
        call = call_of(request, repeats=self._repeats, shared=self._shared)
        kept = {n: reply for n in missing if (reply := self._kept(request, call, n)) is not None}
        made_up = stand_in_reply(load_prompt(request.prompt), request.data)
        replies = {n: kept.get(n, made_up) for n in missing}
        come = (JudgeVerdict(request=request.name, repeat=n, reply=reply) for n, reply in replies.items())
        case.verdicts = [*case.verdicts, *come]
        return LikelyCall(request, call, len(missing) - len(kept), len(kept))

    def _kept(self, request: VerdictRequest, call: Call, repeat: int) -> dict[str, object] | None:
        """The reply in the cache; None where there is none that can be used."""
        if self._cache is None:
            return None
        keys = (JudgeCache.key(self._judge, call, repeat), JudgeCache.legacy_key(self._judge, call, repeat))
        stored = next((found for key in keys if (found := self._cache.get(key)) is not None), None)
        if stored is None or problem_with(load_prompt(request.prompt), stored.reply, request.data) is not None:
            return None
        return stored.reply
