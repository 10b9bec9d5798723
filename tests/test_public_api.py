"""The public names of the package."""

import subprocess
import sys

import pytest

import evals
from evals import errors


def test_every_public_name_can_be_imported() -> None:
    """What `__all__` promises is there, each name once, and sorted."""
    assert list(evals.__all__) == sorted(set(evals.__all__))
    for name in evals.__all__:
        assert getattr(evals, name) is not None
    assert dir(evals) == evals.__all__


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    """Lazy importing does not hide typing errors."""
    with pytest.raises(AttributeError, match="no attribute 'run_evaluatoin'"):
        evals.run_evaluatoin  # noqa: B018


def test_the_snippet_of_the_documentation_works() -> None:
    """The names of the programmatic use are where the documentation says."""
    code = (
        "from evals import EvalConfig, run_evaluation, DatasetName\n"
        "from evals.runner import RAGClient\n"
        "from evals.datasets.registry import register, get_loader, list_available\n"
        "config = EvalConfig(datasets=[DatasetName.GOLDEN, DatasetName.SQUAD_V2], samples_per_dataset=50,\n"
        "                    rag_server_url='http://localhost:8001')\n"
        "print(config.rag_server_url, config.dataset_names, config.samples_per_dataset)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "http://localhost:8001 ['golden', 'squad_v2'] 50"


def test_every_error_is_drawn_in_the_tree_with_its_exit_code() -> None:
    """The tree at the head of errors.py is complete and true."""
    drawn = {
        words[0]: int(words[1])
        for line in (errors.__doc__ or "").splitlines()
        if (words := line.strip("│├└─ ").split()) and words[0].endswith("Error") and words[1:2] and words[1].isdigit()
    }
    classes = {
        name: cls.exit_code
        for name, cls in vars(errors).items()
        if isinstance(cls, type) and issubclass(cls, errors.EvalsError)
    }
    assert drawn == classes
