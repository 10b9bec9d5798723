"""Whole answers, and what stands for declining in languages without a lexicon of their own."""

import re

BARE = re.compile(
    r"^\W*(?:answer:?\s*)?(?:n/?a|none|null|nil|no ?_?answer(?: present| found)?|unknown|not known|unclear|idk|"
    r"cannotanswer|unanswerable|undefined|undetermined|empty response)?\W*$"
)
"""A whole answer that is one such word, or none: what datasets and servers write where there is no answer."""

NO_NUMBER = re.compile(
    r"^\W*(?:none|nil)(?: (?:(?:is|are|was|were|has|have|been|so|yet|ever) ){0,3}"
    r"(?:found|known|reported|recorded|observed|seen|detected|registered|counted|left|needed|required))?\W*$"
)
"""A whole answer to "how many" or "which ones": that there are none, and not that none were retrieved."""

_DUTCH = (
    r"\b(?:staat|staan) (?:er )?niet\b|\bniet (?:vermeld|gevonden|genoemd|vinden|beantwoorden)\b|\bgeen informatie\b|"
    r"\bweet (?:ik )?het niet\b"
)
_CHINESE = r"无法|没有(?:提到|相关|找到|说明|提供|提及)|未(?:提及|提到|提供|说明|找到)|不知道|找不到|不清楚|抱歉"
_JAPANESE = (
    r"わかりません|分かりません|記載(?:が|は|されて)|見つかりません|情報(?:が|は)ありません|含まれていません|"
    r"見当たりません|ありませんでした|お答えできません"
)
_RUSSIAN = r"\bне (?:указан|найден|могу|знаю|содерж|упомин)|\bнет информации"
_SOME = (
    r"알 수 없|찾을 수 없|\bnie (?:wiem|znalaz|podano|ma informacji)|\binte (?:hitta|framgar|namns)|\bfremgar ikke|"
    r"bulunamad|bilmiyorum"
)
_PHRASES = re.compile("|".join((_DUTCH, _CHINESE, _JAPANESE, _RUSSIAN, _SOME)))
_IN_LATIN = ("niet", "geen informatie", "nie ", "inte ", "fremgar ikke", "bulunamad", "bilmiyorum")
"""One of these is in every phrase of ASCII letters alone: where none is, no phrase is tried."""


def declines_elsewhere(text: str) -> bool:
    """Whether a folded text holds one of the commonest phrases of languages that have no lexicon."""
    may_hold = not text.isascii() or any(word in text for word in _IN_LATIN)
    return may_hold and _PHRASES.search(text) is not None
