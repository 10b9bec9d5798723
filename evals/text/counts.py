"""Counts with their nouns and verbs, as English wants them."""

_MANY = {"is": "are", "was": "were", "has": "have"}


def counted(count: int, thing: str, verb: str = "") -> str:
    """A count with its noun, and its verb where one is given in the singular: `1 question was`, `2 questions were`."""
    words = [str(count), agree(count, thing, f"{thing}s"), _form(count, verb)]
    return " ".join(word for word in words if word)


def share(part: int, whole: int, thing: str, verb: str = "") -> str:
    """A part of a count, with the verb of the part: `1 of 12 questions has`, `2 of 12 questions have`."""
    words = [f"{part} of {counted(whole, thing)}", _form(part, verb)]
    return " ".join(word for word in words if word)


def agree(count: float, one: str, many: str) -> str:
    """The form of a word that goes with the count: the first with 1, the second with any other."""
    return one if count == 1 else many


def _form(count: int, verb: str) -> str:
    return agree(count, verb, _MANY.get(verb, verb.removesuffix("s")))
