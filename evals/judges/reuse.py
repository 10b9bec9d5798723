"""When a saved reply can be used again: where the request is exactly the same."""

import json
from collections.abc import Sequence

from evals.judges.backends.base import Call, Identity
from evals.judges.cache import JudgeCache
from evals.judges.prompt import load_prompt
from evals.judges.replies.checks import problem_with
from evals.schemas import JudgeVerdict
from evals.schemas.verdicts import VerdictRequest


def call_of(request: VerdictRequest) -> Call:
    """What is sent to a model for a request."""
    prompt = load_prompt(request.prompt)
    return Call(prompt.system, json.dumps(request.data, ensure_ascii=False), prompt.schema, prompt.max_tokens)


def repeats_of(request: VerdictRequest, repeats: int) -> Sequence[int]:
    """Which repeats a request is made for, where each decision is made so often."""
    if request.repeat is not None:
        return (request.repeat,)
    return range(1 if request.once else repeats)


def is_usable(verdict: JudgeVerdict, request: VerdictRequest) -> bool:
    """Whether a saved verdict holds a reply that can be read as one to the request, whoever gave it."""
    return verdict.reply is not None and problem_with(load_prompt(request.prompt), verdict.reply, request.data) is None


def fits(verdict: JudgeVerdict, request: VerdictRequest, judge: Identity) -> bool:
    """Whether a saved verdict is what this judge said to this very request.

    Runs of former versions say less of their verdicts: there the prompt counts alone.
    """
    if verdict.prompt_hash != load_prompt(request.prompt).hash:
        return False
    if verdict.key is not None and verdict.key != JudgeCache.key(judge, call_of(request), verdict.repeat):
        return False
    return is_usable(verdict, request)
