"""Judge tasks: what a judge is asked about a sample, what it is given, and the replies that are there.

Passages stand first in what is given, so that calls about the same ones begin alike.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from evals.metrics.sample import CORRECTNESS, Sample
from evals.schemas.response import Citation
from evals.schemas.verdicts import Prompt, VerdictRequest
from evals.text.markup import numbers_of, without_citation_marks

ReplyData = Mapping[str, Any]
"""The parsed reply of a judge: a JSON object."""

_PASSAGES = frozenset({"contexts", "passages"})
"""The parts of the data that hold passages."""

EVERY = -1
"""Stands for every repeat, where there is one reply for all."""


@dataclass(frozen=True)
class JudgeTask:
    """One thing that a judge is asked about a sample: one call.

    Attributes:
        name: Of its verdicts.
        prompt: By which it is asked: the name of one of ours, or one that the metric brings along.
        data: What the judge is given; called once every task in `after` has its reply.
        after: What must be known before.
        given: The reply where it follows without a judge, for example that an empty answer makes no claims.
        once: Whether repeats are of no use.
        heeds_abstention: Whether what is asked depends on whether the answer declines.
    """

    name: str
    prompt: str | Prompt
    data: Callable[[Sample], dict[str, Any]]
    after: tuple["JudgeTask", ...] = ()
    given: Callable[[Sample], ReplyData | None] = lambda _sample: None
    once: bool = False
    heeds_abstention: bool = False

    @property
    def prompt_name(self) -> str:
        """The name of the prompt by which it is asked."""
        return self.prompt if isinstance(self.prompt, str) else self.prompt.name

    def replies(self, sample: Sample) -> dict[int, ReplyData]:
        """The usable replies by repeat; a given one, and one that is asked for once, stand for `EVERY` repeat."""
        verdicts = (each for each in sample.verdicts if each.request == self.name and each.reply is not None)
        found: dict[int, ReplyData] = {
            EVERY if self.once else each.repeat: each.ranked_reply or {} for each in verdicts
        }
        for repeat in self._begun(sample):
            given = self.given(self._within(sample, repeat))
            if given is not None:
                found = {**found, repeat: given} if repeat != EVERY else {EVERY: given}
        return found

    def reply(self, sample: Sample) -> ReplyData:
        """The first usable reply; only for what is in `after`."""
        return next(iter(self.replies(sample).values()))

    def requests(self, sample: Sample) -> list[VerdictRequest]:
        """What to ask now: nothing where it follows already, or something else must be known first.

        Where it builds on what each repeat found anew, it is asked for each repeat.
        """
        found: list[VerdictRequest] = []
        for repeat in self._begun(sample):
            within = self._within(sample, repeat)
            if self.given(within) is None:
                data = self.data(within)
                found.append(
                    VerdictRequest(
                        name=self.name,
                        prompt=sample.prompt_for(self.prompt),
                        data=data,
                        once=self.once,
                        repeat=None if repeat == EVERY else repeat,
                        passages=[] if data.keys().isdisjoint(_PASSAGES) else [rank for rank, _ in sample.passages],
                    )
                )
        return found

    def _begun(self, sample: Sample) -> list[int]:
        """The repeats of which all that must be known before is known; `EVERY` alone where it is the same for all."""
        return common_repeats(task.replies(sample) for task in self.after)

    def _within(self, sample: Sample, repeat: int) -> Sample:
        """The sample as one repeat sees it: of what must be known before, its own replies alone."""
        if repeat == EVERY:
            return sample
        before = {task.name for task in chain(self.after) if not task.once}
        seen = copy(sample)  # with all that was derived of it
        seen.verdicts = [each for each in sample.verdicts if each.repeat == repeat or each.request not in before]
        return seen


def common_repeats(found: Iterable[Mapping[int, ReplyData]]) -> list[int]:
    """The repeats of which all have a reply; `EVERY` alone where each of them is the same for all."""
    numbered = [set(replies) for replies in found if EVERY not in replies]
    return sorted(set.intersection(*numbered)) if numbered else [EVERY]


def chain(tasks: Iterable[JudgeTask]) -> list[JudgeTask]:
    """The tasks with all that they need, each once, what is needed first."""
    found: dict[str, JudgeTask] = {}
    for task in tasks:
        for needed in (*chain(task.after), task):
            found.setdefault(needed.name, needed)
    return list(found.values())


def numbered_contexts(case: Sample) -> list[dict[str, Any]]:
    """The texts of the retrieved chunks, numbered from 1 in an order that says nothing of their rank."""
    return [{"id": number, "text": text} for number, (_, text) in enumerate(case.passages, start=1)]


def passage_ids(case: Sample) -> dict[int, int]:
    """By the rank of each chunk with text, the id that it has for a judge."""
    return {rank: number for number, (rank, _) in enumerate(case.passages, start=1)}


def question_and_answer(case: Sample) -> dict[str, Any]:
    """What a judge needs to look at the answer alone."""
    return {"question": case.asked, "answer": case.response.answer}


def answer_in_contexts(case: Sample) -> dict[str, Any]:
    """What a judge needs to compare the answer with what was retrieved."""
    return {"contexts": numbered_contexts(case), "question": case.asked, "answer": answer_citing_passages(case)}


def answer_citing_passages(case: Sample) -> str | None:
    """The answer, which cites passages by their ids; a mark that names none is left out, as its number is another's."""
    ids = passage_ids(case)
    listed = {one.index: one for one in reversed(case.response.citations or [])}

    def cited(numbers: str) -> str:
        sources = (listed.get(number) or Citation(index=number) for number in numbers_of(numbers))
        places = map(case.place_of, sources)
        found = dict.fromkeys(ids[place + 1] for place in places if place is not None and place + 1 in ids)
        return f"[{', '.join(map(str, found))}]" if found else ""

    answer = case.response.answer
    return None if answer is None else without_citation_marks(answer, *case.citation_numbers, cited)


