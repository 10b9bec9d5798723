"""Does an answer decline to answer? A linear model over the words of its clauses, then over its clauses together.

First an answer is cut into clauses of words with their classes; then what is weighed of each clause, and of the answer
as a whole, gets names; then the model adds up their weights. An answer that gives what the dataset expects declines
nothing. The classes of words lie in `evals/data/refusal_words.toml`, the weights, which `benchmarks/abstention_fit.py`
fits, in `evals/data/refusals.npz`.
"""

import json
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.schemas.dataset import EvalQuestion
from evals.text.numbers import numbers
from evals.text.tokens import STOP_WORDS, framed, lists_of, tokens

# The clauses of an answer, and of each word its stem and its classes in the answer's language.


LANGUAGES = ("en", "de", "fr", "es", "it", "pt")
STEM = 6
"""Letters of a word that are weighed: most endings of the six languages lie behind them."""
FUNCTION, COMMA, NUMBER, OTHER = "function", ",", "0", "_"
"""The labels of words that have no class: function words, commas, numbers, and all others."""

_LONGEST = 20_000
_LEADING = 200
_STRAIGHT = str.maketrans("ß’‘`´", "s''''")
_HOMOGRAPHS = {"sé": "se1", "è": "e1", "é": "e1", "dà": "da1", "dá": "da1", "né": "ne1", "où": "ou1"}
_HOMOGRAPHS |= {"está": "esta1", "há": "ha1", "può": "puo1"}
_HOMOGRAPH = re.compile(rf"\b(?:{'|'.join(_HOMOGRAPHS)})\b")
_CITATION = re.compile(
    r"\[\^?\d[\d,;\s–-]{0,40}\]|【[^】\n]{1,40}】"
    r"|\[(?:sources?|docs?|documents?|passages?|chunks?|contexts?|refs?|pages?|p\.?)[ :.#]{0,2}\d[\d,\s-]{0,40}\]"
)
_QUOTATION = re.compile(r"\"[^\"]*\"|«[^«»]*»|“[^“”]*”|„[^„“”]*[“”]|(?<!\w)'[^'\n]{3,}'(?!\w)")
_LIST_MARK = re.compile(r"\n[^\S\n]*(?:[-+•]|\d{1,2}[.)])[^\S\n]+")
_MARKDOWN = str.maketrans(dict.fromkeys("*_#>|~", " "))
_CANNOT = re.compile(r"can(?<=\bcan)(?:'?t|not)\b")
_VERBS = ("do", "does", "did", "is", "are", "was", "were", "could", "have", "has")
_JOINED = "|".join(rf"(?<=\b{verb}nt)" for verb in _VERBS)
_CONTRACTED_NOT = re.compile(rf"n(?:'t|t(?:{_JOINED}))\b")
_JOINING = (
    r"(?:but|however|although|though|while|so|aber|jedoch|sondern|daher|obwohl|mais|cependant|donc|pero|sino|aunque"
    r"|sin embargo|ma|quindi|mas|porem|embora|portanto)\b"
)
_BORDER = re.compile(rf"[\s,](?:(?<=[.!?;:]\s)\s*|(?<=\n)\n*|(?<=\s)[–—-]\s|(?:(?<=\s)|(?<=,)\s)(?={_JOINING}))")
_COMMA_WITHIN = re.compile(rf",(?!\s{_JOINING})")
"""These four begin with a character, not with what stands around it, as `re` finds characters fast."""
_TOKEN, _ASCII_TOKEN = (re.compile(rf"{letter}+1?|\d+|[?!%$€£,]") for letter in (r"[^\W\d_]", "[a-zA-Z]"))
_FOREIGN = "qforeign"
"""Stands for a phrase that declines in a language without classes of words."""
_FENCE = re.compile(r"```[a-z]*\s*(\{.*\})\s*```", re.IGNORECASE | re.DOTALL)
_ANSWER_KEYS = ("answer", "response", "text", "result", "output")


class Word(NamedTuple):
    """A word of a clause.

    Attributes:
        stem: Its first letters, in lower case and without accents; all digits of a number.
        classes: The names of its classes; empty of a word that has none.
        label: The classes in one text; `FUNCTION`, `COMMA`, `NUMBER` or `OTHER` of a word that has none.
        names: Of the label and of each class, as they are weighed.
    """

    stem: str
    classes: tuple[str, ...]
    label: str
    names: frozenset[str]


