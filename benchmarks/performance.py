"""What an evaluation takes beside bare loops and other programs, all in one run; writes docs/performance.md.

    python benchmarks/performance.py [--write] [--small] [--only plan,asking,cpu,memory,saved,start]
                                     [--pydantic-evals PYTHON] [--promptfoo COMMAND]

Contenders take turns, each a process that is warm, and are compared by the ratio to the bare aiohttp loop of the same
turn; a figure is the median over the turns. The other parts are the benchmarks beside this file, as they print. Whole
it is meant to take some 25 minutes on two cores that do nothing else; --small shows that everything works, and writes
nothing.

pydantic-evals and promptfoo are extras of this benchmark alone. Each is measured where it is installed:

    python -m venv peers && peers/bin/pip install pydantic-evals httpx      --pydantic-evals peers/bin/python
    npm install promptfoo                                                   --promptfoo node_modules/.bin/promptfoo
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "performance.md"
CONCURRENCIES, LATENCIES_MS = (1, 16, 64), (0, 20, 200)
FLOOR, HEADLINE = "aiohttp", "ours"
CONTENDERS = """\
A mock server on this machine answers after a fixed latency. Every question gets another body of about 5 KB, with the
sizes of RAGBench: an answer of 5 to 150 words and five chunks of 600 to 1,200 characters. A tenth of the answers are
refusals.

| contender | what it does |
|---|---|
| `aiohttp`, `httpx` | a bare loop that only sends the requests |
| evals | a whole run: load the questions, save each answer, compute all core metrics without a judge, save |
| pydantic-evals | one check per answer; nothing is saved |
| promptfoo | one check per answer. Its start-up time is left out, and it is measured once, with 50 to 200 questions |
"""
PARTS = ("plan", "asking", "cpu", "memory", "saved", "start")


PLAN_S, PLAN_IN_FLIGHT = 1.0, 16
"""Of the run that the page begins with: seconds that its server takes, and questions in flight."""


@dataclass(frozen=True)
class Size:
    """How much is measured.

    Attributes:
        turns: Of the contenders.
        cell_s: Seconds that the floor should take in a cell; most contenders take longer.
        headline: Questions of the cells with the most in flight; None for as many as the others.
        slow_turns: Of what is started anew for each measurement.
        memory: Questions of a run, each size in a process of its own.
        saved: The same, of saved runs.
        plan: Questions of the run that the page begins with.
        questions: Of the run whose CPU is taken apart.
        rounds: Of the other benchmarks.
    """

    turns: int = 5
    cell_s: float = 1.5
    headline: int | None = 5000
    slow_turns: int = 1
    memory: Sequence[int] = (1000, 5000, 20_000)
    saved: Sequence[int] = (1000, 10_000)
    questions: int = 5000
    rounds: int = 5
    plan: int = 1000


SMALL = Size(1, 0.2, None, 1, (200,), (200,), 300, 1, 32)


@dataclass
class Cell:
    """What the contenders took at one latency and concurrency, a figure a turn."""

    count: int
    rates: dict[str, list[float]] = field(default_factory=dict)
    cpu_ms: dict[str, list[float]] = field(default_factory=dict)

    def rate(self, name: str) -> float:
        """Questions a second."""
        return median(self.rates[name])

    def ratio(self, name: str) -> float:
        """To the floor of the same turn; of one that took fewer turns, to the floor's median."""
        own, floor = self.rates[name], self.rates[FLOOR]
        if len(own) != len(floor):
            return median(own) / median(floor)
        return median(one / other for one, other in zip(own, floor, strict=True))


class Contender:
    """A process that is told what to ask."""

    def __init__(self, command: Sequence[str], *, turns: int, least: int = 1, most: int = 10**9) -> None:
        self.turns = turns
        self.least = least
        self.most = most
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self._child.stdout is not None
        said = self._child.stdout.readline().strip()
        assert said, "a contender ended"
        return said

    def measure(self, url: str, count: int, concurrency: int) -> dict[str, float]:
        """Seconds and CPU seconds that so many questions take."""
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps({"url": url, "count": count, "concurrency": concurrency}) + "\n")
        self._child.stdin.flush()
        took: dict[str, float] = json.loads(self._line())
        return took

    def end(self) -> None:
        """End the process."""
        self._child.kill()
        self._child.communicate()


