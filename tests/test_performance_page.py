"""benchmarks/performance.py: contenders take turns, and are compared by ratio."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture(scope="module")
def performance() -> ModuleType:
    spec = importlib.util.spec_from_file_location("performance", HERE / "performance.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["performance"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


class Fake:
    """Takes so many seconds a question."""

    def __init__(self, order: list[str], name: str, seconds: float, turns: int = 3) -> None:
        self.turns, self.least, self.most = turns, 1, 10
        self._order, self._name, self._seconds = order, name, seconds

    def measure(self, _url: str, count: int, _concurrency: int) -> dict[str, float]:
        self._order.append(self._name)
        return {"seconds": self._seconds * count, "cpu_s": self._seconds * count / 2}


def test_contenders_take_turns_and_are_told_by_their_ratio(performance: ModuleType) -> None:
    """Another one is first each time; one that is measured once is compared with the floor's median."""
    order: list[str] = []
    fakes = {"aiohttp": Fake(order, "aiohttp", 0.001), "ours": Fake(order, "ours", 0.002)}
    fakes["promptfoo"] = Fake(order, "promptfoo", 0.01, turns=1)
    cell = performance.Cell(100)
    for turn in range(3):
        performance.take_turns(cell, fakes, turn, "http://127.0.0.1", 4)
    assert order == ["aiohttp", "ours", "promptfoo", "ours", "aiohttp", "aiohttp", "ours"]
    assert cell.rate("ours") == pytest.approx(500)
    assert cell.ratio("ours") == pytest.approx(0.5)
    assert cell.ratio("promptfoo") == pytest.approx(0.1)
    cells = {(latency, most): cell for latency in (0, 20, 200) for most in (1, 16, 64)}
    lines = list(performance.asking_section(cells))
    assert "| 0 ms, 1 | 100 | 1,000 (1.00) | 500 (0.50) | 100 (0.10) |" in lines
    assert "| 200 ms | 0.50 | 1.00 | 5.00 |" in lines


def test_a_time_that_cannot_be_is_no_figure(performance: ModuleType) -> None:
    """A command whose start was slow just once would seem to be infinitely fast."""
    cell = performance.Cell(100)
    fakes = {"aiohttp": Fake([], "aiohttp", 0.001), "promptfoo": Fake([], "promptfoo", -0.001)}
    performance.take_turns(cell, fakes, 0, "http://127.0.0.1", 4)
    assert "promptfoo" not in cell.rates
    cells = {(latency, most): cell for latency in (0, 20, 200) for most in (1, 16, 64)}
    assert any(line == "| 0 ms, 1 | 100 | 1,000 (1.00) |" for line in performance.asking_section(cells))


@pytest.mark.slow
def test_the_command_measures_a_whole_part(performance: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """Ours and the floors, over real servers."""
    size = performance.Size(1, 0.01, None, 1, (), (), 10, 1)
    given = performance.argparse.Namespace(pydantic_evals=None, promptfoo=None)
    cells = performance.ask_all(given, size)
    assert len(cells) == 9
    assert all({"aiohttp", "httpx", "ours"} <= set(cell.rates) for cell in cells.values())
