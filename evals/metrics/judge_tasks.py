"""Judge tasks: what a judge is asked about a sample, what it is given, and the replies that are there.

Passages stand first in what is given, so that calls about the same ones begin alike.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

from evals.metrics.sample import ABSTENTION, CORRECTNESS, Sample
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
        heeds_abstention: Whether what is asked depends on whether the answer declines.
    """

    name: str
    prompt: str | Prompt
    data: Callable[[Sample], dict[str, Any]]
    after: tuple["JudgeTask", ...] = ()
    given: Callable[[Sample], ReplyData | None] = lambda _sample: None
    heeds_abstention: bool = False

    def replies(self, sample: Sample) -> dict[int, ReplyData]:
        """The usable replies by repeat; a given one stands for `EVERY` repeat."""
        replies: dict[int, ReplyData] = {
            verdict.repeat: verdict.ranked_reply or {}
            for verdict in sample.verdicts
            if verdict.request == self.name and verdict.reply is not None
        }
        for repeat, within in self._ready(sample):
            if (given := self.given(within)) is not None:
                replies = {EVERY: given} if repeat == EVERY else {**replies, repeat: given}
        return replies

    def reply(self, sample: Sample) -> ReplyData:
        """The first usable reply; only for what is in `after`."""
        return next(iter(self.replies(sample).values()))

    def requests(self, sample: Sample) -> list[VerdictRequest]:
        """What to ask now: nothing where it follows already, or something else must be known first.

        Where it builds on what each repeat found anew, it is asked for each repeat.
        """
        prompt, requests = sample.prompt_for(self.prompt), []
        for repeat, within in self._ready(sample):
            if self.given(within) is None:
                data, number = self.data(within), None if repeat == EVERY else repeat
                ranks = [] if _PASSAGES.isdisjoint(data) else [rank for rank, _ in within.passages]
                request = VerdictRequest(name=self.name, prompt=prompt, data=data, repeat=number, passages=ranks)
                requests.append(request)
        return requests

    def _ready(self, sample: Sample) -> list[tuple[int, Sample]]:
        """The repeats of which all is known that must be known before, each with the sample as it sees it.

        It sees, of what must be known before, its own replies alone. `EVERY` alone where it is the same for all.
        """
        repeats = common_repeats(task.replies(sample) for task in self.after)
        if repeats == [EVERY]:
            return [(EVERY, sample)]
        before, ready = {task.name for task in chain(self.after)}, []
        for repeat in repeats:
            within = copy(sample)  # with all that was derived of it
            within.verdicts = [item for item in sample.verdicts if item.repeat == repeat or item.request not in before]
            ready.append((repeat, within))
        return ready


def common_repeats(replies: Iterable[Mapping[int, ReplyData]]) -> list[int]:
    """The repeats of which all have a reply; `EVERY` alone where each of them is the same for all."""
    numbered = [set(by_repeat) for by_repeat in replies if EVERY not in by_repeat]
    return sorted(set.intersection(*numbered)) if numbered else [EVERY]


def chain(tasks: Iterable[JudgeTask]) -> list[JudgeTask]:
    """The tasks with all that they need, each once, what is needed first."""
    by_name: dict[str, JudgeTask] = {}
    for task in tasks:
        for needed in (*chain(task.after), task):
            by_name.setdefault(needed.name, needed)
    return list(by_name.values())


# What a judge is given.


def numbered_contexts(sample: Sample) -> list[dict[str, Any]]:
    """The texts of the retrieved chunks, numbered from 1 in an order that says nothing of their rank."""
    return [{"id": number, "text": text} for number, (_, text) in enumerate(sample.passages, start=1)]


def passage_ids(sample: Sample) -> dict[int, int]:
    """By the rank of each chunk with text, the id that it has for a judge."""
    return {rank: number for number, (rank, _) in enumerate(sample.passages, start=1)}


def answer_citing_passages(sample: Sample) -> str | None:
    """The answer, which cites passages by their ids; a mark that names none is left out, as its number is another's."""
    ids = passage_ids(sample)
    listed = {citation.index: citation for citation in reversed(sample.response.citations or [])}

    def cited(numbers: str) -> str:
        sources = (listed.get(number) or Citation(index=number) for number in numbers_of(numbers))
        named = dict.fromkeys(ids[rank] for rank in map(sample.rank_of, sources) if rank is not None)
        return f"[{', '.join(map(str, named))}]" if named else ""

    answer = sample.response.answer
    return None if answer is None else without_citation_marks(answer, *sample.citation_numbers, cited)


_PARTS: dict[str, Callable[[Sample], Any]] = {
    "question": lambda sample: sample.asked,
    "expected_answer": lambda sample: sample.question.expected_answer,
    "accepted_variants": lambda sample: sample.question.answers,
    "answer": lambda sample: sample.response.answer,
    "contexts": numbered_contexts,
}


