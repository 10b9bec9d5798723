"""Records that are read one at a time, by the index beside them, which is never trusted blindly."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evals.errors import StoreError
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun
from evals.store.record_index import index_path, load_index, make_index
from evals.store.records import RecordFile
from evals.store.runs import RunStore


@pytest.fixture
def records(questions: list[EvalQuestion]) -> list[EvalRecord]:
    """A record a question."""
    return [EvalRecord(question=each, response=EvalResponse(answer=f"„{each.id}“")) for each in questions]


@pytest.fixture
def compacted(store: RunStore, run: EvalRun, records: list[EvalRecord]) -> Path:
    """The records file of a run that ended."""
    store.compact(run, records)
    return store.records_path(run)


def test_an_index_is_written_with_the_records(compacted: Path, records: list[EvalRecord]) -> None:
    """It says where each record begins."""
    found = load_index(compacted)
    assert found is not None
    lines = compacted.read_bytes().splitlines(keepends=True)
    assert found[0].ids == [record.question.id for record in records]
    assert list(found[0].places) == [sum(map(len, lines[:number])) for number in range(3)]


def test_records_are_read_one_at_a_time_and_again(compacted: Path, records: list[EvalRecord]) -> None:
    """As walked, by number, from the end, and as a part."""
    found = RecordFile(compacted)
    assert list(found) == list(found) == records
    assert (found[1], found[-1], found[1:], len(found)) == (records[1], records[-1], records[1:], 3)
    assert (found.number_of("q2"), found.number_of("none")) == (2, None)
    with pytest.raises(IndexError):
        found[3]


def test_a_log_that_goes_on_reads_the_same_and_keeps_no_index(full_log: Path) -> None:
    """Events of one question stand anywhere in it; a torn last line is dropped."""
    before = list(RecordFile(full_log))
    with full_log.open("ab") as file:
        file.write(b'{"type":"answer","question_id":"q2","ans')
    assert list(RecordFile(full_log)) == before
    assert not index_path(full_log).exists()


@pytest.mark.parametrize("harm", ["missing", "garbage", "of before", "moved", "cut"])
def test_an_index_that_does_not_fit_is_made_anew(
    harm: str, store: RunStore, run: EvalRun, compacted: Path, records: list[EvalRecord]
) -> None:
    """Whatever became of it, what is read is what stands in the records."""
    index = index_path(compacted)
    if harm == "missing":
        index.unlink()
    elif harm == "garbage":
        index.write_bytes(b"\x00\xff{}")
    elif harm == "of before":
        kept = index.read_bytes()
        records = records[1:]
        store.compact(run, records)
        index.write_bytes(kept)
    elif harm == "moved":  # same size and time, other content
        state, lines = compacted.stat(), compacted.read_bytes().splitlines(keepends=True)
        compacted.write_bytes(b"".join(reversed(lines)))
        os.utime(compacted, ns=(state.st_atime_ns, state.st_mtime_ns))
        records = records[::-1]
    else:
        index.write_bytes(index.read_bytes()[:-3])
    assert list(RecordFile(compacted)) == records
    assert load_index(compacted) is not None


def test_an_index_goes_with_a_copy_of_its_file(compacted: Path, tmp_path: Path) -> None:
    """A copy has another time, and the same checksum."""
    copied = tmp_path / compacted.name
    shutil.copyfile(compacted, copied)
    shutil.copyfile(index_path(compacted), index_path(copied))
    os.utime(copied, ns=(1, 1))
    assert load_index(copied) is not None
    copied.write_bytes(copied.read_bytes().replace(b"Wo ist", b"Wo war"))
    os.utime(copied, ns=(1, 1))
    assert load_index(copied) is None


def test_records_are_read_where_no_index_can_be_written(
    compacted: Path, records: list[EvalRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of somebody else's is read all the same."""
    index_path(compacted).unlink()

    def refuse(*_: object, **__: object) -> None:
        raise StoreError("read-only")

    monkeypatch.setattr("evals.store.record_index.write_atomically", refuse)
    found = RecordFile(compacted)
    found.keep("stamp", {"part": b"1"})
    assert (list(found), found.derived("part", "stamp")) == (records, None)
    assert not index_path(compacted).exists()


def test_what_was_derived_is_kept_for_its_stamp_alone(compacted: Path) -> None:
    """And goes with the records that it was derived of."""
    RecordFile(compacted).keep("today", {"part": b"derived"})
    found = RecordFile(compacted)
    assert (found.derived("part", "today"), found.derived("part", "tomorrow")) == (b"derived", None)
    assert found.derived("other", "today") is None
    compacted.write_bytes(compacted.read_bytes().splitlines(keepends=True)[0])
    assert RecordFile(compacted).derived("part", "today") is None


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{torn", "damaged"),
        (b"[]", "not an event"),
        (b'{"type":"record"}', "not an event"),
        (b'{"type":"record","question_id":["q1"]}', "not an event of a run .question_id is no text"),
        (b'{"type":"record","question_id":7}', "not an event of a run .question_id is no text"),
    ],
)
def test_damage_before_the_last_line_is_our_error(compacted: Path, line: bytes, reason: str) -> None:
    """It names the file and the line."""
    lines = compacted.read_bytes().splitlines()
    compacted.write_bytes(b"\n".join([lines[0], line, *lines[1:], b""]))
    with pytest.raises(StoreError, match=f"line 2: {reason}"):
        list(RecordFile(compacted))


def test_a_record_that_is_none_is_our_error_when_it_is_read(compacted: Path) -> None:
    """The others can be read."""
    lines = compacted.read_bytes().splitlines()
    event = json.loads(lines[1])
    del event["record"]["question"]
    compacted.write_bytes(b"\n".join([lines[0], json.dumps(event).encode(), lines[2], b""]))
    found = RecordFile(compacted)
    assert found[2].question.id == "q2"
    with pytest.raises(StoreError, match=r"line 2: not an event of a run \(question"):
        found[1]


_KEYS = st.sampled_from(["q1", 'q"2', "q\\3", "ü4"])


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(st.tuples(st.sampled_from(["question", "answer", "record"]), _KEYS), max_size=12))
def test_a_file_of_one_record_a_question_is_compact(
    store: RunStore, make_run: Callable[..., EvalRun], events: list[tuple[str, str]]
) -> None:
    """And no log is, nor a file that has two records of one question."""
    path, lines = store.records_path(make_run()), []
    for number, (kind, key) in enumerate(events):
        question, answer = {"id": key, "question": f"{number}?"}, {"answer": f"{number}"}
        said: dict[str, Any] = {"question": question, "answer": answer, "record": {"question": question}}
        lines.append(json.dumps({"type": kind, "question_id": key, kind: said[kind]}) + "\n")
    path.write_text("".join(lines))
    index_path(path).unlink(missing_ok=True)
    assert make_index(path).is_compact == (
        all(kind == "record" for kind, _ in events) and len({key for _, key in events}) == len(events)
    )
