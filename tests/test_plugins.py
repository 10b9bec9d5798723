"""Plug-ins of other packages: found by their entry points, and harmless where they are broken."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fenced import HOME

from evals.cli import app
from evals.cli.terminal import run
from evals.datasets.registry import get_loader, list_available
from evals.errors import DatasetError
from evals.judges.prompts import read_prompt
from evals.metrics.registry import METRICS, metric_classes, metrics_of, parse_metric

EXAMPLE = HOME / "docs" / "examples" / "plugin"
PROMPT, WARMTH = ((EXAMPLE / name).read_text(encoding="utf-8") for name in ("warmth.yml", "warmth.py"))
MODULE = """
from evals.datasets.base import BaseDatasetLoader
from evals.metrics.retrieval import MRR

class Loader(BaseDatasetLoader):
    name, aspects, description, licence, origin = "whole_data", ("retrieval",), "Theirs", "MIT", "theirs"

    def load(self, options):
        raise NotImplementedError

class Metric(MRR):
    name = "whole_metric"

PROFILE = {"ask": {"path": "/theirs"}}
"""
WHOLE = {
    "evals.datasets": "whole_data = theirs:Loader",
    "evals.metrics": "whole_metric = theirs:Metric\nwarmth = theirs:Warmth",
}
BROKEN = {
    "evals.datasets": "broken = no_such_module:Loader",
    "evals.metrics": "broken = no_such_module:Metric",
}
WRONG = {
    "evals.datasets": "wrong = theirs:PROFILE",
    "evals.metrics": "wrong = theirs:Loader",
}


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Three installed packages: one is whole, one names a module that is not there, one names the wrong things."""
    (tmp_path / "theirs.py").write_text(WARMTH + MODULE, encoding="utf-8")
    (tmp_path / "warmth.yml").write_text(PROMPT, encoding="utf-8")
    for package, points in (("whole-package", WHOLE), ("broken-package", BROKEN), ("wrong-package", WRONG)):
        folder = tmp_path / f"{package.replace('-', '_')}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
        text = "".join(f"[{group}]\n{point}\n" for group, point in points.items())
        (folder / "entry_points.txt").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    metric_classes.cache_clear()
    yield
    metric_classes.cache_clear()
    sys.modules.pop("theirs", None)


def test_a_broken_plug_in_leaves_the_others_usable() -> None:
    """What is built in and what another package brings is there, whatever else is installed."""
    assert {"golden", "whole_data", "broken"} <= set(list_available())
    assert get_loader("golden").name == "golden"
    assert get_loader("whole_data").description == "Theirs"
    assert set(METRICS) < set(metric_classes())
    assert parse_metric("whole_metric").name == "whole_metric"


def test_asking_for_a_broken_plug_in_names_its_package() -> None:
    """The message says what failed and whose it is, and the hint how to be rid of it."""
    with pytest.raises(
        DatasetError, match=r"plug-in 'broken' of the package broken-package .*no_such_module"
    ) as caught:
        get_loader("broken")
    assert caught.value.hint.endswith("pip uninstall broken-package")  # type: ignore[attr-defined]


def test_a_plug_in_of_the_wrong_kind_is_refused() -> None:
    """A thing that is no loader is told by its entry point."""
    with pytest.raises(DatasetError, match="plug-in 'wrong' of the package wrong-package is no dataset"):
        get_loader("wrong")


def test_a_metric_that_cannot_be_loaded_is_left_out_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """Metrics are loaded to be listed: each useless one is warned of once, by its package, and the rest work."""
    metric_classes()
    metric_classes()
    broken, wrong = sorted(record.getMessage() for record in caplog.records)
    assert "broken-package" in broken
    assert "no_such_module" in broken
    assert "wrong-package is no metric" in wrong


@pytest.mark.parametrize("command", [["datasets"], ["metrics"]])
def test_every_catalogue_is_printed_beside_a_broken_plug_in(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command ends well and lists what works."""
    monkeypatch.setattr("sys.argv", ["evals", *command])
    assert run(app) == 0
    assert "whole_" in capsys.readouterr().out


def test_a_judged_metric_brings_its_own_prompt(
    evals_cli: Callable[..., Any],
    golden_server: str,
    messages_api: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is estimated, asked, cached, and told from another version of itself by its hash; no suite has it."""
    assert "warmth" not in {cls.name for cls in metrics_of(["core"]) if hasattr(cls, "name")}
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_api.url)
    messages_api.script({"then": {"python": "judge"}})
    asked = ("eval", "--datasets", "golden", "--samples", 3, "--metrics", "warmth", "--rag-url", golden_server)
    asked += ("--runs-dir", tmp_path / "runs")
    assert "about 3 calls" in evals_cli(*asked, "--dry-run").out
    first, second = (evals_cli(*asked, "--json").json for _ in range(2))
    assert first["scorecard"]["metrics"][0]["value"] is not None
    assert first["judge"]["prompt_hashes"] == {"warmth": read_prompt(tmp_path / "warmth.yml").hash}
    assert (first["judge"]["calls"], second["judge"]["calls"]) == (3, 0)
    asked = next(entry["body"] for entry in messages_api.log() if entry["method"] == "POST")
    assert "whether the answer addresses its reader warmly" in str(asked)
