"""Records as tables: for pandas, and for notebooks."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from evals.schemas.results import EvalRecord, MetricSummary


def records_table(records: Iterable["EvalRecord"]) -> "pd.DataFrame":
    """A row a question, indexed by its id: what was asked and answered, a column a metric, `meta.KEY` of its metadata.

    A metric without a value is NaN, as pandas has it; why is in the records.
    """
    import pandas as pd  # noqa: PLC0415 - half a second, and only who wants a table needs it

    rows = [_row(record) for record in records]
    table = pd.DataFrame(rows, columns=list(dict.fromkeys(key for row in rows for key in row)) or ["id"])
    return table.set_index("id")


def _row(record: "EvalRecord") -> dict[str, Any]:
    question, response = record.question, record.response
    error = response.error if response else None
    return {
        "id": question.id,
        "dataset": question.dataset,
        "question": question.question,
        "expected_answer": question.expected_answer,
        "answer": response.answer if response else None,
        "error": "not asked" if response is None else error and f"{error.kind}: {error.message}",
        "latency_ms": response.latency_ms if response else None,
        **{score.name: score.value for score in record.scores},
        **{f"meta.{key}": value for key, value in question.metadata.items()},
    }


def summaries_table(summaries: Iterable["MetricSummary"]) -> "pd.DataFrame":
    """A row a metric, indexed by its name: value, ends of its interval, over how many questions, why it has none."""
    import pandas as pd  # noqa: PLC0415 - as above

    columns = ("metric", "group", "value", "low", "high", "n", "unit", "higher_is_better", "reason")
    rows = [
        (one.name, one.group.value, one.value, *(one.ci or (None, None)), one.sample_size, one.unit, *_last(one))
        for one in summaries
    ]
    return pd.DataFrame(rows, columns=columns).set_index("metric")


def _last(summary: "MetricSummary") -> tuple[bool | None, str | None]:
    return summary.higher_is_better, summary.reason


def html_table(header: Sequence[str], rows: Iterable[Sequence[object]], caption: str) -> str:
    """A plain HTML table, in which nothing but text is left of what was given."""
    head = "".join(f"<th>{escape(title)}</th>" for title in header)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