class Wording(NamedTuple):
    """What an answer says, without marks.

    Attributes:
        text: In lower case; clauses are cut from it.
        language: The code of one of `LANGUAGES`.
        words: In any order, once each, and a comma if one stands within a clause; none of an empty answer.
    """

    text: str
    language: str
    words: list[Word]


def unwrapped(answer: str) -> str:
    """The answer within a JSON object, bare or in a code fence; any other answer as it is."""
    text = answer.strip()
    if not text.startswith(("{", "```")):
        return answer
    fenced = _FENCE.fullmatch(text)
    try:
        value: Any = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return answer
    key = next((key for key in _ANSWER_KEYS if isinstance(value, dict) and key in value), None)
    return (value[key] or "") if key and isinstance(value[key], str | None) else answer


def plain(text: str) -> str:
    """The text in lower case and without accents, but in words that only an accent tells apart."""
    text = text[:_LONGEST].lower()
    if text.isascii():
        return text.replace("`", "'")
    text = unicodedata.normalize("NFC", text.translate(_STRAIGHT))
    text = _HOMOGRAPH.sub(lambda match: _HOMOGRAPHS[match[0]], text)
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def wording_of(answer: str) -> Wording:
    """Read an answer; a quotation that is not most of it counts as a word, and citation marks count as none."""
    text = plain(answer)
    if "[" in text or "【" in text:
        text = _CITATION.sub(" ", text)
    if any(mark in text for mark in "\"«“„'"):
        unquoted = _QUOTATION.sub(" qquote ", text)
        text = unquoted if 2 * len(unquoted) > len(text) else text
    for phrase in _foreign_phrases(ascii_only=text.isascii()):
        if phrase in text:
            text = text.replace(phrase, f" {_FOREIGN} ")
    text = _CONTRACTED_NOT.sub(" not", _CANNOT.sub("can not", text))
    text = _LIST_MARK.sub("\n ", f"\n{text}").translate(_MARKDOWN)
    tokens = tokens_of(text)
    language = _language_of(tokens[:_LEADING])
    words = {*tokens} - {COMMA}
    if words and _COMMA_WITHIN.search(text):
        words.add(COMMA)
    return Wording(text, language, list(map(_reader(language), words)))


def clauses_of(wording: Wording) -> list[list[Word]]:
    """The words of each clause of an answer, and the commas between them."""
    clauses = (tokens_of(clause) for clause in _BORDER.split(wording.text))
    return [list(map(_reader(wording.language), tokens)) for tokens in clauses if {*tokens} - {COMMA}]


def tokens_of(text: str) -> list[str]:
    """The words, numbers and marks of a text that `plain` made, in order."""
    return (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text)


def _language_of(leading: Iterable[str]) -> str:
    """The language most of whose function words are among the words that an answer begins with."""
    words = set(leading)
    return max(LANGUAGES, key=lambda language: len(words & _function_words(language)))


@cache
def _reader(language: str) -> Callable[[str], Word]:
    """Reads a word of a language, and keeps the most frequent."""
    return lru_cache(maxsize=4096)(partial(_word, language))


def _word(language: str, token: str) -> Word:
    if token == COMMA or token[0].isdigit():
        label = COMMA if token == COMMA else NUMBER
        return Word(token, (), label, _names(label))
    listed, sizes = _classes(language), range(3, min(len(token), 14) + 1)
    forms = [token, *(f"{token[:size]}*" for size in sizes), *(f"*{token[-size:]}" for size in sizes)]
    classes = tuple(sorted({name for form in forms for name in listed.get(form, ())}))
    label = "+".join(classes) or (FUNCTION if token in _function_words(language) else OTHER)
    return Word(token[:STEM], classes, label, _names(label, *classes))


@cache
def _names(*names: str) -> frozenset[str]:
    """The names of a label and of classes as they are weighed: most words share a few."""
    return frozenset(f"#{name}" for name in names)


