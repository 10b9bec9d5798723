"""Sentences that say what is not known beyond an answer, written before the rules that read them."""

CAVEATS = (
    "The documents do not say whether students pay it.",
    "The documents do not mention anything else about this.",
    "No further details are given.",
    "However, I could not find any additional information on the subject.",
    "The context does not specify the exact date.",
    "It is unclear from the passages whether this still applies.",
    "Please note that the sources do not explain how this was determined.",
    "I don't know whether this has changed since.",
    "There is no information about exceptions.",
    "The text does not go into more detail.",
    "Beyond that, nothing is known from the provided documents.",
    "I was unable to verify this against a second source.",
    "Unfortunately, the reason for this is not stated in the excerpts.",
    "That said, the passage doesn't provide a complete list.",
)

FORMS = (
    "{answer}",
    "According to the documents, {answer}",
    "Thank you for your question. {answer}",
)
"""Ways to give an answer before the caveat."""


def with_caveat(form: str, answer: str, caveat: str) -> str:
    """The answer in a form of words, closed by a full stop, and the caveat."""
    said = form.format(answer=answer.strip())
    return f"{said}{'' if said.endswith(('.', '!', '?')) else '.'} {caveat}"
