"""Records made without checking are those that checking makes."""

import copy
import pickle

import pytest
from pydantic import ValidationError

from evals.metrics import MRR, RecallAtK
from evals.schemas import MetricGroup, MetricResult

CHECKED = MetricResult(name="mrr", group=MetricGroup.RETRIEVAL, value=0.5, details={"hit_ranks": [2]})


def made() -> MetricResult:
    return MRR().result(0.5, hit_ranks=[2])


def test_a_result_is_the_one_that_checking_makes() -> None:
    """Equal, and written as the same JSON."""
    assert made() == CHECKED
    assert made().model_dump_json() == CHECKED.model_dump_json()


def test_it_can_be_copied_changed_and_sent_to_another_process() -> None:
    """As every record can; the one that it was copied from stays as it is."""
    result = made()
    changed = result.model_copy(update={"details": {}})
    assert (changed.details, result.details) == ({}, {"hit_ranks": [2]})
    assert pickle.loads(pickle.dumps(result)) == copy.deepcopy(result) == result  # noqa: S301 - our own bytes
    assert made().model_fields_set == set(MetricResult.model_fields)


def test_a_number_that_json_cannot_hold_is_refused() -> None:
    """Also where results are made fast."""
    with pytest.raises(ValidationError, match="finite number"):
        RecallAtK(5).result(float("nan"))
