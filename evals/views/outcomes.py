"""How the questions of a run ended, in words."""

from evals.schemas import Outcomes
from evals.text.counts import agree, counted


def outcome_parts(outcomes: Outcomes) -> list[str]:
    """What there is to say, each in a few words: "42 answered (3 abstained)", "1 timeout", "median 5 chunks"."""
    parts = [f"{outcomes.answered} answered ({_abstained(outcomes)})"]
    parts += [f"{count} {kind}" for kind, count in outcomes.transport.items()]
    parts += [f"{outcomes.not_asked} not asked"] if outcomes.not_asked else []
    parts += [f"{outcomes.retried} retried"] if outcomes.retried else []
    if outcomes.median_chunks is not None:
        parts.append(f"median {outcomes.median_chunks:g} {agree(outcomes.median_chunks, 'chunk', 'chunks')}")
    if outcomes.citations is not None:
        parts.append(f"{counted(outcomes.citations, 'citation')} ({outcomes.invalid_citations} invalid)")
    return parts


def _abstained(outcomes: Outcomes) -> str:
    """How many answers decline, and of how many that is disputed or open."""
    parts = [f"{outcomes.abstained} abstained"]
    parts += [f"{outcomes.abstention_disputed} disputed"] if outcomes.abstention_disputed else []
    parts += [f"{outcomes.abstention_open} open"] if outcomes.abstention_open else []
    return ", ".join(parts)
