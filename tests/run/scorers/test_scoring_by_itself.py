"""Scoring when all is there: by whom, and until when."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evals.config import EvalConfig
from evals.metrics.registry import select
from evals.metrics.squad import SquadF1
from evals.run.overlapped import BatchScorer, RecordLine
from evals.run.saved import score_answers
from evals.run.setup import Toolkit


class OfAPlugin(SquadF1):
    """One that no metric of ours is."""

    name = "of_a_plugin"


def test_a_metric_of_a_plugin_is_measured_when_all_is_there() -> None:
    """In the thread that began the run, and once an answer: what it does may depend on either."""
    assert not Toolkit(select(["all"], []), None, None).waits_for_all
    own = Toolkit([*select(["core"], []), OfAPlugin()], None, None)
    assert (own.waits_for_all, own.is_portable) == (True, False)


def test_a_run_that_is_interrupted_while_it_is_scored_ends_at_the_next_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not saved, as what is there of it is not all."""
    questions, answers, runs = (tmp_path / name for name in ("q.jsonl", "a.jsonl", "runs"))
    questions.write_text("\n".join(json.dumps({"id": f"q{n}", "question": f"{n}?"}) for n in range(9)))
    answers.write_text("\n".join(json.dumps({"question_id": f"q{n}", "answer": f"{n}"}) for n in range(9)))
    config = EvalConfig.build({"dataset_file": questions, "runs_dir": runs, "judge": False})
    lines, seen = BatchScorer.lines, []

    def interrupted(*given: Any) -> Iterator[RecordLine]:
        for line in lines(*given):
            seen.append(line)
            if len(seen) == 3:
                task = asyncio.current_task()
                assert task is not None
                task.cancel()  # as Ctrl-C does
            yield line

    monkeypatch.setattr(BatchScorer, "lines", interrupted)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(score_answers(answers, config))
    assert len(seen) == 3
    assert not list(runs.iterdir())
    monkeypatch.setattr(BatchScorer, "lines", lines)
    assert asyncio.run(score_answers(answers, config)).status == "complete"
