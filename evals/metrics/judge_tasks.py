"""An inquiry: one thing that a judge is asked about a case, what it is given, and the replies that are there.

Passages stand first in what is given, so that calls about the same ones begin alike.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from evals.metrics.sample import CORRECTNESS, Sample
from evals.schemas.response import Citation
from evals.schemas.verdicts import BLOCK, JudgeVerdict, Prompt, VerdictRequest
from evals.text.markup import numbers_of, without_citation_marks

ReplyData = Mapping[str, Any]
"""The parsed reply of a judge: a JSON object."""


Merge = Callable[[Sequence[ReplyData]], ReplyData]
"""How the replies on several blocks of passages become one."""


_PASSAGES = frozenset({"contexts", "passages"})
"""The parts of the data that hold passages."""


_EVERY = -1
"""Stands for every repeat."""


SAMPLES = "samples"
"""What the samples of a decision are called in the reply that they are together."""


MOST_PASSAGES = 10
"""In one block: what stands in the middle of more is read less well."""


@dataclass(frozen=True)
class JudgeTask:
    """One thing that a judge is asked about a case.

    Attributes:
        name: Of its verdicts.
        prompt: By which it is asked: the name of one of ours, or one that the metric brings along.
        data: What the judge is given; called once every inquiry in `after` has its reply.
        after: What must be known before.
        given: The reply where it follows without a judge, for example that an empty answer makes no claims.
        once: Whether repeats are of no use.
        heeds_abstention: Whether what is asked depends on whether the answer declines.
        merge: Where the passages are examined in blocks of at most ten, a call each; None where one call has all.
        samples: Replies that one decision takes. Several count together, as one reply that holds them as `SAMPLES`;
            it is there only with all of them, and nothing else builds on it.
    """

    name: str
    prompt: str | Prompt
    data: Callable[[Sample], dict[str, Any]]
    after: tuple["JudgeTask", ...] = ()
    given: Callable[[Sample], ReplyData | None] = lambda _case: None
    once: bool = False
    heeds_abstention: bool = False
    merge: Merge | None = None
    samples: int = 1

    @property
    def prompt_name(self) -> str:
        """The name of the prompt by which it is asked."""
        return self.prompt if isinstance(self.prompt, str) else self.prompt.name

    def names(self, case: Sample) -> list[str]:
        """Those of its verdicts on this case: one a block, the first without a number."""
        blocks = -(-len(case.passages) // MOST_PASSAGES) if self.merge is not None else 1
        return [self.name, *(f"{self.name}{BLOCK}{n}" for n in range(2, blocks + 1))]

    def replies(self, case: Sample) -> dict[int, ReplyData]:
        """The usable replies by repeat; a given one, and one that is asked for once, stand for every repeat as -1."""
        first, *others = (self._said(name, case.verdicts) for name in self.names(case))
        found = _merged(self.merge, [first, *others]) if self.merge is not None and others else first
        for repeat in self._begun(case):
            given = self.given(self._within(case, repeat))
            if given is not None:
                found = {**found, repeat: given} if repeat != _EVERY else {_EVERY: given}
        return found

    def reply(self, case: Sample) -> ReplyData:
        """The first usable reply; only for what is in `after`."""
        return next(iter(self.replies(case).values()))

    def requests(self, case: Sample) -> list[VerdictRequest]:
        """What to ask now: nothing where it is known already, or something else must be known first.

        Where it builds on what each repeat found anew, it is asked for each repeat.
        """
        found: list[VerdictRequest] = []
        for repeat in self._begun(case):
            within = self._within(case, repeat)
            if self.given(within) is None:
                found += self._requests_within(within, None if repeat == _EVERY else repeat)
        return found

    def _requests_within(self, case: Sample, repeat: int | None) -> Iterator[VerdictRequest]:
        names, data = self.names(case), self.data(case)
        ranks = [] if data.keys().isdisjoint(_PASSAGES) else [rank for rank, _ in case.passages]
        for name, part in zip(names, _blocks(data, len(names)), strict=True):
            yield VerdictRequest(
                name=name,
                prompt=case.prompt_for(self.prompt),
                data=part,
                once=self.once,
                repeat=repeat,
                passages=ranks,
                samples=self.samples,
            )

    def _begun(self, case: Sample) -> list[int]:
        """The repeats of which all that must be known before is known; -1 alone where it is the same for all."""
        return common_repeats(inquiry.replies(case) for inquiry in self.after)

    def _within(self, case: Sample, repeat: int) -> Sample:
        """The case as one repeat sees it: of what must be known before, its own replies alone."""
        if repeat == _EVERY:
            return case
        before = {inquiry.name for inquiry in chain(self.after) if not inquiry.once}
        seen = copy(case)  # with all that was derived of it
        seen.verdicts = [each for each in case.verdicts if each.repeat == repeat or each.inquiry not in before]
        return seen

    def _said(self, name: str, verdicts: Iterable[JudgeVerdict]) -> dict[int, ReplyData]:
        replies = {v.repeat: v.ranked_reply or {} for v in verdicts if v.request == name and v.reply is not None}
        decided = replies if self.samples == 1 else _sampled(replies, self.samples)
        return {_EVERY if self.once else repeat: reply for repeat, reply in decided.items()}


def common_repeats(found: Iterable[Mapping[int, ReplyData]]) -> list[int]:
    """The repeats of which all have a reply; -1 alone where each of them is the same for all."""
    numbered = [set(replies) for replies in found if _EVERY not in replies]
    return sorted(set.intersection(*numbered)) if numbered else [_EVERY]


def _sampled(replies: Mapping[int, ReplyData], samples: int) -> dict[int, ReplyData]:
    """Of each decision all of whose samples are there, these as one reply."""
    found: dict[int, ReplyData] = {}
    for decision in sorted({place // samples for place in replies}):
        places = range(decision * samples, (decision + 1) * samples)
        if all(place in replies for place in places):
            found[decision] = {SAMPLES: [replies[place] for place in places]}
    return found


def _merged(merge: Merge, found: Sequence[Mapping[int, ReplyData]]) -> dict[int, ReplyData]:
    """Of each repeat that every block has, the replies as one."""
    whole = set.intersection(*(set(replies) for replies in found))
    return {repeat: merge([replies[repeat] for replies in found]) for repeat in sorted(whole)}


def _blocks(data: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """The data with the passages in this many blocks of nearly the same size."""
    if count == 1:
        return [data]
    passages = data["contexts"]
    cuts = [len(passages) * n // count for n in range(count + 1)]
    return [{**data, "contexts": passages[start:end]} for start, end in pairwise(cuts)]


def chain(inquiries: Iterable[JudgeTask]) -> list[JudgeTask]:
    """The inquiries with all that they need, each once, what is needed first."""
    found: dict[str, JudgeTask] = {}
    for inquiry in inquiries:
        for one in (*chain(inquiry.after), inquiry):
            found.setdefault(one.name, one)
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


# The inquiries that several suites share: claims of answer and reference, and what supports them.


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

    return JudgeTask(name, "claims_in_contexts", data, after=(claims,), given=given, merge=_merged_claims)


_STRENGTH = {"supported": 3, "contradicted": 2, "cannot_tell": 1}
"""What counts of a claim on which blocks of passages say different things; anything else says nothing of it."""


def _merged_claims(replies: Sequence[ReplyData]) -> ReplyData:
    """One item a claim: the word of the block that says most, with the passages of all blocks that say it."""
    said: dict[int, list[ReplyData]] = {}
    for reply in replies:
        for item in reply["claims"]:
            said.setdefault(item["id"], []).append(item)
    claims = []
    for items in said.values():
        first = max(items, key=lambda item: _STRENGTH.get(item["verdict"], 0))
        alike = [item["passages"] for item in items if item["verdict"] == first["verdict"]]
        claims.append({**first, "passages": [passage for passages in alike for passage in passages]})
    return {"claims": claims}


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
    merge=lambda replies: {"contexts": [item for reply in replies for item in reply["contexts"]]},
)
"""Which chunks help to answer the question."""


def in_order(items: Sequence[ReplyData]) -> list[ReplyData]:
    """The items of a reply by their ids."""
    return sorted(items, key=lambda item: int(item["id"]))


Inquiry = JudgeTask
"""The former name of `JudgeTask`, for plug-ins; goes with the next release."""
