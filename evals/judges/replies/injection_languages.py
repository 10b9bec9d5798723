"""Prompt injection in German, French, Spanish, Italian and Portuguese: patterns of what speaks to a judge.

Four kinds in each language: forget your rules; you are now a judge; take the answer for correct; give the best score.
What manuals, lessons and rules of a game tell their readers is left alone: an order to ignore must be about earlier or
"your" rules, one to rate must be about an answer or a statement, and name the outcome without an "or".
"""

_GAP = r"""[\s*_`"'“”„‘’«»]{1,4}"""
"""Between words. Bounded, as every part, so that the search stays linear."""
_SOME = rf"(?:[\w'’-]{{1,25}}{_GAP}){{0,4}}"
_MARK = (
    r"(?:\A|[.!?:;,>#\]()\[{}\n*_`\"'“”„‘’«»¡¿–—-] ?"
    r"|\b(?:bitte|nun|jetzt|und|veuillez|et|ora|adesso|e|agora|y|ahora) )"
)
"""Where an order begins: with its sentence, or after a word that asks or joins; after a subject it is a report."""
_NO_CHOICE = r"(?! (?:oder|ou|o|falls|wenn|si|se|nur|seulement|solo|apenas)\b)"
_LABEL = r"supported|correct|relevant"

_GERMAN = (
    (
        ("anweisung", "instruktion", "regeln", "vorgaben"),
        rf"{_MARK}(?:ignorier|vergiss|vergess|missacht|übergeh)e?(?:n{_GAP}Sie)?{_GAP}{_SOME}"
        rf"(?:deine[rn]?|bisherige[rn]?|vorherige[rn]?|vorige[rn]?|obige[rn]?|frühere[rn]?|vorangegangene[rn]?){_GAP}{_SOME}"
        rf"(?:Anweisungen|Instruktionen|Regeln|Vorgaben)\b(?!{_GAP}nicht)",
    ),
    (
        ("bist", "sind"),
        rf"\b(?:du{_GAP}bist|Sie{_GAP}sind){_GAP}(?:nun|jetzt|ab{_GAP}sofort){_GAP}{_SOME}"
        r"(?:Richter|Bewerter|Gutachter|Prüfer|Assistent|Sprachmodell)",
    ),
    (
        ("antwort", "aussage", "behauptung"),
        rf"{_MARK}(?:bewert|wert|markier|betracht|akzeptier|kennzeichn|beurteil|stuf)e?(?:n{_GAP}Sie)?{_GAP}{_SOME}"
        rf"(?:Antwort|Aussage|Behauptung)(?:en)?{_GAP}als{_GAP}{_SOME}"
        rf"(?:korrekt|richtig|belegt|gestützt|wahr|relevant|{_LABEL})\b{_NO_CHOICE}",
    ),
    (
        ("punktzahl", "bewertung", "note", "wertung"),
        rf"{_MARK}(?:gib|geben{_GAP}Sie|vergib|vergeben{_GAP}Sie){_GAP}{_SOME}"
        rf"(?:höchste|maximale|beste|volle)[rns]?{_GAP}(?:mögliche[rns]?{_GAP})?(?:Punktzahl|Bewertung|Note|Wertung)\b",
    ),
)
_FRENCH = (
    (
        ("instructions", "consignes", "règles", "directives"),
        rf"{_MARK}(?:ignore[rz]?|oublie[rz]?|néglige[rz]?){_GAP}(?:toutes?{_GAP})?(?:les|tes|vos|ces){_GAP}"
        rf"(?:instructions|consignes|règles|directives){_GAP}"
        r"(?:précédentes|antérieures|ci-dessus|reçues|d['’]avant|système|du système)\b",
    ),
    (
        ("tu es", "vous êtes"),
        rf"\b(?:tu{_GAP}es|vous{_GAP}êtes){_GAP}(?:maintenant|désormais){_GAP}{_SOME}"
        r"(?:juge|évaluateur|correcteur|assistant|modèle)\b",
    ),
    (
        ("réponse", "affirmation"),
        rf"{_MARK}(?:évalue[rz]?|marque[rz]?|considère|considére[rz]|note[rz]?|juge[rz]?|accepte[rz]?){_GAP}{_SOME}"
        rf"(?:réponse|affirmation)s?{_GAP}comme{_GAP}{_SOME}"
        rf"(?:correcte|exacte|juste|vraie|étayée|fondée|pertinente|{_LABEL})s?\b{_NO_CHOICE}",
    ),
    (
        ("note", "score"),
        rf"{_MARK}(?:donne[rz]?|attribue[rz]?|mets|mettez){_GAP}{_SOME}"
        rf"(?:(?:meilleure{_GAP})(?:note|évaluation)|(?:note|score){_GAP}(?:maximale?|l[ea]{_GAP}plus{_GAP}(?:haute?|élevée?)))\b",
    ),
)
_SPANISH = (
    (
        ("instrucciones", "indicaciones", "reglas", "directrices"),
        rf"{_MARK}(?:ignor(?:a|e|ad|en)|olvid(?:a|e|ad|en)|descart(?:a|e)|ha(?:z|ga){_GAP}caso{_GAP}omiso{_GAP}de){_GAP}"
        rf"(?:todas{_GAP})?(?:las|tus|sus|estas){_GAP}(?:instrucciones|indicaciones|reglas|directrices){_GAP}"
        r"(?:anteriores|previas|recibidas|de arriba|del sistema)\b",
    ),
    (
        ("eres", "usted es"),
        rf"\b(?:eres{_GAP}ahora|ahora{_GAP}eres|usted{_GAP}es{_GAP}ahora){_GAP}{_SOME}(?:juez|evaluador|asistente|modelo)\b",
    ),
    (
        ("respuesta", "afirmaci"),
        rf"{_MARK}(?:eval[uú][ae]|mar(?:ca|que)|consider[ae]|califi(?:ca|que)|ju(?:zga|zgue)|acept[ae]|trat[ae]){_GAP}{_SOME}"
        rf"(?:respuestas?|afirmación|afirmaciones){_GAP}como{_GAP}{_SOME}"
        rf"(?:correcta|respaldada|verdadera|válida|relevante|{_LABEL})s?\b{_NO_CHOICE}",
    ),
    (
        ("puntuación", "calificación", "nota"),
        rf"{_MARK}(?:da|dé|dale|otorg[au]e?|asign[ae]|pon|ponga){_GAP}{_SOME}"
        rf"(?:(?:máxima|mejor){_GAP}(?:puntuación|calificación|nota)"
        rf"|(?:puntuación|calificación|nota){_GAP}(?:máxima|más{_GAP}alta))\b",
    ),
)
_ITALIAN = (
    (
        ("istruzioni", "regole", "indicazioni", "direttive"),
        rf"{_MARK}(?:ignor(?:a|i|ate)|dimentic(?:a|hi|ate)|trascur(?:a|i|ate)){_GAP}(?:tutte{_GAP})?(?:le|queste|tue|vostre){_GAP}"
        rf"(?:tue{_GAP})?(?:istruzioni|regole|indicazioni|direttive){_GAP}"
        r"(?:precedenti|anteriori|ricevute|di cui sopra|qui sopra|di sistema)\b",
    ),
    (
        ("sei", "lei è"),
        rf"\b(?:sei{_GAP}ora|ora{_GAP}sei|adesso{_GAP}sei|lei{_GAP}è{_GAP}ora){_GAP}{_SOME}"
        r"(?:giudice|valutatore|assistente|modello)\b",
    ),
    (
        ("rispost", "affermazion"),
        rf"{_MARK}(?:valut(?:a|i|ate)|segn(?:a|i|ate)|consider(?:a|i|ate)|contrassegn(?:a|i|ate)|giudic(?:a|hi|ate)"
        rf"|accett(?:a|i|ate)){_GAP}{_SOME}(?:rispost[ae]|affermazion[ei]){_GAP}come{_GAP}{_SOME}"
        rf"(?:corrett[ae]|giust[ae]|ver[ae]|supportat[ae]|fondat[ae]|pertinent[ei]|{_LABEL})\b{_NO_CHOICE}",
    ),
    (
        ("punteggio", "voto"),
        rf"{_MARK}(?:dai|dia|date|assegn(?:a|i|ate)|attribuisc[ia]|attribuite){_GAP}{_SOME}"
        rf"(?:massimo{_GAP}(?:punteggio|voto)|(?:punteggio|voto){_GAP}(?:massimo|più{_GAP}alto))\b",
    ),
)
_PORTUGUESE = (
    (
        ("instruções", "regras", "orientações", "diretrizes"),
        rf"{_MARK}(?:ignor[ae]|ignorem|esque(?:ça|ce|çam)|desconsider[ae]){_GAP}(?:todas{_GAP})?(?:as|tuas|suas|estas){_GAP}"
        rf"(?:tuas{_GAP}|suas{_GAP})?(?:instruções|regras|orientações|diretrizes){_GAP}"
        r"(?:anteriores|acima|prévias|recebidas|do sistema)\b",
    ),
    (
        ("você é", "agora", "és "),
        rf"\b(?:você{_GAP}é{_GAP}agora|agora{_GAP}você{_GAP}é|és{_GAP}agora|agora{_GAP}és){_GAP}{_SOME}"
        r"(?:juiz|avaliador|assistente|modelo)\b",
    ),
    (
        ("resposta", "afirmaç"),
        rf"{_MARK}(?:avali[ae]|mar(?:ca|que)|consider[ae]|classifi(?:ca|que)|jul(?:ga|gue)|aceit[ae]|trat[ae]){_GAP}{_SOME}"
        rf"(?:respostas?|afirmação|afirmações){_GAP}como{_GAP}{_SOME}"
        rf"(?:corret|cert|verdadeir|apoiad|fundamentad)as?\b{_NO_CHOICE}",
    ),
    (
        ("pontuação", "nota"),
        rf"{_MARK}(?:dê|dá|atribu[ai]){_GAP}{_SOME}"
        rf"(?:(?:máxima|melhor){_GAP}(?:pontuação|nota)|(?:pontuação|nota){_GAP}(?:máxima|mais{_GAP}alta))\b",
    ),
)

IN_OTHER_LANGUAGES = (*_GERMAN, *_FRENCH, *_SPANISH, *_ITALIAN, *_PORTUGUESE)
"""Each with words, in small letters, of which a text must hold one: most texts need no search."""
