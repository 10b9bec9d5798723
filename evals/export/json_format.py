"""`json`: everything."""

from collections.abc import Sequence

from evals.schemas import EvalRecord, EvalRun
from evals.scoring.abstention_table import abstention_table
from evals.scoring.diagnosis import count_links, diagnose, facts_of
from evals.scoring.settings import cases_of, confidence


def to_json(run: EvalRun, records: Sequence[EvalRecord]) -> str:
    """The run with its keys as in its file, as one JSON object.

    Beside them stand `diagnosis` (where questions went wrong first), `abstention` (who declined what; null where nobody
    knows what can be answered) and all its `records`.
    """
    cases, certainty = cases_of(run, records), confidence(run)
    findings = diagnose(records, cases, facts_of(run, records))
    diagnosis = count_links(findings, records, cases, certainty).model_dump_json()
    table = abstention_table(records, cases, certainty)
    declined = table.model_dump_json() if table else "null"
    head = run.model_dump_json()[:-1]
    body = ",\n".join(record.model_dump_json() for record in records)
    return f'{head},\n"diagnosis":{diagnosis},\n"abstention":{declined},\n"records":[{body}]}}\n'