def showing(*parts: str, **own: Callable[[Sample], Any]) -> Callable[[Sample], dict[str, Any]]:
    """What a judge is given that sees these parts of a sample, in this order.

    Args:
        parts: Of question, expected_answer, accepted_variants, answer, contexts.
        own: Further ones, by name.
    """
    read = {**{part: _PARTS[part] for part in parts}, **own}
    return lambda sample: {name: part(sample) for name, part in read.items()}


question_and_answer = showing("question", "answer")
"""What a judge needs to look at the answer alone."""

answer_beside_reference = showing("question", "expected_answer", "accepted_variants", "answer")
"""What a judge needs to compare the answer with the expected one."""


# The tasks that several suites share: does the answer decline, what do it and the reference claim, what supports that.


ANSWER_CORRECTNESS = JudgeTask(CORRECTNESS, CORRECTNESS, answer_beside_reference)
"""Whether the answer says what the expected one says, or declines to."""

DECIDING_TASKS = {ABSTENTION: JudgeTask(ABSTENTION, ABSTENTION, question_and_answer), CORRECTNESS: ANSWER_CORRECTNESS}
"""Those that decide whether the answer declines, by name."""

FAITHFULNESS = JudgeTask("faithfulness", "faithfulness", showing("contexts", "question", answer=answer_citing_passages))
"""The claims that the answer makes, each against the chunks, in one call."""


def says_nothing(sample: Sample) -> bool:
    """Whether the answer abstains or is empty: no claim is made, and no judge is needed."""
    return sample.abstained or not (sample.response.answer or "").strip()


ANSWER_CLAIMS = JudgeTask(
    "answer_claims",
    "answer_claims",
    question_and_answer,
    given=lambda sample: {"claims": []} if says_nothing(sample) else None,
    heeds_abstention=True,
)
"""The claims that the answer makes."""

REFERENCE_CLAIMS = JudgeTask(
    "reference_claims",
    "reference_claims",
    showing("question", "expected_answer"),
    given=lambda sample: None if (sample.question.expected_answer or "").strip() else {"claims": []},
)
"""The claims of the expected answer, each vital or okay."""


def _numbered(claims: JudgeTask, sample: Sample) -> list[dict[str, Any]]:
    return [{"id": n, "text": claim["claim"]} for n, claim in enumerate(claims.reply(sample)["claims"], start=1)]


def _in_contexts(claims: JudgeTask, name: str) -> JudgeTask:
    def given(sample: Sample) -> ReplyData | None:
        listed = _numbered(claims, sample)
        if listed and sample.passages:
            return None
        return {"claims": [{"id": claim["id"], "passages": [], "verdict": "not_said"} for claim in listed]}

    data = showing("contexts", "question", claims=partial(_numbered, claims))
    return JudgeTask(name, "claims_in_contexts", data, after=(claims,), given=given)


ANSWER_IN_CONTEXTS = _in_contexts(ANSWER_CLAIMS, "answer_in_contexts")
"""Which of the answer's claims which chunks support."""

REFERENCE_IN_CONTEXTS = _in_contexts(REFERENCE_CLAIMS, "reference_in_contexts")
"""Which of the reference's claims which chunks support."""


def _compared_given(sample: Sample) -> ReplyData | None:
    wanted = _numbered(REFERENCE_CLAIMS, sample)
    if (wanted and not says_nothing(sample)) or (not wanted and _numbered(ANSWER_CLAIMS, sample)):
        return None
    missing = [{"id": claim["id"], "verdict": "missing"} for claim in wanted]
    return {"answer_claims": [], "reference_claims": missing}


# Without claims of the reference some metrics have no value: those come first.
COMPARED = JudgeTask(
    "claims_compared",
    "claims_compared",
    showing(
        *("question", "expected_answer", "answer"),
        answer_claims=partial(_numbered, ANSWER_CLAIMS),
        reference_claims=partial(_numbered, REFERENCE_CLAIMS),
    ),
    after=(REFERENCE_CLAIMS, ANSWER_CLAIMS),
    given=_compared_given,
)
"""The answer's claims against the reference, and the reference's claims against the answer."""


CONTEXT_RELEVANCE = JudgeTask(
    "context_relevance",
    "context_relevance",
    showing("contexts", "question", "expected_answer"),
    given=lambda sample: None if sample.passages else {"contexts": []},
)
"""Which chunks help to answer the question."""


def in_order(items: Sequence[ReplyData]) -> list[ReplyData]:
    """The items of a reply by their ids."""
    return sorted(items, key=lambda item: int(item["id"]))