@cache
def _classes(language: str) -> Mapping[str, Sequence[str]]:
    """The classes of a word, of all that begin ("source*") and of all that end so ("*less")."""
    classes = defaultdict(list, {_FOREIGN: ["foreign"], "?": ["asks"]})
    for name, words in lists_of("refusal_words")[language].items():
        for word in words.split() if name != FUNCTION else ():
            classes[word].append(name)
    return classes


@cache
def _function_words(language: str) -> frozenset[str]:
    return frozenset([*lists_of("refusal_words")[language][FUNCTION].split(), *_HOMOGRAPHS.values()])


@cache
def _foreign_phrases(*, ascii_only: bool) -> tuple[str, ...]:
    phrases = map(plain, lists_of("refusal_words")["elsewhere"])
    return tuple(phrase for phrase in phrases if phrase.isascii() or not ascii_only)


# What is weighed of an answer: names of each clause, and values of the clauses together.


ASKED = "Q"
"""The label of a word that the question has too."""
MAY_DECLINE = -0.5
"""The score of a clause from which it may decline; the likeliest clause of an answer may in any case."""

_NEAR = 5
_KIND_SHOWN_WITHIN = 8
_NEGATING = frozenset(["not", "none", "unable", "unknown", "unsaid", "lack"])
_CROSSED = frozenset(["more", "who", "me", "us", "source", "text", "this", "say", "said", "perhaps", "contact", "only"])
_CROSSED |= frozenset(["asks", "sorry", "find", "pass", "access", "elsewhere"])
"""Classes whose presence is weighed together with other values."""


class Question(NamedTuple):
    """A question as answers are read by it.

    Attributes:
        stems: Of its words, in order.
        topic: The stems that carry its content.
        kind: What answers it: "time", "number", "person" ...; "nothing" where no question is given.
        marks: "several" where it asks for more than one thing, "lacking" where it asks for what is not so.
    """

    stems: list[str]
    topic: frozenset[str]
    kind: str
    marks: list[str]


class Clause(NamedTuple):
    """A clause of an answer.

    Attributes:
        length: In words.
        stems: Of its words.
        content: The stems that carry content, in order.
        classes: Of its words.
        names: What is weighed of it: words, their classes, and how these follow one another.
    """

    length: int
    stems: frozenset[str]
    content: list[str]
    classes: frozenset[str]
    names: frozenset[str]


def question_of(text: str) -> Question:
    """Read a question; an empty one asks for nothing."""
    stems = [token[:STEM] for token in tokens_of(plain(text)) if token != COMMA]
    asking, marking = (_question_lists()[group] for group in ("asking", "marks"))
    kinds = (kind for kind, words in asking.items() if not words.isdisjoint(stems[:_KIND_SHOWN_WITHIN]))
    marks = [mark for mark, words in marking.items() if not words.isdisjoint(stems)]
    topic = frozenset(stem for stem in stems if len(stem) > 2 and stem not in _common_stems())
    return Question(stems, topic, next(kinds, "other" if stems else "nothing"), marks)


def word_names(words: Collection[Word], vocabulary: frozenset[str]) -> set[str]:
    """The names of words and of their classes, whatever their order."""
    stems = {word.stem for word in words}
    names = stems & vocabulary
    return names.union(*{word.names for word in words}, () if len(names) == len(stems) else (OTHER,))


def clause_of(words: Sequence[Word], question: Question, vocabulary: Collection[str]) -> Clause:
    """Read a clause: its words, pairs of neighbours, and two and three classes in a row or near each other."""
    content, stems, labels = [], ["<"], ["<"]
    names: set[str] = set()
    for stem, classes, own_label, class_names in words:
        if own_label == COMMA:
            labels.append(COMMA)
            continue
        is_asked = stem in question.topic
        known = NUMBER if own_label == NUMBER else ASKED if is_asked else stem if stem in vocabulary else OTHER
        label = ASKED if is_asked and not classes else own_label
        if is_asked or label in (NUMBER, OTHER):
            content.append(stem)
        names.add(known)
        names.update(class_names if label == own_label else [f"#{ASKED}"])
        if label != FUNCTION and not (label == labels[-1] and label in (ASKED, NUMBER, OTHER)):
            labels.append(label)
        if not (known == stems[-1] and known in (ASKED, NUMBER, OTHER)):
            stems.append(known)
    labels.append(">")
    stems.append(">")
    names.update(f"{a} {b}" for a, b in pairwise(stems))
    names.update(f"%{a} {b} {c}" for a, b, c in zip(labels, labels[1:], labels[2:], strict=False))
    for place, label in enumerate(labels, start=1):
        for near in labels[place : place + _NEAR]:
            names.update(_class_pairs(label, near))
    kept = [word for word in words if word.label != COMMA]
    all_stems, all_classes = frozenset(word.stem for word in kept), frozenset(chain(*[word.classes for word in kept]))
    return Clause(len(kept), all_stems, content, all_classes, frozenset(names))


