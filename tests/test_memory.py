"""Memory does not grow with the questions: measured in fresh processes, as the benchmark does."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).resolve().parent.parent / "benchmarks" / "memory.py"
MOST_MB = 60
KB_A_QUESTION = 0.4


def beyond_imports(questions: int, folder: Path) -> float:
    """Megabytes that `score` takes beyond its imports, of questions with chunks of their own."""
    command = [sys.executable, str(BENCHMARK), "--only", "score", "--questions", str(questions), "--keep", str(folder)]
    said = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, timeout=1500).stdout
    found = re.search(r"([\d.]+) MB beyond .* exit 0", said)
    assert found is not None, said
    return float(found[1])


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_five_times_the_questions_take_hardly_more_memory(tmp_path: Path) -> None:
    """Caches fill up to their bounds; a record held, of some twenty kilobytes, would show threefold."""
    few, many = (beyond_imports(count, tmp_path / str(count)) for count in (500, 2500))
    assert many < MOST_MB + KB_A_QUESTION * 2500 / 1024
    assert many - few < 25
