r"""The phrases by which answers decline, as data for the detector. All are matched on folded text, clause by clause.

Gaps are bounded: behind a beginning that may stand anywhere, an open one would go over a long clause again and again.
"""

import re

from evals.case.abstention.words import CONTRACT


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


_SOURCE = (
    r"(?:contexts?|documents?|documentation|passages?|sources?|texts?|information|materials?|excerpts?|articles?|"
    r"manuals?|pages?|files?|guides?|knowledge base|leaflet|brochure|data ?sheet|reports?|readme|records?|chunks?|"
    r"handbook|chapters?|paragraphs?|snippets?|results?|data|narrative|transcript|minutes|study|paper|policy|"
    r"contract|agreement|it|they|them|these|those|none|section|sections|appendix|table|faq|entry|entries|story|novel|"
    r"book|letter|speech|summary|extracts?|notes?|release notes|corpus|database|index)"
)
_CITED = r"(?:contexts?|documents?|documentation|passages?|sources?|texts?|information|materials?|excerpts?|articles?|pages?|files?|knowledge base|snippets?|chunks?|results?|data)"
_SAY = (
    r"(?:say|state|mention|specify|contain|include|provide|describe|explain|cover|address|discuss|report|list|give|"
    r"name|indicate|disclose|extend|refer|offer|tell|answer|identify|reveal|detail|define|touch|go into|note|show|"
    r"clarify|elaborate|appear|have)"
)
_SAID = (
    r"(?:stated|mentioned|specified|provided|given|described|covered|listed|included|found|addressed|disclosed|"
    r"explained|discussed|spelled out|indicated|part of|detailed|documented|answered|"
    r"named|among|defined|reported|present in|contained|clear from|revealed|identified|recorded|touched on|known from|"
    rf"(?:available (?:in|from)|in) (?:\w+ ){{0,3}}?{_SOURCE}\b)"  # else: "not available in blue", "not sold in the EU"
)
_STATED = r"(?:stated|mentioned|specified|provided|given|described|listed|indicated|named|explained|discussed|detailed|documented|disclosed)"
_NOT = r"(?:do(?:es)? not|don't|doesn't|did not|didn't|never|cannot|can't|fails? to|failed to)"
_CANNOT = r"(?:cannot|can't|can not|could not|couldn't|(?:is|are|was|were) (?:unable|not able) to)"
_ABLE = (
    r"(?:cannot|can't|can not|could not|couldn't|(?:am|'m|are|'re|was|wasn't|were) (?:not |un)?able to|unable to|won't|will not|"
    r"(?:do not|don't|did not|didn't)(?: currently| really)?)"
)
_DO = (
    r"(?:find|locate|answer|determine|provide|see|say|tell|help|assist|identify|give|confirm|share|have|access|offer|"
    r"work out|know|respond|comment|speak|discuss|establish|verify|come across)"
)
_JUDGE = r"(?:answer|determine|tell|say|know|establish|infer|deduce|conclude|be (?:sure|certain|determined|answered))"
_DATA = (
    r"(?:information|info|data|details?|context|evidence|mention|reference|answer|indication|documentation|material|"
    r"results?|records?|documents?)"
)
_THE = r"(?:\w+ ){0,2}"
_NO = r"(?:no|not enough|not sufficient|insufficient|too little|inadequate)"
_EVIDENCE = rf"(?!{_THE}evidence (?:of|that|for|against)\b(?![^.]{{0,80}} (?:in|from) {_THE}{_SOURCE}\b))"
"""Not "no evidence of infection", which is a finding, unless a source is named."""
_ON = r"(?:about|on|regarding|concerning|available|in|to|that|for|of|from|as|found|given|here)"

_OPENER = (
    r"(?:(?:unfortunately|regrettably|sorry|alas|well|hmm|so|then|answer)\W{1,2}|"
    rf"(?:based on|according to|given|from|in|per|with|after) [^,]{{0,60}}\b{_SOURCE}\b[^,]{{0,60}}, ?)"
)
"""What may stand before a clause without changing what it says: "Based on the context, …"."""

