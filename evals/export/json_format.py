"""`json`: everything."""

from collections.abc import Sequence

from evals.schemas import EvalRecord, EvalRun


def to_json(run: EvalRun, records: Sequence[EvalRecord]) -> str:
    """The run with its keys as in its file, and all its `records`, as one JSON object."""
    head = run.model_dump_json()[:-1]
    body = ",\n".join(record.model_dump_json() for record in records)
    return f'{head},\n"records":[{body}]}}\n'
