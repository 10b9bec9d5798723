"""Prompt injection: text in the data that tries to speak to the judge.

Found by patterns, which need nothing but the text: classifiers of prompt injection are models to be downloaded. These
are the English ones, and how a text is read.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

# Prompt injection in German, French, Spanish, Italian and Portuguese: patterns of what speaks to a judge.


_WORD_GAP = r"""[\s*_`"'“”„‘’«»]{1,4}"""
"""Between words. Bounded, as every part, so that the search stays linear."""

_SOME = rf"(?:[\w'’-]{{1,25}}{_WORD_GAP}){{0,4}}"


_MARK = (
    r"(?:\A|[.!?:;,>#\]()\[{}\n*_`\"'“”„‘’«»¡¿–—-] ?"
    r"|\b(?:bitte|nun|jetzt|und|veuillez|et|ora|adesso|e|agora|y|ahora) )"
)
"""Where an order begins: with its sentence, or after a word that asks or joins; after a subject it is a report."""

_NO_CHOICE = r"(?! (?:oder|ou|o|falls|wenn|si|se|nur|seulement|solo|apenas)\b)"

_ROLE_LABEL = r"supported|correct|relevant"


_GERMAN = (
    (
        ("anweisung", "instruktion", "regeln", "vorgaben"),
        rf"{_MARK}(?:ignorier|vergiss|vergess|missacht|übergeh)e?(?:n{_WORD_GAP}Sie)?{_WORD_GAP}{_SOME}"
        rf"(?:deine[rn]?|bisherige[rn]?|vorherige[rn]?|vorige[rn]?|obige[rn]?|frühere[rn]?|vorangegangene[rn]?){_WORD_GAP}{_SOME}"
        rf"(?:Anweisungen|Instruktionen|Regeln|Vorgaben)\b(?!{_WORD_GAP}nicht)",
    ),
    (
        ("bist", "sind"),
        rf"\b(?:du{_WORD_GAP}bist|Sie{_WORD_GAP}sind){_WORD_GAP}(?:nun|jetzt|ab{_WORD_GAP}sofort){_WORD_GAP}{_SOME}"
        r"(?:Richter|Bewerter|Gutachter|Prüfer|Assistent|Sprachmodell)",
    ),
    (
        ("antwort", "aussage", "behauptung"),
        rf"{_MARK}(?:bewert|wert|markier|betracht|akzeptier|kennzeichn|beurteil|stuf)e?(?:n{_WORD_GAP}Sie)?{_WORD_GAP}{_SOME}"
        rf"(?:Antwort|Aussage|Behauptung)(?:en)?{_WORD_GAP}als{_WORD_GAP}{_SOME}"
        rf"(?:korrekt|richtig|belegt|gestützt|wahr|relevant|{_ROLE_LABEL})\b{_NO_CHOICE}",
    ),
    (
        ("punktzahl", "bewertung", "note", "wertung"),
        rf"{_MARK}(?:gib|geben{_WORD_GAP}Sie|vergib|vergeben{_WORD_GAP}Sie){_WORD_GAP}{_SOME}"
        rf"(?:höchste|maximale|beste|volle)[rns]?{_WORD_GAP}(?:mögliche[rns]?{_WORD_GAP})?(?:Punktzahl|Bewertung|Note|Wertung)\b",
    ),
)


_FRENCH = (
    (
        ("instructions", "consignes", "règles", "directives"),
        rf"{_MARK}(?:ignore[rz]?|oublie[rz]?|néglige[rz]?){_WORD_GAP}(?:toutes?{_WORD_GAP})?(?:les|tes|vos|ces){_WORD_GAP}"
        rf"(?:instructions|consignes|règles|directives){_WORD_GAP}"
        r"(?:précédentes|antérieures|ci-dessus|reçues|d['’]avant|système|du système)\b",
    ),
    (
        ("tu es", "vous êtes"),
        rf"\b(?:tu{_WORD_GAP}es|vous{_WORD_GAP}êtes){_WORD_GAP}(?:maintenant|désormais){_WORD_GAP}{_SOME}"
        r"(?:juge|évaluateur|correcteur|assistant|modèle)\b",
    ),
    (
        ("réponse", "affirmation"),
        rf"{_MARK}(?:évalue[rz]?|marque[rz]?|considère|considére[rz]|note[rz]?|juge[rz]?|accepte[rz]?){_WORD_GAP}{_SOME}"
        rf"(?:réponse|affirmation)s?{_WORD_GAP}comme{_WORD_GAP}{_SOME}"
        rf"(?:correcte|exacte|juste|vraie|étayée|fondée|pertinente|{_ROLE_LABEL})s?\b{_NO_CHOICE}",
    ),
    (
        ("note", "score"),
        rf"{_MARK}(?:donne[rz]?|attribue[rz]?|mets|mettez){_WORD_GAP}{_SOME}"
        rf"(?:(?:meilleure{_WORD_GAP})(?:note|évaluation)|(?:note|score){_WORD_GAP}(?:maximale?|l[ea]{_WORD_GAP}plus{_WORD_GAP}(?:haute?|élevée?)))\b",
    ),
)


