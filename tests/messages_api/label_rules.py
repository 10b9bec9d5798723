"""What the rule-following judge says of a whole answer: a label, one for each criterion, or questions to it."""

import re
from typing import Any

from messages_api.shared_words import best_sentence, sentences, share, without_citations

_UNDECIDED = ("cannot_tell", "not_applicable", "evasive", "declines")
_DENIAL = re.compile(r"\b(?:not|no|cannot|unable)\b|n['’]t\b", re.IGNORECASE)


def on_question(properties: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """A label by how many of the question's words stand in the answer; whether it declines by its denials."""
    if "declines" in properties["verdict"]["enum"]:
        return _labelled(data["answer"], "declines" if _declines(data["answer"]) else "answers")
    return _judged(properties["verdict"]["enum"], data["question"], data["answer"])


def beside_reference(properties: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """A label by how many of the expected answer's words stand in the answer, where it does not decline."""
    if "declines" in properties["verdict"]["enum"] and _declines(data["answer"]):
        return _labelled(data["answer"], "declines")
    return _judged(properties["verdict"]["enum"], data["expected_answer"] or "", data["answer"])


def criteria(properties: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """The same label for every criterion that the schema names."""
    item = properties["criteria"]["items"]["properties"]
    said = _judged(item["verdict"]["enum"], data["expected_answer"] or "", data["answer"])
    return {"criteria": [{"id": name, **said} for name in item["id"]["enum"]]}


def rubric(properties: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """Of each criterion of the data, whether most of its words stand in the answer."""
    labels = properties["criteria"]["items"]["properties"]["verdict"]["enum"]
    return {"criteria": [{"id": one["id"], **_judged(labels, one["text"], data["answer"])} for one in data["criteria"]]}


def questions(_properties: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """Three questions around the first sentence of the answer."""
    first = without_citations(next(iter(sentences(data["answer"])), ""))
    asked = [f"{asked} {first}?" for asked in ("What about:", "Is it so that", "Who says:")]
    verdict = "noncommittal" if _declines(data["answer"]) else "committal"
    return {"questions": asked, "justification": "By its denials.", "verdict": verdict}


def ratings(_properties: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """The share of the expected answer's words in the answer, in percent, by each of the three criteria."""
    score = round(100 * share(data["expected_answer"] or "", data["answer"]))
    names = ("correctness", "completeness", "consistency")
    return {name: {"justification": "By shared words.", "score": score} for name in names}


def _declines(answer: str) -> bool:
    """An answer declines where every sentence of it denies something."""
    said = sentences(answer)
    return bool(said) and all(map(_DENIAL.search, said))


def _labelled(answer: str, verdict: str) -> dict[str, Any]:
    return {"quote": answer, "justification": "By its denials.", "verdict": verdict}


def _judged(labels: list[str], wanted: str, answer: str) -> dict[str, Any]:
    """The label as far down the list, best first, as words are missing; what decides is quoted verbatim."""
    decisive = [label for label in labels if label not in _UNDECIDED]
    place = min(int((1 - share(wanted, answer)) * len(decisive)), len(decisive) - 1)
    quote = best_sentence(answer, [wanted])
    return {"justification": "By shared words.", "quote": quote, "verdict": decisive[place]}
