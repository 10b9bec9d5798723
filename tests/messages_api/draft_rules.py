"""What the rule-following model writes and answers: questions are the words of a sentence, answers a value in it."""

import re
from typing import Any

from messages_api.shared_words import content_words, sentences

_VALUE = re.compile(r"\$?\d[\d,.:%]*\d%?(?: [a-z]+)?|\d%?(?: [a-z]+)?")
_LEAST_ASKED, _LEAST_COVERED = 0.8, 0.7
"""Share of a sentence's words that a question about it has, and of a question's words that sentences about it have."""


def write(properties: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """A question about the first sentence with a value that is long enough; a kind starts at another sentence."""
    kinds = properties["kind"]["enum"]
    facts = _facts(data["passage"])
    if not facts:
        return {"quotations": [], "question": "", "answer": "", "kind": "fact", "verdict": "skip"}
    sentence, answer = facts[kinds.index(data["kind"]) % len(facts)]
    asked = _question([sentence], [answer])
    return {"quotations": [sentence], "question": asked, "answer": answer, "kind": "number", "verdict": "question"}


def pair(_properties: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """A question about a sentence of each passage that have a word in common, the shared one if they can."""
    for first, value in _facts(data["passage_a"]):
        for second, other in _facts(data["passage_b"]):
            answers = content_words(value) | content_words(other)
            common = {word for word in content_words(first) & content_words(second) - answers if len(word) > 3}
            if common and value != other:
                bridge = data["shared"] if data["shared"] in common else min(common)
                return {
                    "quotation_a": first,
                    "quotation_b": second,
                    "bridge": bridge,
                    "question": _question([first, second], [value, other, bridge]),
                    "answer": f"{value}, {other}",
                    "verdict": "question",
                }
    empty = dict.fromkeys(("quotation_a", "quotation_b", "bridge", "question", "answer"), "")
    return {**empty, "verdict": "skip"}


def near_miss(_properties: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """A question for something that no document has."""
    said = [part for part in sentences(data["passage"]) if len(content_words(part)) > 5]
    if not said:
        return {"quotation": "", "attribute": "", "question": "", "verdict": "skip"}
    words = sorted(word for word in content_words(said[-1]) if word.isalpha())[:4]
    question = f"Which zorbic emblem and quaver hue go with {' and '.join(words)}?"
    return {"quotation": said[-1], "attribute": "zorbic emblem", "question": question, "verdict": "question"}


def solve(_properties: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """The values of the sentences that the question is about, where they cover most of its words."""
    asked = content_words(data["question"])
    found = [
        (passage["id"], sentence, value, content_words(sentence) & asked)
        for passage in data["passages"]
        for sentence, value in _facts(passage["text"])
        if len((own := content_words(sentence) - content_words(value)) & asked) >= _LEAST_ASKED * len(own)
    ]
    covered = set().union(*(words for _, _, _, words in found))
    if len(covered) < _LEAST_COVERED * len(asked):
        return {"quote": "", "passages": [], "answer": "", "verdict": "not_answerable"}
    return {
        "quote": found[0][1],
        "passages": list(dict.fromkeys(number for number, *_ in found)),
        "answer": ", ".join(value for _, _, value, _ in found),
        "verdict": "answered",
    }


def closed_book(_properties: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """What everybody knows."""
    known = "Heron" in data["question"] or "heron" in data["question"]
    return {"answer": "90 passengers" if known else "", "verdict": "answered" if known else "not_answerable"}


def _facts(passage: str) -> list[tuple[str, str]]:
    """The sentences and rows of a passage that have a value and enough other words, each with its last value."""
    facts = []
    for sentence in sentences(passage):
        values = [match[0] for match in _VALUE.finditer(sentence)]
        if values and not sentence.startswith("#") and len(content_words(sentence) - content_words(values[-1])) >= 5:
            facts.append((sentence, values[-1]))
    return facts


def _question(texts: list[str], without: list[str]) -> str:
    """All words of the sentences in the order of the alphabet, without those of the answer."""
    left_out = {"table", "section", "text", "above", "below", "document", "page"}.union(*map(content_words, without))
    words = sorted(set().union(*map(content_words, texts)) - left_out)
    return f"What is so of {' and '.join(words)}?"
