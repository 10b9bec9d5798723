"""`@pytest.mark.rag_questions`: a test for each question of a file."""

from pathlib import Path

import pytest

from evals.datasets.file import read_file
from evals.errors import EvalsError

_ARGUMENT = "rag_question"


def check_once(test: pytest.Item) -> None:
    """See that a test has no second mark: its file would be left out. One of its class or module is another matter.

    Raises:
        pytest.UsageError: It has.
    """
    if sum(mark.name == "rag_questions" for mark in test.own_markers) > 1:
        raise pytest.UsageError(f"{test.nodeid}: rag_questions stands there twice: name one file that holds them all")


def parametrize(metafunc: pytest.Metafunc, mark: pytest.Mark) -> None:
    """Make a test of each question, called by the question's id.

    Raises:
        pytest.UsageError: The mark names no file, the test takes no `rag_question`, or the file cannot be read.
    """
    name = metafunc.definition.nodeid
    if len(mark.args) != 1 or mark.kwargs or not isinstance(mark.args[0], str | Path):
        raise pytest.UsageError(f'{name}: write the mark with a file: @pytest.mark.rag_questions("questions.jsonl")')
    if _ARGUMENT not in metafunc.fixturenames:
        raise pytest.UsageError(f"{name}: a test with rag_questions takes the argument `{_ARGUMENT}`")
    try:
        questions = list(read_file(_path(metafunc, Path(mark.args[0]))).questions)
    except EvalsError as error:
        raise pytest.UsageError(f"{name}: {error}" + (f" ({error.hint})" if error.hint else "")) from error
    metafunc.parametrize(_ARGUMENT, questions, ids=[question.id for question in questions])


def _path(metafunc: pytest.Metafunc, path: Path) -> Path:
    """The file beside the test, else below the root of the project."""
    beside = metafunc.definition.path.parent / path
    return beside if beside.exists() else metafunc.config.rootpath / path
