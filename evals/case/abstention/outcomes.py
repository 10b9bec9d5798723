"""Questions of an outcome: what an error means, why something failed, what was found. That nothing was is the answer.

"The server could not find the page" tells what an error means, and "no defects were found" what an audit found; "no
information was found" and "I could not find it" decline as ever.
"""

import re

from evals.case.abstention.roles import WORD, Lexicon

_SIGN = (
    r"(?:error|code|message|status|light|lamp|led|alarm|warning|symbol|fehler\w*|meldung|leuchte|lampe|anzeige|"
    r"warnung|erreur|voyant|temoin|alarme|codigo|mensaje|luz|piloto|errore|codice|spia|messaggio|erro|mensagem|[a-z]\d+)"
)
_MEANS = (
    r"(?:mean|indicate|stand for|signify|bedeute\w*|heisst|signifie\w*|veut dire|significa\w*|quiere decir|vuol dire|"
    r"quer dizer)"
)
_WHY = r"(?:why|warum|wieso|weshalb|pourquoi|por que|perche)"
_FAILED = (
    r"(?:fail\w*|crash\w*|abort\w*|stop\w*|reject\w*|refus\w*|cancel\w*|denied|fehlgeschlagen|gescheitert|abgebrochen|"
    r"abgesturzt|abgelehnt|gestoppt|echou\w*|rejet\w*|interromp\w*|annul\w*|fall[oa]\w*|rechaz\w*|detuv\w*|fallit\w*|"
    r"rifiutat\w*|interrott\w*|bloccat\w*|falh\w*|rejeit\w*|recus\w*)"
)
_FOUND = (
    r"(?:find|show|reveal|yield|detect|uncover|turn up|conclude|ergab|ergeben|fand|gefunden|festgestellt|revele\w*|"
    r"trouve\w*|constate\w*|encontro\w*|revelo\w*|trovato|rivelat\w*|rilevat\w*|revelou)"
)
_WHAT = (
    r"^\W*(?:and |und |et |y |e )?(?:what (?:did|does|do|has|have)|was|que|qu'|qu'est-ce que|o que|che cosa|cosa|che)\b"
)
_OF_OUTCOME = re.compile(
    rf"\b{_SIGN}\b.{{0,80}}\b{_MEANS}\b|\b{_MEANS}\b.{{0,80}}\b{_SIGN}\b|\bwhat is (?:an? |the )?(?:error|code)\b|"
    rf"\b{_WHY}\b.{{0,120}}\b{_FAILED}|(?P<found>{_WHAT}.{{0,120}}\b{_FOUND}\b)"
)
_PAPERS = re.compile(
    r"\b(?:manual\w*|guides?|handbook\w*|articles?|reports?|handbuch\w*|anleitung\w*|unterlagen|dokument\w*|artikel|"
    r"bericht\w*|manuel\w*|guia\w*|informes?|manuale|guida|relatorio|relazione|dataset|knowledge base)\b"
)
"""Sources that are no part of a machine."""
_KNOWING = re.compile(
    r"\b(?:determin\w*|establish\w*|ascertain\w*|identif\w*|infer\w*|conclu\w*|known?|festgestellt|feststellen|ermittel\w*|"
    r"bestimm\w*|bekannt|etabli\w*|conn?u\w*|stabilit\w*|reasons?|cause[sd]?|causas?|raisons?|grund\w*|ursache\w*|"
    r"motiv\w*|razon\w*|razao|ragion\w*|meanings?|bedeutung|significado|significato|signification)\b"
)
"""Of what an error means or why something failed: that it is not known, and not what went wrong."""
_TELLS = frozenset("ijSaqpNxtlr")
"""Parts that speak of what is told, or of him who tells."""
_OF_THINGS = re.compile(r"\b(?:evidence|beweis\w*|preuve\w*|prueba\w*|prov[ae]s?|indici\w*|introuvables?)\b")
"""What is found or not, though it speaks of sources elsewhere."""
_NUMBER = re.compile(r"\d+")


def is_outcome(text: str, question: str, lexicons: tuple[Lexicon, ...]) -> bool:
    """Whether an answer that denies something tells an outcome that was asked for, and speaks of no source.

    Args:
        text: The folded answer, without accents.
        question: The same of the question.
        lexicons: Of the languages of the answer, the likeliest first.
    """
    asked = _OF_OUTCOME.search(question)
    if not asked or (not asked["found"] and _KNOWING.search(text)):
        return False
    if _PAPERS.search(text) or _repeats(text, question):
        return False
    if any(lexicon.declines.search(text) for lexicon in lexicons):
        return False
    words = WORD.findall(_OF_THINGS.sub("fact", text))
    return not any(_tells(set(lexicon.tagged(words))) for lexicon in lexicons)


def _tells(letters: set[str]) -> bool:
    """Whether words with these letters speak of what a source tells or holds."""
    return bool(letters & _TELLS) or {"s", "h"} <= letters or ("A" in letters and "s" not in letters)


def _repeats(text: str, question: str) -> bool:
    """Whether the number of the error stands in the answer: then it is that which was not found."""
    return not set(_NUMBER.findall(text)).isdisjoint(_NUMBER.findall(question))
