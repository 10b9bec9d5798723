"""A table that fits a narrow terminal."""

from hypothesis import given
from hypothesis import strategies as st

from evals.cli.views.scorecard import NarrowRow, narrow_lines

HEAD = NarrowRow("metric", ("A", "B", "is"))


def lines(*rows: NarrowRow, width: int) -> list[str]:
    """The lines of a table that has room."""
    found = narrow_lines(HEAD, rows, width)
    assert found is not None
    return [line.plain for line in found]


@given(
    rows=st.lists(
        st.tuples(
            st.text("abc_", min_size=1, max_size=40), st.lists(st.text("01.−", max_size=9), min_size=3, max_size=3)
        ),
        min_size=1,
        max_size=5,
    ),
    width=st.integers(50, 90),
)
def test_no_line_of_cells_is_wider_than_the_terminal(rows: list[tuple[str, list[str]]], width: int) -> None:
    """And every cell is there."""
    drawn = lines(*(NarrowRow(name, cells) for name, cells in rows), width=width)
    assert all(len(line) <= width for line in drawn)
    assert all(cell in "\n".join(drawn) for _, cells in rows for cell in cells)


def test_a_row_of_wide_cells_leaves_the_others_their_table() -> None:
    """Where there is room it is one of them; else what it says stands below its name."""
    usual = NarrowRow("mrr", ("0.500", "0.250", "worse"))
    wide = NarrowRow("cost", ("$0.00004608", "$0.00004678", "worse"), apart="$0.00004608 → $0.00004678")
    assert lines(usual, wide, width=50)[-1].split() == ["cost", "$0.00004608", "$0.00004678", "worse"]
    assert [line.split() for line in lines(usual, wide, width=36)] == [
        ["metric", "A", "B", "is"],
        ["mrr", "0.500", "0.250", "worse"],
        ["cost", "worse"],
        ["$0.00004608", "→", "$0.00004678"],
    ]
