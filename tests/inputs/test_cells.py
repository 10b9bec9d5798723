"""What a cell of a table says."""

import json
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.datasets.tables import as_list, as_text, is_nothing, parsed

PROPERTIES = settings(derandomize=True, deadline=None, max_examples=200)
PASSAGES = st.lists(st.text(min_size=1).filter(lambda text: not is_nothing(text)), min_size=1, max_size=5)


@pytest.mark.parametrize("value", [None, float("nan"), "", " \n", "nan", "NaN", "NULL", "null", "N/A", "n/a ", "#N/A"])
def test_what_tables_write_for_no_value_says_nothing(value: object) -> None:
    """An expected answer "nan" would be compared with answers."""
    assert is_nothing(value)


@pytest.mark.parametrize("value", ["None", "none", "na", "no", "0", "-", 0, 0.0, False, [], {}])
def test_what_may_be_an_answer_says_something(value: object) -> None:
    """The word none answers how many there are, and Na is sodium."""
    assert not is_nothing(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [(96, "96"), (96.0, "96"), (-2.5, "-2.5"), (0.1, "0.1"), (1e300, "1e+300"), (True, "Yes"), (False, "No"),
     ("a ", "a "), (date(2024, 5, 1), "2024-05-01"), (datetime(2024, 5, 1), "2024-05-01"),  # noqa: DTZ001 - as sheets
     (datetime(2024, 5, 1, 12, 30), "2024-05-01T12:30:00"), (Decimal("49.90"), "49.90")],  # noqa: DTZ001
    ids=str,
)  # fmt: skip
def test_a_value_is_written_as_a_person_would(value: object, text: str) -> None:
    """Tables keep whole numbers with a decimal, and what is true as a word of their own."""
    assert as_text(value) == text


@PROPERTIES
@given(PASSAGES, st.sampled_from(["json", "python", "numpy"]))
def test_a_list_is_read_however_it_was_printed(passages: list[str], printer: str) -> None:
    """JSON, a literal of Python, and numpy's print without commas, which Python would read as one passage."""
    texts = {
        "json": json.dumps(passages),
        "python": repr(passages),
        "numpy": f"[{chr(10).join(map(repr, passages))}]",
    }
    assert as_list(texts[printer]) == passages


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("The battery lasts.", ["The battery lasts."]),
        ("[1] See the manual.", ["[1] See the manual."]),
        ("[sic]", ["[sic]"]),
        ("[]", []),
        ("", []),
        ('["a", "", null, "N/A"]', ["a"]),
        ("[{'text': 'a', 'document_id': None}]", [{"text": "a", "document_id": None}]),
        ('{"text": "a"}', [{"text": "a"}]),
        (["a", None], ["a"]),
        (5, [5]),
    ],
    ids=str,
)
def test_what_is_no_list_is_one_item(text: Any, items: list[Any]) -> None:
    """A passage may be given as plain text, also where it begins with a bracket."""
    assert as_list(text) == items


@pytest.mark.parametrize("text", ['["a", "b"', "['a', b]", '{"a": }', "['a'] and ['b']"])
def test_a_list_that_is_broken_is_no_passage(text: str) -> None:
    """It would match nothing, and nobody would know why."""
    with pytest.raises(ValueError, match="not valid JSON"):
        parsed(text)
