"""Is everything there that a run needs? Looked at part by part, before a run is paid for."""

from evals.run.doctor.examination import examine
from evals.run.doctor.findings import Examined, Health

__all__ = ["Examined", "Health", "examine"]
