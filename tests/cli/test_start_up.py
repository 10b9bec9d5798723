"""What a command over saved runs loads when it starts: nothing that reads answers, asks servers or judges."""

import subprocess
import sys

SHOWN_WITHOUT = {
    "evals.text.refusals",
    "evals.client",
    "evals.config",
    "evals.judges.llm_judge",
    "asyncio",
    "httpx",
    "pandas",
    "datasets",
}


def test_commands_over_saved_runs_load_nothing_that_asks_or_reads_answers() -> None:
    """They print what stands in the run."""
    code = f"import evals.cli.commands.runs, sys; print(*sorted({SHOWN_WITHOUT} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
