"""From the names of models to what metrics compare texts with, checked before anything is asked."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from evals.errors import ConfigError
from evals.semantics.base import COVERAGE_THRESHOLD, Embedder, Semantics, TextScorer
from evals.semantics.bert_scorer import BertScorer, knows_layers
from evals.semantics.memo import RememberingEmbedder, RememberingScorer
from evals.semantics.sentence_transformers_embedder import SentenceTransformersEmbedder

INSTALL = "pip install 'rag-evals[semantic]'"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Which models compare texts.

    Attributes:
        embedder: Hub id or folder; None where no metric wants an embedder.
        scorer: Hub id or folder of BERTScore's model; None where no metric wants it.
        layers: The layer of it that is compared; None for the package's choice.
        rescale: Whether scores are spread by the package's baseline.
        device: Where models run; the best there is where None.
        coverage_threshold: From which BERTScore on a key sentence counts as covered.
    """

    embedder: str | None = None
    scorer: str | None = None
    layers: int | None = None
    rescale: bool = False
    device: str | None = None
    coverage_threshold: float = COVERAGE_THRESHOLD


def check_choice(choice: ModelChoice) -> None:
    """Check what can be known without loading anything.

    Raises:
        ConfigError: A folder does not exist, or its layer is not said.
    """
    for key, model in (("embedder", choice.embedder), ("bert_score_model", choice.scorer)):
        if model is not None and _looks_like_a_path(model) and not Path(model).is_dir():
            raise ConfigError(
                f"semantic.{key}: there is no folder {model}", "name the folder of a model, or a model of the hub"
            )
    if choice.scorer is not None and Path(choice.scorer).is_dir() and choice.layers is None:
        raise ConfigError(
            f"semantic.bert_score_model is a folder ({choice.scorer}), so nobody knows which layer to compare",
            "set semantic.bert_score_layers, for example to 9 for a BERT of 12 layers",
        )


def load_semantics(choice: ModelChoice, settle_hub: Callable[[], bool]) -> Semantics:
    """Load the models; a package that is not installed is a reason, not an error.

    Args:
        choice: Which.
        settle_hub: Says whether the hub answers, and keeps the libraries from trying where it does not; asked only
            where a model is not a folder.

    Raises:
        ConfigError: A model cannot be loaded.
    """
    check_choice(choice)
    needed = {"sentence-transformers": choice.embedder, "bert-score": choice.scorer}
    missing = [name for name, model in needed.items() if model and find_spec(name.replace("-", "_")) is None]
    embedder = scorer = None
    if choice.embedder is not None and "sentence-transformers" not in missing:
        embedder = RememberingEmbedder(_load_embedder(choice.embedder, choice.device, settle_hub))
    if choice.scorer is not None and "bert-score" not in missing:
        scorer = RememberingScorer(_load_scorer(choice.scorer, choice, settle_hub))
    return Semantics(embedder, scorer, _not_installed(missing), choice.coverage_threshold)


def _not_installed(packages: list[str]) -> str | None:
    if not packages:
        return None
    return f"{' and '.join(packages)} {'are' if packages[1:] else 'is'} not installed: {INSTALL}"


def _load_embedder(model: str, device: str | None, settle_hub: Callable[[], bool]) -> Embedder:
    reached = Path(model).is_dir() or settle_hub()
    try:
        return SentenceTransformersEmbedder(model, device=device)
    except Exception as error:  # libraries raise what they like for a model they cannot load; it stays the cause
        raise _cannot_load("semantic.embedder", model, error, reached=reached) from error


def _load_scorer(model: str, choice: ModelChoice, settle_hub: Callable[[], bool]) -> TextScorer:
    if choice.layers is None and not knows_layers(model):
        raise ConfigError(
            f"semantic.bert_score_model: bert-score does not know which layer of {model} to compare",
            "set semantic.bert_score_layers",
        )
    reached = Path(model).is_dir() or settle_hub()
    try:
        return BertScorer(model, layers=choice.layers, rescale=choice.rescale, device=choice.device)
    except ConfigError:
        raise
    except Exception as error:  # as above
        raise _cannot_load("semantic.bert_score_model", model, error, reached=reached) from error


def _cannot_load(key: str, model: str, error: Exception, *, reached: bool) -> ConfigError:
    if not reached and isinstance(error, OSError):
        return ConfigError(
            f"{key}: the model hub cannot be reached and {model} is not in the local cache",
            f"put a model's folder into {key}, name a mirror with HF_ENDPOINT, or leave out the metrics that need it",
        )
    lines = str(error).strip().splitlines()
    return ConfigError(
        f"{key}: cannot load {model}: {lines[0] if lines else type(error).__name__}",
        f"put the name or the folder of another model into {key}, or leave out the metrics that need it",
    )


def _looks_like_a_path(model: str) -> bool:
    return model.startswith((".", "/", "~")) or "\\" in model or model.count("/") > 1
