"""What each worker may do of what the run may do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.run.workers import Share, next_size, shares

ADDRESSES = st.lists(st.text(min_size=1, max_size=5), unique=True, min_size=1, max_size=20)


@given(ADDRESSES, st.integers(1, 256), st.none() | st.floats(0.01, 1000))
def test_shares_make_up_what_the_run_may_do(workers: list[str], concurrency: int, rps: float | None) -> None:
    """No question more is in flight than without a cluster, and no request more starts in a second."""
    found = shares(workers, concurrency, rps)
    assert sum(share.concurrency for share in found.values()) == concurrency
    assert all(share.concurrency >= 1 for share in found.values())
    assert len(found) == min(len(workers), concurrency)
    if rps is not None:
        assert sum(share.rps or 0 for share in found.values()) == pytest.approx(rps)
    else:
        assert {share.rps for share in found.values()} == {None}


def test_nobody_has_no_share() -> None:
    """A cluster without workers is no error here: some may come."""
    assert shares([], 4, None) == {}


@given(st.integers(1, 256), st.floats(0, 1000), st.integers(1, 64))
def test_a_batch_fills_its_worker_and_grows_slowly(questions: int, seconds: float, concurrency: int) -> None:
    """With fewer questions than may be in flight a worker would idle."""
    size = next_size(questions, seconds, Share(concurrency))
    assert concurrency <= size <= max(concurrency, min(2 * questions, 256))


@pytest.mark.parametrize(("seconds", "size"), [(0.1, 200), (0.5, 100), (1.0, 50), (60.0, 8)])
def test_a_batch_takes_half_a_second(seconds: float, size: int) -> None:
    """A hundred questions took so long: the next batch is of a size that takes half a second."""
    assert next_size(100, seconds, Share(8)) == size
