"""What of a question helps to tell an answer that declines from one that states a negative."""

import re
from typing import NamedTuple

from evals.case.abstention.words import CITED, CONTRACT

# "Does the will mention her?" is answered by "It does not mention her".
_MENTIONED = re.compile(
    r"^(?:do|does|did|is|are|was|were)\b.*\b(?:mention|specif|describe|state|say|explain|name|reference to)"
)
# "What does error E4 mean?" is answered by "Insufficient data".
_SIGN = re.compile(
    r"\b(?:error|code|message|status|light|led|lamp|alarm|signal|symbol|icon|warning|display|http|err|[a-z]-?\d+)\b"
    r".{0,200}\b(?:mean|stand for|indicate|signify|say)\b"
)
_WHETHER = re.compile(
    r"(?:^|[,.:;!?] )(?:is|are|was|were|do|does|did|can|could|may|must|will|would|should|has|have|had)\b"
    r"(?! (?:you|we|i|one)\b(?: \w+)? (?:tell|say|explain|know|describe|name|list|find|look|help|show me|give me)\b)"
)
_COMPOUND = re.compile(
    r"\band\b|\bund\b|\by\b|\bet\b|\be\b|^\s*(?:list|name|summari[sz]e|compare|describe)\b|\bwhat do the\b"
)
_COUNTS = re.compile(
    r"\bhow many\b|\bhow much (?!(?:do|does|did|is|was|are|were)\b)|\bare there\b|"
    r"\b(?:is|was|were|are|do|does|did|has|have)\b.{0,80}\bany\b|"
    r"\b(?:which|what) (?!(?:is|was|does|did|do|has)\b)(?:\w+ ){0,2}?\w+(?<![sui])s\b"
    r"(?! (?:the|an?|in|on|at|to|for|from|of|it|this|his|her|its|by|with|here|there)\b)"
)
_LACKING = re.compile(
    r"\bexclu\w+|(?:\bnot|n't)(?: \w+)? (?:cover|includ|provid|contain|offer|part of|under|eligible)\w*|"
    r"\b(?:missing|absent|lacks?|lacking|omit\w*|left out|leaves? out|leave \w+ out|exceptions?|exempt\w*|gaps?|"
    r"shortcomings?)\b"
)
_CONTRACT = re.compile(
    rf"(?:\b(?:do|does|did|can|may|will|under|by|in)|^(?:is|are)) (?:the|this|that|my|our|your|an?) "
    rf"(?:(?!{CITED}\b)[\w-]+ ){{0,3}}?{CONTRACT}\b(?! (?:{CITED}|say|state|mention)\b)"
)
_CITED = re.compile(rf"\b(?:{CITED}|{CONTRACT} (?:say|state|mention|tell))\b")
_SOUGHT = re.compile(
    r"\bwhat(?:'s| is| are| was| were) (?:the|its|their|his|her|my|our|your) (?:[\w'-]+ ){0,3}?([\w'-]+)"
    r"(?= (?:of|for|in|on|at|to|from|by|with|between|under|per|after|before|when|if|that|which|who)\b|\W*$)"
)


class Asked(NamedTuple):
    """What is known of the question."""

    text: str
    """Its beginning, in lower case."""
    given: bool
    """There is one."""
    compound: bool
    """It asks for more than one thing."""
    whether: bool
    """It wants yes or no."""
    mentioned: bool
    """It asks whether something is said."""
    sign: bool
    """It asks what an error, a light or another sign means."""
    counts: bool
    """It asks how many there are, or which ones: "none" answers."""
    lacking: bool
    """It asks what is excluded or missing."""
    contract: bool
    """It asks what a contract, a policy or a price does: "it" is that, and not the sources."""
    cited: bool
    """It names a document, a manual or another source, or asks what a contract says."""
    sought: str
    """The noun of "what is the … ?"; empty where it asks otherwise."""
    stems: frozenset[str]
    """The beginnings of its words, as `stem` gives them."""


def stem(word: str) -> str:
    """The beginning of a word, by which its forms are compared."""
    return "have" if word in ("has", "had") else "find" if word == "found" else word[:4]


def read_question(question: str) -> Asked:
    """What helps to read an answer to the question; of an empty one nothing."""
    text = " ".join(question.lower().replace("’", "'").split())[:2000]
    sought = _SOUGHT.search(text)
    return Asked(
        text=text,
        given=bool(text),
        compound=bool(_COMPOUND.search(text)),
        whether=bool(_WHETHER.search(text)),
        mentioned=bool(_MENTIONED.search(text)),
        sign=bool(_SIGN.search(text)),
        counts=bool(_COUNTS.search(text)),
        lacking=bool(_LACKING.search(text)),
        contract=bool(_CONTRACT.search(text)),
        cited=bool(_CITED.search(text)),
        sought=sought[1] if sought else "",
        stems=frozenset(stem(word) for word in re.findall(r"[\w-]+", text)),
    )
