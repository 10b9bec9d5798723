"""Judging while asking: every answer that is handed in is taken up."""

import asyncio
from unittest.mock import Mock

from judges.scripted import Scripted

from evals.judges.llm_judge import LLMJudge
from evals.run.judging import Judging
from evals.runtime import run_anywhere
from evals.scoring.settings import ScoreSettings


def test_an_answer_that_comes_as_all_workers_end_is_judged() -> None:
    """They have ended before they are let go of: counted as at work, they would leave it to nobody."""
    journal = Mock(row_of=int, record=Mock(return_value=Mock(response=None)))

    async def judge() -> None:
        judging = Judging(LLMJudge(Scripted(), concurrency=1), [], ScoreSettings(), journal)
        for number in range(4):
            judging.submit(str(number))
        await asyncio.sleep(0)
        judging.submit("4")
        await judging.drain()

    run_anywhere(judge())
    assert [call.args for call in journal.record.call_args_list] == [(number,) for number in range(5)]
