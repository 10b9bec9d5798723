"""What the library says is read in a shell, in Python and in saved runs: which of them may speak of flags."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "evals"
ELSEWHERE = (
    "cli/",
    "testing.py",
    "pytest_plugin.py",
    "reference_server/",
    "run/embedded.py",
)
"""The command line and the options of pytest, a program of its own with its arguments."""
SOURCES = [path for path in PACKAGE.rglob("*.py") if not path.relative_to(PACKAGE).as_posix().startswith(ELSEWHERE)]
HINTS_BY_ANOTHER_WAY = {
    "report/summary.py",  # the headings of the terminal
    "report/compared.py",  # the way to all metrics, on the terminal alone
    "compare/conditions.py",  # the way to compare latency
    "compare/paired.py",  # the way to test one metric alone
    "store/runs.py",  # the ways out of errors, which become hints
    "judges/cache.py",  # given to errors by a property
    "judges/config.py",  # given to errors by pydantic
    "datasets/columns.py",  # hints in a variable
    "run/discover.py",  # of `evals init` alone
    "errors.py",  # withdrawn flags
    "runner.py",  # the way on, which becomes a hint
    "judges/prompts.py",  # a hint in a variable
    "client/rag_client.py",  # hints in variables
    "client/ingest.py",  # the same
    "judges/llm_judge.py",  # the hint of a judge that cannot be used
    "scoring/calibration.py",  # a hint in a variable
    "run/checks.py",  # the way out of a check, which becomes a hint
    "run/merge.py",  # the ways out of a merge, which become hints
    "run/resume.py",  # the ways out of a check, which become hints
}


def _texts(tree: ast.AST) -> Iterator[ast.Constant]:
    """Texts of a module that are no docstrings."""
    docs = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docs:
            yield node


def _hints(tree: ast.AST) -> Iterator[ast.AST]:
    """What stands in the hints of errors, and in constants called HINT."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and "HINT" in ast.unparse(node.targets[0]):
            yield from ast.walk(node)
        if isinstance(node, ast.Call) and re.search(r"(Error|kind)$", ast.unparse(node.func)):
            yield from (part for hint in node.args[1:] for part in ast.walk(hint))


def _flags(text: ast.Constant) -> list[str]:
    return re.findall(r"(?<![\w-])--[a-z][a-z-]+", str(text.value))


def test_no_message_reason_or_note_of_the_library_speaks_of_flags() -> None:
    """They are read from Python and in saved runs too; hints alone may."""
    said = set()
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        hints = set(_hints(tree))
        said |= {path.relative_to(PACKAGE).as_posix() for text in _texts(tree) if text not in hints and _flags(text)}
    assert said - HINTS_BY_ANOTHER_WAY == set()
