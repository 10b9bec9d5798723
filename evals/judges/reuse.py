"""When a saved reply can be used again: where the request is exactly the same."""

import json
from collections.abc import Container, Mapping, Sequence
from itertools import islice
from typing import Any

from evals.judges.backends.base import Call, Identity
from evals.judges.cache import JudgeCache
from evals.judges.prompt import load_prompt
from evals.judges.replies.checks import problem_with
from evals.judges.replies.evidence import without_marks
from evals.schemas import JudgeVerdict
from evals.schemas.verdicts import VerdictRequest


def call_of(request: VerdictRequest, *, repeats: int = 1, shared: Container[str] = ()) -> Call:
    """What is sent to a model for a request.

    Args:
        request: What is wanted.
        repeats: How often decisions are made in the run: the same data is sent each time.
        shared: The prompts by which a question is asked about more than once in the run, with all data but the last.
    """
    prompt = load_prompt(request.prompt)
    content = _dump(request.data)
    ends = [_beginning(request.data)] if request.prompt in shared else []
    ends += [len(content)] if len(repeats_of(request, repeats)) > 1 else []
    return Call(prompt.system, content, prompt.schema, prompt.max_tokens, tuple(ends))


def _beginning(data: Mapping[str, Any]) -> int:
    """How many characters of the data come before its last key."""
    first = dict(islice(data.items(), len(data) - 1))
    return len(_dump(first)) - len("}") if first else 0


def _dump(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False)


def repeats_of(request: VerdictRequest, repeats: int) -> Sequence[int]:
    """Which repeats a request is made for, where each decision is made so often; samples count as repeats."""
    decisions = range(1 if request.once else repeats) if request.repeat is None else (request.repeat,)
    return [decision * request.samples + sample for decision in decisions for sample in range(request.samples)]


def is_usable(verdict: JudgeVerdict, request: VerdictRequest) -> bool:
    """Whether a saved verdict holds a reply that can be read as one to the request, whoever gave it."""
    return verdict.reply is not None and problem_of_saved(verdict.reply, request) is None


def problem_of_saved(reply: dict[str, Any], request: VerdictRequest) -> str | None:
    """Why a saved reply cannot be read as one to the request; None where it can. Items may be marked."""
    return problem_with(load_prompt(request.prompt), without_marks(reply), request.data)


def fits(verdict: JudgeVerdict, request: VerdictRequest, judge: Identity) -> bool:
    """Whether a saved verdict is what this judge said to this very request.

    Runs of former versions say less of their verdicts: there the prompt counts alone.
    """
    if verdict.prompt_hash != load_prompt(request.prompt).hash:
        return False
    if verdict.key is not None and verdict.key != JudgeCache.key(judge, call_of(request), verdict.repeat):
        return False
    return is_usable(verdict, request)
