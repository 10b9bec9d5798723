"""Directions: what to do, where to look or whom to turn to answers a question for that, and no other question.

"Please contact the ombudsman, Mr. Hill" answers "who handles complaints?", and leaves "how many days?" open.
"""

import re
from typing import TYPE_CHECKING

from evals.case.abstention.clauses import Kind
from evals.case.abstention.roles import BITS, DECLINING, WORD

if TYPE_CHECKING:
    from evals.case.abstention.evidence import Answer

_WHOM = re.compile(
    r"\bwho(?:m)? (?:handles|deals|looks after|takes care|is (?:responsible|in charge)|should|do|can|must|may|to)\b|"
    r"\b(?:an|bei) wen\b|\bbei wem\b|\bwer (?:ist (?:fur|\w+ zustandig|zustandig)|kummert|bearbeitet)\b|"
    r"\ba qui\b|\bqui (?:s'occupe|contacter|traite|est (?:responsable|charge))\b|"
    r"\ba quien\b|\bquien (?:se ocupa|se encarga|gestiona|tramita|es (?:el |la )?responsable)\b|"
    r"\ba chi\b|\bchi (?:si occupa|gestisce|e1 (?:il |la )?responsabile)\b|"
    r"\b(?:a|com) quem\b|\bquem (?:trata|cuida|e1 (?:o |a )?responsavel)\b"
)
_WAY = re.compile(
    r"\bhow (?:do|can|could|should|would|must|may|to)\b|\bwhat (?:should|must|do|can) (?:i|we|one)\b|"
    r"\bwhere (?:do|can|could|should|must|may|to)\b|"
    r"\bw(?:ie|o|ohin|oran|as) (?!viele?\b|lange?\b|oft\b|hoch\b)\w+ (?:ich|wir|man)\b|"
    r"\b(?:comment|ou1|que) (?:\w+-(?:je|on|t-on)|faire|est-ce (?:que|qu'))\b|"
    r"\b(?:como|donde|onde|que|come|dove|cosa) (?:puedo|debo|hago|se|posso|devo|faccio|faco|\w{3,}o)\b"
)
"""What somebody asks who wants to do something."""
_FOR_MORE = re.compile(
    r"\b(?:more|further|additional|detailed|current) (?:information|info|details?|help|assistance|guidance)\b|"
    r"\b(?:weitere[nr]?|nahere[nr]?|genauere[nr]?) (?:informationen|angaben|details|auskunfte|auskunft|hilfe|fragen)\b|"
    r"\bplus (?:d'informations?|de (?:details|renseignements))\b|\bde plus amples\b|"
    r"\bmas (?:informacion|detalles|ayuda)\b|\b(?:maggiori|ulteriori|altre|piu) (?:informazioni|dettagli)\b|"
    r"\bmais (?:informac\w+|detalhes|ajuda)\b"
)
_WHERE = re.compile(r"\b(?:where|wo|wohin|woran|ou1|donde|onde|dove)\b")
_ASK = re.compile(
    r"\b(?:contact\w*|ask|speak|talk|wenden|fragen|kontaktieren|adress\w*|demand\w*|pongase|pregunt\w*|rivolg\w*|"
    r"chied\w*|contat\w*|pergunt\w*|website|internet|online)\b"
)
_CONTACT, _SORRY = BITS["contact"], BITS["sorry"]
_BACK = re.compile(
    r"\b(?:rephrase|clarify|try again|thanks|thank you|your question|more (?:context|details)|documentation|"
    r"umformulier\w*|prazisier\w*|danke|ihre frage|merci|reformul\w*|precisez|gracias|aclar\w*|grazie|riformul\w*|"
    r"precis[ai]|obrigad[oa])\b"
)
"""To him who asked: thanks, and what he may say or read instead."""
_STEPS = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*+•])\s+", re.MULTILINE)
_NAME = re.compile(r"\b(?:mr|mrs|ms|dr|prof|herrn?|frau|mme|monsieur|madame|sr|sra|senora?|sig|signora?|dott)\b")
_ADDRESS = re.compile(r"\d|@|\bwww\.|https?:")
_SPEAKS = frozenset("ij")
_ONE_SENTENCE = 2
"""Clauses of an answer that is nothing but where to turn to."""


def directs(answer: "Answer") -> bool | None:
    """Whether the answer tells what to do or whom to turn to, as was asked for.

    False where it only points elsewhere and something else was asked; None where it does neither.
    """
    if not answer.question or _is_personal(answer):
        return None
    courtesy = all(clause.kind is Kind.NOTHING for clause in answer.clauses)
    steps = len(_STEPS.findall(answer.written)) > 1
    asked = answer.context.topic.text
    if (steps or _begins_as_advice(answer)) and _is_definite(answer, asked, steps=steps):
        return True
    return False if courtesy and _only_points(answer) else None


def _begins_as_advice(answer: "Answer") -> bool:
    return bool(answer.clauses) and answer.clauses[0].kind is Kind.NOTHING


def _is_personal(answer: "Answer") -> bool:
    """Whether he who answers speaks of himself or to him who asked, regrets, declines, or denies something."""
    if _BACK.search(answer.text) or any(clause.kind is Kind.DECLINES for clause in answer.clauses):
        return True
    words = WORD.findall(answer.text)
    letters = set(answer.lexicon.tagged(words))
    said = letters & (_SPEAKS | DECLINING)
    return bool(said) or bool(answer.lexicon.shown(words) & _SORRY) or "?" in answer.text


def _is_definite(answer: "Answer", asked: str, *, steps: bool) -> bool:
    """Whether it gives a way that was asked for: steps, a place or a person, not only some office that knows more."""
    whom = bool(_WHOM.search(asked))
    if not (whom or _WAY.search(asked)):
        return False
    if steps or (whom and _names(answer)):
        return True
    if _FOR_MORE.search(answer.text):
        return False
    return whom or _names(answer) or not _turns_to_others(answer, asked)


def _names(answer: "Answer") -> bool:
    """Whether a person, a number or an address is named."""
    if _ADDRESS.search(answer.written) or _NAME.search(answer.text):
        return True
    return not answer.lexicon.numbers.isdisjoint(WORD.findall(answer.text))


def _turns_to_others(answer: "Answer", asked: str) -> bool:
    """Whether somebody else is to be asked; to look at a thing, or to bring it somewhere, answers where it is."""
    if _WHERE.search(asked):
        return bool(_ASK.search(answer.text))
    return bool(answer.lexicon.shown(WORD.findall(answer.text)) & _CONTACT)


def _only_points(answer: "Answer") -> bool:
    """Whether an answer is nothing but where to turn to for more."""
    return len(answer.clauses) <= _ONE_SENTENCE and not _names(answer) and bool(_FOR_MORE.search(answer.text))
