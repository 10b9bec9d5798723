"""Flags as they are typed."""

from evals.errors import ConfigError


def flag_name(name: str, value: object = None) -> str:
    """The flag as it was typed: `dry_run` is --dry-run, and a judge that is switched off (False) is --no-judge."""
    return f"--{'no-' if value is False else ''}{name.replace('_', '-')}"


def sample_count(samples: int) -> int | None:
    """How many questions of each dataset --samples asks for; None for all.

    Raises:
        ConfigError: The number is below 0.
    """
    if samples < 0:
        raise ConfigError(f"--samples must be 0 (all) or more, not {samples}")
    return samples or None
