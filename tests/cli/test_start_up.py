"""What a command over saved runs loads when it starts: nothing that reads answers, asks servers or judges."""

import subprocess
import sys

import pytest

SHOWN_WITHOUT = {
    "evals.client",
    "evals.config",
    "evals.judges.llm_judge",
    "asyncio",
    "httpx",
    "pandas",
    "datasets",
}


def printed(code: str) -> str:
    """What a fresh process prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("command", ["show", "compare"])
def test_a_command_over_saved_runs_loads_nothing_that_asks_or_reads_answers(command: str) -> None:
    """They print what stands in the run."""
    code = f"import evals.cli.commands.{command}, sys; print(*sorted({SHOWN_WITHOUT} & set(sys.modules)))"
    assert printed(code) == ""


def test_a_record_is_made_ready_for_checks_when_the_first_is_read() -> None:
    """Dozens of kinds of records are never read by one command."""
    code = (
        "from evals.schemas import EvalRun, GoldPassage\n"
        "print(EvalRun.__pydantic_complete__, GoldPassage(text='a').text, GoldPassage.__pydantic_complete__)"
    )
    assert printed(code) == "False a True"


def test_the_words_of_languages_are_taken_in_when_the_first_answer_is_read() -> None:
    """Reading the lists and weights takes time that a command without answers need not spend."""
    code = (
        "from evals.text import refusals\n"
        "before = refusals._words.cache_info().currsize\n"
        "print(before, refusals.reading('I do not know.').declines, refusals._words.cache_info().currsize)"
    )
    assert printed(code) == "0 True 1"
