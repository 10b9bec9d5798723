"""What the rule-following judge says of claims: which there are, and how two texts compare."""

from typing import Any

from messages_api.shared_words import SHARE, best_sentence, content_words, sentences, share, without_citations


def answer_claims(_properties: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """A claim for each sentence of the answer."""
    return {"claims": [{"claim": claim} for claim in _claims_of(data["answer"])]}


def reference_claims(_properties: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """A claim for each sentence of the expected answer; the first is vital."""
    found = _claims_of(data["expected_answer"])
    return {"claims": [{"claim": claim, "importance": "okay" if n else "vital"} for n, claim in enumerate(found)]}


def compared(_properties: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """Whether the reference says each claim of the answer, and the answer each claim of the reference."""
    said = (_compared(claim, data["expected_answer"], "correct", "", "not_stated") for claim in data["answer_claims"])
    wanted = (_compared(claim, data["answer"], "conveyed", "partly", "missing") for claim in data["reference_claims"])
    return {"answer_claims": list(said), "reference_claims": list(wanted)}


def _claims_of(text: str) -> list[str]:
    return [claim for claim in map(without_citations, sentences(text)) if content_words(claim)]


def _compared(claim: dict[str, Any], text: str, wholly: str, partly: str, hardly: str) -> dict[str, Any]:
    """One item: wholly where 60 % of the words are there; partly, where there is such a label, from half of that."""
    held, verdict = share(claim["text"], text), hardly
    if held >= SHARE:
        verdict = wholly
    elif partly and held >= SHARE / 2:
        verdict = partly
    quote = "" if verdict == hardly else best_sentence(text, [claim["text"]])
    return {"id": claim["id"], "justification": "By shared words.", "quote": quote, "verdict": verdict}
