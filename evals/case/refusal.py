"""Who decides that an answer declines: the text rules, or a judge that was asked because they say so.

The text rules are right about most answers, not about all, and what they take for a refusal scores 0 on many metrics.
So a run with a judge asks it about every such answer, unless the answer is too short to hold anything else.
"""

import re
from collections import Counter
from collections.abc import Iterable

from evals.schemas import JudgeVerdict
from evals.text.folding import UNSPACED

ABSTENTION = "abstention"
"""What a judge is asked by: the name of the prompt, and of the verdicts."""
FEW_WORDS = 5
"""An answer of so many words at most needs no judge: "I cannot answer this question." has no room for an answer."""

_UNSPACED = re.compile(f"[{UNSPACED}]")


def is_long(answer: str) -> bool:
    """Whether an answer has more than a few words; Chinese and Japanese signs are a word each."""
    words = _UNSPACED.sub(r" \g<0> ", answer).split()
    return sum(any(map(str.isalnum, word)) for word in words) > FEW_WORDS


def judges_word(verdicts: Iterable[JudgeVerdict]) -> bool | None:
    """Whether an answer declines by most of the judge's repeats.

    Returns:
        None where it was not asked, gave no usable verdict, could not tell, or its repeats are divided.
    """
    labels = Counter(verdict.reply.get("verdict") for verdict in _asked(verdicts) if verdict.reply is not None)
    declines, answers = labels["declines"], labels["answers"]
    return None if declines == answers else declines > answers


def why_open(verdicts: Iterable[JudgeVerdict]) -> str:
    """Why the judge's word is not there."""
    found = list(_asked(verdicts))
    if not found:
        return "the judge was not asked whether the answer abstains"
    failed = next((verdict for verdict in found if verdict.failure is not None), None)
    if failed is not None:
        return f"judge {failed.failure}, asked whether the answer abstains: {failed.message}"
    return "the judge could not tell whether the answer abstains"


def _asked(verdicts: Iterable[JudgeVerdict]) -> Iterable[JudgeVerdict]:
    return (verdict for verdict in verdicts if verdict.request == ABSTENTION)
