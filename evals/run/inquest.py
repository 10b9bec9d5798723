"""What a judge is asked about an answer, and which saved verdicts are the reply to it."""

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from itertools import filterfalse

from evals.judges.backends.base import Identity
from evals.judges.reuse import fits, is_usable, repeats_of
from evals.judges.spending import spending_of, with_earlier
from evals.metrics.base import BaseMetric
from evals.schemas import EvalQuestion, EvalResponse, JudgeVerdict
from evals.schemas.verdicts import VerdictRequest
from evals.scoring.settings import Cases
from evals.store.spill import SpilledMapping

Choose = Callable[[VerdictRequest], Iterable[JudgeVerdict]]


@dataclass(frozen=True, slots=True)
class Inquest:
    """What is to be decided about every answer of a run.

    Attributes:
        metrics: Say what they want decided.
        cases: The records as metrics see them.
        judge: Who decides.
        repeats: How often each decision is made.
    """

    metrics: Sequence[BaseMetric]
    cases: Cases
    judge: Identity
    repeats: int = 1

    def requests(
        self, question: EvalQuestion, response: EvalResponse, verdicts: Sequence[JudgeVerdict]
    ) -> list[VerdictRequest]:
        """All that can be asked for with these verdicts, each once; some requests build on the replies to others."""
        case = self.cases.about(question, response, list(verdicts))
        found: dict[tuple[str, int | None], VerdictRequest] = {}
        for metric in self.metrics:
            for request in metric.requests(case):
                found.setdefault(request.place, request)
        return list(found.values())

    def fitting(
        self, question: EvalQuestion, response: EvalResponse, known: Iterable[JudgeVerdict]
    ) -> list[JudgeVerdict]:
        """The saved verdicts that are this judge's replies to what would be asked now, each request and repeat once."""
        by_name = _by_request(known)
        if not by_name:
            return []

        def choose(request: VerdictRequest) -> Iterable[JudgeVerdict]:
            chosen: dict[int, JudgeVerdict] = {}
            for verdict in by_name.get(request.name, ()):
                wanted = verdict.repeat in repeats_of(request, self.repeats) and verdict.repeat not in chosen
                if wanted and fits(verdict, request, self.judge):
                    chosen[verdict.repeat] = verdict
            return chosen.values()

        return self._in_rounds(question, response, choose)

    def fitting_all(
        self,
        questions: Iterable[EvalQuestion],
        responses: Mapping[str, EvalResponse],
        known: Mapping[str, Sequence[JudgeVerdict]],
    ) -> MutableMapping[str, Sequence[JudgeVerdict]]:
        """The same for many questions, by their ids; those of which nothing is known are left out."""
        found: SpilledMapping[Sequence[JudgeVerdict]] = SpilledMapping(list[JudgeVerdict])
        for question in questions if known else ():
            theirs = known.get(question.id) if question.id in responses else None
            if theirs:
                found[question.id] = self.fitting(question, responses[question.id], theirs)
        return found

    def with_leftovers(
        self,
        question: EvalQuestion,
        response: EvalResponse,
        found: Sequence[JudgeVerdict],
        known: Sequence[JudgeVerdict],
    ) -> list[JudgeVerdict]:
        """The verdicts of a run that ended, with those of before which nothing has replaced.

        A reply that cannot be read as one to what is asked now is left out; what it cost is not.
        """
        here = {_place(verdict) for verdict in found}
        rest = [verdict for verdict in known if _place(verdict) not in here]
        if not rest:
            return list(found)
        usable = self._usable(question, response, found, rest)

        def stays(verdict: JudgeVerdict) -> bool:
            return verdict.reply is None or _place(verdict) in usable

        return _with_cost_of(list(filterfalse(stays, rest)), [*found, *filter(stays, rest)])

    def _usable(
        self,
        question: EvalQuestion,
        response: EvalResponse,
        found: Sequence[JudgeVerdict],
        rest: Sequence[JudgeVerdict],
    ) -> set[tuple[str, int]]:
        """The places of the verdicts of use: those found, and of the rest those that can be read as replies."""
        here = {_place(verdict) for verdict in found}
        by_name = _by_request([*found, *rest])

        def choose(request: VerdictRequest) -> Iterable[JudgeVerdict]:
            theirs = (v for v in by_name.get(request.name, ()) if request.repeat in {None, v.repeat})
            return [v for v in theirs if _place(v) in here or is_usable(v, request)]

        return {_place(verdict) for verdict in self._in_rounds(question, response, choose)}

    def _in_rounds(self, question: EvalQuestion, response: EvalResponse, choose: Choose) -> list[JudgeVerdict]:
        found: list[JudgeVerdict] = []
        seen: set[tuple[str, int | None]] = set()
        while todo := [r for r in self.requests(question, response, found) if r.place not in seen]:
            for request in todo:
                seen.add(request.place)
                found += choose(request)
        return found


_UNFIT = "the saved reply does not fit what is asked now"


def _with_cost_of(dropped: Sequence[JudgeVerdict], kept: Sequence[JudgeVerdict]) -> list[JudgeVerdict]:
    """The verdicts kept, of which the last one bears what those dropped cost; failures where none is kept."""
    if not dropped:
        return list(kept)
    if not kept:
        return [v.model_copy(update={"reply": None, "failure": "unparsable", "message": _UNFIT}) for v in dropped]
    return [*kept[:-1], with_earlier(kept[-1], spending_of(dropped))]


def _place(verdict: JudgeVerdict) -> tuple[str, int]:
    return verdict.request, verdict.repeat


def _by_request(verdicts: Iterable[JudgeVerdict]) -> dict[str, list[JudgeVerdict]]:
    found: dict[str, list[JudgeVerdict]] = {}
    for verdict in verdicts:
        found.setdefault(verdict.request, []).append(verdict)
    return found
