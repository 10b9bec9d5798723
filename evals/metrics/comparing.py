"""What the metrics share that compare texts by a model which runs here."""

from evals.case.case import Case
from evals.semantics.base import Embedder, Semantics

EMBEDDING_NOT_FINITE = "the embedder gave numbers that are not finite"
"""Why a metric of embeddings has no value where it cannot be computed from them."""


class Comparing:
    """A metric that compares texts with the models of the run, else with its own."""

    semantics: Semantics | None
    """Used by `compute`; a run brings its own."""

    def semantics_for(self, case: Case) -> Semantics | None:
        """What the texts of this case are compared with; None where nothing was loaded."""
        return case.semantics or self.semantics

    def embedder(self, case: Case) -> Embedder | None:
        """What turns texts into vectors; None where it is not there."""
        semantics = self.semantics_for(case)
        return semantics.embedder if semantics else None
