"""What one walk over the records derives is what each part derives by itself."""

from collections.abc import Callable
from typing import Any

import pytest
from whole_runs import abstention_table, recall_by_stage, risk_coverage, wrong_by

from evals.schemas import EvalRecord, EvalRun
from evals.scoring.conclusion import measured
from evals.scoring.diagnosis import count_links, diagnose, facts_of
from evals.scoring.diagnosis.counts import wrong_slices
from evals.scoring.diagnosis.outcome import needs_verification
from evals.scoring.digest import digest_of
from evals.scoring.run_columns import columns_of
from evals.scoring.scorecard import make_scorecard, rows_by, slice_scorecard, slice_value
from evals.scoring.settings import cases_of, known_metrics, score_settings


@pytest.fixture
def run_and_records(build_run: Callable[..., Any]) -> tuple[EvalRun, list[EvalRecord]]:
    """Thirty questions: failed, declined, right, wrong and not asked; with a confidence, stages and a kind."""
    values: dict[str, Any] = {f"q{n}": {"mrr": n / 30, "recall_at_5": float(n % 2)} for n in range(27)}
    values |= {"q3": "timeout", "q4": "connect"}
    gold = [{"document_id": "d", "text": "Seven days of notice are given."}]
    parts = {
        f"q{n}": {
            "is_unanswerable": n % 4 == 0,
            "expected_answer": None if n % 4 == 0 else f"It is q{n}.",
            "metadata": {"kind": f"k{n % 3}"} if n % 7 else {},
            "gold_passages": [] if n % 4 == 0 else gold,
        }
        for n in range(27)
    }
    run, records = build_run("a", values, questions=parts)
    said = ["I do not know.", "It is something else.", None]
    for n, answer in enumerate(said, start=10):
        response = records[n].response.model_copy(update={"answer": answer or records[n].response.answer})
        records[n] = records[n].model_copy(update={"response": response})
    for n in range(10, 20):
        stages = [{"name": "dense", "items": ["Seven days of notice are given." if n % 2 else "Nothing of it here."]}]
        update = {"confidence": n / 20, "stages": stages}
        records[n] = records[n].model_copy(update={"response": records[n].response.model_copy(update=update)})
    records[20] = records[20].model_copy(update={"response": None, "scores": []})
    return run, records


def test_one_walk_derives_what_each_part_derives(run_and_records: tuple[EvalRun, list[EvalRecord]]) -> None:
    """Links with their sentences, counts, table, curve and stages."""
    run, records = run_and_records
    cases = cases_of(run, records)
    found = digest_of(run, records, measured(run, records).cases)
    findings = diagnose(records, cases, facts_of(run, records))
    assert [one.with_record(records[one.number]) for one in found.found] == findings
    assert len({one.link for one in found.found}) > 2
    assert found.diagnosis == count_links(findings, records, cases)
    assert found.abstention == abstention_table(records, cases) is not None
    assert found.risk == risk_coverage(records, cases) is not None
    assert found.stages == recall_by_stage(records, cases) != []
    assert found.to_verify == [place for place, record in enumerate(records) if needs_verification(record)]
    assert (found.declines[3], found.declines[10], found.declines[11], found.declines[20]) == ("?", "y", "n", "?")


def test_slices_of_columns_are_those_of_records(run_and_records: tuple[EvalRun, list[EvalRecord]]) -> None:
    """Every summary of every value, and how many questions ended wrong."""
    run, records = run_and_records
    settings, metrics = score_settings(run), known_metrics(run)
    columns = columns_of(records, settings.cluster)
    for key in ("kind", "dataset"):
        values = [slice_value(record.question, key) for record in records]
        slices = rows_by(values, columns)
        made = {value: slice_scorecard(metrics, columns, own.rows, settings) for value, own in slices.items()}
        parts = {value: [one for one in records if slice_value(one.question, key) == value] for value in slices}
        assert made == {value: make_scorecard(metrics, part, settings) for value, part in parts.items()}
        findings = diagnose(records, cases_of(run, records), facts_of(run, records))
        links = {one.number: one.link for one in measured(run, records).digest.found}
        asked = [(number, values[number]) for number in columns.numbers]
        assert wrong_slices(links, asked) == wrong_by(findings, records, key)


def test_a_walk_holds_the_last_case_alone(run_and_records: tuple[EvalRun, list[EvalRecord]]) -> None:
    """And derives nothing of it twice."""
    run, records = run_and_records
    cases = measured(run, records).cases
    first = cases.of(records[0])
    assert cases.of(records[0]) is first
    cases.of(records[1])
    assert cases.of(records[0]) is not first
