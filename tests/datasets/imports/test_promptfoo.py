"""Tests of promptfoo, in the three forms in which it keeps them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evals.datasets.base import Draft
from evals.datasets.file import read_file
from evals.errors import DatasetError

CONFIG = """
prompts: ["{{query}}"]
providers: [echo]
tests:
  - description: ports
    vars: {query: "Which ports?", context: "One USB-C port.", table: "file://ports.csv"}
    assert: [{type: llm-rubric, value: says USB-C}, {type: contains, value: USB-C}, {type: icontains, value: one}]
    metadata: {topic: hardware}
  - vars: {query: "How long?"}
    assert: [{type: contains, value: hours}, {type: equals, value: 96}]
  - vars: {query: "Is it new?"}
"""


def read(folder: Path, name: str, content: str) -> Draft:
    (folder / name).write_text(content, encoding="utf-8")
    return read_file(folder / name)


def test_a_configuration_is_read_by_its_tests(tmp_path: Path) -> None:
    """What must be equal goes before what must be contained; what a model is to judge is the question's rubric."""
    content = read(tmp_path, "promptfooconfig.yaml", CONFIG)
    assert [q.question for q in content.questions] == ["Which ports?", "How long?", "Is it new?"]
    assert [q.expected_answer for q in content.questions] == ["USB-C, one", "96", None]
    assert [[gold.text for gold in q.gold_passages] for q in content.questions] == [["One USB-C port."], [], []]
    assert [q.metadata for q in content.questions] == [{"description": "ports", "topic": "hardware"}, {}, {}]
    assert [q.rubric for q in content.questions] == [["says USB-C"], [], []]
    assert not content.dropped


@pytest.mark.parametrize(
    ("assertions", "expected", "answers", "dropped"),
    [
        ([{"type": "contains-any", "value": ["a", "b"]}], "a", ["a", "b"], []),
        ([{"type": "contains", "value": "b"}, {"type": "similar", "value": "It is a."}], "It is a.", [], []),
        ([{"type": "assert-set", "assert": [{"type": "equals", "value": "a"}]}], "a", [], []),
        ([{"type": "icontains-all", "value": ["a", "b"]}], None, [], ["icontains-all"]),
        ([{"type": "not-contains", "value": "a"}, {"type": "is-json"}], None, [], ["not-contains", "is-json"]),
        ([{"type": "equals", "value": {"a": 1}}, {"type": "equals", "value": "file://a"}], None, [], ["equals"] * 2),
    ],
    ids=str,
)  # fmt: skip
def test_assertions_that_name_an_answer_are_expectations(
    tmp_path: Path, assertions: list[dict[str, Any]], expected: str | None, answers: list[str], dropped: list[str]
) -> None:
    """The others are counted by their type."""
    content = read(tmp_path, "q.json", json.dumps([{"vars": {"question": "Which?"}, "assert": assertions}]))
    (question,) = content.questions
    assert (question.expected_answer, question.answers) == (expected, answers)
    assert content.dropped == Counter(f"assertion {kind}" for kind in dropped)


def test_the_results_of_a_run_are_its_tests_each_once(tmp_path: Path) -> None:
    """One that two providers were given is one question; what they answered is no part of it."""
    tests = [{"vars": {"question": f"{name}?"}, "assert": [{"type": "equals", "value": name}]} for name in "ab"]
    results = [
        {"testCase": test, "provider": {"id": provider}, "response": {"output": "wrong"}}
        for test in tests for provider in ("one", "two")
    ]  # fmt: skip
    content = read(tmp_path, "output.json", json.dumps({"evalId": "e", "results": {"version": 3, "results": results}}))
    assert [(q.question, q.expected_answer) for q in content.questions] == [("a?", "a"), ("b?", "b")]


def test_a_table_of_tests_has_its_assertions_in_columns(tmp_path: Path) -> None:
    """A type stands before the first colon; what is no type is part of the answer."""
    content = read(
        tmp_path,
        "tests.csv",
        "question,__expected,__expected2,__description,__metadata:topic,__threshold\n"
        "a?,contains: 96 hours,llm-rubric: is short,first,power,0.5\n"
        "b?,Note: it is 5,,,,\n"
        'c?,"contains-any: 5, five",,,,\n'
        "d?,similar(0.8): It is five.,,,,\n"
        "e?,,,,,\n",
    )
    assert [q.expected_answer for q in content.questions] == ["96 hours", "Note: it is 5", "5", "It is five.", None]
    assert content.questions[2].answers == ["5", "five"]
    assert content.questions[0].metadata == {"topic": "power", "description": "first"}
    assert [q.rubric for q in content.questions] == [["is short"], [], [], [], []]
    assert not content.dropped


@pytest.mark.parametrize("tests", ['"file://tests.csv"', '["file://tests.csv"]'])
def test_tests_that_stand_elsewhere_are_named(tmp_path: Path, tests: str) -> None:
    """Nothing is read of a configuration without tests."""
    with pytest.raises(DatasetError, match=r"q\.json: its tests are in file://tests\.csv") as caught:
        read(tmp_path, "q.json", f'{{"prompts": [], "tests": {tests}}}')
    assert caught.value.hint == "name that file with --dataset-file"


def test_a_variable_of_any_name_can_be_the_question(tmp_path: Path) -> None:
    """The message lists the variables, and --columns says which."""
    path = tmp_path / "q.jsonl"
    path.write_text('{"vars": {"ask": "a?"}}\n{"vars": {"ask": "b?", "lang": "en"}}')
    with pytest.raises(DatasetError, match="no column holds the question; its columns: ask, lang"):
        read_file(path)
    assert [q.question for q in read_file(path, {"question": "ask"}).questions] == ["a?", "b?"]


@pytest.mark.parametrize("assertions", ['"x"', "[5]", '[{"type": "assert-set", "assert": 5}]'])
def test_assertions_that_are_none_are_told_by_their_row(tmp_path: Path, assertions: str) -> None:
    """No traceback for a slip in a file."""
    with pytest.raises(DatasetError, match=r"q\.jsonl, line 1: `assert` must be a list of assertions"):
        read(tmp_path, "q.jsonl", f'{{"vars": {{"question": "a"}}, "assert": {assertions}}}')
