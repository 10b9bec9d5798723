"""Negatives that tell of the world, where the same words might tell of silent sources.

"The policy does not cover flood" and "we cannot give refunds" are facts; "the policy does not give a date" and "we
cannot give an answer" decline. Who does not do what decides, and what was asked.
"""

import re
from typing import NamedTuple

# Nouns by which answers name their sources, and those of contracts and the like, which hold facts themselves.


CITED = (
    r"(?:contexts?|documents?|documentation|passages?|sources?|texts?|information|materials?|excerpts?|extracts?|"
    r"articles?|manuals?|pages?|files?|guides?|guidelines|knowledge base|leaflet|brochure|data ?sheet|reports?|readme|"
    r"records?|chunks?|handbook|chapters?|paragraphs?|snippets?|narrative|transcript|minutes|section|appendix|faq|"
    r"entry|entries|story|novel|book|letter|speech|summary|notes|sections|search results?|database|corpus|index)"
)
"""What answers cite: where it is silent, the answer declines."""


CONTRACT = (
    r"(?:polic(?:y|ies)|contracts?|agreements?|insurances?|warrant(?:y|ies)|guarantees?|plans?|leases?|licen[cs]es?|"
    r"laws?|acts?|rules?|regulations?|statutes?|treat(?:y|ies)|clauses?|tariffs?|terms|subscriptions?|memberships?|packages?|fees?|prices?|"
    r"rates?|rents?|fares?|tickets?|premiums?|kits?|schemes?)"
)
"""What covers, gives or forbids: where it does not, that is a fact."""


# What of a question helps to tell an answer that declines from one that states a negative.


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


_NOT = (
    r"(?:do(?:es)? not|don't|doesn't|did not|didn't|never|cannot|can't|can not|could not|couldn't|won't|will not|"
    r"(?:am|are|is|was|were) (?:unable|not able) to|fails? to|failed to)"
)


_DOES_NOT = re.compile(
    rf"\b(?P<not>{_NOT})(?: \w+){{0,2}}? (?P<verb>cover|include|contain|provide|give|offer|extend|have|show|list|"
    r"report|share|sell|access|answer|respond)\b"
)


_DOES = frozenset({"cover", "include", "contain", "provide", "give", "offer", "extend", "have", "show", "sell"})
"""What things do; what only sources do ("state", "mention") is no fact."""

_WE_DO = frozenset({"provide", "give", "offer", "have", "share", "sell", "access", "answer", "respond"})


_TOLD = (
    r"(?:information|info|details?|answers?|mention|references?|explanations?|descriptions?|definitions?|instructions|"
    r"guidance|figures?|dates?|deadlines?|prices?|amounts?|numbers?|names?|values?|reasons?|lists?|examples?|specifics|"
    r"timetables?|breakdowns?|statements?|estimates?|opinions?|advice|clues?|hints?|indications?|percentages?|lengths?|"
    r"durations?|insights?|recommendations?|anything|documentation|data(?= (?:on|about|for|regarding)\b)|"
    r"evidence(?! (?:of|that|for|against)\b))"
)


_UNTOLD = re.compile(
    r"[^\w:]*$| (?:it|that|this|so|them|any|anything|these|those)\W*$| (?:enough|sufficient)\b|"
    r" (?:to |on )?(?:who|whose|what|which|when|where|why|how|whether|if)\b|"
    rf"(?: [\w'-]+){{0,4}}? {_TOLD}"
    r"(?=\W*$|[,;]| (?:for|of|on|about|to|at|by|in|when|regarding|concerning|from|here|that|which|as|or|and)\b)"
)
"""Behind the verb: what an answer would have told."""


_TO_OTHERS = re.compile(
    r"[^.]{0,80} (?:with|to) "
    r"(?!(?:you|me|us|answer|say|tell|determine|support|help|this|that|the question)\b)\w"
)

_DEFINITE = re.compile(r" (?:you )?(?:the|that|this|those|these)\b")

_POST = re.compile(r"(?: \w+){0,2} (?:calls?|e-?mails?|phones?|letters?|messages?|enquiries|inquiries|complaints?)\b")

_NEGATIVE = re.compile(r"n[o']t\b|\bnever|\bfail|\bunable|\bno ")

_WE = re.compile(r"\bwe(?: \w+){0,2} ?$")

_I = re.compile(r"\bi(?:'m)?(?: \w+){0,3} ?$")

_CONTRACTS = re.compile(rf"\b{CONTRACT}(?: (?!{CITED}\b)[\w-]+){{0,4}} ?$")


