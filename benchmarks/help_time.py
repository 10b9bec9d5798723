"""Time of `evals --help` against a bare typer program's, in turn in one run; the goal is at most twice.

python benchmarks/help_time.py [--rounds 15]
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

BARE = """
import typer
app = typer.Typer()
@app.command()
def hello(name: str) -> None:
    print(name)
@app.command()
def bye(name: str) -> None:
    print(name)
app()
"""


def seconds(command: list[str]) -> float:
    """Wall time of a whole process."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Measure in turn, and print the median ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE)
        ours, theirs = [sys.executable, "-m", "evals.cli", "--help"], [sys.executable, str(bare), "--help"]
        seconds(ours), seconds(theirs)
        pairs = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    print(f"evals --help       {median(a for a, _ in pairs) * 1000:6.0f} ms")
    print(f"bare typer --help  {median(b for _, b in pairs) * 1000:6.0f} ms")
    print(f"ratio              {median(a / b for a, b in pairs):6.2f}")


if __name__ == "__main__":
    main()
