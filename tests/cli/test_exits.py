"""How the command line ends when its output cannot be written."""

import subprocess
import sys
from pathlib import Path

import pytest

SHOW = [sys.executable, "-m", "evals.cli", "metrics"]


def test_a_reader_that_goes_away_is_no_failure() -> None:
    """`evals … | head -c 1` ends with 0 and without a word."""
    with subprocess.Popen(SHOW, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        err = child.stderr.read()
        assert child.wait(timeout=20) == 0
        assert err == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_behind_stdout_ends_with_4() -> None:
    """The message says that the output could not be written."""
    with open("/dev/full", "w") as full:
        ended = subprocess.run(SHOW, stdout=full, stderr=subprocess.PIPE, text=True)
    assert ended.returncode == 4
    assert "cannot write" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_version_is_printed() -> None:
    """`evals --version` names the distribution."""
    out = subprocess.run([sys.executable, "-m", "evals.cli", "--version"], capture_output=True, text=True, check=True)
    assert out.stdout.startswith("rag-evals ")
