"""The configuration of an evaluation within pytest."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.run.workload import load_workload
from evals.schemas import EvalQuestion

_SAMPLES = 5


def configured(config: pytest.Config) -> EvalConfig:
    """What --eval-config or the ini key `eval_config` names, with --eval-samples laid over it.

    Where neither is there: a few golden questions, without a judge, asked of RAG_SERVER_URL or the embedded server.

    Raises:
        ConfigError: The file cannot be read, or a key of it is wrong.
    """
    samples = config.getoption("--eval-samples")
    over: dict[str, Any] = {} if samples is None else {"samples_per_dataset": samples}
    path = _file(config)
    if path is not None:
        return EvalConfig.from_file(path, over)
    url = os.environ.get("RAG_SERVER_URL")
    server: dict[str, Any] = {"rag_server_url": url} if url else {"embedded": True}
    return EvalConfig.build({"datasets": ["golden"], "samples_per_dataset": _SAMPLES, "judge": False, **server}, over)


def _file(config: pytest.Config) -> Path | None:
    """The file: of the option from where pytest was started, of the ini key from where the ini file stands."""
    option, ini = config.getoption("--eval-config"), config.getini("eval_config")
    if option:
        return _there(config.invocation_params.dir / option, "--eval-config")
    return _there((config.inipath.parent if config.inipath else config.rootpath) / ini, "eval_config") if ini else None


def _there(path: Path, key: str) -> Path:
    if not path.is_file():
        raise ConfigError(f"{key}: there is no file {path}", "name the configuration of the evaluation")
    return path


def questions_of(config: EvalConfig) -> Sequence[EvalQuestion]:
    """The questions of the configured datasets.

    Raises:
        DatasetError: They cannot be had or read.
    """
    return list(load_workload(config).questions)
