"""The phrases by which answers decline, as data for the detector. All are matched on folded text.

Gaps are bounded: behind a beginning that may stand anywhere, an open one would go over a long clause again and again.
"""

import re


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


_SOURCE = (
    r"(?:contexts?|documents?|documentation|passages?|sources?|texts?|information|materials?|excerpts?|articles?|"
    r"manuals?|pages?|files?|guides?|knowledge base|leaflet|brochure|data ?sheet|reports?|readme|records?|"
    r"handbook|chapters?|paragraphs?|snippets?|results?|data|narrative|transcript|minutes|study|paper|policy|"
    r"contract|agreement|it|they|them|these|those|none|section|sections|appendix|table|faq|entry|entries|story|novel|book|letter|speech|summary|extracts?|notes?|release notes)"
)
_SAY = (
    r"(?:say|state|mention|specify|contain|include|provide|describe|explain|cover|address|discuss|report|list|give|"
    r"name|indicate|disclose|extend|refer|offer|tell|answer|identify|reveal|detail|define|touch|go into|note|show|"
    r"clarify|elaborate|appear|have)"
)
_SAID = (
    r"(?:stated|mentioned|specified|provided|given|described|covered|listed|included|found|addressed|disclosed|"
    r"explained|discussed|spelled out|indicated|part of|in the|detailed|documented|answered|"
    r"named|among|defined|reported|present in|contained|clear from|revealed|identified|recorded|touched on|known from)"
)
_SAID = rf"(?:{_SAID}|available (?:in|from) (?:\w+ ){{0,3}}?{_SOURCE}\b)"  # else: "not available in blue"
_NOT = r"(?:do(?:es)? not|don't|doesn't|did not|didn't|never|cannot|can't|fails? to|failed to)"
_ABLE = r"(?:cannot|can't|can not|could not|couldn't|(?:am|'m|are|'re|was|wasn't|were) (?:not |un)?able to|unable to|won't|will not|"
_ABLE += r"(?:do not|don't|did not|didn't)(?: currently| really)?)"
_DO = (
    r"(?:find|locate|answer|determine|provide|see|say|tell|help|assist|identify|give|confirm|share|have|access|offer|"
    r"work out|know|respond|comment|speak|discuss|establish|verify|come across)"
)
_DATA = r"(?:information|info|data|details?|context|evidence|mention|reference|answer|indication|documentation|material|results?|records?|documents?)"

_IS_SAID = rf"(?:is|was|were|are) (?:(?:\w+ )?(?:{_SAID}|available|made)|on|about|in)\b"
"""Of information: that there is none. "No data is stored on the server" is about data."""

