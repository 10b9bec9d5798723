"""Every view and every export of a run with every metric: whatever a metric records, each of them can show it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.config import EvalConfig
from evals.export import FORMATS
from evals.runner import run_evaluation
from evals.schemas import EvalRun
from evals.scoring.outcomes import WENT_WRONG
from evals.store.runs import RunStore

QUESTIONS = 4
RUNS = [("core", True), ("all", True), ("all", False)]
VIEWS: dict[str, list[Any]] = {
    "plain": [],
    "json": ["--json"],
    "by dataset": ["--by", "dataset"],
    "by a key": ["--by", "difficulty"],
    "by a key as json": ["--by", "difficulty", "--json"],
    "all": ["--all"],
    **{f"failed {outcome}": ["--failed", outcome.value] for outcome in WENT_WRONG},
}


@pytest.fixture(scope="module", params=RUNS, ids=lambda each: f"{each[0]}-{'judged' if each[1] else 'unjudged'}")
def saved(
    request: pytest.FixtureRequest,
    golden_server: str,
    start_messages_api: Callable[..., Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> EvalRun:
    """A small run of a suite."""
    suite, judged = request.param
    api = start_messages_api()
    api.script({"then": {"python": "judge"}})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
        return run_evaluation(
            EvalConfig(
                datasets=["golden"],
                samples_per_dataset=QUESTIONS,
                suite=[suite],
                rag_server_url=golden_server,
                runs_dir=tmp_path_factory.mktemp("every"),
                warmup=0,
                judge={"enabled": judged, "base_url": api.url},
            )
        )


@pytest.mark.slow
def test_every_view_and_every_export_holds_it(saved: EvalRun, evals_cli: Callable[..., Any], tmp_path: Path) -> None:
    """`show` with each of its flags and with each question, each format, and the page."""
    folder = saved.eval_config["runs_dir"]
    questions = {key: ["--question", key] for key in RunStore(folder).log(saved).ids}
    for name, flags in {**VIEWS, **questions}.items():
        result = evals_cli("show", saved.id, *flags, "--runs-dir", folder)
        assert result.code == 0, f"{name}: {result.err}"
    for name in FORMATS:
        result = evals_cli("export", saved.id, "--format", name, "--output", tmp_path / name, "--runs-dir", folder)
        assert result.code == 0, f"{name}: {result.err}"
    result = evals_cli("report", saved.id, "--output", tmp_path / "report.html", "--runs-dir", folder)
    assert result.code == 0, result.err
