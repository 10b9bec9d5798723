"""Which rows are drawn."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.datasets.base import sample

IDS = [f"row-{number}" for number in range(20)]
GOLDEN = {42: [18, 15, 19, 13, 2, 5, 9, 7], 7: [18, 0, 9, 1, 12, 4, 14, 2]}
id_lists = st.lists(st.text(min_size=1, max_size=5), max_size=30)


@pytest.mark.parametrize("seed", GOLDEN)
def test_the_draw_is_the_same_on_every_machine(seed: int) -> None:
    """A seed draws exactly these rows, with every version of every library."""
    assert sample(IDS, 8, seed) == GOLDEN[seed]


@settings(derandomize=True, deadline=None, max_examples=60)
@given(ids=id_lists, small=st.integers(0, 30), more=st.integers(0, 30), seed=st.integers())
def test_a_smaller_sample_is_the_start_of_a_larger_one(ids: list[str], small: int, more: int, seed: int) -> None:
    """Asking for more questions keeps those asked before."""
    assert sample(ids, small + more, seed)[:small] == sample(ids, small, seed)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(ids=id_lists, count=st.integers(0, 30), shuffler=st.randoms(use_true_random=False))
def test_the_draw_does_not_depend_on_the_order_of_the_rows(ids: list[str], count: int, shuffler: random.Random) -> None:
    """The same ids in another order give the same ids in the same order."""
    shuffled = list(ids)
    shuffler.shuffle(shuffled)
    drawn, again = sample(ids, count, 42), sample(shuffled, count, 42)
    assert [ids[place] for place in drawn] == [shuffled[place] for place in again]


@settings(derandomize=True, deadline=None, max_examples=60)
@given(ids=id_lists)
def test_every_id_is_drawn_once_and_from_its_first_row(ids: list[str]) -> None:
    """Without a limit all distinct ids are drawn; of equal ids the first row counts."""
    drawn = sample(ids, None, 42)
    assert sorted(drawn) == sorted({ids.index(row_id) for row_id in ids})
