"""`json`: everything."""

import json
from collections.abc import Iterator
from typing import Any

from evals.scoring.measured import Measured


def to_json(measured: Measured) -> Iterator[str]:
    """The run with its keys as in its file, as one JSON object.

    Beside them stand `diagnosis` (where questions went wrong first), `abstention` (who declined what; null where nobody
    knows what can be answered), `risk_coverage` (null where the server gives no confidence), `stages` (the recall at
    each stage of the retrieval; empty where the server lists none) and all its `records`.
    """
    yield f"{measured.run.model_dump_json()[:-1]},\n"
    for name, value in _derived(measured).items():
        yield f'"{name}":{json.dumps(value)},\n'
    yield '"records":['
    for number, record in enumerate(measured.records()):
        yield ",\n" * (number > 0) + record.model_dump_json()
    yield "]}\n"


def _derived(measured: Measured) -> dict[str, Any]:
    digest, table = measured.digest, measured.abstention
    return {
        "diagnosis": digest.diagnosis.model_dump(mode="json"),
        "abstention": table and table.model_dump(mode="json"),
        "risk_coverage": digest.risk and digest.risk.model_dump(mode="json"),
        "stages": [stage.model_dump(mode="json") for stage in digest.stages],
    }
