"""`evals show` says what a pattern of metrics usually means, and of one question what each metric found."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from whole_runs import put_records, scored

from evals.metrics import parse_metric
from evals.store.runs import RunStore

Cli = Callable[..., Any]


@pytest.mark.parametrize(
    ("value", "shown"), [pytest.param(0.1, True, id="where it shows"), pytest.param(0.9, False, id="not elsewhere")]
)
def test_show_prints_the_hints_that_apply(
    ask: Cli, evals_cli: Cli, golden_server: str, tmp_path: Path, value: float, shown: bool
) -> None:
    """A hint stands below the scorecard with the metrics that it rests on, and only where its pattern shows."""
    saved = ask("--rag-url", golden_server, "--metrics", "source_citation_quality", "--json").json
    (path,) = (tmp_path / "runs").glob("*Z.json")
    (metric,) = (m for m in saved["scorecard"]["metrics"] if m["name"] == "source_citation_quality")
    metric["value"] = value
    saved["outcomes"]["citations"] = 0  # the hint is for answers that come without
    path.write_text(json.dumps(saved))
    out = evals_cli("show", saved["id"], "--runs-dir", tmp_path / "runs", "--all").out
    assert ("(source_citation_quality 0.10)" in " ".join(out.split())) is shown
    assert ("→ The answers rarely say where they come from" in out) is shown


def test_a_question_shows_what_its_checks_found(evals_cli: Cli, build_run: Callable[..., Any], tmp_path: Path) -> None:
    """The share of the facts that hold, and of a list that is named."""
    facts = [{"name": "has_red", "any": ["red"]}, {"name": "has_7", "numbers": ["7"]}]
    checks = [
        {"kind": "facts", "facts": facts},
        {"kind": "list", "name": "rules", "items": [{"name": "a red rule", "any": ["red"]}, *facts[:1]]},
    ]
    run, (record,) = build_run("a1", {"q": {}}, questions={"q": {"checks": checks}})
    metrics = [parse_metric(name) for name in ("fact_score", "rules_coverage")]
    store = RunStore(tmp_path)
    response = record.response.model_copy(update={"answer": "It is red."})
    records = scored(metrics, [record.model_copy(update={"response": response})])
    run = run.model_copy(update={"completed_at": run.created_at})
    store.save(run)
    put_records(store, run, records)
    out = " ".join(evals_cli("show", "a1", "--question", "q", "--runs-dir", tmp_path).out.split())
    assert "fact_score 0.5 rules_coverage 1" in out
