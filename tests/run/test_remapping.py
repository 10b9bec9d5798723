"""Reading the stored bodies of a run again."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from whole_runs import put_records

from evals.client.rag_client import MAX_RAW_CHARS
from evals.config import EvalConfig
from evals.errors import StoreError
from evals.run.saved import rescore
from evals.schemas import EvalRun
from evals.store.runs import RunStore

LONG = json.dumps({"text": "a" * 300_000})[:MAX_RAW_CHARS]
CUT = {"raw": LONG, "raw_cut": True}
"""As runs say it that were saved before `raw_cut`."""
WHOLE = {"raw": json.dumps({"text": "another"})}


@pytest.fixture
def remap(build_run: Callable[..., Any], tmp_path: Path) -> Callable[..., tuple[EvalRun, list[str | None]]]:
    """Save a run of these responses and read it again with an answer at `text`; gives the run and the answers."""

    def again(*responses: dict[str, Any]) -> tuple[EvalRun, list[str | None]]:
        run, records = build_run("a1", {f"q{number}": {"mrr": 1.0} for number in range(len(responses))})
        store = RunStore(tmp_path)
        store.prepare()
        changed = [
            record.model_copy(update={"response": record.response.model_copy(update=response)})
            for record, response in zip(records, responses, strict=True)
        ]
        store.save(run)
        put_records(store, run, changed)
        config = EvalConfig.build({"judge": False, "metrics": ["latency_p50"], "runs_dir": tmp_path})
        config = EvalConfig.build(config.model_dump(), {"server": {"map": {"answer": "text"}}})
        result = asyncio.run(rescore(run, config, remap=True))
        return result, [record.response.answer for record in store.records(result) if record.response]

    return again


def test_an_answer_whose_body_was_cut_keeps_its_reading(remap: Callable[..., Any]) -> None:
    """What is no longer whole cannot be read again, and that is no failure of the server."""
    run, answers = remap(CUT, WHOLE)
    assert answers == ["It is q0.", "another"]
    assert run.error_count == 0
    assert "1 answer is as it was read before: its body was cut when stored" in run.notes


def test_a_whole_body_that_ends_like_a_cut_one_is_read(remap: Callable[..., Any]) -> None:
    """Only a text over the bound can have been cut."""
    ending = {"raw": json.dumps({"text": "x"}) + "… [cut: 300,012 characters]"}
    run, answers = remap(ending)
    assert answers == [None]
    assert run.outcomes.transport == {"malformed": 1}


def test_a_run_of_which_no_body_is_whole_has_nothing_to_read(remap: Callable[..., Any]) -> None:
    """As one that holds no bodies at all."""
    with pytest.raises(StoreError, match="no bodies"):
        remap(CUT)


def test_what_is_known_of_the_exchange_stays(remap: Callable[..., Any], tmp_path: Path) -> None:
    """A mapping changes no duration and no number of attempts."""
    run, _ = remap({**WHOLE, "attempts": 3, "time_to_first_token_ms": 5.0})
    (record,) = RunStore(tmp_path).records(run)
    assert record.response is not None
    assert (record.response.latency_ms, record.response.attempts) == (12.5, 3)
    assert record.response.time_to_first_token_ms == 5.0
