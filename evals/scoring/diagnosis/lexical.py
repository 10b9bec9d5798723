"""Correctness by words, without a judge, and contradictions with the reference.

An answer is right by its words where it includes the expected answer or an accepted variant, as `fuzzy_match` has it,
or where it holds its values and enough of its words: with values a third of both together, without any half of the
words, and something of each item of a list. Values are numbers with their units, dates and names; the words are those
that are neither stop words nor in the question. All of up to three values must be there, of more two thirds. Yes and no
are met by an answer that says so, or that says what was asked, with or without a negation.

A wrong answer states something else where it has another value of the same kind and unit in the place of one that it
lacks, the other one of yes and no, a negation more or less, the opposite of a word, or, where words or a name are
expected, other words about what was asked. It states nothing where it says part of it, or names the place where the
answer is written. An answer that states something else is never right. English is read.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from evals.metrics.qa import inclusion
from evals.schemas.dataset import EvalQuestion
from evals.scoring.diagnosis.values import WORDS, either, in_one_notation, in_place_of, lacking, wanted_values
from evals.text.folding import STOP_WORDS, remembered, tokens
from evals.text.notation import UNITS
from evals.text.numbers import without_dates
from evals.text.quantities import spelt_out
from evals.text.sentences import denials, may_deny, sentences

# Whether an answer says the opposite of what is expected: fell for rose, at most for at least, after for before.


_NUMBER = r"(?=\s+(?:[$€£]|\d|(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|half)\b))"
"""What stands behind a word that bounds a number: not "over the counter"."""


_PAIRS = [
    tuple(either(word.replace("NUMBER", _NUMBER) for word in row[side]) for side in ("one", "other"))
    for row in WORDS["opposite"]
]
"""Words with their opposites; words of one side say the same here."""


def is_reversed(expected: str, sentence: str) -> bool:
    """Whether a sentence has the opposite of a word that is expected, and none that says the same.

    Where one of the two denies and the other does not, opposites say the same: not allowed is prohibited.

    Args:
        expected: The expected answer.
        sentence: The sentence of the answer that is nearest to it.
    """
    if bool(denials(tokens(expected))) is not bool(denials(tokens(sentence))):
        return False
    return any(
        bool(wanted.search(expected)) and not other.search(expected)
        and bool(other.search(sentence)) and not wanted.search(sentence)
        for pair in _PAIRS
        for wanted, other in (pair, pair[::-1])
    )  # fmt: skip


OVERLAP = 0.5
"""Share of the telling words of an expected answer without values from which an answer counts as right."""


OVERLAP_WITH_VALUES = 1 / 3
"""Share of values and telling words together, where all values that must be there are."""

_FEW_VALUES = 3

_OF_MANY = 2 / 3


_SAME_SENTENCE = 0.7
"""Share of the words from which a sentence with another negation says the contrary."""


_BARE = 4
"""Telling words of an answer that is nothing but its fact."""


_IN_PLACE = 2
"""Words of its own with which an answer takes the place of an expected word."""

_ITEMS = re.compile(r"\s*(?:[;/&\n•]|,(?!\d{3}\b)|\band\b|\bor\b|(?<=\s)[*-](?=\s))\s*")

_ITEM_WORDS = 3


_BESIDE = re.compile(
    r"\b(?:on|at|before|after|during|for|from|with|near|behind|beside|since|until) (?:the |an? |our )?(\w+)"
)
"""Words behind a preposition, which are about something else than what is asked for, unless it is asked where."""

_ASKS_WHERE = re.compile(r"\b(?:where|when|(?:on|at|for|from|with|in) (?:which|what|whom))\b", re.IGNORECASE)

_SAYS: dict[str, bool] = WORDS["polarity"]["says"]


_SAYS_NOTHING = STOP_WORDS | UNITS.keys() | _SAYS.keys() | {"percent"}
"""Words that tell nothing of what an answer is about, or that its values tell."""

_YES_AND_NO = {"Y": "yes", "N": "no"}

_ANSWER_IS = re.compile(r"\banswer (?:is|would be) (yes|no|true|false)\b", re.IGNORECASE)

_CLAUSE_END = re.compile(r"[;.](?!\d)")


_WHETHER = either(WORDS["polarity"]["whether"])

_SUBJECTS = frozenset({"it", "this", "that", "they", "these", "those", "he", "she"})


_FORBIDS = frozenset(WORDS["polarity"]["forbids"])

_PREFIXES = ("un", "non", "in", "im", "dis")


_EVASIVE = either(WORDS["evasive"]["patterns"])


def is_right(question: EvalQuestion, answer: str) -> bool | None:
    """Whether an answer says what is expected, by its words: never where it states something else in its place.

    Args:
        question: With its expected answer.
        answer: Without citation marks.

    Returns:
        None where no answer is expected that could be looked for.
    """
    asked, accepted, said = _compared(question, answer)
    if not accepted:
        return None
    if _is_included(accepted, said):
        return True
    return any(_is_said(form, said, asked) for form in accepted) and not states_otherwise(question, answer)


def states_otherwise(question: EvalQuestion, answer: str) -> bool:
    """Whether an answer states something else than all accepted ones: a value, the contrary or other words."""
    asked, accepted, said = _compared(question, answer)
    if not accepted or _is_included(accepted, said):
        return False
    if all(_has_other_value(form, accepted, said, asked) or _says_contrary(form, said) for form in accepted):
        return True
    return all(_has_other_words(form, said, asked) for form in accepted)


def has_other_value(question: EvalQuestion, answer: str) -> bool:
    """Whether an answer has another value than all accepted ones, of the same kind and unit, yes or no included."""
    asked, accepted, said = _compared(question, answer)
    if not accepted or _is_included(accepted, said):
        return False
    return all(_has_other_value(form, accepted, said, asked) for form in accepted)


def is_evasive(question: EvalQuestion, answer: str) -> bool:
    """Whether a wrong answer names the place where it is written, or what it depends on, and states nothing else."""
    return bool(_EVASIVE.search(answer)) and not states_otherwise(question, answer)


def _compared(question: EvalQuestion, answer: str) -> tuple[str, list[str], str]:
    """The question, the accepted answers with their variants, and the answer, in one notation."""
    given = (text for text in (question.expected_answer or "", *question.answers) if text.strip())
    short = _YES_AND_NO if _WHETHER.match(question.question.strip()) else {}
    accepted = [in_one_notation(short.get(text.strip().upper(), text)) for text in given]
    return in_one_notation(question.question), accepted, in_one_notation(answer)


def _is_included(accepted: Iterable[str], answer: str) -> bool:
    """Whether `fuzzy_match` finds an accepted answer, other than yes or no, in the answer."""
    return any(_yes_or_no(form)[0] is None and inclusion(form, answer).holds for form in accepted)


def _is_said(form: str, answer: str, question: str) -> bool:
    wanted, rest = _yes_or_no(form)
    if wanted is not None:
        said = _polarity(answer, question)
        if said is not None:
            return said is wanted and not len(lacking(wanted_values(rest, question), answer, question))
        first = _CLAUSE_END.split(rest, maxsplit=1)[0]
        return bool(_telling(first, question)) and _is_covered(first, answer, question)
    return _is_covered(form, answer, question)


def _is_covered(form: str, answer: str, question: str) -> bool:
    """Whether the values of an expected answer, and enough of its words, are in the answer, not denied."""
    wanted, words = wanted_values(form, question), _telling(form, question)
    lost = len(lacking(wanted, answer, question))
    values = len(wanted)
    held = len(words & _stems(answer))
    if not (values or words) or lost > (0 if values <= _FEW_VALUES else values * (1 - _OF_MANY)):
        return False
    enough = OVERLAP_WITH_VALUES if values else OVERLAP
    if (values - lost + held) / (values + len(words)) < enough or not _has_all_items(form, answer, question):
        return False
    return not _says_contrary(form, answer)


def _has_all_items(form: str, answer: str, question: str) -> bool:
    """Whether an answer has something of each item of a list; True where the expected answer is none."""
    without_days, _ = without_dates(form)  # July 20, 1969 is no list
    items = [item for item in _ITEMS.split(without_days.strip(" .*-•")) if item]
    if len(items) < 2 or any(len(item.split()) > _ITEM_WORDS for item in items):
        return True
    said = _stems(answer)
    return all(not (words := _content(item) - _stems(question)) or words & said for item in items)


def _has_other_value(form: str, accepted: list[str], answer: str, question: str) -> bool:
    wanted, rest = _yes_or_no(form)
    said = _polarity(answer, question) if wanted is not None else None
    if said is not wanted:
        return said is not None
    lost = lacking(wanted_values(rest, question), answer, question)
    return bool(len(lost)) and in_place_of(lost, accepted, _to_the_point(answer, question), question)


def _says_contrary(form: str, answer: str) -> bool:
    """Whether an answer has the words of an expected one, denied, not denied any more, or turned to the opposite.

    The opposite is looked for in the sentence of the answer that is nearest to the expected one, numbers included.
    """
    if _yes_or_no(form)[0] is not None:
        return False
    denied = inclusion(form, answer).differs == "negation" or _denies(form, answer)
    return denied or is_reversed(form, _nearest(_stems(form), answer))


def _to_the_point(answer: str, question: str) -> str:
    """The sentences of an answer that are about what was asked; all where none says so."""
    asked = _content(question)
    about = [
        sentence
        for sentence in sentences(answer)
        if asked & _stems(sentence) or len(_content(sentence)) <= _BARE or tokens(sentence)[0] in _SUBJECTS
    ]
    return " ".join(about) or answer


def _has_other_words(form: str, answer: str, question: str) -> bool:
    """Whether an answer has other words in the place of a name or of words: "the logo is green" for "blue"."""
    telling = _telling(form, question)
    if not _is_of_words(form, question) or _EVASIVE.search(answer):
        return False
    beside = () if _ASKS_WHERE.search(question) else map(str.lower, _BESIDE.findall(answer))
    said = _stems(answer) - _stems(question) - _stems(" ".join(STOP_WORDS)) - set(map(_stem, beside))
    if not said or len(said) > max(_IN_PLACE, len(telling)):
        return False
    if said & telling:
        return len(_ITEMS.split(form)) > 1 and bool(said - telling)
    return bool(_stems(answer) & _content(question)) or len(_stems(answer)) <= _BARE


def _is_of_words(form: str, question: str) -> bool:
    """Whether what is expected are words: neither yes or no nor a number, a date or a full name."""
    values = wanted_values(form, question)
    named = any(len(name) > 1 for name in values.names)
    return _yes_or_no(form)[0] is None and not (values.numbers or values.dates or named)


def _denies(form: str, answer: str) -> bool:
    """Whether the sentence of the answer that is nearest to the expected one has a negation where that has none."""
    wanted, words = _content(form), tokens(form)
    if not wanted or not (denials(words) or (len(wanted) > 1 and may_deny(tokens(answer)))):
        return False  # too little to find the sentence by, or none that has a negation
    nearest = _nearest(wanted, answer)
    near = len(wanted & _stems(nearest)) >= _SAME_SENTENCE * len(wanted)
    return near and _negates(tokens(nearest), words) is not _negates(words, tokens(nearest))


def _nearest(wanted: frozenset[str], answer: str) -> str:
    """The sentence of an answer that has most of these words."""
    return max(sentences(answer), key=lambda sentence: len(wanted & _stems(sentence)), default="")


def _negates(words: Sequence[str], others: Sequence[str]) -> bool:
    """Whether words deny something; "not listed" does not where the others have "unlisted"."""
    known = {other.removeprefix(prefix) for prefix in _PREFIXES for other in others if other.startswith(prefix)}
    left = [word for word, behind in pairwise((*words, "")) if word != "not" or behind not in known]
    return bool(denials(left) or _FORBIDS.intersection(left))


def _yes_or_no(form: str) -> tuple[bool | None, str]:
    """The yes or no with which an expected answer begins, and the rest of it."""
    first, _, rest = form.strip().partition(" ")
    said = _SAYS.get(first.strip(".,;:!-–—").lower())
    return (None, form) if said is None or (rest and first[-1].isalpha()) else (said, rest)


def _polarity(answer: str, question: str) -> bool | None:
    """Whether an answer says yes or no: by its first word, or by saying what was asked; None where it does neither."""
    first = next(iter(tokens(answer)), "")
    if first in _SAYS:
        return _SAYS[first]
    named = _ANSWER_IS.search(answer)
    if named:
        return _SAYS[named[1].lower()]
    asked = _content(question)
    if not asked or not _WHETHER.match(question.strip()):
        return None
    for sentence in sentences(answer):
        words = tokens(sentence)
        left = asked - _stems(sentence)
        most = max((len(asked) + 1) // 4, int(words[0] in _SUBJECTS and len(asked) > 1))
        if len(left) <= most and not _evades(sentence, question):
            return not (denials(words) or _FORBIDS.intersection(words))
    return None


def _evades(sentence: str, question: str) -> bool:
    """Whether a sentence says where it is written or what it depends on, and not what was asked ("is it included?")."""
    asked = _stems(question) | _stems("not")
    return any(not _content(found[0]) <= asked for found in _EVASIVE.finditer(sentence))


def _telling(form: str, question: str) -> frozenset[str]:
    """The words of an expected answer that say something: no stop words, numbers or units, and not in the question."""
    own = _content(form)
    return (own - _stems(question)) or own


@remembered(60_000)
def _content(text: str) -> frozenset[str]:
    words = (word for word in tokens(text) if word not in _SAYS_NOTHING)
    return frozenset(_stem(word) for word in words if not word[0].isdecimal() and not spelt_out(f"{word} days"))


@remembered(60_000)
def _stems(text: str) -> frozenset[str]:
    return frozenset(map(_stem, tokens(text)))


def _stem(word: str) -> str:
    """A word without its commonest English endings: carries, carried and carry are one."""
    for ending, instead in (("'s", ""), ("’s", ""), ("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("es", "e")):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending) + instead
            break
    else:
        word = word.removesuffix("s") if len(word) > 3 and not word.endswith("ss") else word
    return word.removesuffix("e") if len(word) > 3 else word