_OF_WHAT_IS_SAID = (
    rf"(?:(?:\w+ly |yet |ever )?(?:{_SAID}|available|made|retrieved|returned|located|supplied)|on|about|in)\b"
)
_TO_OTHERS = r"(?: to (?!(?:answer|determine|support|suggest|say|me|us|tell|confirm|indicate)\b))"
_TERM = (
    r"(?: (?:after|before|until|unless|without|within (?:\w+ ){1,2}(?:minutes|hours?|days?|weeks?|months?|years?))\b)"
)
_USED = (
    rf"(?: (?:(?!{_SAID}|who|what|which|when|where|why|how|whether|if|that)[^\s,]{{1,20}} ){{0,6}}?"
    rf"(?:(?:is|are|was|were|will|shall|may|must|can|could|should|has|have)(?: be| been)? (?!be\b|been\b)"
    rf"(?:(?!{_OF_WHAT_IS_SAID}|determined)|{_OF_WHAT_IS_SAID}{_TO_OTHERS})|(?:leaves?|needs?|goes|makes?|causes?|leads?|voids?)\b))"
)
"""After "no data": that something is done with data, or is not. "No data is stored" is an answer, "no data is given" is none."""

_SPEAKER = (
    rf"\b(?:i|we)(?:'m| am| was|'re| are)?(?: \w+){{0,2}} {_ABLE}(?: \w+){{0,2}} {_DO}\b",
    rf"\b(?:i|we)(?:'m| am|'re| are| was| were|'ve been)(?: \w+)? (?:not able|unable) to (?:\w+ )?{_DO}\b",
    r"\b(?:i|we)(?:'m| am|'re| are) (?:\w+ )?(?:not sure|unsure|uncertain|unaware|not aware|not certain)\b",
    rf"\b(?:i|we)\b(?: \w+){{0,3}} (?:have|had|see|saw|find|found) {_NO} {_THE}(?:{_DATA}|knowledge|way|means|idea|access to {_THE}(?:{_DATA}|{_SOURCE}|this|that))\b",
    r"\b(?:i|we)\b(?: \w+){0,3} (?:have|had|see|saw|find|found) nothing(?: \w+)?(?=\s*(?:$|[.,!]|about|on|regarding|in|for|like|of the|that|to (?:offer|say|answer|go on)))",
    r"\b(?:i|we)(?:'ve| have)?(?: not|n't) (?:been able to|seen|found|come across|got)\b",
    r"\b(?:i|we)(?:'d| would) need\b.{0,200}\bto (?:answer|say|help|tell|determine)\b",
    r"\b(?:i|we) (?:can|may) only (?:answer|help|assist|discuss)\b",
    r"\b(?:no idea|no clue|dunno|came up (?:empty|short)|nothing to offer|must decline|have to decline|neither confirm nor deny)\b",
    r"^(?:sorry|apologies|i apologi[sz]e|unfortunately|regrettably)\b[^.]{0,400}\b(?:not|no|can't|cannot|couldn't|unable)\b",
    rf"\b(?:the|this) (?:system|model|assistant|chatbot|bot|ai|tool) {_CANNOT} {_JUDGE} (?:it|this|that|(?:the|your|this|that) question)\b",
    rf"^(?:do|does|did)(?: not|n't) (?:\w+ )?(?:{_SAY}|know)\b",
    rf"^{_CANNOT} (?:{_JUDGE}|find)\b|^(?:did not|didn't|do not|don't) (?:find|see|locate|have)\b",
    r"^(?:not (?:\w+ )?(?:sure|certain)|unsure|uncertain)(?: (?:about|of|what|who|which|when|where|why|how|if|whether)\b.{0,100})?\W*$",
)
"""He who answers says that he cannot."""