DECLINES = _any(
    # first person
    rf"\b(?:i|we)(?:'m| am| was|'re| are)?(?: \w+){{0,2}} {_ABLE}(?: \w+){{0,2}} {_DO}\b",
    r"\b(?:i|we)(?:'m| am|'re| are) (?:not sure|unsure|uncertain|unaware|not aware)\b",
    rf"\b(?:i|we)(?:'m| am|'re| are| was| were|'ve been)(?: \w+)? (?:not able|unable) to (?:\w+ )?{_DO}\b",
    r"\bneither confirm nor deny\b",
    rf"^(?:do|does|did)(?: not|n't) (?:\w+ )?{_SAY}\b",
    r"^(?:could not|couldn't|did not|didn't|do not|don't) (?:find|see|locate|have)\b",
    r"\bunanswerable\b|\b(?:left|goes) (?:unstated|unmentioned|unspecified|unexplained)\b|\bgoes beyond (?:what|the)\b",
    r"\b(?:i|we)(?:'d| would) need\b.{0,200}\bto (?:answer|say|help|tell|determine)\b",
    r"\b(?:i|we) (?:have|had|see|saw|find|found) (?:no|nothing|not enough|insufficient)\b",
    r"\b(?:i|we)(?:'ve| have)?(?: not|n't) (?:been able to|seen|found|come across|got)\b",
    r"\b(?:i|we) (?:can|may) only (?:answer|help|assist|discuss)\b",
    r"\b(?:no idea|no clue|came up (?:empty|short)|nothing to offer|must decline|have to decline)\b",
    r"^(?:sorry|apologies|i apologi[sz]e|unfortunately|regrettably)\b[^.]{0,400}\b(?:not|no|can't|cannot|couldn't|unable)\b",
    # of the question
    r"\b(?:cannot|can't|could not|couldn't|can not|unable to) be (?:\w+ )?(?:determined|answered|found|established|inferred|ascertained|identified|confirmed|derived|given)\b",
    rf"^(?:\W*)(?:unable|not able|impossible|not possible) to (?:\w+ )?{_DO}\b",
    r"\bit(?:'s| is) (?:not possible|impossible) to (?:answer|say|tell|determine|know|identify|give)\b",
    r"^(?:cannot|can't|could not|unable to) (?:answer|determine|say|find)\b",
    r"^(?:the |this |that )?(?:answer|information|result|data)s?(?: is| are| was| were)? (?:not found|unavailable|not available|missing)\b",
    r"^the answer(?: to (?:this|that|the|your)(?: \w+)? question)? (?:is|remains) (?:unknown|not known|unclear|undetermined|uncertain)\b",
    r"\b(?:leaves?|left) (?:this|the|that|your) question (?:open|unanswered)\b|\b(?:is|are) silent (?:on|about|as to)\b",
    r"\bit is (?:not possible|impossible|unclear)\b[^.]{0,200}\b(?:sources?|context|documents?|passages?|information|text|provided)\b",
    # of the sources
    rf"\b{_SOURCE}\b[^.]{{0,60}}? {_NOT}(?: \w+){{0,2}} {_SAY}\b",
    rf"\b(?:is|are|was|were)(?: not|n't| never| nowhere)(?: \w+){{0,2}} {_SAID}\b",
    rf"\b{_NOT} appear (?:anywhere|in)\b",
    rf"^(?:\W*)(?:is |are )?(?:not|nowhere) (?:\w+ )?{_SAID}\b",
    r"^(?:\W*)not (?:mentioned|stated|found|specified|available|given|provided|covered|listed)\b",
    rf"\b(?:no|not enough|insufficient|too little|lacks?|lacking|without any|inadequate)(?: \w+){{0,2}} {_DATA}\b"
    rf"(?=\s*(?:$|[.,!]|about|on|regarding|concerning|available|in|to|that|for|of|from|as|found|given|here|{_IS_SAID}))",
    r"\b(?:makes?|contains?|offers?|gives?|provides?|has|have) no (?:\w+ )?(?:reference|mention|information|details?|data|indication|"
    r"answer|explanation|figures?|guidance|instructions?|description|hint|clue)\b",
    r"\b(?:says?|said|contains?|has|have|is|there's) (?:absolutely |almost )?nothing (?:on|about|regarding|relevant|that)\b",
    r"\bnothing (?:in|about|on|from) (?:it|them|the|these|this|that)\b|^nothing (?:for|on|about|regarding)\b|\bnothing\b[^.]{0,200} (?:indicates?|says?|mentions?|suggests?)\b",
    rf"\bno (?:\w+ ){{1,3}}(?:is|are|was|were) {_SAID}\b|\bneither \w+ (?:discuss|mention|say|state|cover|describ|explain|list|give)\w*\b",
    rf"\b{_SOURCE}\b[^.]{{0,40}}? (?:seems?|appears?) to be missing\b|\bclause (?:seems?|appears?) to be missing\b",
    rf"\b(?:not one|none|neither) of (?:them|these|those|the (?:\w+ ){{0,2}}{_SOURCE})\b[^.]{{0,200}} \w+\b",
    r"\b(?:leaves?|left) (?:the line|it|this|that|the question)? ?(?:blank|open|unanswered)\b",
    r"\b(?:outside|beyond) (?:of )?(?:my|the) (?:scope|knowledge|sources|documents|information)\b",
    r"^no (?:relevant |matching |such |specific )?(?:information|results?|documents?|mention|answer|data|match|matches)\b"
    rf"(?! (?:(?:is|are|was|were) (?!(?:\w+ )?(?:{_SAID}|available|made))|leaves?|needs?|(?:will|shall|may|must|can|should)\b(?! be (?:{_SAID}|determined|located)))\b)",
    # other languages
    r"\bnicht (?:beantworten|finden|entnehmen|bekannt|angegeben|erwähnt|enthalten|sagen|genannt|hervor)|steht nicht i[mn]|weiß (?:ich |es )?nicht|keine (?:angaben?|informationen?|hinweise)",
    r"\bno (?:se )?(?:encontr\w+|menciona\w*|especifica\w*|indica\w*|consta|aparece|puedo|lo sé|tengo|dispongo|hay información|contiene\w*)",
    r"\bje ne (?:sais|peux|trouve|dispose)|aucune (?:information|mention|donnée)|n'est pas (?:mentionn|précis|indiqu|spécifi)|n(?:e |')(?:indiqu|précis|mentionn|spécifi|contien|fourni|dis|donn|trait|abord)\w* pas|ne (?:mentionne|précise|contient|permet|fournit|disent?|donne)\w* (?:pas|aucun)|pas (?:d'information|trouvé)",
    r"\bnão (?:encontrei|há|contém|sei|consigo|posso|é mencionad|está|consta|foi poss)",
    r"\bnon (?:menzion\w*|specific\w*|indic\w*|lo so|so\b|è (?:specificat|menzionat|indicat|riportat)|trovo|ho trovato|sono riuscit|posso|contien\w*|ci sono informazioni|riport\w+)",
    r"\b(?:staat|staan) (?:er )?niet|niet (?:vermeld|gevonden|genoemd|vinden|beantwoorden)|geen informatie|weet (?:ik )?het niet",
    r"无法|没有(?:提到|相关|找到|说明|提供|提及)|未(?:提及|提到|提供|说明|找到)|不知道|找不到|不清楚|抱歉",
    r"(?:わかりません|分かりません|記載(?:が|は|されて)|見つかりません|情報(?:が|は)ありません|含まれていません|見当たりません|ありませんでした|お答えできません)|알 수 없|찾을 수 없|(?:не (?:указан|найден|могу|знаю|содерж|упомин))|нет информации|nie (?:wiem|znalaz|podano|ma informacji)|inte (?:hitta|framgår|nämns)|fremgår ikke|bulunamad|bilmiyorum",
)

