"""What a program takes from the packages of datasets, judges and metrics by their short names."""

import subprocess
import sys

import pytest

import evals.datasets
import evals.judges
import evals.metrics
from evals.datasets import registry
from evals.judges.llm_judge import LLMJudge
from evals.metrics.registry import METRICS


def test_the_short_names_are_those_of_their_modules() -> None:
    """One object under two names."""
    for name in evals.datasets.__all__:
        assert getattr(evals.datasets, name) is getattr(registry, name)
    assert evals.judges.LLMJudge is LLMJudge


@pytest.mark.parametrize("cls", METRICS, ids=lambda cls: cls.__name__)
def test_every_metric_is_exported_by_the_package(cls: type) -> None:
    """Whatever its suite, a metric is imported from `evals.metrics`, and no two have one name."""
    assert getattr(evals.metrics, cls.__name__) is cls
    assert cls.__name__ in dir(evals.metrics)


def test_the_other_names_of_metrics_are_there() -> None:
    """What `__all__` names can be imported."""
    assert [name for name in evals.metrics.__all__ if not hasattr(evals.metrics, name)] == []


@pytest.mark.parametrize("package", [evals.datasets, evals.judges, evals.metrics])
@pytest.mark.parametrize("name", ["regsiter", "RecalAtK"])
def test_another_name_is_an_attribute_error(package: object, name: str) -> None:
    """Lazy importing does not hide typing errors."""
    with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
        getattr(package, name)


@pytest.mark.parametrize(
    ("package", "module"),
    [("datasets", "registry"), ("judges", "llm_judge"), ("metrics", "registry"), ("metrics", "base")],
)
def test_importing_a_package_does_not_import_what_it_exports(package: str, module: str) -> None:
    """The names cost nothing until they are used."""
    code = f"import sys, evals.{package}; print('evals.{package}.{module}' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
