"""Which questions belong together, so that their values are not independent of each other."""

from collections.abc import Iterable
from typing import Any

from evals.errors import ConfigError
from evals.schemas import EvalQuestion
from evals.schemas.dataset import CONVERSATION
from evals.scoring.config import BY_DOCUMENT, BY_QUESTION
from evals.stats.clusters import asked_again

REPEAT_OF = "repeat_of"
"""The key of the metadata that holds the id of the question that is asked again: they are one cluster, or of one."""


def cluster_of(question: EvalQuestion, key: str) -> str:
    """The label of the cluster that a question belongs to; one of its own where it belongs to none.

    Args:
        question: With its gold and metadata.
        key: "document", the document of its first gold passage; "question", itself; else a key of its metadata. Turns
            of one conversation are a cluster whatever it is. The label of a question that was asked several times
            names it beside.
    """
    belongs = None
    if question.turns and (conversation := spelled(question.metadata.get(CONVERSATION))):
        key, belongs = CONVERSATION, conversation  # its turns share what was said before
    elif key == BY_DOCUMENT:
        golds = question.gold_passages
        belongs = golds[0].document_id if golds else None
    elif key != BY_QUESTION:
        belongs = spelled(question.metadata.get(key))
    asked = question.metadata.get(REPEAT_OF)
    own = f"{question.dataset}/{BY_QUESTION}/{question.id if asked is None else asked}"
    cluster = f"{question.dataset}/{key}/{belongs}" if belongs else own
    return cluster if asked is None else asked_again(cluster, own)


def spelled(value: Any) -> str | None:
    """What stands behind a key of metadata, as text; None where nothing does."""
    if value in (None, "", []):
        return None
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def check_cluster(key: str, questions: Iterable[EvalQuestion]) -> None:
    """Check that the configured key of clusters means something for these questions.

    Raises:
        ConfigError: It is a key of metadata, and no question has a value of it.
    """
    if key in (BY_DOCUMENT, BY_QUESTION):
        return
    told: set[str] = set()
    present = False
    for question in questions:
        with_values = {name for name, value in question.metadata.items() if spelled(value) is not None}
        if key in with_values:
            return
        told |= with_values
        present = present or key in question.metadata
    what = "the metadata of every question has it empty" if present else "no question has that key in its metadata"
    there = f", or one of the keys that have values: {', '.join(sorted(told))}" if told else ""
    raise ConfigError(f"cluster is {key!r}, and {what}", f"write document, question{there}")
