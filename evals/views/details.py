"""What a metric says of a question beside its value, in a line."""

from evals.schemas import MetricResult


def detail_line(score: MetricResult) -> str:
    """The details that can be read on a line, with their names: `label B, found ✓`; empty where there are none."""
    facts = score.details.get("facts")  # of a check, by the names that the dataset gave them
    pairs = [*score.details.items(), *(facts.items() if isinstance(facts, dict) else ())]
    return ", ".join(f"{key} {_spelled(value)}" for key, value in pairs if _is_plain(value))


def _is_plain(detail: object) -> bool:
    """Whether a detail can be read on a line: a word, a number, yes or no, or a list of words."""
    if isinstance(detail, list):
        return bool(detail) and all(isinstance(item, str) for item in detail)
    return isinstance(detail, str | int | float)


def _spelled(detail: object) -> str:
    if isinstance(detail, bool):
        return "✓" if detail else "✗"
    if isinstance(detail, list):
        return f"[{'; '.join(detail)}]"
    return f"{detail:.3g}" if isinstance(detail, float) else str(detail)