REPORTED = re.compile(
    r"\b(?:said|says?|saying|wrote|writes|complain\w*|argue[sd]?|repl(?:y|ies|ied)|claim\w*|answered that|"
    r"respond\w* that|told|conclud\w*|ruled|believed|found that|decided|"
    r"must|should|means?|that it|because|if|when|whenever|criticis\w*|states that|he|she|user|customer|visitors?|staff|"
    r"support|agents?|reviewers?|returns?|error)\b"
)
"""Before a declining phrase: then somebody else declines, or a rule about declining is told."""

HEDGES = re.compile(
    r"\b(?:suggest\w*|impl(?:y|ies|ied)|seems?|appears?|likely|probably|possibly|presumably|roughly|approximately|"
    r"would be|should be|could be|might be|may be|must be|estimated?|points? to|guess|usually|typical\w*|general knowledge|"
    r"generally|in all likelihood|can be inferred|assume|believe|think|most common|reading|both use|wahrscheinlich|probablemente|"
    r"probablement)\b"
)

COURTESY = re.compile(
    r"\b(?:please|sorry|apologi[sz]e|apologies|thanks|thank you|happy to|let me know|feel free|try|consult|contact|check|"
    r"you (?:may|might|could|can) (?:want|wish|try|consult|check|contact|find|ask)|i (?:understand|looked|searched|checked|"
    r"wish|recommend|suggest)|i've (?:gone|looked|searched|checked|read|reviewed)|would you like|is there anything|"
    r"would be the best|hope|afraid|based on the (?:provided|available|given|supplied)|refer to|if you|anything else|"
    r"best person|sugiero|veuillez|bitte|i'd (?:recommend|suggest)|hmm)\b|^(?:summary|result|answer|note|unfortunately)$|^if you\b|^you (?:could|can|may|might)\b|^to give you\b|^without (?:these|this|them)\b|\bin order to (?:find|answer)\b"
)

DESCRIBES = re.compile(
    rf"\b{_SOURCE}\b[^.]{{0,40}}?\b(?:covers?|discuss\w*|describes?|lists?|explains?|mentions?|contains?|includes?|talks?|"
    r"focus\w*|deals?|specif\w+|gives?|states?|provides?|relates?|shows?|only|stops?|ends?|concerns?|names?)\b|"
    r"\b(?:\w+\.(?:md|pdf|txt|html))\b|^(?:here's|here is) what\b|^only\b"
)
