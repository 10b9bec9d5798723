"""YAML within limits."""

import contextlib
import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evals.text.yaml_files import MAX_DEPTH, YamlTextError, load_yaml

_BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("server: {url: a}\nseed: 1\nserver: {url: b}", "the key 'server' stands twice"),
        ('{"a": {"b": 1,\n "b": 2}}', "the key 'b' stands twice"),
        ("- {x: 1}\n- {x: 1, x: 2}", "the key 'x' stands twice"),
        ("day: 2026-13-45", "a date or number that there is none of"),
        ("n: !!int twelve", "a date or number that there is none of"),
        ("n: !!float x", "a date or number that there is none of"),
        ("n: !!bool perhaps", "a date or number that there is none of"),
        ("n: " + "9" * 5000, "a date or number that there is none of"),
        ("[" * (MAX_DEPTH + 5) + "]" * (MAX_DEPTH + 5), "nested deeper than 100 levels"),
        ("[" * 50_000, "nested deeper than 100 levels"),
        (_BOMB, "with its aliases written out it holds more than 1,000,000 values"),
        ("&a [*a]", "nested deeper than 100 levels"),
        ('"\\ud83d"', "half a surrogate pair in line 1"),
        ("a: \x01", "a character that YAML does not allow, at position 3"),
        ("{[1]: 2}", "unhashable key"),
        ("a\n---\nb", "line 2"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, said: str) -> None:
    """The message tells the place and the reason."""
    with pytest.raises(YamlTextError, match=said.replace("(", r"\(")):
        load_yaml(text)


@pytest.mark.parametrize(
    "text",
    [
        "password: hunter2: x",
        "password: *hunter2",
        "password: !hunter2 x",
        "password: 'hunter2",
        'password: "hunter2\\z"',
        "password: [hunter2",
        "password: &hunter2! x",
        "%hunter2 1\na: b",
        "password: !<hunter2 x",
    ],
)
def test_a_message_repeats_nothing_of_the_text(text: str) -> None:
    """What stands beside a mistake may be a password."""
    with pytest.raises(YamlTextError) as raised:
        load_yaml(text)
    assert "hunter" not in str(raised.value)


def test_aliases_merges_and_emoji_in_json_are_read() -> None:
    """Everything that a careful writer uses stays possible."""
    assert load_yaml("base: &b {x: 1}\nmore: {<<: *b, y: 2}\nagain: *b") == {
        "base": {"x": 1}, "more": {"x": 1, "y": 2}, "again": {"x": 1},
    }  # fmt: skip
    assert load_yaml(r'{"smile": "\ud83d\ude00"}') == {"smile": "😀"}
    assert load_yaml("# nothing") is None


@pytest.mark.parametrize("written", ["12:30", "12:30:45", "01067", "0123", "0x1F", "1_000"])
def test_what_only_an_old_yaml_takes_for_a_number_is_text(written: str) -> None:
    """A time, a postcode, a code."""
    assert load_yaml(f"a: {written}") == {"a": written}


@pytest.mark.parametrize(("written", "value"), [("7", 7), ("-1.5", -1.5), ("1.0e+3", 1000.0), ("0", 0), ("0.25", 0.25)])
def test_plain_numbers_are_numbers(written: str, value: float) -> None:
    """As JSON writes them."""
    assert load_yaml(f"a: {written}") == {"a": value}


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(_VALUES)
def test_what_is_written_is_read(value: object) -> None:
    """Whatever PyYAML dumps comes back."""
    assert load_yaml(yaml.safe_dump(value)) == value


@given(_VALUES)
def test_json_is_read_as_yaml(value: object) -> None:
    """A configuration may be JSON too, as PyYAML reads it."""
    text = json.dumps(value, ensure_ascii=True)
    if "\\u" not in text and "\\" not in text:
        assert load_yaml(text) == yaml.safe_load(text)


@given(st.text(max_size=60))
def test_any_text_is_a_value_or_a_problem(text: str) -> None:
    """No other error, whatever is typed."""
    with contextlib.suppress(YamlTextError):
        load_yaml(text)
