"""Metrics: pure functions of a record. They know no clock, no network and no randomness.

Every built-in metric is an attribute of this package, by the name of its class. Names are imported when they are first
used, since a metric needs one module of this package only.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evals.metrics.base import Aggregation as Aggregation
    from evals.metrics.base import AtK as AtK
    from evals.metrics.base import BaseMetric as BaseMetric
    from evals.metrics.base import Need as Need
    from evals.metrics.performance import Price as Price
    from evals.metrics.registry import parse_metric as parse_metric
    from evals.metrics.registry import select as select
    from evals.metrics.sample import Sample as Sample
    from evals.text.matching import MatchSettings as MatchSettings

_WHERE = {
    **dict.fromkeys(("Aggregation", "AtK", "BaseMetric", "Need"), "evals.metrics.base"),
    **dict.fromkeys(("parse_metric", "select"), "evals.metrics.registry"),
    "Price": "evals.metrics.performance",
    "Sample": "evals.metrics.sample",
    "MatchSettings": "evals.text.matching",
}
"""Where the names are that are no metrics; those of metrics are in the registry."""


def __getattr__(name: str) -> Any:
    if name == "__all__":  # for `from evals.metrics import *`
        return __dir__()
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    # The registry imports the modules of this package from it: for their names, in lower case, it is not asked.
    if name[:1].isupper() and (cls := _classes().get(name)):
        return cls
    raise AttributeError(f"module 'evals.metrics' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*_WHERE, *_classes()})


def _classes() -> dict[str, Any]:
    return {cls.__name__: cls for cls in import_module("evals.metrics.registry").METRICS}