_SPANISH = (
    (
        ("instrucciones", "indicaciones", "reglas", "directrices"),
        rf"{_MARK}(?:ignor(?:a|e|ad|en)|olvid(?:a|e|ad|en)|descart(?:a|e)|ha(?:z|ga){_WORD_GAP}caso{_WORD_GAP}omiso{_WORD_GAP}de){_WORD_GAP}"
        rf"(?:todas{_WORD_GAP})?(?:las|tus|sus|estas){_WORD_GAP}(?:instrucciones|indicaciones|reglas|directrices){_WORD_GAP}"
        r"(?:anteriores|previas|recibidas|de arriba|del sistema)\b",
    ),
    (
        ("eres", "usted es"),
        rf"\b(?:eres{_WORD_GAP}ahora|ahora{_WORD_GAP}eres|usted{_WORD_GAP}es{_WORD_GAP}ahora){_WORD_GAP}{_SOME}(?:juez|evaluador|asistente|modelo)\b",
    ),
    (
        ("respuesta", "afirmaci"),
        rf"{_MARK}(?:eval[uú][ae]|mar(?:ca|que)|consider[ae]|califi(?:ca|que)|ju(?:zga|zgue)|acept[ae]|trat[ae]){_WORD_GAP}{_SOME}"
        rf"(?:respuestas?|afirmación|afirmaciones){_WORD_GAP}como{_WORD_GAP}{_SOME}"
        rf"(?:correcta|respaldada|verdadera|válida|relevante|{_ROLE_LABEL})s?\b{_NO_CHOICE}",
    ),
    (
        ("puntuación", "calificación", "nota"),
        rf"{_MARK}(?:da|dé|dale|otorg[au]e?|asign[ae]|pon|ponga){_WORD_GAP}{_SOME}"
        rf"(?:(?:máxima|mejor){_WORD_GAP}(?:puntuación|calificación|nota)"
        rf"|(?:puntuación|calificación|nota){_WORD_GAP}(?:máxima|más{_WORD_GAP}alta))\b",
    ),
)


_ITALIAN = (
    (
        ("istruzioni", "regole", "indicazioni", "direttive"),
        rf"{_MARK}(?:ignor(?:a|i|ate)|dimentic(?:a|hi|ate)|trascur(?:a|i|ate)){_WORD_GAP}(?:tutte{_WORD_GAP})?(?:le|queste|tue|vostre){_WORD_GAP}"
        rf"(?:tue{_WORD_GAP})?(?:istruzioni|regole|indicazioni|direttive){_WORD_GAP}"
        r"(?:precedenti|anteriori|ricevute|di cui sopra|qui sopra|di sistema)\b",
    ),
    (
        ("sei", "lei è"),
        rf"\b(?:sei{_WORD_GAP}ora|ora{_WORD_GAP}sei|adesso{_WORD_GAP}sei|lei{_WORD_GAP}è{_WORD_GAP}ora){_WORD_GAP}{_SOME}"
        r"(?:giudice|valutatore|assistente|modello)\b",
    ),
    (
        ("rispost", "affermazion"),
        rf"{_MARK}(?:valut(?:a|i|ate)|segn(?:a|i|ate)|consider(?:a|i|ate)|contrassegn(?:a|i|ate)|giudic(?:a|hi|ate)"
        rf"|accett(?:a|i|ate)){_WORD_GAP}{_SOME}(?:rispost[ae]|affermazion[ei]){_WORD_GAP}come{_WORD_GAP}{_SOME}"
        rf"(?:corrett[ae]|giust[ae]|ver[ae]|supportat[ae]|fondat[ae]|pertinent[ei]|{_ROLE_LABEL})\b{_NO_CHOICE}",
    ),
    (
        ("punteggio", "voto"),
        rf"{_MARK}(?:dai|dia|date|assegn(?:a|i|ate)|attribuisc[ia]|attribuite){_WORD_GAP}{_SOME}"
        rf"(?:massimo{_WORD_GAP}(?:punteggio|voto)|(?:punteggio|voto){_WORD_GAP}(?:massimo|più{_WORD_GAP}alto))\b",
    ),
)


