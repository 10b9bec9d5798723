"""Which questions of a comparison belong together."""

from collections.abc import Sequence

from evals.schemas import EvalQuestion


def cluster_of(question: EvalQuestion, key: str = "document") -> str:
    """The document of the question's first gold passage; the question itself where there is none."""
    belongs = question.gold_passages[0].document_id if question.gold_passages and key == "document" else None
    return f"{question.dataset}/{key}/{belongs}" if belongs else f"{question.dataset}/question/{question.id}"


def labels_of(questions: Sequence[EvalQuestion], key: str = "document") -> list[str]:
    """A label a question."""
    return [cluster_of(question, key) for question in questions]