_QUESTION = (
    r"\b(?:cannot|can't|could not|couldn't|can not|unable to) be (?:\w+ )?(?:determined|answered|found|established|inferred|ascertained|identified|confirmed|derived|given)\b",
    rf"^(?:\W*)(?:unable|not able|impossible|not possible) to (?:\w+ )?{_DO}\b",
    r"\bit(?:'s| is) (?:not possible|impossible) to (?:answer|say|tell|determine|know|identify|give)\b",
    rf"\b(?:one|you) {_CANNOT} {_JUDGE}\b[^.]{{0,80}} (?:from|with|by|based on) {_THE}{_SOURCE}\b",
    r"\bit is (?:not possible|impossible|unclear)\b[^.]{0,200}\b(?:sources?|context|documents?|passages?|information|text|provided)\b",
    r"\bno way (?:of (?:knowing|telling)|to (?:know|tell|say))\b",
    r"^(?:the |this |that )?(?:answer|information|result|data)s?(?: is| are| was| were)? (?:not found|unavailable|not available|missing)\b",
    r"^(?:\w+ )?(?:information|info|details|documentation|the answer)\b[^.]{0,80}? (?:is|are|was|were)(?:(?: not|n't) (?:\w+ )?(?:available|retrieved|supplied|returned)| unavailable)\b",
    r"\bunanswerable\b|\b(?:left|goes) (?:unstated|unmentioned|unspecified|unexplained)\b|\bgoes beyond (?:what|the)\b",
    r"\b(?:leaves?|left) (?:this|the|that|your) question (?:open|unanswered)\b|\bleaves? it (?:unclear|open)\b|\b(?:is|are) silent (?:on|about|as to)\b",
    r"\b(?:leaves?|left) (?:the line|it|this|that|the question)? ?(?:blank|open|unanswered)\b",
    r"\b(?:outside|beyond) (?:of )?(?:my|the) (?:scope|knowledge|sources|documents|information)\b",
)
"""The question cannot be answered."""

_SOURCES = (
    rf"\b{_SOURCE}\b[^.]{{0,60}}? {_NOT}(?: \w+){{0,2}} {_SAY}\b",
    rf"\b{CONTRACT}(?: (?!you\b|we\b|he\b|she\b)[\w-]+){{0,3}}? {_NOT}(?: \w+)? (?:say|state|mention|specify|describe|explain|address|"
    rf"discuss|indicate|tell|clarify|elaborate|(?:provide|give|contain|include|offer) {_THE}{_DATA})\b",
    rf"\b(?:is|are|was|were)(?: not|n't| never| nowhere)(?: \w+){{0,2}} {_SAID}\b",
    rf"\b{_NOT} appear (?:anywhere|in)\b",
    rf"^(?:\W*)(?:is |are )?(?:not|nowhere) (?:\w+ )?{_SAID}\b|^\W*not available\b",
    rf"\b{_SOURCE}\b[^.]{{0,40}}? (?:makes?|contains?|includes?|offers?|gives?|provides?|has|have|holds?) (?:us |me )?{_NO} {_THE}"
    rf"(?:{_DATA}|explanation|figures?|guidance|instructions?|description|hint|clue)\b",
    rf"\b{_SOURCE}\b[^.]{{0,40}}? (?:lacks?|lacking|(?:is|are) (?:\w+ )?(?:without any|short (?:of|on))) {_THE}{_DATA}\b",
    r"\b(?:context|data|information|evidence|documents?|passages?|sources?|text)(?: \w+)?(?: is| are) (?:\w+ )?(?:insufficient|inadequate|not (?:enough|sufficient))\b(?! funds)",
    r"^(?:context|data|information|evidence) (?:insufficient|inadequate|missing|not sufficient)\b",
    r"\b(?:says?|said|contains?|has|have|is|there's) (?:absolutely |almost )?nothing (?:on|about|regarding|relevant|that)\b",
    r"\bnothing (?:in|about|on|from) (?:it|them|the|these|this|that)\b|^nothing (?:for|on|about|regarding)\b|\bnothing\b[^.]{0,200} (?:indicates?|says?|mentions?|suggests?)\b",
    r"\bneither \w+ (?:discuss|mention|say|state|cover|describ|explain|list|give)\w*\b",
    rf"\b(?:{_SOURCE}\b[^.]{{0,40}}?|clause) (?:seems?|appears?) to be missing\b",
    rf"\b(?:not one|none|neither) of (?:them|these|those|the (?:\w+ ){{0,2}}{_SOURCE})\b[^.]{{0,200}} \w+\b",
)
"""The sources do not say."""

