"""What a program takes from the packages of datasets and judges by their short names."""

import subprocess
import sys

import pytest

import evals.datasets
import evals.judges
from evals.datasets import registry
from evals.judges.llm_judge import LLMJudge


def test_the_short_names_are_those_of_their_modules() -> None:
    """One object under two names."""
    for name in evals.datasets.__all__:
        assert getattr(evals.datasets, name) is getattr(registry, name)
    assert evals.judges.LLMJudge is LLMJudge


@pytest.mark.parametrize("package", [evals.datasets, evals.judges])
def test_another_name_is_an_attribute_error(package: object) -> None:
    """Lazy importing does not hide typing errors."""
    with pytest.raises(AttributeError, match="no attribute 'regsiter'"):
        package.regsiter  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(("package", "module"), [("datasets", "registry"), ("judges", "llm_judge")])
def test_importing_a_package_does_not_import_what_it_exports(package: str, module: str) -> None:
    """The names cost nothing until they are used."""
    code = f"import sys, evals.{package}; print('evals.{package}.{module}' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
