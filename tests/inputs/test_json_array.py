"""Reading a JSON array piece by piece."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.errors import DatasetError
from evals.scoring.passages import elements

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stream") / "file.json"


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.lists(VALUES, max_size=6), st.sampled_from([None, 1]), st.booleans(), st.booleans())
def test_the_elements_are_those_of_the_file(
    path: Path, values: list[Any], indent: int, escaped: bool, bom: bool
) -> None:
    """Whatever the elements are and however the file is laid out, they come out whole."""
    text = json.dumps(values, indent=indent, ensure_ascii=escaped)
    path.write_text(text, encoding="utf-8-sig" if bom else "utf-8", newline="\n")
    assert list(elements(path)) == json.loads(text, parse_float=Decimal)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "file.json, entry 1: not valid JSON"),
        ('{"a": []}', "file.json: expected a JSON list"),
        ("5", "file.json: expected a JSON list"),
        ("[1,\n{x}]", "file.json, entry 2: not valid JSON"),
        ("[1 2]", "file.json, entry 2: not valid JSON (parse error: after array element, I expect ',' or ']')"),
        ("[1,\n\n2", "file.json, entry 3: not valid JSON"),
        ('["a', "file.json, entry 1: not valid JSON"),
        ("[1,]", "file.json, entry 2: not valid JSON"),
        ("[1] 2", "file.json, entry 2: not valid JSON"),
        ("[" * 100_000, "file.json, entry 1: not valid JSON (it is nested too deeply)"),
    ],
)
def test_what_is_no_json_list_is_named_with_its_entry(path: Path, text: str, message: str) -> None:
    """The message says where to look."""
    path.write_text(text, encoding="utf-8", newline="\n")
    with pytest.raises(DatasetError) as error:
        list(elements(path))
    assert error.value.message.startswith(message)
    assert "\n" not in error.value.message


def test_a_large_array_is_never_held_whole(path: Path) -> None:
    """The first element comes out before the file is read to its end, which is broken."""
    path.write_text('["first", ' + " " * 10_000_000 + "broken")
    assert next(elements(path)) == "first"


def test_a_file_that_cannot_be_read_is_named(path: Path) -> None:
    """No file, and a file that is no text, are errors of their own."""
    with pytest.raises(DatasetError, match="cannot read"):
        list(elements(path.with_name("none.json")))
    path.write_bytes(b'["a", "\xff"]')
    with pytest.raises(DatasetError, match=r"file\.json, entry 2: not valid JSON \(.*UTF"):
        list(elements(path))
