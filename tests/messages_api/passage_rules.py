"""What the rule-following judge says of passages: which help, and which support what. Quotations are verbatim."""

from typing import Any

from messages_api.shared_words import SHARE, best_sentence, content_words, sentences, share


def claims_in_contexts(_properties: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """For each claim the contexts that hold 60 % of its words."""
    return {"claims": [_supported(claim, data["contexts"]) for claim in data["claims"]]}


def faithfulness(_properties: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """A claim for each sentence of the answer: supported where a context holds 60 % of its words."""
    return {
        "claims": [_grounded(claim, data["contexts"]) for claim in filter(content_words, sentences(data["answer"]))]
    }


def _grounded(claim: str, contexts: list[dict[str, Any]]) -> dict[str, Any]:
    best = max((context["text"] for context in contexts), key=lambda text: share(claim, text), default="")
    verdict = "supported" if share(claim, best) >= SHARE else "not_said"
    quote = best_sentence(best, [claim]) if verdict == "supported" else ""
    return {"claim": claim, "quote": quote, "justification": "By shared words.", "verdict": verdict}


def _supported(claim: dict[str, Any], contexts: list[dict[str, Any]]) -> dict[str, Any]:
    passages = [
        {"id": context["id"], "quote": best_sentence(context["text"], [claim["text"]])}
        for context in contexts
        if share(claim["text"], context["text"]) >= SHARE
    ]
    verdict = "supported" if passages else "not_said"
    return {"id": claim["id"], "justification": "By shared words.", "passages": passages, "verdict": verdict}


def context_relevance(_properties: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """A context helps that holds 60 % of the words of the question or of the expected answer."""
    wanted = [data["question"], data["expected_answer"] or ""]
    return {"contexts": [_relevant(context, wanted) for context in data["contexts"]]}


def context_sufficiency(_properties: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """The contexts suffice if one of them helps."""
    items = [_relevant(context, [data["question"]]) for context in data["contexts"]]
    quote = next((item["quote"] for item in items if item["verdict"] == "relevant"), "")
    verdict = "sufficient" if quote else "insufficient"
    return {"quote": quote, "justification": "By shared words.", "verdict": verdict}


def _relevant(context: dict[str, Any], wanted: list[str]) -> dict[str, Any]:
    helps = any(share(text, context["text"]) >= SHARE for text in wanted)
    return {
        "id": context["id"],
        "justification": "By shared words.",
        "quote": best_sentence(context["text"], wanted) if helps else "",
        "verdict": "relevant" if helps else "irrelevant",
    }


def citation_support(_properties: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """A statement is supported where the passages that it cites hold 60 % of its words together."""
    texts = {passage["id"]: passage["text"] for passage in data["passages"]}
    return {"statements": [_cited(statement, texts) for statement in data["statements"]]}


def _cited(statement: dict[str, Any], texts: dict[int, str]) -> dict[str, Any]:
    text, cited = statement["text"], statement["citations"]
    supported = share(text, *(texts[n] for n in cited)) >= SHARE
    quotes = [best_sentence(texts[n], [text]) for n in cited]
    return {
        "id": statement["id"],
        "justification": "By shared words.",
        "quote": max(quotes, key=lambda quote: share(text, quote)) if supported else "",
        "verdict": "supported" if supported else "unsupported",
        "citations": [
            {
                "id": n,
                "alone": share(text, texts[n]) >= SHARE,
                "without": share(text, *(texts[other] for other in cited if other != n)) >= SHARE,
            }
            for n in cited
        ],
    }