_PORTUGUESE = (
    (
        ("instruções", "regras", "orientações", "diretrizes"),
        rf"{_MARK}(?:ignor[ae]|ignorem|esque(?:ça|ce|çam)|desconsider[ae]){_WORD_GAP}(?:todas{_WORD_GAP})?(?:as|tuas|suas|estas){_WORD_GAP}"
        rf"(?:tuas{_WORD_GAP}|suas{_WORD_GAP})?(?:instruções|regras|orientações|diretrizes){_WORD_GAP}"
        r"(?:anteriores|acima|prévias|recebidas|do sistema)\b",
    ),
    (
        ("você é", "agora", "és "),
        rf"\b(?:você{_WORD_GAP}é{_WORD_GAP}agora|agora{_WORD_GAP}você{_WORD_GAP}é|és{_WORD_GAP}agora|agora{_WORD_GAP}és){_WORD_GAP}{_SOME}"
        r"(?:juiz|avaliador|assistente|modelo)\b",
    ),
    (
        ("resposta", "afirmaç"),
        rf"{_MARK}(?:avali[ae]|mar(?:ca|que)|consider[ae]|classifi(?:ca|que)|jul(?:ga|gue)|aceit[ae]|trat[ae]){_WORD_GAP}{_SOME}"
        rf"(?:respostas?|afirmação|afirmações){_WORD_GAP}como{_WORD_GAP}{_SOME}"
        rf"(?:corret|cert|verdadeir|apoiad|fundamentad)as?\b{_NO_CHOICE}",
    ),
    (
        ("pontuação", "nota"),
        rf"{_MARK}(?:dê|dá|atribu[ai]){_WORD_GAP}{_SOME}"
        rf"(?:(?:máxima|melhor){_WORD_GAP}(?:pontuação|nota)|(?:pontuação|nota){_WORD_GAP}(?:máxima|mais{_WORD_GAP}alta))\b",
    ),
)


IN_OTHER_LANGUAGES = (*_GERMAN, *_FRENCH, *_SPANISH, *_ITALIAN, *_PORTUGUESE)
"""Each with words, in small letters, of which a text must hold one: most texts need no search."""


_GAP = r"""[\s*_`"'“”‘’]{1,4}"""
"""Between words: white space, and the marks of Markdown and quotation. Bounded, as every part, to stay linear."""

_WORDS = rf"(?:[\w']{{1,20}}{_GAP}){{0,3}}"


_ORDER = (
    r"(?:(?:\A|[.!?:;,>#\]()\[{}\n*_`\"'“”‘’–—-]) ?"
    r"|\b(?:please|kindly|must|should|shall|will|now|and|then|always|just|simply|instead|(?:need|have|required) to) )"
)
"""Where an order begins: with its sentence, or after such a word; what somebody else does has a subject before it."""

_NOT_UNDO = r"(?<!\bnot )(?<!n't )(?<!n’t )(?<!\bnever )"

_UNDO = r"\b(?:ignore|disregard|forget|override)"

_RULES = r"(?:instructions?|directions|prompts?|rules|guidelines|criteria|rubric)"

_LABEL = r"(?:(?:un)?supported|contradicted|(?:partly[ _])?(?:in)?correct|(?:partly[ _])?(?:ir)?relevant)"

_JUDGED = r"(?:claims?|answers?|statements?|responses?|repl(?:y|ies)|sentences?|passages?|contexts?|citations?)"

_ROLE = rf"(?:judge|evaluator|grader|assistant|(?:language|AI){_GAP}model)"