def declining_and_rest(scores: Sequence[float]) -> tuple[list[int], list[int]]:
    """The places of the clauses that may decline, and of the others."""
    likeliest = max(range(len(scores)), key=scores.__getitem__)
    declining = [n for n, score in enumerate(scores) if n == likeliest or score > MAY_DECLINE]
    return declining, [n for n in range(len(scores)) if n not in declining]


def answer_values(clauses: Sequence[Clause], scores: Sequence[float], question: Question) -> dict[str, float]:
    """What is weighed of an answer as a whole: by name, without what is 0.

    Args:
        clauses: Of the answer, at least one.
        scores: The log odds of each clause that it declines.
        question: What was asked.
    """
    declining, rest = declining_and_rest(scores)
    likeliest = max(declining, key=scores.__getitem__)
    bounded = [2 * math.tanh(score / 4) for score in scores]
    groups = {
        "first": (0,),
        "last": (len(clauses) - 1,),
        "likeliest": (likeliest,),
        "declining": tuple(declining),
        "rest": tuple(rest),
        "before": tuple(n for n in rest if n < declining[0]),
    }
    measures = {
        places: _measures([clauses[n] for n in places], [bounded[n] for n in places], question)
        for places in {*groups.values()} - {()}
    }
    values = {
        f"{name} {measure}": value
        for name, places in groups.items()
        if places
        for measure, value in chain(measures[places].items(), [("share", len(places) / len(clauses))])
    }
    values |= {f"asks for {what}": 1.0 for what in (question.kind, *question.marks)}
    declined = frozenset().union(*[clauses[n].stems for n in declining]) & question.topic
    given = frozenset().union(*[clauses[n].stems for n in rest])
    values["asked, only declined"] = len(declined - given) / max(1, len(question.topic))
    values["rest behind"] = bool(rest) and rest[-1] > declining[0]
    values["single clause"] = len(clauses) == 1
    values["declining clauses"] = math.log2(len(declining)) / 2
    values["negating clauses"] = math.log2(1 + sum(not _NEGATING.isdisjoint(c.classes) for c in clauses)) / 2
    values["length"] = math.log2(1 + sum(clause.length for clause in clauses)) / 4
    values["second score"] = sorted(bounded)[-2] if len(clauses) > 1 else 0.0
    return {name: float(value) for name, value in values.items() if value}


def _measures(group: Sequence[Clause], scores: Sequence[float], question: Question) -> dict[str, float]:
    """How much some clauses say, how much of it is asked for, whether it is of the kind asked for, and their score."""
    stems: frozenset[str] = frozenset().union(*[clause.stems for clause in group])
    classes: frozenset[str] = frozenset().union(*[clause.classes for clause in group])
    content = [stem for clause in group for stem in clause.content]
    asked, new = stems & question.topic, sum(stem not in question.topic for stem in content)
    kinds = {kind for kind, nouns in _question_lists()["kinds"].items() if not nouns.isdisjoint(stems)}
    return {
        "is there": 1.0,
        "score": max(scores),
        "positive": max(scores) > 0,
        "length": math.log2(1 + sum(clause.length for clause in group)) / 4,
        "first word asked": bool(content) and content[0] in question.topic,
        "last word asked": bool(content) and content[-1] in question.topic,
        "asked": len(asked) / max(1, len(question.topic)),
        "nothing new": 1 - new / len(content) if content else 1.0,
        "new": math.log2(1 + new) / 3,
        "number": any(stem[0].isdigit() and stem not in question.stems for stem in stems),
        "kind": question.kind in kinds,
        "other kind": bool(kinds) and question.kind not in kinds,
        "negates": not _NEGATING.isdisjoint(classes),
        "no class": not classes,
        **{f"has {name}": 1.0 for name in classes & _CROSSED},
    }


