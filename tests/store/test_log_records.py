"""Records that are read from their log one at a time."""

from pathlib import Path

import pytest

from evals.errors import StoreError
from evals.schemas import EvalQuestion, EvalRun
from evals.store.journal import read_records
from evals.store.log_records import LogRecords
from evals.store.runs import RunStore


def test_a_log_cut_at_any_byte_reads_one_at_a_time_as_it_does_at_once(full_log: Path) -> None:
    """Events that lie apart are put together, and a torn last line is passed over."""
    data = full_log.read_bytes()
    for end in range(len(data) + 1):
        full_log.write_bytes(data[:end])
        found = LogRecords(full_log)
        expected = read_records(full_log)
        assert list(found) == expected, f"cut at byte {end}"
        assert [found[place] for place in range(len(found))] == expected
        assert list(found.ids) == [record.question.id for record in expected]


def test_a_record_is_found_by_the_id_of_its_question(full_log: Path, questions: list[EvalQuestion]) -> None:
    """And nothing by another one."""
    found = LogRecords(full_log).find(questions[1].id)
    assert found is not None
    assert found.question == questions[1]
    assert LogRecords(full_log).find("no such question") is None


def test_a_damaged_line_is_an_error(full_log: Path) -> None:
    """Whether it shows when the log is opened or when the record is read."""
    first, _, rest = full_log.read_bytes().partition(b"\n")
    full_log.write_bytes(first[:-9] + b"\n" + rest)
    with pytest.raises(StoreError, match="question 1: not a record"):
        list(LogRecords(full_log))
    full_log.write_bytes(b"no event\n" + rest)
    with pytest.raises(StoreError, match="line 1: damaged"):
        LogRecords(full_log)


def test_a_log_that_is_not_there_is_an_error(store: RunStore, run: EvalRun) -> None:
    """With the path."""
    with pytest.raises(StoreError, match=r"cannot read .*records.jsonl: No such file"):
        store.log_records(run)
