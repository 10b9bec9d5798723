"""What models and servers write around an answer: thoughts."""

import re

_THOUGHTS = re.compile(
    r"(?<!`)<(think|thinking)>(?P<tagged>.*?)</\1>"
    r"|\A\s*<(?:think|thinking)>(?P<cut>.*)\Z"
    r"|<details\b[^>]*\btype=[\"']?reasoning[\"']?[^>]*>(?P<details>.*?)(?:</details>|\Z)"
    r"|<\|channel\|>(?:analysis|commentary)\b[^<]*<\|message\|>(?P<channel>.*?)(?:<\|end\|>|<\|call\|>|(?=<\|start\|>)|\Z)",
    re.DOTALL | re.IGNORECASE,
)
"""Thoughts in tags, in a folded block, and in the channels of OpenAI's harmony format; they may be all that came."""

_CLOSING = re.compile(r"(?<!`)</think(?:ing)?>", re.IGNORECASE)
"""Alone where the opening tag is part of the prompt: all before it is thought."""

_HARMONY = re.compile(r"<\|start\|>assistant|<\|channel\|>final\b[^<]*|<\|(?:message|end|return)\|>", re.IGNORECASE)


def without_thoughts(text: str) -> tuple[str, str]:
    """Separate an answer from the thoughts of its model.

    Thoughts are `<think>…</think>`, everything before a `</think>` that nothing opens, `<thinking>`,
    `<details type="reasoning">` and the analysis channel of harmony.

    Returns:
        The answer without its thoughts, and the thoughts, joined by blank lines; without any, the text as it is.
    """
    if "<" not in text:
        return text, ""
    thoughts: list[str] = []

    def take(found: re.Match[str]) -> str:
        thoughts.append((found[found.lastgroup or 0] or "").strip())
        return ""

    answer = _THOUGHTS.sub(take, text)
    *before, last = _CLOSING.split(answer)
    if before:
        thoughts = [*(part.strip() for part in before), *thoughts]
        answer = last
    if "<|" in answer:
        answer = _HARMONY.sub("", answer)
    if answer == text:
        return text, ""
    return answer.strip(), "\n\n".join(filter(None, thoughts))
