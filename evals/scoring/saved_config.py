"""What a saved run says of its configuration, read without what measures.

A run is read with what it says of itself and nothing else. Keys that this version does not know are passed over, as a
newer one may have written them.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from evals.errors import ConfigError
from evals.inputs.problems import first_problem
from evals.schemas import EvalRun
from evals.scoring.config import ScoringConfig

_Part = TypeVar("_Part", bound=BaseModel)


def scoring_config(run: EvalRun) -> ScoringConfig:
    """The weights, feeds and thresholds of the run's weighted score.

    Raises:
        ConfigError: They were changed by hand to something that cannot be.
    """
    return valid_part(ScoringConfig, run, "scoring")


def _part(run: EvalRun, key: str) -> Mapping[str, Any]:
    part = run.eval_config.get(key)
    return part if isinstance(part, Mapping) else {}


def valid_part(model: type[_Part], run: EvalRun, key: str) -> _Part:
    """A part of the run's configuration, as it stands in the run.

    Raises:
        ConfigError: It was changed by hand to something that cannot be.
    """
    known = {name: value for name, value in _part(run, key).items() if name in model.model_fields}
    try:
        return model.model_validate(known)
    except ValidationError as error:
        problem = first_problem(error, model)
        raise ConfigError(
            f"run {run.id} holds a configuration that cannot be: {key}.{problem}", problem.hint
        ) from error