@cache
def _class_pairs(label: str, near: str) -> tuple[str, ...]:
    """The names of each class in one label with each in another behind it."""
    return tuple(f"&{a} {b}" for a in label.split("+") for b in near.split("+"))


@cache
def _question_lists() -> Mapping[str, Mapping[str, frozenset[str]]]:
    words = lists_of("refusal_words")
    return {
        group: {name: frozenset(listed.split()) for name, listed in words[group].items()}
        for group in ("asking", "marks", "kinds")
    }


@cache
def _common_stems() -> frozenset[str]:
    """The stems of function words of all languages."""
    words = lists_of("refusal_words")
    return frozenset(plain(word)[:STEM] for code in LANGUAGES for word in words[code][FUNCTION].split())


# The weights of the model, and what they say of an answer.


PLACES = ("look", "clause", "declining", "rest", "first", "question")
"""Where a name is weighed: in the whole answer, for a first look; in a clause, for its score; and, for the score of the
answer, in clauses that may decline, in the others, in the first, and at the beginning of the question."""
OPENING = 3
"""Words at the beginning of a question that are weighed."""
BOUND = 9.0
FEW_WORDS = 5
_OPTION = re.compile(r"\W*[a-z]\W*")
_BESIDE_VALUES = frozenset({"source", "about", "from", "only"})
"""Classes of words that stand with a bare value too: "about four minutes"."""

_WEIGHTS = Path(__file__).resolve().parents[1] / "data" / "refusals.npz"
_FRAME = " \t\n.,;:!?*_\"'()[]"
_LONGEST_PHRASE = 60
Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Whether an answer declines to answer.

    Attributes:
        declines: Whether more speaks for it than against it.
        doubtful: Whether nearly as much speaks for the opposite: a judge should decide.
        score: Log odds that it declines, from -9 to 9.
    """

    declines: bool
    doubtful: bool
    score: float


class RefusalModel:
    """Fitted weights.

    Args:
        arrays: As they are saved. `names` and `values` are bytes, a name a line; `weights` are whole steps of `scales`,
            for each name in each of the `PLACES`. `value_weights` weighs the values of an answer, `pair_weights` each
            of those at `keys` with each other. `biases` are of the first look, a clause and an answer; `limits` the
            score above which an answer declines, and the scores between which that is doubtful.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        names, values = (bytes(arrays[key]).decode().split("\n") for key in ("names", "values"))
        self.vocabulary = frozenset(filter(str.isalnum, names))
        self.weights: dict[str, dict[str, float]] = {}
        for place, steps, scale in zip(PLACES, arrays["weights"].T, arrays["scales"].tolist(), strict=True):
            weighed = np.flatnonzero(steps)
            self.weights[place] = dict(zip([names[n] for n in weighed], (scale * steps[weighed]).tolist(), strict=True))
        self.values = dict(zip(values, range(len(values)), strict=True))
        self.value_weights, self.pair_weights = arrays["value_weights"], arrays["pair_weights"].astype(np.float32)
        self.keys = arrays["keys"]
        self.biases: list[float] = arrays["biases"].tolist()
        self.threshold, self.low, self.high = arrays["limits"].tolist()

    def summed(self, place: str, names: Iterable[str]) -> float:
        """The weights of some names in a place, added up."""
        weights = self.weights[place]
        return sum([weights[name] for name in names if name in weights])

    def score(self, answer: str, question: str) -> float:
        """The log odds that an answer declines, from -9 to 9."""
        wording = wording_of(answer)
        if not wording.words:
            return BOUND
        if _is_bare_value(wording):
            return -BOUND
        if self.summed("look", word_names(wording.words, self.vocabulary)) + self.biases[0] < 0:
            return -BOUND
        asked = question_of(question)
        clauses = [clause_of(words, asked, self.vocabulary) for words in clauses_of(wording)]
        scores = [self.summed("clause", clause.names) + self.biases[1] for clause in clauses]
        total = self.biases[2] + self.summed("question", asked.stems[:OPENING])
        declining, rest = declining_and_rest(scores)
        for place, group in (("declining", declining), ("rest", rest), ("first", [0])):
            total += self.summed(place, frozenset().union(*[clauses[n].names for n in group]))
        values = np.zeros(len(self.values))
        for name, value in answer_values(clauses, scores, asked).items():
            if name in self.values:
                values[self.values[name]] = value
        total += float(self.value_weights @ values + values[self.keys] @ self.pair_weights @ values)
        return max(-BOUND, min(BOUND, round(float(total), 4)))

    def reading(self, answer: str, question: str) -> Refusal:
        """What the model says of an answer; one that is a phrase such as "I don't know" and no more declines."""
        text = unwrapped(answer)
        if len(text) < _LONGEST_PHRASE and plain(text).strip(_FRAME) in _phrases():
            return Refusal(declines=True, doubtful=False, score=BOUND)
        score = self.score(text, question)
        return Refusal(score > self.threshold, self.low < score < self.high, score)


