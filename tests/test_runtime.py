"""Work beside other work."""

import sys

import pytest

from evals.runtime import SideLoop


@pytest.mark.parametrize("first", [0, 1])
def test_threads_take_turns_as_before_once_the_last_side_loop_is_closed(first: int) -> None:
    """While one still runs they take turns more often, whichever of two ends first."""
    before = sys.getswitchinterval()
    loops = [SideLoop("one"), SideLoop("two")]
    loops.pop(first).close()
    between = sys.getswitchinterval()
    loops.pop().close()
    assert between < before
    assert sys.getswitchinterval() == before
