"""docs/python.md: every example on the page runs, in their order."""

import re
from pathlib import Path

import pytest

from evals.errors import ConfigError, UnknownNameError
from evals.schemas import EvalRun, Scorecard

PAGE = Path(__file__).resolve().parent.parent / "docs" / "python.md"


def test_the_examples_run_as_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a folder of their own, with no key of a judge that would be asked."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-never-sent")
    names: dict[str, object] = {}
    for example in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(example, str(PAGE), "exec"), names)  # noqa: S102 - the page's own examples
    run, same = names["run"], names["same"]
    assert isinstance(run, EvalRun)
    assert same == run
    out = capsys.readouterr().out
    assert f"<EvalRun {run.id} " in out
    assert str(run.path) in out
    questions, metrics = run.to_pandas(), run.scorecard.to_pandas()
    assert len(questions) == 12
    assert questions["recall_at_5"].mean() == pytest.approx(metrics.loc["recall_at_5", "value"])
    assert [record.question.id for record in run.records()] == list(questions.index)


def test_a_metric_that_the_run_does_not_have_names_the_nearest() -> None:
    """A typing error is not mistaken for a missing value."""
    card = Scorecard()
    assert card.find("mrr") is None
    with pytest.raises(UnknownNameError, match="unknown metric of this run 'mmr'"):
        card.get("mmr")


def test_a_traceback_speaks_of_keys_and_the_hint_of_flags() -> None:
    """The one is read in Python, the other in a shell."""
    error = ConfigError("no corpus", "upload it with --ingest, or continue with --no-preflight")
    assert error.hint == "upload it with --ingest, or continue with --no-preflight"
    assert error.__notes__ == ["upload it with ingest=True, or continue with preflight=False"]