def answer_beside_reference(case: Sample) -> dict[str, Any]:
    """What a judge needs to compare the answer with the expected one."""
    return {
        "question": case.asked,
        "expected_answer": case.question.expected_answer,
        "accepted_variants": case.question.answers,
        "answer": case.response.answer,
    }


# The tasks that several suites share: claims of answer and reference, and what supports them.


def _numbered(reply: ReplyData) -> list[dict[str, Any]]:
    return [{"id": n, "text": claim["claim"]} for n, claim in enumerate(reply["claims"], start=1)]


ANSWER_CORRECTNESS = JudgeTask(CORRECTNESS, CORRECTNESS, answer_beside_reference)
"""Whether the answer says what the expected one says, or declines to."""


FAITHFULNESS = JudgeTask("faithfulness", "faithfulness", answer_in_contexts)
"""The claims that the answer makes, each against the chunks, in one call."""


def says_nothing(case: Sample) -> bool:
    """Whether the answer abstains or is empty: no claim is made, and no judge is needed."""
    return case.abstained or not (case.response.answer or "").strip()


ANSWER_CLAIMS = JudgeTask(
    "answer_claims",
    "answer_claims",
    question_and_answer,
    given=lambda case: {"claims": []} if says_nothing(case) else None,
    heeds_abstention=True,
)
"""The claims that the answer makes."""


REFERENCE_CLAIMS = JudgeTask(
    "reference_claims",
    "reference_claims",
    lambda case: {"question": case.asked, "expected_answer": case.question.expected_answer},
    given=lambda case: None if (case.question.expected_answer or "").strip() else {"claims": []},
)
"""The claims of the expected answer, each vital or okay."""


def _in_contexts(claims: JudgeTask, name: str) -> JudgeTask:
    def data(case: Sample) -> dict[str, Any]:
        texts = _numbered(claims.reply(case))
        return {"contexts": numbered_contexts(case), "question": case.asked, "claims": texts}

    def given(case: Sample) -> ReplyData | None:
        found = claims.reply(case)["claims"]
        if found and numbered_contexts(case):
            return None
        return {"claims": [{"id": n, "passages": [], "verdict": "not_said"} for n in range(1, len(found) + 1)]}

    return JudgeTask(name, "claims_in_contexts", data, after=(claims,), given=given)


ANSWER_IN_CONTEXTS = _in_contexts(ANSWER_CLAIMS, "answer_in_contexts")
"""Which of the answer's claims which chunks support."""


REFERENCE_IN_CONTEXTS = _in_contexts(REFERENCE_CLAIMS, "reference_in_contexts")
"""Which of the reference's claims which chunks support."""


def _compared_data(case: Sample) -> dict[str, Any]:
    return {
        "question": case.asked,
        "expected_answer": case.question.expected_answer,
        "answer": case.response.answer,
        "answer_claims": _numbered(ANSWER_CLAIMS.reply(case)),
        "reference_claims": _numbered(REFERENCE_CLAIMS.reply(case)),
    }


def _compared_given(case: Sample) -> ReplyData | None:
    wanted = REFERENCE_CLAIMS.reply(case)["claims"]
    if wanted and not says_nothing(case):
        return None
    if not wanted and ANSWER_CLAIMS.reply(case)["claims"]:
        return None
    missing = [{"id": n, "verdict": "missing"} for n in range(1, len(wanted) + 1)]
    return {"answer_claims": [], "reference_claims": missing}


COMPARED = JudgeTask(
    "claims_compared",
    "claims_compared",
    _compared_data,
    after=(REFERENCE_CLAIMS, ANSWER_CLAIMS),  # without claims of the reference some metrics have no value
    given=_compared_given,
)
"""The answer's claims against the reference, and the reference's claims against the answer."""


CONTEXT_RELEVANCE = JudgeTask(
    "context_relevance",
    "context_relevance",
    lambda case: {
        "contexts": numbered_contexts(case),
        "question": case.asked,
        "expected_answer": case.question.expected_answer,
    },
    given=lambda case: None if numbered_contexts(case) else {"contexts": []},
)
"""Which chunks help to answer the question."""


def in_order(items: Sequence[ReplyData]) -> list[ReplyData]:
    """The items of a reply by their ids."""
    return sorted(items, key=lambda item: int(item["id"]))
