"""Text in the data that tries to speak to the judge."""

import json
import re
from typing import Any

_CANARY = re.compile(
    r"\b(?:ignore|disregard|forget)\b[^.\n]{0,40}\b(?:instructions?|prompts?|rules|above|previous)\b"
    r"|\b(?:you are|act as) (?:a|an|the|now)\b[^.\n]{0,30}\b(?:judge|evaluator|grader|assistant|model)\b"
    r"|\b(?:answer|reply|respond|output|return|rate|grade|score)\s+(?:with |as |it |this |only )*"
    r"[\"'“]?(?:supported|correct|relevant)\b"
    r"|\bverdict\b\s*[:=]|\bscore\s*[:=]\s*\d|\bsystem prompt\b|<\s*/?\s*(?:system|instructions?)\s*>",
    re.IGNORECASE,
)


def looks_injected(data: dict[str, Any]) -> bool:
    """Whether something in the data looks like an instruction to a judge; decided without one."""
    return _CANARY.search(json.dumps(data, ensure_ascii=False)) is not None
