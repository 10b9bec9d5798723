"""Evidence that an answer declines, and its weighted sum (`score`).

The signs are what parts the words of a clause play, and what they are signs of: in any clause, in one that takes up the
question, in the first, in the last, in courtesies, and in a question that the answer puts. The circumstances are what
the clauses that decline by rule decline, the core of the question or something beyond it, and what is stated next to
them: how much of the question it takes up, and whether it holds something of the kind asked for (a number, a date, a
name, a reason).
"""

import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from evals.text.refusals.lexicon import BITS, WORD, Lexicon, pattern
from evals.text.refusals.reading import Clause, Context, Kind

Circumstances = dict[str, float]

_STATES = frozenset({Kind.ANSWERS, Kind.GUESSES, Kind.DESCRIBES})

_SENTENCE = re.compile(r"(?<=[.!?])\s+")

SETTLES = "stated before, of two things"
"""To a question for two things, what is stated before the words that decline answers one; no weight changes that."""


_SHORT = 8
"""Words of a short answer."""


_LONG = 80
"""Words of a long one."""


_BEGINNING = 4
"""Words at the beginning of a clause, which tell what it is about: "of its height, no trace"."""

_NUMBER = re.compile(r"\d+")

_NAME = re.compile(r"(?<![.!?:»\"“]\s)(?<!^)(?<!\w)[A-ZÀ-Þ][\w'’-]+")

_WORD_OR_NAME = re.compile(r"[\w'’-]+")


_BECAUSE = pattern("because")


_ASKED_KIND = {kind: pattern(f"asks_{kind}") for kind in ("time", "reason", "person", "place")}
"""Question words by the kind of thing that answers them."""


class Answer(NamedTuple):
    """An answer as it is weighed: as it was written, folded, and cut into clauses."""

    question: str
    written: str
    text: str
    clauses: Sequence[Clause]
    context: Context

    @property
    def lexicon(self) -> Lexicon:
        """The words of its likeliest language."""
        return self.context.lexicons[0]

    @property
    def sentences(self) -> list[str]:
        """Its sentences, folded."""
        return _SENTENCE.split(self.text)

    def words(self, clause: Clause) -> list[str]:
        """The words of a clause."""
        return WORD.findall(clause.text)

    def content(self, clauses: Iterable[Clause]) -> list[str]:
        """The words of clauses that tell what is spoken of."""
        return self.lexicon.content(WORD.findall(" ".join(clause.text for clause in clauses)))

    def covered(self, clauses: Iterable[Clause]) -> set[str]:
        """The words of the question that clauses take up."""
        return set(self.context.topic.covered(self.content(clauses)))

    def states(self, clause: Clause) -> bool:
        """Whether a clause says something, and more than the question does, and does not only point elsewhere."""
        topic = self.context.topic
        said = self.content([clause])
        new = len(topic.named(said)) < len(said)
        return clause.kind in _STATES and new and not self.lexicon.patterns["referrals"].search(clause.text)


def circumstances(answer: Answer) -> Circumstances:
    """What else is weighed, by name; what is not there has no name, or 0."""
    stated = [clause for clause in answer.clauses if answer.states(clause)]
    live = [clause for clause in answer.clauses if clause.kind is not Kind.NOTHING]
    return {
        **_asked(answer),
        **_stated(answer, stated),
        **_declined(answer, stated, live),
        **_placed(answer, live),
        **_order(answer.clauses),
        "says nothing else": float(not live),
    }


def signs(answer: Answer) -> set[tuple[str, int]]:
    """The parts and signs of each clause, as bits, with each place that it has; those of a question are "asks"."""
    found: set[tuple[str, int]] = set()
    for clause in answer.clauses:
        words = answer.words(clause)
        shown = answer.lexicon.shown(words)
        found.update((place, shown) for place in _places(clause, words, answer))
    if "?" in answer.text:
        asks = (sentence for sentence in answer.sentences if sentence.rstrip().endswith("?"))
        found.update(("asks", answer.lexicon.shown(WORD.findall(sentence))) for sentence in asks)
    return found


def _places(clause: Clause, words: list[str], answer: Answer) -> Iterator[str]:
    if clause.kind is Kind.NOTHING:
        yield "courtesy"
    else:
        yield "any"
        if answer.context.topic.named(words):
            yield "aimed"
    if clause is answer.clauses[0]:
        yield "first"
    if clause is answer.clauses[-1]:
        yield "last"


def _order(clauses: Sequence[Clause]) -> Circumstances:
    """What the clauses do, in their order."""
    kinds = [clause.kind.value for clause in clauses]
    if not kinds:
        return {}
    return {
        f"begins and {kinds[0]}": 1.0,
        f"ends and {kinds[-1]}": 1.0,
        **{f"goes {one}, {other}": 1.0 for one, other in pairwise(kinds)},
        "declining share": kinds.count(Kind.DECLINES.value) / len(kinds),
    }


