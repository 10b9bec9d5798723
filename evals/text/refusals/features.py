"""What is weighed of an answer: names of each clause, and values of the clauses together."""

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import NamedTuple

from evals.text.refusals.clauses import COMMA, FUNCTION, LANGUAGES, NUMBER, OTHER, STEM, Word, plain, tokens_of
from evals.text.tokens import lists_of

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
