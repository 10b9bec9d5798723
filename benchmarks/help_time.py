"""CPU time of starting `evals` against a bare typer program's --help, in turn in one run.

python benchmarks/help_time.py [--rounds 15]

The goals: --help takes at most 1.2 times as long as the bare program, and a run is shown in 0.6 s of CPU. Each is a
process of its own, started as an installed program is; the ratio is the median of those of single rounds.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent))
from saved_runs import make_run

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
OURS = """
from evals.cli import main
main()
"""


def cpu_s(command: list[str]) -> float:
    """CPU time of a whole process, its own and the system's."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def commands(folder: Path, questions: int) -> dict[str, list[str]]:
    """What is started, by its title; the bare program comes first."""
    bare, ours, runs = folder / "bare.py", folder / "ours.py", folder / "runs"
    bare.write_text(BARE)
    ours.write_text(OURS)
    make_run(runs, "a", questions, 0.1)
    saved = ["--runs-dir", str(runs)]
    started = {
        "--help": ["--help"],
        "runs": ["runs", *saved],
        "show": ["show", "a", *saved],
        "show --question": ["show", "a", "--question", "q7", *saved],
    }
    return {
        "bare typer --help": [sys.executable, str(bare), "--help"],
        **{f"our {title}": [sys.executable, str(ours), *arguments] for title, arguments in started.items()},
    }


def main() -> None:
    """Measure in turn, and print the medians and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--questions", type=int, default=300, help="of the run that is shown")
    given = parser.parse_args()
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(tempfile.gettempdir()) / "start-up-bytecode"))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program is compiled
    with tempfile.TemporaryDirectory() as folder:
        started = commands(Path(folder), given.questions)
        for command in started.values():
            cpu_s(command)
        rounds = [[cpu_s(command) for command in started.values()] for _ in range(given.rounds)]
    for place, title in enumerate(started):
        times, ratios = [one[place] for one in rounds], [one[place] / one[0] for one in rounds]
        print(f"{title:<24}{median(times) * 1000:6.0f} ms of CPU{median(ratios):8.2f}")


if __name__ == "__main__":
    main()
