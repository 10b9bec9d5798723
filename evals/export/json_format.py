"""`json`: everything."""

import json
from collections.abc import Sequence
from typing import Any

from evals.schemas import EvalRecord, EvalRun
from evals.scoring.abstention_table import abstention_table
from evals.scoring.diagnosis import count_links, diagnose, facts_of, recall_by_stage
from evals.scoring.risk_coverage import risk_coverage
from evals.scoring.settings import cases_of, confidence


def to_json(run: EvalRun, records: Sequence[EvalRecord]) -> str:
    """The run with its keys as in its file, as one JSON object.

    Beside them stand `diagnosis` (where questions went wrong first), `abstention` (who declined what; null where nobody
    knows what can be answered), `risk_coverage` (null where the server gives no confidence), `stages` (the recall at
    each stage of the retrieval; empty where the server lists none) and all its `records`.
    """
    head = run.model_dump_json()[:-1]
    derived = "".join(f'"{name}":{json.dumps(value)},\n' for name, value in _derived(run, records).items())
    body = ",\n".join(record.model_dump_json() for record in records)
    return f'{head},\n{derived}"records":[{body}]}}\n'


def _derived(run: EvalRun, records: Sequence[EvalRecord]) -> dict[str, Any]:
    cases, certainty = cases_of(run, records), confidence(run)
    findings = diagnose(records, cases, facts_of(run, records))
    table, curve = abstention_table(records, cases, certainty), risk_coverage(records, cases)
    return {
        "diagnosis": count_links(findings, records, cases, certainty).model_dump(mode="json"),
        "abstention": table and table.model_dump(mode="json"),
        "risk_coverage": curve and curve.model_dump(mode="json"),
        "stages": [stage.model_dump(mode="json") for stage in recall_by_stage(records, cases)],
    }
