"""Does an answer decline to answer?

A linear model in two steps. Words and classes of words of each clause are weighed; then the clauses together: which of
them decline, what of the question these take up, and what the others say. `benchmarks/abstention_fit.py` fits its
weights; the classes of words of six languages lie in `evals/data/refusal_words.toml`.
"""

import json
import math
import re
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

_DATA = Path(__file__).resolve().parents[1] / "data"
LANGUAGES = ("en", "de", "fr", "es", "it", "pt")
STEM = 6
"""Letters of a word that are weighed."""

ASIDE = -0.5
"""The score of a clause from which it may decline."""

_MOST, _LEADING, _NEAR, _BOUND = 20_000, 200, 5, 9.0
OPENING = 3
"""Words of a question that are weighed."""

PLACES = ("clause", "declining", "rest", "first", "look")
"""Where a name is weighed: in any clause, for its score; once more in those that may decline, in the others, and in the
first; and in the whole answer, for a first look."""

LOOK = PLACES.index("look")

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
_PHRASE = "qdeclines"
_FRAME = " \t\n.,;:!?*_\"'()[]"
_FENCE = re.compile(r"```[a-z]*\s*(\{.*\})\s*```", re.IGNORECASE | re.DOTALL)
_KEYS = ("answer", "response", "text", "result", "output")


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
        answer: As the server wrote it, with Markdown and citation marks, or as a JSON object that holds it.
        question: What was asked: "none" answers how many there are, and declines to say who it was.
    """
    text = unwrapped(answer)
    if len(text) < _LEADING and plain(text).strip(_FRAME) in _words()["phrases"]:
        return Refusal(declines=True, doubtful=False, score=_BOUND)
    model = _model()
    return decision(score(text, question, model), model)


def decision(value: float, model: dict[str, Any]) -> Refusal:
    """What a score says."""
    low, high = model["doubtful"]
    return Refusal(value > model["threshold"], low < value < high, value)


def unwrapped(answer: str) -> str:
    """The answer within a JSON object, bare or in a code fence; any other answer as it is."""
    text = answer.strip()
    if not text.startswith(("{", "```")):
        return answer
    fenced = _FENCE.fullmatch(text)
    try:
        read: Any = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return answer
    key = next((key for key in _KEYS if isinstance(read, dict) and key in read), None)
    return (read[key] or "") if key and isinstance(read[key], str | None) else answer


Form = tuple[str, str, tuple[str, ...]]
"""The stem of a word, the letters of its classes, and its marks."""


class Asked(NamedTuple):
    """A question: its stems in order, those of them that are not common, and the kind of thing that answers it."""

    words: list[str]
    stems: frozenset[str]
    kind: str
    marks: list[str]


class Clause(NamedTuple):
    """A clause of an answer: its length, stems, those that carry content, classes, and the names of what is weighed."""

    length: int
    stems: set[str]
    content: list[str]
    classes: set[str]
    names: set[str]


def score(answer: str, question: str, model: dict[str, Any]) -> float:
    """What speaks for an answer that declines, less what speaks against it."""
    forms = forms_of(answer)
    if not forms:
        return _BOUND
    weights: Mapping[str, Sequence[float]] = model["names"]
    if sum([weights[name][LOOK] for name in look_of(forms, model["vocabulary"]) & weights.keys()]) < model["least"]:
        return -_BOUND
    asked = asked_of(question, model["common"])
    clauses = [clause_of(each, asked, model["vocabulary"]) for each in forms]
    each_place = [
        list(map(sum, zip(*[weights[name] for name in clause.names & weights.keys()], strict=True))) or [0.0] * 5
        for clause in clauses
    ]
    scores = [model["clause bias"] + sums[0] for sums in each_place]
    total = model["bias"] + sum([model["asked"].get(stem, 0.0) for stem in asked.words[:OPENING]])
    for place, group in enumerate((*parted(scores), [0]), start=1):
        total += sum([each_place[n][place] for n in group])
    values = values_of(clauses, scores, asked)
    total += sum([model["values"].get(name, 0.0) * value for name, value in values.items()])
    for name, others in model["pairs"].items():
        if name in values:
            total += values[name] * sum([weight * values.get(other, 0.0) for other, weight in others.items()])
    return max(-_BOUND, min(_BOUND, round(float(total), 6)))


def parted(scores: Sequence[float]) -> tuple[list[int], list[int]]:
    """The places of the clauses that may decline, the likeliest and all near it, and of the rest."""
    likeliest = max(range(len(scores)), key=scores.__getitem__)
    declining = [n for n, value in enumerate(scores) if n == likeliest or value > ASIDE]
    return declining, [n for n in range(len(scores)) if n not in declining]


def values_of(clauses: Sequence[Clause], scores: Sequence[float], asked: Asked) -> dict[str, float]:
    """What is weighed of an answer as a whole, by name, without what is 0."""
    declines = [min(6.0, max(-6.0, value)) / 2 for value in scores]
    declining, rest = parted(scores)
    likeliest = max(declining, key=declines.__getitem__)
    before = [n for n in rest if n < declining[0]]
    groups = {"likeliest": [likeliest], "declining": declining, "rest": rest, "before": before}
    values: dict[str, float] = {f"asks {asked.kind}": 1.0, "unasked": not asked.words, "single": len(clauses) == 1}
    for place, n in (("first", 0), ("last", -1), ("likeliest", likeliest)):
        values |= {f"{place} score": declines[n], f"{place} positive": declines[n] > 0}
    for name, group in groups.items():
        if group:
            values |= {f"{name} {measure}": value for measure, value in measures(group, clauses, asked)}
    taken, given = (set().union(*[clauses[n].stems for n in group]) & asked.stems for group in (declining, rest))
    values["asked only there"] = len(taken - given) / max(1, len(asked.stems))
    values["behind"] = bool(rest) and rest[-1] > declining[0]
    values["declining clauses"] = math.log2(len(declining)) / 2
    values["length"] = math.log2(1 + sum(clause.length for clause in clauses)) / 4
    values["asks back"] = any("?" in clause.stems for clause in clauses)
    values |= {f"asks {mark}": 1.0 for mark in asked.marks}
    for name, group in (("likeliest", [likeliest]), ("rest", rest), ("first", [0])):
        classes = set().union(*[clauses[n].classes for n in group])
        values |= {f"{name} {letter}": 1.0 for letter in classes & _CROSSED}
        values[f"{name} denies"] = not _NEGATING.isdisjoint(classes)
    values["denying clauses"] = math.log2(1 + sum(not _NEGATING.isdisjoint(clause.classes) for clause in clauses)) / 2
    values["second score"] = sorted(declines)[-2] if len(clauses) > 1 else 0.0
    values |= {f"asks {asked.kind}, {name}": value for name, value in list(values.items()) if name in _BY_KIND}
    return {name: float(value) for name, value in values.items() if value}


_CROSSED = frozenset({*"+wijsSTtp", "$perhaps", "$contact", "$only"})
_NEGATING = frozenset("nkuxNl")
_BY_KIND = frozenset({"rest number", "declining number", "declining kind", "likeliest length"})


def measures(group: Sequence[int], clauses: Sequence[Clause], asked: Asked) -> Iterable[tuple[str, float]]:
    """How much some clauses say, how much of it is asked for, and whether it is of the kind asked for."""
    stems = set().union(*[clauses[n].stems for n in group])
    content = [stem for n in group for stem in clauses[n].content]
    taken, new = stems & asked.stems, len([stem for stem in content if stem not in asked.stems])
    kinds = {kind for kind, nouns in _words()["kinds"].items() if not nouns.isdisjoint(stems)}
    yield "there", 1.0
    yield "length", math.log2(1 + sum([clauses[n].length for n in group])) / 4
    yield "share", len(group) / len(clauses)
    core = next((stem for stem in asked.words if stem in asked.stems), None)
    yield "core", core in stems
    yield "first asked", bool(content) and content[0] in asked.stems
    yield "last asked", bool(content) and content[-1] in asked.stems
    yield "asked", len(taken) / max(1, len(asked.stems))
    yield "only asked", 1 - new / len(content) if content else 1.0
    yield "new", math.log2(1 + new) / 3
    yield "number", any(stem[0].isdigit() and stem not in asked.words for stem in stems)
    yield "kind", asked.kind in kinds
    yield "other kind", bool(kinds) and asked.kind not in kinds


def asked_of(question: str, common: frozenset[str]) -> Asked:
    """A question as it is weighed."""
    words = [word[:STEM] for word in _TOKEN.findall(plain(question[:_MOST])) if word != ","]
    stems = frozenset(word for word in words if len(word) > 2 and word not in common)
    kinds = (kind for kind, asking in _words()["asking"].items() if not asking.isdisjoint(words[:8]))
    marks = [mark for mark, asking in _words()["marks"].items() if not asking.isdisjoint(words)]
    return Asked(words, stems, next(kinds, "other" if words else "nothing"), marks)


def plain(text: str) -> str:
    """The text in lower case and without accents, but in words that only an accent tells apart."""
    text = text.lower().translate(_STRAIGHT)
    if text.isascii():
        return text
    text = _ACCENTED.sub(lambda found: _TOLD_APART[found[0]], unicodedata.normalize("NFC", text))
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def forms_of(answer: str) -> list[list[Form]]:
    """The words of each clause of an answer; what is quoted is one word."""
    text = _CITATION.sub(" ", plain(answer[:_MOST]))
    if any(mark in text for mark in "\"«“„'"):
        text = _QUOTED.sub(" qquote ", text)
    for phrase in _words()["elsewhere"]:
        if phrase in text:
            text = text.replace(phrase, f" {_PHRASE} ")
    text = _MARKS.sub(" ", _SHORTENED_NOT.sub(lambda found: f"{found[1] or ''} not", text))
    clauses = [words for words in map(_TOKEN.findall, _BETWEEN_CLAUSES.split(text)) if set(words) - {","}]
    language = language_of(clauses)
    return [[_form_of(language, word) for word in words] for words in clauses]


def look_of(clauses: Iterable[Iterable[Form]], vocabulary: frozenset[str]) -> set[str]:
    """The names of the words of an answer and of their classes."""
    names: set[str] = set()
    for stem, letters, marks in set(chain.from_iterable(clauses)):
        names.update((stem if stem in vocabulary else "_", "#" + letters), marks)
    return names


def clause_of(forms: list[Form], asked: Asked, vocabulary: frozenset[str]) -> Clause:
    """A clause, with the names of its words and their classes, of two and three of them in a row, and of two near."""
    content, stems, classes = [], ["<"], ["<"]
    found: list[Iterable[str]] = []
    for stem, of_word, marks in forms:
        if stem == ",":
            classes.append(stem)
            continue
        is_number, is_asked = of_word == "0", stem in asked.stems
        known = "0" if is_number else "Q" if is_asked else stem if stem in vocabulary else "_"
        letters = "Q" if is_asked and of_word in "._" else of_word
        if letters in "_Q0" or known == "Q":
            content.append(stem)
        found += [marks, (known, "#" + letters)]
        if letters != "." and (letters != classes[-1] or letters not in "_Q0"):
            classes.append(letters)
        if known != stems[-1] or known not in "_Q0":
            stems.append(known)
    classes.append(">")
    stems.append(">")
    found.append([f"{a} {b}" for a, b in pairwise(stems)])
    found.append([f"%{a} {b} {c}" for a, b, c in zip(classes, classes[1:], classes[2:], strict=False)])
    for place, letters in enumerate(classes, start=1):
        found += [_pairs(letters, near) for near in classes[place : place + _NEAR]]
    shown = {mark for _, _, marks in forms for mark in marks}.union(*classes)
    return Clause(len(forms), {stem for stem, _, _ in forms if stem != ","}, content, shown, set().union(*found))


@lru_cache(maxsize=8192)
def _pairs(letters: str, others: str) -> list[str]:
    """The names of each class of a word with each of one behind it."""
    return [f"&{one}{other}" for one in letters for other in others]


@lru_cache(maxsize=1)
def _words() -> dict[str, Any]:
    """The lists of words; for each language the classes of a word, or of all that begin ("bla*") or end ("*bla") so."""
    read: dict[str, Any] = tomllib.loads((_DATA / "refusal_words.toml").read_text(encoding="utf-8"))
    words: dict[str, Any] = {name: frozenset(map(plain, read[name])) for name in ("phrases", "elsewhere")}
    for group in ("asking", "kinds", "marks"):
        words[group] = {kind: frozenset(listed.split()) for kind, listed in read[group].items()}
    for language in LANGUAGES:
        words[language] = defaultdict(list, {word: ["."] for word in _TOLD_APART.values()})
        for name, listed in read[language].items():
            for word in listed.split():
                words[language][word].append(read["letters"].get(name, f"${name}"))
    return words


@lru_cache(maxsize=8192)
def _form_of(language: str, word: str) -> Form:
    """The stem of a word, its classes ("." of a function word that has none, "_" of any other word), and its marks."""
    if word[0].isdigit() or word == ",":
        return word, "0", ()
    if word == _PHRASE:
        return word[:STEM], "_", ("$elsewhere",)
    lists, sizes = _words()[language], range(3, min(len(word), 14) + 1)
    forms = [word, *(f"{word[:size]}*" for size in sizes), *(f"*{word[-size:]}" for size in sizes)]
    found = {name for form in forms for name in lists.get(form, ())}
    letters = "".join(sorted(name for name in found - {"."} if name[0] != "$")) or ("." if "." in found else "_")
    return word[:STEM], letters, tuple(sorted(name for name in found if name[0] == "$"))


def language_of(clauses: Sequence[Sequence[str]]) -> str:
    """The language most of whose function words are in the beginning."""
    words = set(islice(chain.from_iterable(clauses), _LEADING))
    return max(LANGUAGES, key=lambda language: len(words & _function_words(language)))


@lru_cache
def _function_words(language: str) -> frozenset[str]:
    return frozenset(word for word, names in _words()[language].items() if "." in names)


@lru_cache(maxsize=1)
def _model() -> dict[str, Any]:
    return loaded(json.loads((_DATA / "refusals.json").read_text(encoding="utf-8")))


def loaded(model: dict[str, Any]) -> dict[str, Any]:
    """A model as it is used, of one as it is written."""
    names = {name: [*weights, *[0.0] * (len(PLACES) - len(weights))] for name, weights in model["names"].items()}
    return {**model, "names": names, **{name: frozenset(model[name].split()) for name in ("vocabulary", "common")}}
