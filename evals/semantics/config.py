"""The part of the configuration that says which models compare texts."""

from pathlib import Path

from pydantic import Field

from evals.schemas.base import Finite, Record
from evals.semantics.loading import ModelChoice


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
    sentence_coverage_threshold: Finite = Field(default=0.85, ge=0, le=1)
    """From which BERTScore on a key sentence counts as covered."""
    device: str | None = None
    """Where the models run, such as cpu or cuda:1; the best there is where None."""

    def choice(self, *, embedder: bool, scorer: bool) -> ModelChoice:
        """The same, as models are loaded by it: those that are wanted."""
        return ModelChoice(
            embedder=_folder(self.embedder) if embedder else None,
            scorer=_folder(self.bert_score_model) if scorer else None,
            layers=self.bert_score_layers,
            rescale=self.bert_score_rescale,
            device=self.device,
            coverage_threshold=self.sentence_coverage_threshold,
        )


def _folder(model: str) -> str:
    return str(Path(model).expanduser()) if model.startswith("~") else model