@contextmanager
def mock_server(delay_ms: int) -> Iterator[str]:
    """A server in another process that answers so much later; its URL."""
    command = [sys.executable, str(HERE / "mock_server.py"), "--delay", str(delay_ms / 1000)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
    finally:
        server.kill()
        server.communicate()


def contenders(given: argparse.Namespace, size: Size, stack: ExitStack) -> dict[str, Contender]:
    """Who takes part, by name; the floor is the first."""
    folder = HERE / "contenders"
    commands: dict[str, list[str]] = {
        FLOOR: [sys.executable, str(folder / "aiohttp_loop.py")],
        "httpx": [sys.executable, str(folder / "httpx_loop.py")],
        HEADLINE: [sys.executable, str(folder / "ours.py")],
    }
    if given.pydantic_evals or find_spec("pydantic_evals"):
        commands["pydantic-evals"] = [given.pydantic_evals or sys.executable, str(folder / "pydantic_evals_run.py")]
    made = {name: Contender(command, turns=size.turns) for name, command in commands.items()}
    if given.promptfoo:
        command = [sys.executable, str(folder / "promptfoo_run.py"), str(Path(given.promptfoo).absolute())]
        made["promptfoo"] = Contender(command, turns=size.slow_turns, least=50, most=200)
    for one in made.values():
        stack.callback(one.end)
    return made


def count_of(latency_ms: int, concurrency: int, size: Size) -> int:
    """Questions of a cell: what the floor asks in so many seconds."""
    is_long = (concurrency == max(CONCURRENCIES) and latency_ms in {0, max(LATENCIES_MS)}) or (
        latency_ms,
        concurrency,
    ) == (20, 16)
    if size.headline is not None and is_long:
        return size.headline
    rate = min(concurrency / (latency_ms / 1000 + 0.0005), 3000)
    return max(2 * concurrency, round(rate * size.cell_s))


def ask_all(given: argparse.Namespace, size: Size) -> dict[tuple[int, int], Cell]:
    """Measure all cells, by latency and concurrency."""
    cells = {}
    with ExitStack() as stack:
        taking_part = contenders(given, size, stack)
        urls = {latency: stack.enter_context(mock_server(latency)) for latency in LATENCIES_MS}
        for one in taking_part.values():
            one.measure(urls[0], 50, 4)  # imports and caches are warm after this
        for latency in LATENCIES_MS:
            for concurrency in CONCURRENCIES:
                cell = cells[latency, concurrency] = Cell(count_of(latency, concurrency, size))
                for turn in range(size.turns):
                    take_turns(cell, taking_part, turn, urls[latency], concurrency)
                shown = ", ".join(f"{name} {cell.rate(name):.0f}/s" for name in cell.rates)
                print(f"{latency} ms, {concurrency} in flight: {shown}", file=sys.stderr, flush=True)
    return cells


def take_turns(cell: Cell, taking_part: dict[str, Contender], turn: int, url: str, concurrency: int) -> None:
    """Measure everybody once, another one first each time."""
    names = list(taking_part)
    for name in [*names[turn % len(names) :], *names[: turn % len(names)]]:
        one = taking_part[name]
        if turn >= one.turns:
            continue  # it is started anew each time, which takes long
        count = max(one.least, min(cell.count, one.most))
        took = one.measure(url, count, concurrency)
        if took["seconds"] <= 0 or took["cpu_s"] < 0:
            continue  # of a command whose start is taken off, and took longer than it did before
        cell.rates.setdefault(name, []).append(count / took["seconds"])
        cell.cpu_ms.setdefault(name, []).append(1000 * took["cpu_s"] / count)


def asking_section(cells: dict[tuple[int, int], Cell]) -> Iterator[str]:
    """The tables of rates and of CPU."""
    names = list({name for cell in cells.values() for name in cell.rates})
    names.sort(key=lambda name: (name != FLOOR, name != HEADLINE, name))
    titles = ["evals" if name == HEADLINE else name for name in names]
    yield "Questions per second. In brackets: the ratio to the bare aiohttp loop of the same turn.\n"
    yield f"| latency, in flight | questions | {' | '.join(titles)} |"
    yield f"|---|---|{'---|' * len(names)}"
    for (latency, concurrency), cell in cells.items():
        figures = [f"{cell.rate(name):,.0f} ({cell.ratio(name):.2f})" if name in cell.rates else "–" for name in names]
        yield f"| {latency} ms, {concurrency} | {cell.count:,} | {' | '.join(figures)} |"
    most = max(CONCURRENCIES)
    yield f"\nCPU time of the asking process per question in ms, {most} in flight:\n"
    yield f"| latency | {' | '.join(titles)} |"
    yield f"|---|{'---|' * len(names)}"
    for latency in LATENCIES_MS:
        cpu_ms = cells[latency, most].cpu_ms
        figures = [f"{median(cpu_ms[name]):.2f}" if name in cpu_ms else "–" for name in names]
        yield f"| {latency} ms | {' | '.join(figures)} |"


def plan_section(size: Size) -> Iterator[str]:
    """What a user asks first: how long a run takes, how much memory, and how much money."""
    count, short = size.plan, size.plan / PLAN_IN_FLIGHT * PLAN_S
    with mock_server(round(PLAN_S * 1000)) as url, ExitStack() as stack:
        ours = Contender([sys.executable, str(HERE / "contenders" / "ours.py")], turns=1)
        stack.callback(ours.end)
        took = ours.measure(url, count, PLAN_IN_FLIGHT)
    megabytes = re.search(r"([\d.]+) MB beyond (\d+) MB", printed("memory.py", "--questions", count, "--only", "eval"))
    assert megabytes is not None
    low, high = (count / 100 * dollars for dollars in estimated_usd())
    yield f"{count:,} questions, a server that answers in {PLAN_S:g} s, {PLAN_IN_FLIGHT} requests in flight:\n"
    yield "| | |"
    yield "|---|---|"
    yield f"| time | {took['seconds'] / 60:.1f} minutes, of which {short / 60:.1f} are waiting for the server |"
    yield f"| CPU | {took['cpu_s']:.1f} s |"
    whole = float(megabytes[1]) + int(megabytes[2])
    yield f"| memory | {whole:.0f} MB, of which {megabytes[2]} are imported libraries |"
    yield "| money, without a judge | $0, apart from what the server costs |"
    yield (
        f"| money, with the default judge (suite `core`) | ${low:.0f} to ${high:.0f}, estimated for the built-in "
        "questions; half with `--judge-batch`. `evals eval --dry-run` estimates it for yours |\n"
    )


def estimated_usd() -> tuple[float, float]:
    """What judging the 100 built-in questions costs, by the estimate before a first run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "evals.cli", "eval", "--embedded", "--dry-run", "--json", "--runs-dir", folder]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, env={**os.environ, "ANTHROPIC_API_KEY": "none"}
        )
    estimate = json.loads(done.stdout)["estimate"]
    return estimate["cost_low_usd"], estimate["cost_high_usd"]


def printed(script: str, *arguments: object) -> str:
    """What a benchmark beside this file prints."""
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    print(" ".join(["python", f"benchmarks/{script}", *map(str, arguments)]), file=sys.stderr, flush=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{script} failed:\n{done.stderr[-3000:]}")
    return done.stdout.rstrip()


def block(*outputs: str) -> str:
    """Output as it was printed."""
    return "```\n" + "\n".join(outputs) + "\n```"


def machine() -> str:
    """What was measured on, in one line; no name of it."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("rag-evals", "aiohttp", "httpx", "pydantic"))
    return f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, {libraries}"


def load() -> str:
    """How busy the machine is with anything: a figure above its cores says that what follows is worth little."""
    return f"{os.getloadavg()[0]:.1f}"


def page(given: argparse.Namespace, size: Size) -> Iterator[str]:
    """The page, part by part as it is measured."""
    before, began = load(), time.monotonic()
    yield "# Performance\n"
    yield "Written by `python benchmarks/performance.py --write`, which measures all of this in one run.\n"
    yield f"{machine()}, {datetime.now(UTC):%Y-%m-%d}.\n"
    yield f"Times depend on the machine, so compare ratios: all contenders took turns ({size.turns} each).\n"
    if size is SMALL:
        yield "**Small**: too little was measured for these figures to say anything.\n"
    if "plan" in given.only:
        yield from plan_section(size)
    if "asking" in given.only:
        yield "## Questions per second\n"
        yield CONTENDERS
        yield from asking_section(ask_all(given, size))
        yield ""
    if "cpu" in given.only:
        yield "## CPU time per question, by component\n"
        told = ("--questions", size.questions, "--concurrency", 64, "--rounds", size.rounds)
        yield block(printed("cpu_per_question.py", *told)) + "\n"
    if "memory" in given.only:
        yield "## Memory\n"
        yield "Peak memory of a new process, without its imports. Each question retrieves five chunks of its own.\n"
        yield block(*(printed("memory.py", "--questions", count, "--only", "eval") for count in size.memory)) + "\n"
    if "saved" in given.only:
        yield "## Commands over saved runs\n"
        yield block(printed("saved_runs.py", "--questions", ",".join(map(str, size.saved)))) + "\n"
    if "start" in given.only:
        yield "## Start\n"
        yield "CPU time of whole commands, and the ratio to a minimal Typer program, the median over pairs.\n"
        yield block(printed("help_time.py", "--rounds", 3 * size.rounds)) + "\n"
    minutes = (time.monotonic() - began) / 60
    yield f"Measured in {minutes:.0f} minutes. Load average of the machine: {before} before, {load()} at the end."


def options() -> argparse.Namespace:
    """The flags."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write docs/performance.md")
    parser.add_argument("--small", action="store_true", help="see that everything works")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas")
    parser.add_argument("--turns", type=int, help="of the contenders (5)")
    parser.add_argument("--pydantic-evals", help="the Python of an environment that has it")
    parser.add_argument("--promptfoo", default=shutil.which("promptfoo"), help="the command")
    given = parser.parse_args()
    given.only = given.only.split(",")
    if unknown := set(given.only) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    if given.write and (given.small or set(given.only) != set(PARTS)):
        parser.error("--write writes the whole page, without --small and --only")
    return given


def main() -> None:
    """Measure, print, and write where that is wanted."""
    given = options()
    size = SMALL if given.small else Size()
    if given.turns:
        changed: dict[str, Any] = {**vars(size), "turns": given.turns}
        size = Size(**changed)
    os.environ["PYTHONPYCACHEPREFIX"] = str(Path(tempfile.gettempdir()) / "performance-bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # start-up is measured as an installed program has it
    text = "\n".join(page(given, size)) + "\n"
    print(text)
    if given.write:
        PAGE.write_text(text, encoding="utf-8")
        print(f"written: {PAGE.relative_to(HERE.parent)}", file=sys.stderr)


if __name__ == "__main__":
    main()
