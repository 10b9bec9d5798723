"""What a run measures: questions with the answers and verdicts that are there already, and what it will be saved as."""

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field

from evals.run.estimate import Known
from evals.schemas import Document, EvalQuestion, EvalRecord, EvalResponse, EvalRun, JudgeVerdict
from evals.schemas.base import unchecked
from evals.schemas.verdicts import JudgeRecord
from evals.store.journal import Journal
from evals.store.spill import Chosen


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be measured.

    Questions and answers may lie on disk, to be read one at a time (`evals.store.spill`): who walks them holds none.

    Attributes:
        run: The run that it will make, as far as it is known.
        questions: All of it.
        responses: By question, those that are there already; asking adds to them.
        documents: The corpus, where it is at hand: it tells how large chunks may be.
        verdicts: What the judge said of them in this run before, where it goes on.
        free: What saved runs hold of a judge, by question: a reply that fits is not paid for again.
        before: The judge of the run that goes on.
        spent_usd: What that one has cost.
        journal: The log of the run that goes on, which this process has locked; who measures closes it.
        usage_needs_concurrency: Above this concurrency the server's token counts mix.
        notes: What a reader must know, beside what the answers themselves give reason to say.
        way_on: What to do where the judge ends the work early.
        lacks: What was lost of the answers before they were measured, so that the run is partial.
        before_s: Seconds spent on it by processes that were killed, beside those in `run.duration_s`.
    """

    run: EvalRun
    questions: Sequence[EvalQuestion]
    responses: MutableMapping[str, EvalResponse] = field(default_factory=dict)
    documents: Sequence[Document] = ()
    verdicts: Mapping[str, Sequence[JudgeVerdict]] = field(default_factory=dict)
    free: Mapping[str, Sequence[JudgeVerdict]] = field(default_factory=dict)
    before: JudgeRecord | None = None
    spent_usd: float = 0.0
    journal: Journal | None = None
    usage_needs_concurrency: int | None = None
    notes: Sequence[str] = ()
    way_on: str = ""
    lacks: str | None = None
    before_s: float = 0.0

    @property
    def there(self) -> Iterator[EvalQuestion]:
        """The questions that were asked already, with whatever outcome."""
        if not self.responses:
            return iter(())  # as at the begin of most runs, whose questions need not be read for it
        return (question for question in self.questions if question.id in self.responses)

    @property
    def answered(self) -> Sequence[EvalQuestion]:
        """The questions that have an answer."""
        return Chosen(self.questions, (n for n, one in enumerate(self.questions) if _is_answer(self._response(one))))

    def known(self, verdicts: Mapping[str, Sequence[JudgeVerdict]]) -> Known:
        """The answers that are there, with verdicts on them."""
        return Known(Answered(self.responses), verdicts)

    def _response(self, question: EvalQuestion) -> EvalResponse | None:
        return self.responses.get(question.id)


class Answered(Mapping[str, EvalResponse]):
    """Those of the responses that brought an answer.

    Args:
        responses: By question.
    """

    def __init__(self, responses: Mapping[str, EvalResponse]) -> None:
        self._responses = responses
        self._ids = dict.fromkeys(key for key, response in responses.items() if _is_answer(response))

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __getitem__(self, key: str) -> EvalResponse:
        if key not in self._ids:
            raise KeyError(key)
        return self._responses[key]


def _is_answer(response: EvalResponse | None) -> bool:
    return response is not None and response.error is None


class RunRecords(Sequence[EvalRecord]):
    """All questions of a run with what happened to them; none is held.

    Args:
        work: Questions and answers.
        verdicts: What the judge said, by question.
    """

    def __init__(self, work: Work, verdicts: Mapping[str, Sequence[JudgeVerdict]]) -> None:
        self._work = work
        self._verdicts = verdicts

    def __len__(self) -> int:
        return len(self._work.questions)

    def __getitem__(self, place: int) -> EvalRecord:  # type: ignore[override]  # no slices
        question = self._work.questions[place]
        fields = {
            "question": question,
            "response": self._work.responses.get(question.id),
            "scores": [],
            "verdicts": list(self._verdicts.get(question.id, ())),
        }
        return unchecked(EvalRecord, fields)
