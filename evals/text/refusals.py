"""Does an answer decline to answer?

A linear model: words and classes of words of each clause are weighed, then the clauses together. Its weights are fitted
by `benchmarks/abstention_fit.py`; the classes of words of six languages lie in `evals/data/refusal_words.toml`.
"""

import json
import math
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, NamedTuple

_DATA = Path(__file__).resolve().parents[1] / "data"
LANGUAGES = ("en", "de", "fr", "es", "it", "pt")
STEM = 6
"""Letters of a word that are weighed."""

_ANSWERS, _DECLINES = -9.0, 9.0
_LEADING, _ASIDE = 200, -0.5
_MOST = 20_000
"""Characters of an answer that are read."""
_SHORT = 40
"""Words of an answer in which a hint is enough for it to be weighed."""

_STRAIGHT = str.maketrans("ß’‘`´", "s''''")
_TOLD_APART = {"sé": "se1", "è": "e1", "é": "e1", "dà": "da1", "dá": "da1", "né": "ne1", "où": "ou1"}
_TOLD_APART |= {"está": "esta1", "há": "ha1", "può": "puo1"}
_ACCENTED = re.compile(rf"\b(?:{'|'.join(_TOLD_APART)})\b")
_CITATION = re.compile(
    r"\[\^?\d[\d,;\s–-]{0,40}\]|【[^】\n]{1,40}】"
    r"|\[(?:sources?|docs?|documents?|passages?|chunks?|contexts?|refs?|pages?|p\.?)[ :.#]{0,2}\d[\d,\s-]{0,40}\]"
)
_QUOTED = re.compile(r"\"[^\"]*\"|«[^«»]*»|“[^“”]*”|„[^„“”]*[“”]|(?<!\w)'[^'\n]{3,}'(?!\w)")
_MARKS = re.compile(r"[*_#`>|~]+|^[^\S\n]*(?:[-+•]|\d{1,2}[.)])[^\S\n]+", re.MULTILINE)
_SHORTENED_NOT = re.compile(r"n't\b|\b(do|does|did|is|are|was|were|could|have|has|ca)nt\b")
_BETWEEN_CLAUSES = re.compile(
    r"(?<=[.!?;:])\s+|\n+|\s[–—-]\s|,?\s(?=(?:but|however|although|though|while|so|aber|jedoch|sondern|daher|obwohl|mais"
    r"|cependant|donc|pero|sino|aunque|sin embargo|ma|quindi|mas|porem|embora|portanto)\b)"
)
_TOKEN = re.compile(r"[^\W\d_]+1?|\d+|[?!%$€£,]")
_FRAME = " \t\n.,;:!?*_\"'()[]"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Whether an answer declines to answer.

    Attributes:
        declines: What more speaks for.
        doubtful: Whether nearly as much speaks against it: a judge should decide.
        score: Log odds that it declines, from -9 to 9.
    """

    declines: bool
    doubtful: bool
    score: float


@lru_cache(maxsize=512)
def reading(answer: str, question: str = "") -> Refusal:
    """Whether an answer declines; an empty one does, and one that is a phrase such as "I don't know" and no more.

    Args:
        answer: As the server wrote it, with Markdown and citation marks.
        question: What was asked: "none" answers how many there are, and declines to say who it was.
    """
    if len(answer) < _LEADING and plain(answer).strip(_FRAME) in _words()["phrases"]:
        return Refusal(declines=True, doubtful=False, score=_DECLINES)
    model = _model()
    return decision(score(answer, question, model), model)


def decision(value: float, model: dict[str, Any]) -> Refusal:
    """What a score says."""
    low, high = model["doubtful"]
    return Refusal(value > model["threshold"], low < value < high, value)


def has_word_classes(text: str) -> bool:
    """Whether a text is in a language whose words the model knows: false of eight words or more that are not."""
    words = [word for word in _TOKEN.findall(plain(text[:_MOST]))[:_LEADING] if word[0].isalpha()]
    function = _words()[language_of([words])].function
    known = len(words) < 8 or sum(map(function.__contains__, words)) >= 0.15 * len(words)
    return known and not _UNSPACED.search(text[:_LEADING])


_UNSPACED = re.compile("[\u0e00-\u0eff\u2e80-\ud7ff]{3}")


def score(answer: str, question: str, model: dict[str, Any]) -> float:
    """What speaks for an answer that declines, less what speaks against it."""
    clauses = clauses_of(answer)
    if not clauses:
        return _DECLINES
    language = language_of(clauses)
    if not may_decline(clauses, language):
        return _ANSWERS
    asked = asked_of(question, model)
    names = [names_of(clause, language, asked.stems, model["vocabulary"]) for clause in clauses]
    weigh = model["clause"].get
    scores = [model["clause_bias"] + sum([weigh(name, 0.0) for name in each]) for each in names]
    weigh = model["answer"].get
    total = sum([weigh(name, 0.0) * value for name, value in together(clauses, names, scores, asked)])
    return max(_ANSWERS, min(_DECLINES, round(float(model["answer_bias"] + total), 6)))


class Asked(NamedTuple):
    """The stems of a question: all in order, and those that are not common."""

    words: list[str]
    stems: frozenset[str]


def asked_of(question: str, model: dict[str, Any]) -> Asked:
    """The stems of a question."""
    words = [word[:STEM] for word in _TOKEN.findall(plain(question)) if word != ","]
    return Asked(words, frozenset(word for word in words if len(word) > 2 and word not in model["common"]))


def plain(text: str) -> str:
    """The text in lower case and without accents, but in words that only an accent tells apart."""
    text = text.lower().translate(_STRAIGHT)
    if text.isascii():
        return text
    text = _ACCENTED.sub(lambda found: _TOLD_APART[found[0]], unicodedata.normalize("NFC", text))
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def clauses_of(answer: str) -> list[list[str]]:
    """The words, numbers and some marks of each clause; what is quoted is one word."""
    text = _CITATION.sub(" ", plain(answer[:_MOST]))
    if any(mark in text for mark in "\"«“„'"):
        text = _QUOTED.sub(" qquote ", text)
    text = _MARKS.sub(" ", _SHORTENED_NOT.sub(lambda found: f"{found[1] or ''} not", text))
    clauses = [_TOKEN.findall(clause) for clause in _BETWEEN_CLAUSES.split(text)]
    return [clause for clause in clauses if clause and set(clause) != {","}]


def names_of(clause: Sequence[str], language: str, asked: frozenset[str], vocabulary: frozenset[str]) -> set[str]:
    """What is weighed of a clause: its words, their classes, and each two and three classes in a row."""
    names, classes, last = set(), ["<"], "<"
    for word in clause:
        if word == ",":
            kind = ","
        elif word[0].isdigit():
            kind = "0"
            names.add(kind)
        else:
            kind, marks = _classes_of(language, word)
            names.update(marks)
            stem = word[:STEM]
            is_asked = stem in asked
            names.add("Q" if is_asked else stem if stem in vocabulary else "_")
            kind = "Q" if is_asked and kind in "._" else kind
        names.add("#" + kind)
        if kind != "." and (kind != last or kind not in "_Q0"):
            classes.append(kind)
        last = kind
    classes.append(">")
    names.update([f"%{a} {b}" for a, b in pairwise(classes)])
    names.update([f"%{a} {b} {c}" for a, b, c in zip(classes, classes[1:], classes[2:], strict=False)])
    return names


def together(
    clauses: Sequence[Sequence[str]], names: Sequence[set[str]], scores: Sequence[float], asked: Asked
) -> Iterator[tuple[str, float]]:
    """What is weighed of an answer: by name, a value.

    Its clauses are those that may decline, the likeliest and all near it, and the rest.
    """
    top = max(range(len(scores)), key=scores.__getitem__)
    rest = [n for n, value in enumerate(scores) if n != top and value <= _ASIDE]
    declining = [n for n, value in enumerate(scores) if n == top or value > _ASIDE]
    stems = [{word[:STEM] for word in clause} for clause in clauses]
    shares = [len(each & asked.stems) / max(1, len(asked.stems)) for each in stems]
    lengths = [len(clause) - clause.count(",") for clause in clauses]
    length, rest_length = sum(lengths), sum([lengths[n] for n in rest])
    number = float(any(word[0].isdigit() and word not in asked.words for n in rest for word in stems[n]))
    likeliest, first, last = (min(6.0, max(-6.0, scores[n])) for n in (top, 0, -1))
    declined, answered = max([shares[n] for n in declining]), max([shares[n] for n in rest], default=0.0)
    values = {"likeliest": likeliest / 2, "likeliest > 0": likeliest > 0, "first": first / 2, "first > 0": first > 0}
    values |= {"last": last / 2, "last > 0": last > 0, "single": len(scores) == 1, "length": math.log2(1 + length) / 4}
    values |= {"rest length": math.log2(1 + rest_length) / 4, "rest share": rest_length / max(1, length)}
    values |= {"rest": bool(rest), "rest first": 0 in rest, "rest number": number, "asked declined": declined}
    values |= {"asked rest": answered, "asked difference": declined - answered, "unasked": not asked.words}
    values |= {"declining": math.log2(len(declining)) / 2, "place": top / len(scores)}
    shown = [(name, float(value)) for name, value in values.items() if value]
    yield from shown
    yield from [(f"{one}*{other}", 0.5 * a * b) for (one, a), (other, b) in combinations(shown, 2)]
    for word in asked.words[:3]:
        yield f"Q:{word}", 0.3
        yield f"H:{word}", 0.3 * bool(rest)
    yield from [("T:" + name, 0.4) for name in set().union(*[names[n] for n in declining])]
    yield from [("R:" + name, 0.4) for name in set().union(*[names[n] for n in rest])]
    yield from [("F:" + name, 0.3) for name in names[0]]


class _Words(NamedTuple):
    """Classes of words of a language: of whole ones, by beginnings and by ends."""

    by_place: tuple[dict[str, list[str]], ...]
    function: frozenset[str]


@lru_cache(maxsize=1)
def _words() -> dict[str, Any]:
    read = tomllib.loads((_DATA / "refusal_words.toml").read_text(encoding="utf-8"))
    found: dict[str, Any] = {name: frozenset(map(plain, read[name])) for name in ("phrases", "hints")}
    for language in LANGUAGES:
        places: tuple[dict[str, list[str]], ...] = ({}, {}, {})
        function = [*read[language].pop("function").split(), *_TOLD_APART.values()]
        for name, listed in read[language].items():
            for word in listed.split():
                place = places[1 if word.endswith("*") else 2 if word.startswith("*") else 0]
                place.setdefault(word.strip("*"), []).append(read["letters"].get(name, f"${name}"))
        found[language] = _Words(places, frozenset(function))
    return found


@lru_cache(maxsize=8192)
def _classes_of(language: str, word: str) -> tuple[str, tuple[str, ...]]:
    """The letters of the classes of a word, "." for another function word and "_" for any other; and its marks."""
    words: _Words = _words()[language]
    whole, starts, ends = words.by_place
    found = list(whole.get(word, ()))
    for size in range(3, min(len(word), 14) + 1):
        found += [*starts.get(word[:size], ()), *ends.get(word[-size:], ())]
    letters = "".join(sorted({name for name in found if name[0] != "$"})) or "._"[word not in words.function]
    return letters, tuple(sorted({name for name in found if name[0] == "$"}))


def language_of(clauses: Sequence[Sequence[str]]) -> str:
    """The language most of whose function words are in the beginning."""
    words = [word for clause in clauses for word in clause][:_LEADING]
    return max(LANGUAGES, key=lambda language: sum(map(_words()[language].function.__contains__, words)))


_NEGATING = frozenset("nkuxNlOW")


def may_decline(clauses: Sequence[Sequence[str]], language: str) -> bool:
    """Whether any word makes it worth weighing: one that negates, or in a short answer one that hints at a refusal."""
    words = {word for clause in clauses for word in clause}
    classes = [_classes_of(language, word) for word in words]
    if any(not _NEGATING.isdisjoint(letters) for letters, _ in classes):
        return True
    hints = "?" in words or any(not _words()["hints"].isdisjoint(marks) for _, marks in classes)
    return hints and sum(map(len, clauses)) <= _SHORT


@lru_cache(maxsize=1)
def _model() -> dict[str, Any]:
    return loaded(json.loads((_DATA / "refusals.json").read_text(encoding="utf-8")))


def loaded(model: dict[str, Any]) -> dict[str, Any]:
    """A model as it is used, of one as it is written."""
    return {**model, **{name: frozenset(model[name].split()) for name in ("vocabulary", "common")}}