def _is_bare_value(wording: Wording) -> bool:
    """Whether an answer is a number, in digits or English, with a few words that decline nothing, or a letter.

    Such as "three years" and "(B)", an option of several.
    """
    is_short = len(wording.words) <= FEW_WORDS and all(
        _BESIDE_VALUES.issuperset(word.classes) for word in wording.words
    )
    return is_short and (bool(numbers(wording.text, "en")) or _OPTION.fullmatch(wording.text.strip()) is not None)


@lru_cache(maxsize=512)
def reading(answer: str, question: str = "") -> Refusal:
    """Whether an answer declines to answer; an empty one does.

    Args:
        answer: As the server wrote it, with Markdown and citation marks, or as a JSON object that holds it.
        question: What was asked: "none" answers how many there are, and declines to say who it was.
    """
    return shipped_model().reading(answer, question)


@cache
def shipped_model() -> RefusalModel:
    """The weights of the package, loaded when the first answer is read."""
    with np.load(_WEIGHTS) as arrays:
        return RefusalModel(arrays)


@cache
def _phrases() -> frozenset[str]:
    return frozenset(map(plain, lists_of("refusal_words")["phrases"]))


# Does an answer give what is expected? Then it declines nothing, whatever its words.


_NEARLY = 0.75
_YES_NO = frozenset(["yes", "no", "true", "false", "ja", "nein", "oui", "non", "si", "sí", "sim", "não", "nao"])
_BELOW_TEN = frozenset(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
_TELLS_NOTHING = STOP_WORDS | _YES_NO | _BELOW_TEN | {"none", "unanswerable"}
_NO_ANSWER = re.compile(r"\W*(?:no answer(?: present)?|not answerable|\d(?:\.0+)?)\W*", re.IGNORECASE)


def gives_expected(answer: str, question: EvalQuestion) -> bool:
    """Whether an expected answer stands in an answer, or reads like a refusal itself and is said in nearly its words.

    "The audit found no weaknesses" may be what is expected. Of a question that cannot be answered nothing is.
    """
    accepted = [text for text in (question.expected_answer, *question.answers) if text]
    if question.is_unanswerable or not accepted:
        return False
    if any(_holds(answer, text, question.question) for text in accepted):
        return True
    words = _content(answer)
    findings = [_content(text) for text in accepted if reading(text, question.question).declines]
    return any(words and len(words & finding) >= _NEARLY * len(words | finding) for finding in findings)


def _holds(answer: str, expected: str, question: str) -> bool:
    """Whether an expected answer stands in an answer, as whole words, where it would not in a refusal.

    Yes and no, numbers below ten, words that say nothing ("it"), parts of the question and labels for no answer would.
    """
    words = framed(expected)
    if _TELLS_NOTHING.issuperset(words.split()) or _NO_ANSWER.fullmatch(words) or words in framed(question):
        return False
    return words in framed(answer)


def _content(text: str) -> set[str]:
    return {word for word in tokens(text) if len(word) > 1} - STOP_WORDS
