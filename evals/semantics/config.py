"""The part of the configuration that says which models compare texts."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from evals.schemas.base import Finite, Record
from evals.semantics.base import COVERAGE_THRESHOLD


class SemanticConfig(Record):
    """The models that compare texts by meaning (extra `semantic`; see docs/semantic.md)."""

    embedder: str = "sentence-transformers/all-MiniLM-L6-v2"
    """A model of sentence-transformers: its id on the hub, or its folder."""
    bert_score_model: str = "microsoft/deberta-xlarge-mnli"
    """The model of BERTScore: its id on the hub, or its folder."""
    bert_score_layers: int | None = Field(default=None, ge=1)
    """The layer that is compared; bert-score's choice for the model where None, which it does not have for a folder."""
    bert_score_rescale: bool = False
    """Spread scores by bert-score's English baseline for the model; 0.85 means something else then."""
    sentence_coverage_threshold: Finite = Field(default=COVERAGE_THRESHOLD, ge=0, le=1)
    """From which BERTScore on a key sentence counts as covered."""
    device: str | None = None
    """Where the models run, such as cpu or cuda:1; the best there is where None."""

    def choice(self, *, embedder: bool, scorer: bool) -> "ModelChoice":
        """Those of the models that are wanted, with `~` in the name of a folder resolved."""
        names = {"embedder": _without_tilde(self.embedder), "bert_score_model": _without_tilde(self.bert_score_model)}
        return ModelChoice(self.model_copy(update=names), embedder=embedder, scorer=scorer)


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The models that the metrics of a run want.

    Attributes:
        config: How both are configured.
        embedder: Whether a metric wants the embedder.
        scorer: Whether a metric wants BERTScore.
    """

    config: SemanticConfig
    embedder: bool
    scorer: bool

    @property
    def empty(self) -> bool:
        """Whether no model is wanted."""
        return not (self.embedder or self.scorer)


def _without_tilde(model: str) -> str:
    return str(Path(model).expanduser()) if model.startswith("~") else model
