"""Tests of promptfoo: its configuration, its CSV form, and what it wrote of a run."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from evals.errors import DatasetError
from evals.inputs.cells import as_list, is_nothing

_EXACT = frozenset({"equals"})
_LIKE = frozenset({"similar", "factuality"})
_PART = frozenset({"contains", "icontains"})
_ANY = frozenset({"contains-any", "icontains-any"})
_TYPED = re.compile(
    r"(not-)?(equals|i?contains(?:-any|-all)?|similar(?::\w+)?|factuality|starts-with|regex|is-\w+|contains-\w+|llm-rubric|"
    r"grade|fn|eval|javascript|python|file|webhook|model-graded-\w+|g-eval|levenshtein|rouge-n|bleu|latency|cost|perplexity"
    r"|answer-relevance|context-\w+|classifier|moderation|select-best)(?:\([\d.]+\))?:\s*(.*)",
    re.DOTALL,
)
"""An assertion as a cell has it: "contains: 96 hours"; what has no type is to be equal."""
_METADATA = "__metadata:"


def is_test(row: Mapping[str, Any]) -> bool:
    """Whether the row is a test: it has variables, or a column of expectations."""
    return isinstance(row.get("vars"), Mapping) or any(str(title).startswith("__expected") for title in row)


def tests_of(name: str, data: Any) -> list[Any] | None:
    """The tests of a configuration, of a list of tests, or of the results of a run, each once; None where it is none.

    Raises:
        DatasetError: They stand in another file.
    """
    if not isinstance(data, Mapping):
        there = isinstance(data, list) and data and all(isinstance(row, Mapping) and is_test(row) for row in data)
        return list(data) if there else None
    results = data.get("results")
    if isinstance(results, Mapping) and isinstance(results.get("results"), list):
        return _run_tests(results["results"])
    if not (isinstance(data.get("tests"), list | str) and ("prompts" in data or "providers" in data)):
        return None
    tests = as_list(data["tests"])
    elsewhere = next((test for test in tests if isinstance(test, str)), None)
    if elsewhere is not None:
        raise DatasetError(f"{name}: its tests stand in {elsewhere}", "name that file with --dataset-file")
    return tests


def _run_tests(results: list[Any]) -> list[Any]:
    """The test of each result; one that several prompts and providers were given counts once."""
    tests = [result.get("testCase") for result in results if isinstance(result, Mapping)]
    tests = [test for test in tests if isinstance(test, Mapping)]
    return [test for place, test in enumerate(tests) if test not in tests[:place]]


def flat(row: Mapping[str, Any], dropped: Counter[str]) -> dict[str, Any]:
    """The variables of a test as columns, with what its assertions expect.

    What must be equal is the expected answer, else what must be similar, else what must be contained; of what need be
    contained any, each is accepted.

    Args:
        row: The test, or a row of its CSV form.
        dropped: Counts the assertions that expect no answer.

    Raises:
        ValueError: The assertions are no list of objects.
    """
    nested = isinstance(row.get("vars"), Mapping)
    assertions = list(_nested_assertions(row) if nested else _cell_assertions(row))
    result = _nested_columns(row) if nested else _cell_columns(row)
    expected = _expected(assertions, dropped)
    return {**result, "expected_answer": expected} if expected else result


def _nested_columns(row: Mapping[str, Any]) -> dict[str, Any]:
    columns = {key: value for key, value in row["vars"].items() if not _is_file(value)}
    about = {key: row[key] for key in ("description", "metadata") if not is_nothing(row.get(key))}
    return {**columns, **about}


def _cell_columns(row: Mapping[str, Any]) -> dict[str, Any]:
    columns = {title: cell for title, cell in row.items() if not title.startswith("__")}
    about = {title.removeprefix(_METADATA): cell for title, cell in row.items() if title.startswith(_METADATA)}
    return {**columns, **about, "description": row.get("__description")}


def _nested_assertions(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for each in _assertions(row):
        for assertion in _assertions(each) if each.get("type") == "assert-set" else [each]:
            yield str(assertion.get("type")), assertion.get("value")


def _assertions(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = row.get("assert") or []
    if not (isinstance(found, list) and all(isinstance(each, Mapping) for each in found)):
        raise ValueError("`assert` must be a list of assertions")
    return found


def _cell_assertions(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for title, cell in row.items():
        if title.startswith("__expected") and not is_nothing(cell):
            found = _TYPED.fullmatch(str(cell).strip())
            kind, value = (f"{found[1] or ''}{found[2]}", found[3]) if found else ("equals", str(cell))
            yield kind, value.split(",") if kind in _ANY else value


def _expected(assertions: list[tuple[str, Any]], dropped: Counter[str]) -> Any:
    texts: dict[frozenset[str], list[Any]] = {_EXACT: [], _LIKE: [], _PART: [], _ANY: []}
    for kind, value in assertions:
        told = next((kinds for kinds in texts if kind in kinds), None)
        if told is None or isinstance(value, Mapping) or _is_file(value):
            dropped[f"assertion {kind}"] += 1
        else:
            texts[told] += [item.strip() if isinstance(item, str) else item for item in as_list(value)]
    parts = [", ".join(map(str, texts[_PART]))] if texts[_PART] else []
    return texts[_EXACT] or texts[_LIKE] or parts or texts[_ANY]


def _is_file(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("file://")
