"""JMESPath expressions mean what the library says they mean."""

from typing import Any

import jmespath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.client.expressions import compiled
from evals.errors import ConfigError

EXPRESSIONS = [
    "answer",
    "a.b",
    "sources[]",
    "sources[].{id: id, text: a || b, c: a.b}",
    "a.{x: x, y: y}",
    "a || b",
    "a || b || c",
    "@",
    "[].{id: id}",
    "a[0].b",
    "a[?b == 'x'].c | [0]",
    "values(a)[?b == 'x']",
    "sources[*].a",
    "a[].b[].c",
    "join(', ', a)",
    "length(a) == `2`",
    "a == 'x' && b",
    "a[-1].b && c[1]",
    "(a || b) == 'x'",
    "a == `1`",
    'a && `{"b": 1}`',
    "a == b",
]
NAMES = st.sampled_from(["a", "b", "c", "id", "x", "y", "sources", "answer"])
BODIES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(allow_nan=False) | st.sampled_from(["", "x", "y"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)


def outcome(search: Any, body: Any) -> Any:
    try:
        return search(body)
    except jmespath.exceptions.JMESPathError as error:
        return type(error)


@given(BODIES)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_every_expression_gives_what_the_library_gives(body: Any) -> None:
    """Compiled to closures or not, the value is the library's, also for bodies of another shape."""
    for expression in EXPRESSIONS:
        expected = outcome(jmespath.compile(expression).search, body)
        found = outcome(compiled(expression), body)
        assert found == expected, (expression, body)
        assert type(found) is type(expected)


@pytest.mark.parametrize("expression", ["a.", "a[", "", "{a: }"])
def test_an_expression_that_is_none_is_named(expression: str) -> None:
    """A typing error in a profile says which expression it is in."""
    with pytest.raises(ConfigError, match="not a valid JMESPath expression"):
        compiled(expression)
