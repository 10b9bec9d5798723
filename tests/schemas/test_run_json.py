"""The JSON of a saved run."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from evals.schemas import EvalRun

KEYS = {
    (): {
        "id", "name", "created_at", "completed_at", "config", "datasets", "scorecard", "weighted_score",
        "question_count", "error_count",
    },
    ("config",): {
        "llm_model", "llm_provider", "embedding_model", "reranker_model", "retrieval_top_k", "hybrid_search_enabled",
        "contextual_retrieval_enabled",
    },
    ("scorecard",): {"metrics", "by_group"},
    ("scorecard", "metrics", 0): {"name", "value", "group", "sample_size"},
    ("weighted_score",): {"score", "objectives", "weights"},
}  # fmt: skip


@pytest.mark.parametrize(("path", "keys"), KEYS.items(), ids=[".".join(map(str, path)) or "run" for path in KEYS])
def test_a_saved_run_has_the_keys_of_the_published_example(
    make_run: Callable[..., EvalRun], path: tuple[str | int, ...], keys: set[str]
) -> None:
    """Every key of the published example stands at its place, by that very name."""
    part = json.loads(make_run().model_dump_json())
    for step in path:
        part = part[step]
    assert keys <= set(part)


@pytest.mark.parametrize("key", ["created_at", "completed_at"])
def test_a_time_without_offset_is_refused(make_run: Callable[..., EvalRun], key: str) -> None:
    """A naive time, which could mean any zone, is an error."""
    with pytest.raises(ValidationError, match=key):
        make_run(**{key: datetime(2026, 1, 15, 10, 0)})  # noqa: DTZ001 - the very thing that is refused


def test_the_stem_gives_the_time_in_utc(make_run: Callable[..., EvalRun]) -> None:
    """The timestamp that ends in Z is UTC, whatever the zone of created_at."""
    east = timezone(timedelta(hours=2))
    assert make_run(created_at=datetime(2026, 1, 15, 10, 0, tzinfo=east)).stem == "abc12345_20260115T080000Z"
    assert make_run(created_at=datetime(2026, 1, 15, 10, 0, tzinfo=UTC)).stem == "abc12345_20260115T100000Z"


@pytest.mark.parametrize("run_id", ["", "ABC", "a/b", "..", "a_b", "a b"])
def test_a_run_id_has_no_letters_that_could_leave_the_folder(make_run: Callable[..., EvalRun], run_id: str) -> None:
    """Run ids are small letters, digits and hyphens only."""
    with pytest.raises(ValidationError, match="id"):
        make_run(id=run_id)