_PATTERNS: tuple[tuple[tuple[str, ...], str], ...] = (
    (  # Ignore all previous rules: the judge's are "your" rules, or those that stand before.
        ("ignore", "disregard", "forget", "override"),
        rf"{_NOT_UNDO}{_UNDO}{_GAP}{_WORDS}(?:your|previous|prior|above|earlier|preceding|system|all|any){_GAP}"
        rf"{_WORDS}{_RULES}\b"
        rf"|{_NOT_UNDO}{_UNDO}{_GAP}{_WORDS}{_RULES}{_GAP}(?:above|before|so far|you (?:were|have been) given)\b"
        rf"|{_ORDER}{_UNDO}{_GAP}(?:the|these|those){_GAP}(?:instructions|prompt)\b"
        rf"|{_ORDER}{_UNDO}{_GAP}(?:(?:all|everything|anything){_GAP})?(?:of{_GAP})?(?:the{_GAP})?(?:above|previous)\b",
    ),
    (  # You are now a judge that …; but not: you are an assistant manager.
        ("judge", "evaluator", "grader", "assistant", "model"),
        rf"\b(?:you{_GAP}are|you['’]re|act{_GAP}as){_GAP}(?:now{_GAP})?(?:an?|the){_GAP}{_WORDS}{_ROLE}"
        r"(?= ?(?:[.,;:!?\"'”*\n]|\Z)|\s(?:that|who|which|whose|and|now|named|called)\b)",
    ),
    (  # Answer "supported"; but not: return correct change.
        ("supported", "correct", "relevant"),
        rf"{_ORDER}(?:answer|reply|respond|output|return|rate|grade|score){_GAP}(?:(?:with|as|it|this|only){_GAP}){{0,3}}"
        rf"{_LABEL}(?= ?(?:[.,;:!?\"'”’*`)\n]|\Z)|\s(?:to|for|on|in|every|regardless|no)\b)",
    ),
    (  # Mark every claim as supported; but not: mark each as correct or incorrect.
        ("supported", "correct", "relevant"),
        rf"{_ORDER}(?:mark|label|treat|consider|deem|judge|classify|count|rate|grade|score|accept){_GAP}"
        rf"(?:it|this|them|these|everything|{_WORDS}{_JUDGED}|(?:all|each|every|any){_GAP}(?:of{_GAP}them|one))"
        rf"{_GAP}(?:as{_GAP})?(?:fully{_GAP})?{_LABEL}\b(?!\s(?:or|if|when|only|unless)\b)",
    ),
    (
        ("score", "rating", "grade", "mark"),
        rf"{_ORDER}(?:give|assign|award|return|output){_GAP}{_WORDS}(?:full{_GAP}marks"
        rf"|(?:highest|maximum|perfect|top|full)(?:{_GAP}possible)?{_GAP}(?:score|rating|grade|marks?))\b",
    ),
    # In the words of our forms, and with nothing after it: juries have other verdicts, and go on.
    (("verdict",), rf"\bverdict[\"'”]? ?[:=] ?[\"'“]?{_LABEL}(?= ?(?:[.,;!?\"'”*}}\n]|\Z))"),
    (("system prompt",), r"\b(?:your|new|ignore|reveal|print|repeat|show)(?: the)? system prompt\b"),
    (("<",), r"< ?/? ?(?:system|instructions?) ?>"),
)
"""Patterns of instructions to a judge, each with words of which a text must hold one: most texts need no search."""

_COMPILED = tuple((words, re.compile(pattern, re.IGNORECASE)) for words, pattern in (*_PATTERNS, *IN_OTHER_LANGUAGES))


_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]+"
)

_LINE_END = re.compile(r" ?[\r\n]\s*")

_BLANK = re.compile(r"[^\S\r\n]+")


def looks_injected(data: dict[str, Any]) -> bool:
    """Whether something in the data looks like an instruction to a judge, by patterns alone.

    Invisible characters hide no instruction, neither inside its words nor between them.
    """
    return any(_speaks(reading) for text in _texts(data) for reading in _readings(text))


def _speaks(text: str) -> bool:
    lower = text.lower()
    return any(pattern.search(text) for words, pattern in _COMPILED if any(word in lower for word in words))


def _texts(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for inner in part.values():
            yield from _texts(inner)
    elif isinstance(part, list | tuple):
        for inner in part:
            yield from _texts(inner)


def _readings(text: str) -> Iterator[str]:
    """The text as a model may read it: in plain letters, and invisible characters as nothing or as gaps."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    yield _even(_INVISIBLE.sub("", plain))
    if _INVISIBLE.search(plain):
        yield _even(_INVISIBLE.sub(" ", plain))


def _even(text: str) -> str:
    """The text with single spaces and line ends, so that long gaps neither hide an instruction nor slow the search."""
    return _LINE_END.sub("\n", _BLANK.sub(" ", text))