_ABSENCE = (
    rf"\bthere(?:'s| is| are| was| were)(?: \w+)? {_NO} {_EVIDENCE}{_THE}(?:{_DATA}|matches|hits|entries|passages|sources|chunks)\b(?=\s*(?:$|[.,!]|{_ON}\b))",
    rf"\bthere (?:is|are|was|were)(?:n't| not) (?:any|enough|sufficient) {_THE}{_DATA}\b(?=\s*(?:$|[.,!]|{_ON}\b))",
    rf"^(?:{_OPENER})?(?:\W*){_NO} {_EVIDENCE}{_THE}(?:{_DATA}|matches|match|hits?)\b(?!{_USED})(?=\s*(?:$|[.,!]|{_ON}\b|(?:is|are|was|were|has|have|can|could|match)\b))",
    rf"\bno (?:\w+ ){{1,3}}(?:is|are|was|were) (?:{_STATED}\b(?!{_TO_OTHERS}|{_TERM})|{_SAID} (?:in|by|from) {_THE}{_SOURCE}\b)",
    r"\bno (?:\w+ ){1,4}(?:can|could) be (?:determined|established|ascertained|identified|inferred|derived|given)\b",
    r"^(?:(?:no|0|zero) (?:\w+ )?(?:results?|matches|hits?|documents?|passages?|chunks?|sources?|articles?|entries)|none|nothing)(?: \w+)?"
    r"(?: is| are| was| were)? (?:found|retrieved|returned|available|known|matched)\b",
    r"\b(?:nobody|no one) is (?:named|mentioned|identified|listed)\b",
    r"^none of (?:this|that) (?:is|was) (?:in|part of|covered|mentioned)\b",
)
"""There is no information. Mostly told by what the clause begins with: "the display shows no data" is an answer."""

_ABOUT_ES = (
    r"(?:\w+ ){0,3}?(?:informa\w+|datos?|dados?|dati|detalles?|detalhes?|dettagli\w*|menci\w+|menç\w+|menzion\w+|refer\w+|rifer\w+|"
    r"indica\w+|respuestas?|respostas?|rispost\w+)"
)
_TEXT_ES = (
    r"(?:textos?|documentos?|contextos?|pasajes?|fuentes?|fragmentos?|extractos?|manual|trechos?|fontes?|passage(?:m|ns)|testo|testi|"
    r"documenti|documento|contesto|contesti|passaggi\w*|fonti|brani?|brano)"
)
"""Spanish, Portuguese and Italian for what tells, and for what is told of: "no contiene gluten" is a fact."""
_LANGUAGES = (
    r"\bnicht (?:beantworten|finden|entnehmen|bekannt|angegeben|erwähnt|enthalten|sagen|genannt|hervor)\b|\bsteht nicht i[mn]\b|"
    r"\bweiß (?:ich |es )?nicht\b|\bkeine (?:angaben?|informationen?|hinweise)\b",
    r"\bno (?:se )?(?:encontr\w+|mencionan?|menciona(?:do|da)s?|especific\w+|indican?|indicad[oa]s?|constan?|aparecen?|puedo|lo sé|tengo|"
    rf"dispongo|hay información|contienen? {_ABOUT_ES})\b|\b{_TEXT_ES}\b[^.]{{0,40}} no contienen?\b",
    r"\bje ne (?:sais|peux|trouve|dispose)\b|\baucune (?:information|mention|donnée)|\bn'est pas (?:mentionn|précis|indiqu|spécifi)|"
    r"\bn(?:e |')(?:(?:indiqu|précis|mentionn|spécifi|contien|fourni|trait|abord)\w*|dit|disent|donnent?) pas\b(?! (?:droit|accès|lieu)\b)|"
    r"\bne (?:mentionne|précise|contient|permet|fournit|disent?|donne)\w* (?:pas|aucun)(?! (?:droit|accès|lieu)\b)|\bpas (?:d'information|trouvé)",
    r"\bnão (?:encontrei|sei|consigo|posso|é mencionad[oa]|consta|foi poss\w+)\b|"
    rf"\bnão (?:há|está|contém) {_ABOUT_ES}\b|\b{_TEXT_ES}\b[^.]{{0,40}} não contém\b|\bnão está (?:n[oa]s?|indicad|especificad|dispon)",
    r"\bnon (?:menzion\w+|specific(?:a|ano|at[oaie])|indic(?:a|ano|at[oaie])|lo so|so|è (?:specificat|menzionat|indicat|riportat)[oa]|trovo|"
    rf"ho trovato|sono riuscit[oa]|posso|contien\w+ {_ABOUT_ES}|ci sono informazioni|riport\w+)\b|\b{_TEXT_ES}\b[^.]{{0,40}} non contien\w+",
    r"\b(?:staat|staan) (?:er )?niet\b|\bniet (?:vermeld|gevonden|genoemd|vinden|beantwoorden)\b|\bgeen informatie\b|\bweet (?:ik )?het niet\b",
    r"无法|没有(?:提到|相关|找到|说明|提供|提及)|未(?:提及|提到|提供|说明|找到)|不知道|找不到|不清楚|抱歉",
    r"(?:わかりません|分かりません|記載(?:が|は|されて)|見つかりません|情報(?:が|は)ありません|含まれていません|見当たりません|ありませんでした|お答えできません)|알 수 없|찾을 수 없|(?:\bне (?:указан|найден|могу|знаю|содерж|упомин))|\bнет информации|\bnie (?:wiem|znalaz|podano|ma informacji)|\binte (?:hitta|framgår|nämns)|\bfremgår ikke|bulunamad|bilmiyorum",
)

