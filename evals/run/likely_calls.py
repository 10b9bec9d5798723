"""The calls that judging an answer will take, composed as in the run, with replies that are there or made up."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from evals.case.case import Case
from evals.case.refusal import ABSTENTION, DECIDING
from evals.judges.backends.base import Call
from evals.judges.cache import JudgeCache, StoredReply
from evals.judges.config import JudgeConfig
from evals.judges.parts import parts_of, why_too_long
from evals.judges.prompt import load_prompt
from evals.judges.reuse import call_of, problem_of_saved, repeats_of
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
        call: What is sent; of a request that is made in parts, each is one of these.
        times: How many of its repeats take a call.
        cached: How many of its repeats are in the cache.
        round: Of the calls about the answer; those of a later round build on replies to earlier ones.
    """

    request: VerdictRequest
    call: Call
    times: int
    cached: int
    round: int = 1


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
        self._most = judge.max_input_tokens
        self._shared = prompts_asked_twice(metrics)
        self._cache = cache

    def about(self, case: Case) -> Iterator[LikelyCall]:
        """Every call about the answer, round after round; verdicts that are there already take none.

        Args:
            case: With the verdicts that are there; those that will come are added.
        """
        there = {(verdict.request, verdict.repeat) for verdict in case.verdicts}
        asked: set[tuple[str, int | None]] = set()
        number = 0
        while todo := new_requests(self._metrics, case, asked):
            found: list[LikelyCall] = []
            for request in todo:
                asked.add(request.place)
                repeats = repeats_of(request, self._repeats)
                found += self._likely(case, request, [n for n in repeats if (request.name, n) not in there])
            number += any(one.times for one in found)
            yield from (replace(one, round=number) for one in found)

    def _likely(self, case: Case, request: VerdictRequest, missing: Sequence[int]) -> list[LikelyCall]:
        """The calls for the repeats that are missing; the replies that will come are put into the case."""
        kept = {n: stored for n in missing if (stored := self._kept(request, n)) is not None}
        made_up = StoredReply(reply=_likely_reply(case, request))
        come = {n: kept.get(n, made_up) for n in missing}
        case.verdicts = [
            *case.verdicts,
            *(
                JudgeVerdict(
                    request=request.name,
                    repeat=n,
                    reply=one.reply,
                    failure=one.failure,
                    passages=request.passages,
                )
                for n, one in come.items()
            ),
        ]
        return self._asked(request, [n for n in missing if n not in kept], len(kept))

    def _asked(self, request: VerdictRequest, left: Sequence[int], kept: int) -> list[LikelyCall]:
        """The calls for repeats of which no whole reply is kept."""
        parts = parts_of(request)
        if why_too_long(request, self._most) is not None:
            return []
        if len(parts) == 1:
            return [LikelyCall(request, self._call_of(request), len(left), kept)]
        return [self._likely_part(part, left) for part in parts]

    def _likely_part(self, part: VerdictRequest, missing: Sequence[int]) -> LikelyCall:
        kept = sum(self._kept(part, n) is not None for n in missing)
        return LikelyCall(part, self._call_of(part), len(missing) - kept, kept)

    def _call_of(self, request: VerdictRequest) -> Call:
        return call_of(request, repeats=self._repeats, shared=self._shared)

    def _kept(self, request: VerdictRequest, repeat: int) -> StoredReply | None:
        """What the cache holds, a recent failure included; None where that is not of use."""
        if self._cache is None:
            return None
        call = self._call_of(request)
        keys = (JudgeCache.key(self._judge, call, repeat), JudgeCache.legacy_key(self._judge, call, repeat))
        stored = next((found for key in keys if (found := self._cache.get(key)) is not None), None)
        if stored is None or (stored.reply is not None and problem_of_saved(stored.reply, request) is not None):
            return None
        return stored


def _likely_reply(case: Case, request: VerdictRequest) -> dict[str, object]:
    """What a judge will say; of whether the answer declines, what the text rules say."""
    reply = stand_in_reply(load_prompt(request.prompt), request.data)
    if request.name in DECIDING:
        answers = "answers" if request.name == ABSTENTION else "correct"
        reply["verdict"] = "declines" if case.reads_as_refusal else answers
    return reply
