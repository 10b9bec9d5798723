"""Streams that the caller closed, and folders that cannot be written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parents[2]


def test_a_run_works_with_stderr_closed(golden_server: str, tmp_path: Path) -> None:
    """As `2>&-` does: nothing is printed there, and the run is saved."""
    flags = f"--rag-url {golden_server} --no-judge --datasets golden --samples 2 --runs-dir runs"
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    command = ["sh", "-c", f"{sys.executable} -m evals.cli eval {flags} 2>&-"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stdout
    assert list((tmp_path / "runs").glob("*.json"))


ANYBODY = ["setpriv", "--inh-caps=-dac_override", "--bounding-set=-dac_override"] if os.getuid() == 0 else []
"""Root may write everywhere, unless it gives up the capability."""


@pytest.mark.skipif(bool(ANYBODY) and shutil.which("setpriv") is None, reason="root may write everywhere")
@pytest.mark.parametrize(
    "command",
    [
        "eval --rag-url URL --no-judge --datasets golden --samples 2 --runs-dir shut",
        "init --rag-url URL -o shut/config.yml",
    ],
)
def test_a_read_only_folder_is_called_that(command: str, golden_server: str, tmp_path: Path) -> None:
    """With exit code 2, whatever would have been written."""
    (tmp_path / "shut").mkdir(mode=0o555)
    words = command.replace("URL", golden_server).split()
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    done = subprocess.run(
        [*ANYBODY, sys.executable, "-m", "evals.cli", *words], cwd=tmp_path, env=environment, capture_output=True,
        text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "the folder is read-only" in done.stdout + done.stderr
