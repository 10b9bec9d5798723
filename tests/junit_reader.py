"""A JUnit report as a strict reader sees it."""

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from lxml import etree

_SCHEMA = Path(__file__).resolve().parent / "export" / "junit.xsd"


@cache
def _schema() -> Any:
    return etree.XMLSchema(etree.parse(_SCHEMA))


def read_junit(document: bytes | str) -> dict[tuple[str, str], tuple[str, str, str]]:
    """By class and name of each case: how it ended ("passed", "failure", "error", "skipped"), its type and its message.

    The document must be valid, each suite must count its cases right, and no two cases may be the same one.
    """
    root = etree.fromstring(document.encode() if isinstance(document, str) else document)
    _schema().assertValid(root)
    found: dict[tuple[str, str], tuple[str, str, str]] = {}
    for suite in root:
        results = Counter(case[0].tag if len(case) else "passed" for case in suite)
        told = {tag: int(suite.get(name)) for tag, name in (("failure", "failures"), ("error", "errors"))}
        assert (int(suite.get("tests")), told) == (len(suite), {tag: results[tag] for tag in told})
        assert int(suite.get("skipped")) == results["skipped"]
        for case in suite:
            key = case.get("classname"), case.get("name")
            assert key not in found, key
            result = case[0] if len(case) else None
            found[key] = (
                ("passed", "", "") if result is None else (result.tag, result.get("type"), result.get("message"))
            )
    assert int(root.get("tests")) == len(found)
    assert int(root.get("failures")) == sum(result == "failure" for result, _, _ in found.values())
    return found


def suites_of(document: bytes | str) -> list[str]:
    """The names of the suites."""
    return [
        suite.get("name") for suite in etree.fromstring(document.encode() if isinstance(document, str) else document)
    ]