_PRONOUN = re.compile(
    r"(?:^|\b(?:and|or|but|that|which|because|since|as) |[,;:] )(?:(?:it|they|these|those)(?: \w+)? )?$"
)

_CITES = re.compile(rf"\b{CITED}\b")

_EXCLUDED = re.compile(r"\b(?:exclu|except|exempt|missing|limitation|omission|gap)\w*")


_RESULT = (
    r"(?:differences?|effects?|improvements?|increases?|decreases?|reductions?|correlations?|associations?|changes?|"
    r"benefits?|trends?|links?)"
)


_FINDING = re.compile(
    r"\b(?:results?|data|stud(?:y|ies)|paper|trials?|analys[ie]s|tests?|experiments?|survey|authors|we|they|it)\b"
    rf"(?: (?!{CITED}\b)[\w-]+){{0,4}}? {_NOT} "
    r"(?:show|find|see|reveal|indicate|report|identify|detect|establish|have|observe|give)(?: an?| any)?(?: \w+ly)? "
    rf"(?:significant|(?:(?:clear|consistent|meaningful|measurable|overall) )?{_RESULT})\b(?! (?:who|what|how)\b)|"
    r"\bwe(?: \w+){0,2} (?:have|had|see|saw|find|found) no (?:\w+ )?evidence (?:of|that|for|against)\b"
    rf"(?![^.]{{0,80}} (?:in|from) (?:\w+ ){{0,2}}{CITED}\b)"
)
"""What a study did not find."""

_IS_NOT = r"\b(?:is|are|was|were)(?: not|n't| never)(?: (?!possible|able|enough|clear)\w+){0,2}?"


_KEPT_FROM = re.compile(
    rf"{_IS_NOT} (?:(?:covered|included|provided|offered) (?:by|under) (?:[\w-]+ ){{0,4}}?{CONTRACT}\b(?! {CITED}\b)|"
    rf"part of (?:[\w-]+ ){{0,3}}?{CONTRACT}\b(?! {CITED}\b)|"
    r"(?:included|contained) in (?:[\w-]+ ){0,3}?"
    r"(?:price|fee|rate|rent|fare|ticket|salary|cost|package|box|subscription|premium)\b|"
    r"(?:provided|given|offered|disclosed) (?:with|to (?!(?:me|us|answer|say|tell|determine)\b))|"
    r"given (?:an?|any) \w|"
    r"given (?!(?:in|by|here|there|anywhere|for|as|at|on|within|either|and|or|but|so|due|from|with|because|though|"
    r"to|until|if|explicit|\w+ly|\w*where)\b)[a-z]+|found (?:guilty|liable|to be)\b|"
    r"(?:described|identified|defined|listed|reported|recorded|named) as\b|"
    r"(?:covered|included|provided|offered|given) (?:if|unless|until|after|before|during|while|outside|once)\b)"
)
"""What somebody does not get, or is not."""


_IS_NOT_SO = re.compile(
    rf"{_IS_NOT} (?P<said>included|covered|provided|offered|contained|defined|listed|described|given|disclosed|"
    r"identified|named|part of|among|present in)\b"
    rf"(?! (?:in|by|from|on) (?:\w+ ){{0,3}}?{CITED}\b)|"
    r"\b(?:cannot|can't|could not|couldn't) be (?P<done>found|determined|established|identified|confirmed)\b"
)


_OF_WHAT_IS_TOLD = re.compile(
    r"\b(?:information|info|details?|answers?|mention|this|that|who|which|what|when|where|why|how)\b"
)


_NOT_GIVEN = re.compile(
    r"\bno (?:[\w-]+ ){1,5}?(?:is|are|was|were|may be|will be) (?:given|provided|listed|named|"
    r"described|disclosed|passed on)"
    r"(?: to (?!(?:answer|determine|support|suggest|say|me|us|tell|confirm|indicate)\b)|"
    r" (?:after|before|until|unless|without|within (?:\w+ ){1,2}(?:minutes|hours?|days?|weeks?|months?|years?))\b)"
)
"""What nobody is given, and not what is not told: "no refund is given within seven days"."""


_NO_EVIDENCE = re.compile(
    r"\bno (?:\w+ ){0,2}?evidence (?:of|that|for|against)\b"
    rf"(?![^.]{{0,80}} (?:in|from) (?:\w+ ){{0,2}}{CITED}\b)"
)
"""A finding, unless a source is named."""


