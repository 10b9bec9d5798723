"""Listing runs reads files, and loads nothing that asks or judges."""

import subprocess
import sys
from pathlib import Path

LOADED = """
import sys
from pathlib import Path
from evals.cli.commands.runs import list_runs
from evals.cli.flags import ListFlags
list_runs(ListFlags(runs_dir=Path(sys.argv[1])))
print(*sorted(name for name in sys.modules if name.startswith("evals.")), sep="\\n", file=sys.stderr)
"""


def test_runs_imports_nothing_that_asks_or_judges(tmp_path: Path) -> None:
    """Nor what reads questions."""
    done = subprocess.run([sys.executable, "-c", LOADED, tmp_path], capture_output=True, text=True, check=True)
    loaded = done.stderr.split()
    parts = ("evals.client", "evals.config", "evals.judges.llm_judge", "evals.datasets", "evals.run.")
    assert "evals.store.runs" in loaded
    assert [name for name in loaded if name.startswith(parts)] == []
