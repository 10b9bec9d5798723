"""What went wrong in a run, from the run's own settings."""

from collections.abc import Sequence

from evals.config import EvalConfig
from evals.diagnosis import Finding, diagnose
from evals.metrics.matching import MatchSettings
from evals.schemas import EvalRecord, EvalRun


def find_faults(run: EvalRun, records: Sequence[EvalRecord]) -> list[Finding]:
    """The failures of a run, the gravest first.

    Raises:
        ConfigError: The server's profile, which says how citations count, is not here.
    """
    base = EvalConfig.build(run.eval_config).server_spec().citations.base
    return diagnose(records, MatchSettings(**run.eval_config.get("match", {})), citation_base=base)