DENIES = re.compile(
    r"^(?![^.]{0,200}\b(?:information|info|details?|answers?|mention)\b)[^.]{0,200}?\b(?:"
    r"(?:is|are|was|were)(?:n't| not) "
    r"(?:included|covered|provided|offered|available|required|reported|recorded|found)\b"
    rf"(?! (?:in|by|from|on) (?:\w+ ){{0,2}}{CITED}\b)|"
    rf"(?:policy|contract|agreement|insurance|warranty|plan|price|rate|fee|lease|kit)(?: \w+){{0,3}} {_NOT} "
    r"(?:cover|include|provide|offer)\b)"
)
"""To a question of yes or no: that something is not so, and not that the sources are silent. "The battery is not
included"."""


class Sense(NamedTuple):
    """What "it" and "they" stand for in an answer."""

    thing: bool
    """Something that was asked about: neither the question nor the answer names a source."""
    contract: bool
    """A contract, a policy or the like."""


def sense_of(answer: str, asked: Asked) -> Sense:
    """What "it" and "they" stand for in the folded answer."""
    if asked.contract:
        return Sense(True, True)
    thing = asked.given and not asked.cited and not _CITES.search(answer)
    return Sense(thing, thing and bool(re.search(rf"\b{CONTRACT}\b", answer)))


def without_facts(clause: str, asked: Asked, sense: Sense) -> str:
    """The clause with the word "fact" in place of what denies something of the world; else as it is."""
    if not _NEGATIVE.search(clause):
        return clause
    clause = _FINDING.sub("fact", clause)
    clause = _NO_EVIDENCE.sub("fact", _NOT_GIVEN.sub("fact", clause))
    clause = _DOES_NOT.sub(lambda found: "fact" if _denies(found, asked, sense) else found[0], clause)
    subject = clause[:200]
    if _OF_WHAT_IS_TOLD.search(subject.partition(" not ")[0]) or _EXCLUDED.search(subject):
        return clause
    clause = _KEPT_FROM.sub("fact", clause)
    return _IS_NOT_SO.sub(lambda found: "fact" if _is_asked(found, asked) else found[0], clause)


def _is_asked(found: re.Match[str], asked: Asked) -> bool:
    """Whether "is not included" and the like answer: what is left out was asked, or whether it is so."""
    done = found["done"]
    if asked.lacking and not done:
        return True
    return asked.whether and stem(done or found["said"]) in asked.stems


def _denies(found: re.Match[str], asked: Asked, sense: Sense) -> bool:
    """Whether "does not cover" and the like are said of the world, by who does not do what."""
    verb, subject, thing = found["verb"], found.string[max(0, found.start() - 80) : found.start()], _object(found)
    if _WE.search(subject):
        return verb in _WE_DO and _we_do_not(verb, thing, found["not"])
    if _I.search(subject) or _tells(thing, asked):
        return False
    return verb in _DOES if _CONTRACTS.search(subject) else _is_of_thing(verb, subject, thing, asked, sense)


def _is_of_thing(verb: str, subject: str, thing: str, asked: Asked, sense: Sense) -> bool:
    """Whether what does not do something is a thing that was asked about, and no source."""
    cited = _CITES.search(subject)
    if cited and stem(cited[0]) not in asked.stems:
        return False
    if asked.whether and stem(verb) in asked.stems:
        return True
    return verb in _DOES and (_is_lacking(subject + thing, asked) or _stands_for_thing(subject, thing, sense))


def _is_lacking(said: str, asked: Asked) -> bool:
    return asked.lacking and not _EXCLUDED.search(said)


def _stands_for_thing(subject: str, thing: str, sense: Sense) -> bool:
    """Whether "it" is something that was asked about."""
    return sense.thing and bool(_PRONOUN.search(subject)) and (sense.contract or not _DEFINITE.match(thing))


def _object(found: re.Match[str]) -> str:
    return found.string[found.end() : found.end() + 120]


def _tells(thing: str, asked: Asked) -> bool:
    """Whether what is not given is what the answer would have told."""
    if _UNTOLD.match(thing):
        return True
    return bool(asked.sought) and asked.sought in re.findall(r"[\w'-]+", thing)[:6]


def _we_do_not(verb: str, thing: str, negation: str) -> bool:
    """Whether "we do not …" states what somebody does, and not that he cannot answer."""
    if verb in ("answer", "respond"):
        return bool(_POST.match(thing))
    if verb in ("share", "give", "sell") and _TO_OTHERS.match(thing):
        return True
    if _UNTOLD.match(thing):
        return False
    if verb == "access":
        return negation in ("do not", "don't", "never") and not _DEFINITE.match(thing)
    return verb in ("offer", "sell") or not _DEFINITE.match(thing)
