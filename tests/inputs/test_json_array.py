"""Reading a JSON array piece by piece."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.errors import DatasetError
from evals.inputs import json_array as jsonstream
from evals.inputs.json_array import elements

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stream") / "file.json"


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.lists(VALUES, max_size=6), st.sampled_from([None, 1]), st.booleans(), st.integers(1, 9))
def test_the_elements_are_those_of_the_file(
    path: Path, values: list[Any], indent: int, escaped: bool, size: int
) -> None:
    """Wherever the pieces that are read end, the elements come out whole."""
    path.write_text(json.dumps(values, indent=indent, ensure_ascii=escaped), encoding="utf-8", newline="\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonstream, "_SIZE", size)
        assert list(elements(path)) == values


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "file.json: expected a JSON list"),
        ('{"a": []}', "file.json: expected a JSON list"),
        ("[1,\n{x}]", "file.json, entry 2 (line 2): not valid JSON"),
        ("[1 2]", "file.json, entry 1 (line 1): expected , or ] after it, not '2'"),
        ("[1,\n\n2", "file.json, entry 2 (line 3): the list does not end"),
        ('["a', "file.json, entry 1 (line 1): not valid JSON"),
        ("[1,]", "file.json, entry 2 (line 1): not valid JSON"),
        ("[1] 2", "file.json: there is something after the end of the list"),
        ("[" * 100_000, "file.json, entry 1 (line 1): not valid JSON"),
    ],
)
def test_what_is_no_json_list_is_named_with_entry_and_line(path: Path, text: str, message: str) -> None:
    """The message says where to look."""
    path.write_text(text, encoding="utf-8", newline="\n")
    with pytest.raises(DatasetError) as error:
        list(elements(path))
    assert error.value.message.startswith(message)


def test_a_file_that_cannot_be_read_is_named(path: Path) -> None:
    """No file, and a file that is no text, are errors of their own."""
    with pytest.raises(DatasetError, match="cannot read"):
        list(elements(path.with_name("none.json")))
    path.write_bytes(b'["\xff"]')
    with pytest.raises(DatasetError, match="not UTF-8"):
        list(elements(path))