DECLINES = _any(*_SPEAKER, *_QUESTION, *_SOURCES, *_ABSENCE, *_LANGUAGES)

_OPEN = (
    r"(?:unknown|unclear|uncertain|undetermined|unspecified|unstated|undisclosed|"
    r"(?:not|n't) (?:\w+ )?(?:known|clear|certain|sure|determined))(?: (?:for|with) (?:sure|certain|certainty))?"
)
_WHO = r"(?:who|whose|what|which|when|where|why|how|if|whether)"
_HERE = rf"(?: (?:to (?:me|us)|here|(?:from|in|within|based on|given|according to)\b[^,]{{0,60}}?\b{_SOURCE}\b[^,]{{0,40}}))?"
UNKNOWN = re.compile(
    rf"^(?:{_OPENER})?(?:{_OPEN}|(?:it(?:'s| is)|it remains|it(?= isn't))(?: \w+)? ?{_OPEN}{_HERE} {_WHO}\b[^,]{{0,200}}|"
    rf"(?P<subject>[^,]{{1,120}}?)(?:'s| is| are| remains?| remain|(?= (?:is|are)n't))(?: (?:still|currently|therefore|thus|simply|also|is|are))?"
    rf" ?{_OPEN}{_HERE})\W*$"
)
"""A clause that says of its subject that it is unknown, and nothing else: "the year is not known"."""

DENIES = re.compile(
    r"^(?![^.]{0,200}\b(?:information|info|details?|answers?|mention)\b)[^.]{0,200}?\b(?:"
    r"(?:is|are|was|were)(?:n't| not) (?:included|covered|provided|offered|available|required|reported|recorded|found)\b"
    rf"(?! (?:in|by|from|on) {_THE}{_CITED}\b)|"
    rf"(?:policy|contract|agreement|insurance|warranty|plan|price|rate|fee|lease|kit)(?: \w+){{0,3}} {_NOT} (?:cover|include|provide|offer)\b)"
)
"""To a question of yes or no: that something is not so, and not that the sources are silent. "The battery is not included"."""

BARE = re.compile(
    r"^\W*(?:answer:?\s*)?(?:n/?a|none|null|nil|no answer|unknown|not known|unclear|idk|cannotanswer|undefined|undetermined)?\W*$"
)
"""A whole answer that is one such word, or none."""

NO_NUMBER = re.compile(
    r"^\W*(?:none|nil)(?: (?:(?:is|are|was|were|has|have|been|so|yet|ever) ){0,3}"
    r"(?:found|known|reported|recorded|observed|seen|detected|registered|counted|left|needed|required))?\W*$"
)
"""A whole answer to "how many" or "which ones": that there are none, and not that none were retrieved."""

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
    r"best person|sugiero|veuillez|bitte|i'd (?:recommend|suggest)|hmm)\b|^(?:summary|result|answer|note|unfortunately)$|"
    r"^if you\b|^you (?:could|can|may|might)\b|^to give you\b|^without (?:these|this|them)\b|\bin order to (?:find|answer)\b"
)

DESCRIBES = re.compile(
    rf"\b{_SOURCE}\b[^.]{{0,40}}?\b(?:covers?|discuss\w*|describes?|lists?|explains?|mentions?|contains?|includes?|talks?|"
    r"focus\w*|deals?|specif\w+|gives?|states?|provides?|relates?|shows?|only|stops?|ends?|concerns?|names?)\b|"
    r"\b(?:\w+\.(?:md|pdf|txt|html))\b|^(?:here's|here is) what\b|^only\b"
)
