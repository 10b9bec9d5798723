"""Runs are compared out of their files as out of their records, which are gone over once and not held."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.compare import SavedRun, compare_runs
from evals.compare.gates import check_against
from evals.scoring import digest
from evals.store.runs import RunStore

Build = Callable[..., Any]


@pytest.fixture
def both(build_run: Build, tmp_path: Path) -> Callable[[], tuple[list[SavedRun], list[SavedRun]]]:
    """Three runs as they are, and as they are read from their files."""
    store = RunStore(tmp_path)
    whole = []
    for run_id, lost in (("a", 2), ("b", 9), ("c", 5)):
        values: dict[str, Any] = {
            f"q{n}": {"mrr": float(n % 11 > lost), "citation_recall": n / 40, "latency_p50": 9.0 + n} for n in range(40)
        }
        values |= {f"q{n}": "timeout" for n in range(lost)}
        values |= {f"only-{run_id}": {"mrr": 1.0}, "q39": {"mrr": None}}
        parts = {f"q{n}": {"is_unanswerable": n % 2 == 0, "metadata": {"kind": n % 3}} for n in range(40)}
        parts["q7"] = {"question": f"What does {run_id} mean?"}
        run, records = build_run(run_id, values, questions=parts, eval_config={"cluster": "kind"})
        store.compact(run, records)
        store.save(run)
        whole.append(SavedRun(run, records))

    def read() -> tuple[list[SavedRun], list[SavedRun]]:
        runs = [store.load(each.run.id) for each in whole]
        return whole, [SavedRun(run, store.open_records(run)) for run in runs]

    return read


@pytest.mark.parametrize("count", [2, 3])
def test_a_comparison_of_files_is_that_of_their_records(both: Any, count: int) -> None:
    """To the last digit, the first time and when columns are there."""
    whole, _ = both()
    expected = compare_runs(whole[:count], pareto=True)
    for _ in range(2):
        assert compare_runs(both()[1][:count], pareto=True) == expected


def test_a_gate_on_files_is_that_on_their_records(both: Any) -> None:
    """The difference of the score too."""
    (first, last, _), (first_file, last_file, _) = both()
    held = check_against(last, first, [], ["mrr", "score"], 0.03)
    assert check_against(last_file, first_file, [], ["mrr", "score"], 0.03) == held


def test_columns_are_made_once(both: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Later comparisons read the columns, and of the records only those of questions that changed."""
    compare_runs(both()[1])

    def refuse(*_: object) -> None:
        raise AssertionError("made anew")

    monkeypatch.setattr(digest, "columns_of", refuse)
    monkeypatch.setattr(digest, "digest_of", refuse)
    compare_runs(both()[1])
