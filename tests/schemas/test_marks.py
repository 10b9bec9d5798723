"""What may change of a run that has begun is said by the keys themselves."""

from evals.client.spec import ServerSpec
from evals.config import EvalConfig
from evals.schemas.base import MayChange, marked


def test_what_may_change_is_what_could_change_before_there_were_marks() -> None:
    """Saved runs are resumed and measured again by these rules."""
    assert marked(EvalConfig, MayChange.ON_RESUME) == {
        "concurrency", "rps", "runs_dir", "preflight", "max_error_rate", "judge.max_cost_usd", "judge.cache", "gate",
        "judge.max_error_rate", "judge.max_input_tokens", "allow_uncalibrated", "judge.batch", "judge.batch_poll_s",
        "judge.batch_timeout_s", "dask",
    }  # fmt: skip
    assert marked(EvalConfig, MayChange.ON_RESCORE) == {
        "name", "suite", "metrics", "judged", "match", "judge", "semantic", "prices", "scoring", "confidence", "gate",
        "on_error", "max_error_rate", "runs_dir", "allow_uncalibrated",
    }  # fmt: skip
    assert marked(ServerSpec, MayChange.ON_RESUME) == {"deadline_s", "patience_s", "timeout_s"}
    remapped = {"profile", "map", "citations", "clean", "stream"}
    assert marked(ServerSpec, MayChange.ON_REMAP) == remapped | {"retrieve.map"}
    assert marked(ServerSpec, MayChange.ON_RESCORE) == {"usage_needs_concurrency"}
