"""A wrong value of a flag is told by the flag."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.cli.flags import EvalFlags
from evals.cli.measuring import overrides
from evals.errors import ConfigError

Cli = Callable[..., Any]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"match": "fuzzy"}, "--match must be 'auto', .* or 'document', not 'fuzzy'"),
        ({"concurrency": 0}, "--concurrency must be at least 1, not 0"),
        ({"concurrency": "1,,4"}, "--concurrency must be a number, or several with commas, not '1,,4'"),
        ({"concurrency": "1,4,"}, "--concurrency must be a number, or several with commas, not '1,4,'"),
        ({"rps": 1e-9}, "--rps must be at least 0.001, which is a request in 17 minutes"),
        ({"rps": 0.0}, "--rps must be above 0, not 0.0"),
        ({"warmup": 101}, "--warmup must be at most 100, not 101"),
        ({"on_error": "ignore"}, "--on-error must be 'exclude' or 'worst', not 'ignore'"),
        ({"max_error_rate": 2.0}, "--max-error-rate must be at most 1, not 2.0"),
        ({"max_cost": float("nan")}, "--max-cost must be a finite number, not nan"),
        ({"judge_repeats": 99}, "--judge-repeats must be at most 10, not 99"),
        ({"judge_base_url": "nowhere"}, "--judge-base-url must begin with http"),
        ({"seed": 1, "concurrency": 0, "judge": False}, "--concurrency must be"),
    ],
    ids=str,
)
def test_a_wrong_value_is_told_by_its_flag(flags: dict[str, Any], message: str) -> None:
    """Who wrote no configuration file is not told of a key of one."""
    with pytest.raises(ConfigError, match=f"^{message}"):
        overrides(EvalFlags(**flags))


def test_flags_that_are_right_only_with_a_file_are_taken() -> None:
    """A model's name may need the provider that the file names: that is seen when both are laid together."""
    assert overrides(EvalFlags(judge_model="qwen3:8b"))["judge"]["model"] == "qwen3:8b"
    assert overrides(EvalFlags(judge_model="openai:"))["judge"]["model"] == "openai:"


def test_a_key_of_a_file_is_still_told_by_its_key(evals_cli: Cli, tmp_path: Path) -> None:
    """The file is wrong then, and not the flag beside it."""
    (tmp_path / "o.yml").write_text("match: {rule: fuzzy}\n")
    done = evals_cli("eval", "--no-judge", "--seed", 1, "--config", tmp_path / "o.yml", "--runs-dir", tmp_path)
    assert done.code == 2
    assert "configuration: match.rule: must be" in done.err


def test_resume_tells_the_flag_as_it_was_written(evals_cli: Cli, tmp_path: Path) -> None:
    """--no-judge is not --judge."""
    done = evals_cli("eval", "--resume", "x", "--no-judge", "--no-judge-cache", "--samples", 3, "--runs-dir", tmp_path)
    assert done.code == 2
    assert "so not --no-judge, --samples\n" in done.err
