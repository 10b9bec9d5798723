"""Listing runs reads files, and loads nothing that asks or measures."""

import subprocess
import sys
from pathlib import Path

LOADED = """
import sys
from pathlib import Path
from evals.cli.commands.runs import list_runs
list_runs(Path(sys.argv[1]))
print(*sorted(name for name in sys.modules if name.startswith("evals.")), sep="\\n", file=sys.stderr)
"""


def test_runs_imports_neither_metrics_nor_client(tmp_path: Path) -> None:
    """Nor what derives and judges."""
    done = subprocess.run([sys.executable, "-c", LOADED, tmp_path], capture_output=True, text=True, check=True)
    loaded = done.stderr.split()
    parts = ("evals.metrics.", "evals.client", "evals.metrics.sample", "evals.judges", "evals.datasets", "evals.run")
    assert "evals.store.runs" in loaded
    assert [name for name in loaded if name.startswith(parts)] == []
