"""Who decides that an answer declines: the text rules, or a judge.

The text rules are right about most answers, not about all: what they take for a refusal scores 0 on many metrics, and
refusals that leave it to the reader they miss. So where a judge takes part it has the word on longer answers, as a
label of the reply that says whether the answer is correct, or by an inquiry of its own.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from evals.schemas import EvalQuestion, JudgeVerdict
from evals.text.folding import UNSPACED

ABSTENTION = "abstention"
"""The inquiry that asks whether an answer declines, and nothing else: the name of its prompt, and of its verdicts."""
CORRECTNESS = "answer_correctness"
"""The inquiry that asks whether an answer is correct; that it declines is one of the labels."""
DECIDING = (ABSTENTION, CORRECTNESS)
FEW_WORDS = 5
"""An answer of so many words at most needs no judge: "I cannot answer this question." has no room for an answer."""

_DECLINES = "declines"
_ANSWERS = ("answers", "correct", "partly_correct", "incorrect")
_UNSPACED = re.compile(f"[{UNSPACED}]")


@dataclass(frozen=True, slots=True)
class JudgedAbstention:
    """Of which longer answers the judge of a run has the word on whether they decline, and by which inquiry.

    Attributes:
        answers: "every" one; "settling" are those that the text rules take for a refusal, and all to unanswerable
            questions, where a value would follow from the text rules alone; "refusals" are the former only, as in
            runs of before.
        by_correctness: Whether the run asks if answers are correct: where there is an expected answer, that decides.
    """

    answers: Literal["every", "settling", "refusals"] = "settling"
    by_correctness: bool = False

    def inquiry(self, question: EvalQuestion) -> str:
        """The name of the inquiry that decides on answers to a question."""
        comparable = question.expected_answer is not None and not question.is_unanswerable
        return CORRECTNESS if self.by_correctness and comparable else ABSTENTION

    def concerns(self, question: EvalQuestion, *, reads_as_refusal: bool) -> bool:
        """Whether the judge has the word on a longer answer."""
        if reads_as_refusal or self.answers == "every":
            return True
        return self.answers == "settling" and bool(question.is_unanswerable)


OF_BEFORE = JudgedAbstention("refusals")
"""What judged runs of former versions did."""


def is_long(answer: str) -> bool:
    """Whether an answer has more than a few words; a sign of Chinese, Japanese or Thai is a word."""
    words = _UNSPACED.sub(r" \g<0> ", answer).split()
    return sum(any(map(str.isalnum, word)) for word in words) > FEW_WORDS


def judges_word(verdicts: Collection[JudgeVerdict], inquiry: str) -> bool | None:
    """Whether an answer declines by most of the judge's repeats.

    Args:
        verdicts: On the answer.
        inquiry: The name of the one that decides.

    Returns:
        None where it was not asked, gave no usable verdict, could not tell, or its repeats are divided.
    """
    if not verdicts:
        return None
    there = (verdict for verdict in verdicts if verdict.request == inquiry and verdict.reply is not None)
    labels = Counter(str((verdict.reply or {}).get("verdict")) for verdict in there)
    declines, answers = labels[_DECLINES], sum(labels[label] for label in _ANSWERS)
    return None if declines == answers else declines > answers


def why_open(verdicts: Iterable[JudgeVerdict], inquiry: str) -> str:
    """Why the word of the inquiry that decides is not there."""
    found = [verdict for verdict in verdicts if verdict.request == inquiry]
    if not found:
        return "the judge was not asked whether the answer abstains"
    failed = next((verdict for verdict in found if verdict.failure is not None), None)
    if failed is not None:
        return f"judge {failed.failure}, asked whether the answer abstains: {failed.message}"
    return "the judge could not tell whether the answer abstains"