def _asked(answer: Answer) -> Circumstances:
    """What was asked for, and whether something of that kind is in the answer."""
    kind = _kind_of_question(answer)
    there = _holds_kind(kind, answer)
    return {
        f"wants {kind}": 1.0,
        f"{'gives' if there else 'lacks'} {kind}": 1.0,
        "lacks its kind": float(not there),
        "asks for two things": float(answer.context.topic.compound),
        "short": float(len(answer.text.split()) < _SHORT),
        "long": float(len(answer.text.split()) > _LONG),
        "sentences": math.log1p(len(answer.sentences)),
        "clauses": math.log1p(len(answer.clauses)),
        "new number": float(bool(_new_numbers(answer))),
        "new name": float(answer.lexicon.code != "de" and bool(_new_names(answer))),
    }


def _kind_of_question(answer: Answer) -> str:
    topic = answer.context.topic
    for kind, words in _ASKED_KIND.items():
        if words.search(topic.text):
            return kind
    return "number" if topic.wants_number else "yes or no" if topic.whether else "other"


def _holds_kind(kind: str, answer: Answer) -> bool:
    if kind in ("time", "number"):
        return bool(_new_numbers(answer))
    if kind in ("person", "place"):
        return bool(_new_names(answer))
    return kind != "reason" or bool(_BECAUSE.search(answer.text))


def _new_numbers(answer: Answer) -> set[str]:
    return set(_NUMBER.findall(answer.written)) - set(_NUMBER.findall(answer.question))


def _new_names(answer: Answer) -> set[str]:
    asked = {word.lower() for word in _WORD_OR_NAME.findall(answer.question)}
    return {name for name in _NAME.findall(answer.written) if name.lower() not in asked}


def _stated(answer: Answer, stated: Sequence[Clause]) -> Circumstances:
    """How much is stated, and how much of the question it takes up."""
    kinds = {clause.kind for clause in answer.clauses}
    count = sum(len(answer.words(clause)) for clause in stated)
    number = any(map(str.isdecimal, "".join(clause.text for clause in stated)))
    wanted = answer.context.topic.wants_number
    return {
        "stated, of the question": len(answer.covered(stated)) / _size(answer),
        "stated, words": math.log1p(count),
        "stated, a number": float(number),
        "stated, the number asked for": float(number and wanted),
        "stated, no number though asked for": float(wanted and not number),
        "guesses": float(Kind.GUESSES in kinds),
        "describes the sources": float(Kind.DESCRIBES in kinds),
        "states nothing but what sources hold": float(all(clause.kind is Kind.DESCRIBES for clause in stated)),
        "courtesy": float(Kind.NOTHING in kinds),
    }


def _size(answer: Answer) -> int:
    return max(1, len(answer.context.topic.words))


def _declined(answer: Answer, stated: Sequence[Clause], live: Sequence[Clause]) -> Circumstances:
    """What the clauses that decline by rule decline, and what stands before and behind them."""
    declining = [clause for clause in answer.clauses if clause.kind is Kind.DECLINES]
    if not declining:
        return {}
    place = answer.clauses.index(declining[0])
    before, after = (
        [one for one in part if one in stated] for part in (answer.clauses[:place], answer.clauses[place:])
    )
    told = answer.covered(before)
    return {
        "declines": 1.0,
        "declines, times": math.log1p(len(declining)),
        "declines at first": float(declining[0] is live[0]),
        "declines at last": float(declining[-1] is live[-1]),
        "stated before": float(bool(before)),
        SETTLES: float(answer.context.topic.compound and _answers(before)),
        "guessed before": float(any(clause.kind is Kind.GUESSES for clause in before)),
        "stated behind": float(bool(after)),
        "stated behind, of the question": len(answer.covered(after)) / _size(answer),
        "left open before": 1 - len(told) / _size(answer),
        **_most(_aims(clause, told, answer) for clause in declining),
    }


def _answers(stated: Iterable[Clause]) -> bool:
    return any(clause.kind is Kind.ANSWERS for clause in stated)


def _most(found: Iterable[Circumstances]) -> Circumstances:
    most: Circumstances = {}
    for evidence in found:
        for name, value in evidence.items():
            most[name] = max(value, most.get(name, 0.0))
    return most


