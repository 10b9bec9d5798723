"""Abstention as a two-by-two table, for the terminal and for Markdown."""

from evals.scoring.abstention_table import AbstentionTable, Rate

_RATES = {
    "false_abstention": "false abstention (over-refusal)",
    "missed_abstention": "missed abstention",
    "recall": "abstention recall",
    "precision": "abstention precision",
    "accuracy": "unanswerable accuracy",
    "always_answering": "  beside: always answering",
    "always_abstaining": "  beside: always abstaining",
}


def abstention_cells(table: AbstentionTable) -> list[tuple[str, str, str]]:
    """The rows of the table: a title, what was answered, what was declined; first the titles of the columns."""
    return [
        ("", "answered", "abstained"),
        ("answerable", str(table.answerable_answered), str(table.answerable_abstained)),
        ("unanswerable", str(table.unanswerable_answered), str(table.unanswerable_abstained)),
    ]


def abstention_rates(table: AbstentionTable) -> list[tuple[str, str]]:
    """The rates with their names, with interval and what they are of."""
    return [(title, _said(getattr(table, name))) for name, title in _RATES.items()]


def _said(rate: Rate) -> str:
    if rate.value is None or rate.interval is None:
        return f"– (of {rate.of})"
    low, high = rate.interval
    return f"{rate.value:.3f} [{low:.3f} … {high:.3f}] ({rate.count} of {rate.of})"
