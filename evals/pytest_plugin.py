"""The plugin of pytest: options, the mark and fixtures. All that they need is imported when a test asks for it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evals.config import EvalConfig
    from evals.schemas.dataset import EvalQuestion
    from evals.schemas.response import EvalResponse
    from evals.schemas.results import EvalRun
    from evals.testing import RagClient

_MARK = "rag_questions(file): run the test once for each question of the file; it takes `rag_question`"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of an evaluation."""
    group = parser.getgroup("evals", "evaluation of a RAG server")
    group.addoption("--run-eval", action="store_true", help="ask the server; without it, tests that would are skipped")
    group.addoption("--eval-samples", type=int, metavar="N", help="questions of each dataset (as configured, else 5)")
    group.addoption(
        "--eval-config", metavar="FILE", help="configuration of the evaluation, as of `evals eval --config`"
    )
    parser.addini("eval_config", "configuration of the evaluation, where --eval-config names none", type="string")


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line("markers", _MARK)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each question that a mark names."""
    marks = list(metafunc.definition.iter_markers("rag_questions"))
    if marks:
        from evals.testing import parametrize

        parametrize(metafunc, marks)


@pytest.fixture(scope="session")
def rag_config(pytestconfig: pytest.Config) -> "EvalConfig":
    """The configuration: of --eval-config, or of the golden set on RAG_SERVER_URL or the embedded server."""
    from evals.testing import configured

    return configured(pytestconfig)


@pytest.fixture(scope="session")
def rag_dataset(rag_config: "EvalConfig") -> "Sequence[EvalQuestion]":
    """The questions of the configured datasets."""
    from evals.run.workload import load_workload

    return list(load_workload(rag_config).questions)


@pytest.fixture(scope="session")
def rag_client(rag_wanted: None, rag_config: "EvalConfig") -> "Iterator[RagClient]":
    """Asks the server, one question at a time: `rag_client.ask("…")`."""
    from evals.testing import RagClient

    with RagClient(rag_config) as client:
        yield client


@pytest.fixture
def rag_judge() -> None:
    """Gone: it measured one answer."""
    pytest.fail("there is no fixture rag_judge any more: use rag_run with a judge, and the scores of rag_run.records()")


@pytest.fixture(scope="session")
def rag_run(
    rag_wanted: None,  # before the configuration, which a skipped test does without
    rag_config: "EvalConfig",
    tmp_path_factory: pytest.TempPathFactory,
) -> "EvalRun":
    """One saved run of the configuration, made once and shared by all workers of pytest-xdist."""
    from evals.testing import shared_run

    return shared_run(rag_config, tmp_path_factory)


@pytest.fixture(scope="session")
def rag_wanted(pytestconfig: pytest.Config) -> None:
    """Skip what asks a server, unless --run-eval is given."""
    if not pytestconfig.getoption("--run-eval"):
        pytest.skip("evaluates a server only with --run-eval")


@pytest.fixture
def rag_response(rag_question: "EvalQuestion", rag_client: "RagClient") -> "EvalResponse":
    """What the server says to the question of the test."""
    return rag_client.answer(rag_question)
