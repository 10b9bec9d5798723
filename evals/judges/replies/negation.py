"""Words that turn what is said into something else, which a quotation may not leave out unseen."""

_NEGATIONS = frozenset(
    [
        *("no", "not", "never", "none", "nor", "neither", "cannot", "without", "t"),
        *("nicht", "kein", "keine", "keinen", "keiner", "keinem", "keines", "nie", "niemals", "ohne", "weder"),
        *("pas", "jamais", "aucun", "aucune", "sans", "ne", "ni", "sin", "nunca", "ningún", "ninguna", "ninguno"),
        *("non", "mai", "senza", "não", "nem", "sem", "niet", "geen", "nooit", "zonder", "不", "没", "無", "无", "未"),
    ]
)
_RESTRICTIONS = frozenset(
    [
        *(
            "except",
            "excepting",
            "excluding",
            "excludes",
            "unless",
            "if",
            "only",
            "save",
            "but",
            "other",
            "than",
            "less",
        ),
        *("minus", "until", "subject", "provided", "optional", "optionally", "formerly", "rarely", "seldom", "hardly"),
        *("außer", "nur", "wenn", "falls", "sofern", "sauf", "si", "seulement", "salvo", "excepto", "solo", "sólo"),
    ]
)
_SHORT_GAP = 3
"""So few words left out may not hold a negation: "did … approve" is no quotation of "did not approve"."""


def hides_negation(gap: str) -> bool:
    """Whether words that are left out are few and hold a negation; a long gap is a sentence of its own."""
    words = gap.split()
    return len(words) <= _SHORT_GAP and not _NEGATIONS.isdisjoint(words)


def restricts(aside: str) -> bool:
    """Whether what is said in brackets takes back some of what stands around them."""
    words = aside.split()
    return not (_NEGATIONS.isdisjoint(words) and _RESTRICTIONS.isdisjoint(words))