def _aims(clause: Clause, told: Collection[str], answer: Answer) -> Circumstances:
    """How a clause that declines aims at what was asked."""
    topic, declined = answer.context.topic, clause.declined
    covered = topic.covered(declined)
    named = topic.named(declined)
    return {
        "declined, of the question": len(covered) / _size(answer),
        "declined, asked for": len(named) / len(declined) if declined else 1.0,
        "declined, first asked for": float(bool(topic.named(declined[:1]))),
        "declined, kind asked for": float(any(map(topic.is_kind, declined))),
        "declined, not told before": len([word for word in covered if word not in told]) / _size(answer),
        "declined, all of it": float(not declined),
        "declined, only more": float(clause.more),
        "declined, whether": float(clause.whether and not topic.whether),
        "declined, whether, as asked": float(clause.whether and topic.whether),
        "declined, of what was said": float(clause.refers),
        "declined in a concession": float(clause.concedes),
        "declined by the speaker": float("i" in answer.lexicon.tagged(answer.words(clause))),
        "declined, what was asked": float(bool(set(clause.asks) & set(topic.kinds))),
        "declined, what was not asked": float(bool(clause.asks) and not set(clause.asks) & set(topic.kinds)),
    }


def _placed(answer: Answer, live: Sequence[Clause]) -> Circumstances:
    """Where the words of the question are taken up, and where next to words that deny."""
    topic = answer.context.topic
    if not live or not topic.words:
        return {}
    taken = [set(topic.covered(answer.words(clause))) for clause in live]
    before: set[str] = set().union(*taken[:-1])
    core, size, several = topic.words[0], len(topic.words), len(live) > 1
    return {
        "new in the last": several * len(taken[-1] - before) / size,
        "taken up in the last": len(taken[-1]) / size,
        "taken up in the first": len(taken[0]) / size,
        "first, from the question": len(taken[0]) / max(1, len(answer.content(live[:1]))),
        "taken up": len(before | taken[-1]) / size,
        "core at first": float(core in taken[0]),
        "core in the last only": float(several and core in taken[-1] and core not in before),
        "core nowhere": float(core not in before | taken[-1]),
        **_most(_denied(clause, some, live, answer) for clause, some in zip(live, taken, strict=True)),
    }


def _denied(clause: Clause, taken: Collection[str], live: Sequence[Clause], answer: Answer) -> Circumstances:
    """Which words of the question stand in a clause that denies."""
    topic, words = answer.context.topic, answer.words(clause)
    if not answer.lexicon.denies(words):
        return {}
    begins, kind, is_last = bool(topic.named(words[:_BEGINNING])), any(map(topic.is_kind, words)), clause is live[-1]
    return {
        "denied, named at its beginning": float(begins),
        "denied at last, named at its beginning": float(begins and is_last),
        "denied at last, asked": float(bool(taken) and is_last),
        "denied at last, something else": float(is_last and not taken and not kind),
        "denied, the core": float(topic.words[0] in taken),
        "denied, the kind asked for": float(kind),
        "denies at first": float(clause is live[0]),
    }


# What each piece of evidence weighs, as benchmarks/abstention_weights.py fitted it to labelled answers.

WEIGHTS: Mapping[str, Any] = json.loads(Path(__file__).with_name("weights.json").read_text(encoding="utf-8"))
"""The `bias` of no evidence at all; the weights of `circumstances`, for each 1 that they measure, and of two of them
`together`, for each 1 of their product; of `signs` by place: of a part or sign in a clause there, or of two."""

SIGN_WEIGHTS: Mapping[str, Mapping[int, float]] = {
    place: {sum(BITS[name] for name in names.split()): weight for names, weight in written.items()}
    for place, written in WEIGHTS["signs"].items()
}


def score(answer: Answer, found: Circumstances) -> float:
    """The sum of the weights of all evidence; above 0 where an answer rather declines."""
    there = {name: value for name, value in found.items() if value}
    singly = sum(WEIGHTS["circumstances"].get(name, 0.0) * value for name, value in there.items())
    pairs: Mapping[str, Mapping[str, float]] = WEIGHTS["together"]
    together = sum(
        value * sum(table[other] * there[other] for other in table.keys() & there.keys())
        for one, value in there.items()
        if (table := pairs.get(one))
    )
    shown = {(place, bits) for place, all_bits in signs(answer) for bits in _singly_and_in_pairs(all_bits)}
    return float(
        WEIGHTS["bias"] + singly + together + sum(SIGN_WEIGHTS.get(place, {}).get(bits, 0.0) for place, bits in shown)
    )


@lru_cache(maxsize=1024)
def _singly_and_in_pairs(shown: int) -> tuple[int, ...]:
    """Each bit, and each two."""
    bits = [1 << place for place in range(shown.bit_length()) if shown >> place & 1]
    return (*bits, *map(sum, combinations(bits, 2)))
