"""What is written of batches before they are sent, and who may go on with them."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from evals.judges.batch_api import KEPT, BatchLog, LoggedBatch

from evals.errors import StoreError

Open = Callable[..., BatchLog]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Read what is there, as a process does when it begins."""
    logs: list[BatchLog] = []

    def read(folder: Path = tmp_path, origin: str = "https://api") -> BatchLog:
        logs.append(BatchLog(folder, origin))
        logs[-1].prepare()
        return logs[-1]

    yield read
    for log in logs:
        log.close()


def intended(log: BatchLog, *requests: str, run: str = "r") -> LoggedBatch:
    return log.intend(requests, run=run)


def test_an_intent_is_there_before_its_batch_has_a_name(opened: Open) -> None:
    """Whoever goes on knows its requests, and that nobody said whether they arrived."""
    intended(opened(), "a", "b")
    (found,) = opened().holding("a")
    assert (found.requests, found.batch_id, found.run) == ({"a", "b"}, None, "r")


def test_a_name_is_found_again(opened: Open) -> None:
    """Also behind a line that was torn."""
    log = opened()
    logged = intended(log, "a")
    log.close()
    with logged.path.open("ab") as file:
        file.write(b'{"type": "sent", "id": "batch')
    again = opened()
    (found,) = again.holding("a")
    assert found.batch_id is None
    assert again.claim(found)
    again.sent(found, "batch_1")
    assert opened().names == {"batch_1"}


def test_what_another_process_is_at_work_with_is_not_claimed(opened: Open) -> None:
    """It is once that one has ended; and not any more once it is done with."""
    first = opened()
    logged = intended(first, "a")
    second = opened()
    (found,) = second.holding("a")
    assert not second.claim(found)
    first.close()
    assert second.claim(found)
    second.close()
    third = opened()
    (late,) = third.holding("a")
    logged.path.unlink()
    assert not third.claim(late)


def test_a_run_that_was_judged_is_done_with_its_batches(opened: Open) -> None:
    """Those of another run stay, unless all their replies were taken."""
    log = opened()
    intended(log, "a", run="mine")
    intended(log, "b", "c", run="other")
    intended(log, "d", run="third")
    log.remove_done("mine", {"b", "d"})
    log.close()
    again = opened()
    assert [bool(again.holding(each)) for each in "abcd"] == [False, True, True, False]


def test_batches_of_another_address_and_of_long_ago_do_not_count(opened: Open) -> None:
    """The replies of old ones are not kept by the vendor, so their files go."""
    log = opened()
    intended(log, "a")
    logged = intended(log, "b")
    log.close()
    assert not opened(origin="https://other").holding("a")
    intent = json.loads(logged.path.read_bytes())
    intent["at"] = (datetime.now(UTC) - KEPT - timedelta(hours=1)).isoformat()
    logged.path.write_text(json.dumps(intent))
    assert not opened().holding("b")
    assert not logged.path.exists()


def test_a_file_whose_first_line_is_torn_says_nothing(opened: Open, tmp_path: Path) -> None:
    """Nothing was sent then; the file stays, as another process may be writing it."""
    torn = tmp_path / "x.jsonl"
    torn.write_text('{"type": "intent", "at"')
    assert opened().names == set()
    assert torn.exists()


def test_a_folder_that_cannot_be_is_told_with_the_way_out(opened: Open, tmp_path: Path) -> None:
    """Before anything is sent."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError) as raised:
        opened(tmp_path / "file" / "batches")
    assert "--no-judge-batch" in str(raised.value.hint)
