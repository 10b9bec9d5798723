"""From the names of models to what metrics compare texts with, checked before anything is asked."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from evals.errors import ConfigError
from evals.semantics.base import Embedder, Semantics, TextScorer
from evals.semantics.bert_scorer import BertScorer, knows_layers
from evals.semantics.config import ModelChoice, SemanticConfig
from evals.semantics.memo import RememberingEmbedder, RememberingScorer
from evals.semantics.sentence_transformers_embedder import SentenceTransformersEmbedder

INSTALL = "pip install 'rag-evals[semantic]'"


def check_choice(choice: ModelChoice) -> None:
    """Check what can be known without loading anything.

    Raises:
        ConfigError: A folder does not exist, or its layer is not said.
    """
    config = choice.config
    if choice.embedder:
        _check_folder("embedder", config.embedder)
    if choice.scorer:
        model = config.bert_score_model
        _check_folder("bert_score_model", model)
        if Path(model).is_dir() and config.bert_score_layers is None:
            raise ConfigError(
                f"semantic.bert_score_model is a folder ({model}), so nobody knows which layer to compare",
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
    config = choice.config
    needed = {"sentence-transformers": choice.embedder, "bert-score": choice.scorer}
    missing = [name for name, wanted in needed.items() if wanted and find_spec(name.replace("-", "_")) is None]
    embedder = scorer = None
    if choice.embedder and "sentence-transformers" not in missing:
        embedder = RememberingEmbedder(_load_embedder(config, settle_hub))
    if choice.scorer and "bert-score" not in missing:
        scorer = RememberingScorer(_load_scorer(config, settle_hub))
    return Semantics(embedder, scorer, _not_installed(missing), config.sentence_coverage_threshold)


def _not_installed(packages: list[str]) -> str | None:
    if not packages:
        return None
    return f"{' and '.join(packages)} {'are' if packages[1:] else 'is'} not installed: {INSTALL}"


def _load_embedder(config: SemanticConfig, settle_hub: Callable[[], bool]) -> Embedder:
    model = config.embedder
    reached = Path(model).is_dir() or settle_hub()
    try:
        return SentenceTransformersEmbedder(model, device=config.device)
    except Exception as error:  # libraries raise what they like for a model they cannot load; it stays the cause
        raise _cannot_load("semantic.embedder", model, error, reached=reached) from error


def _load_scorer(config: SemanticConfig, settle_hub: Callable[[], bool]) -> TextScorer:
    model, layers = config.bert_score_model, config.bert_score_layers
    if layers is None and not knows_layers(model):
        raise ConfigError(
            f"semantic.bert_score_model: bert-score does not know which layer of {model} to compare",
            "set semantic.bert_score_layers",
        )
    reached = Path(model).is_dir() or settle_hub()
    try:
        return BertScorer(model, layers=layers, rescale=config.bert_score_rescale, device=config.device)
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


def _check_folder(key: str, model: str) -> None:
    looks_like_a_path = model.startswith((".", "/", "~")) or "\\" in model or model.count("/") > 1
    if looks_like_a_path and not Path(model).is_dir():
        raise ConfigError(
            f"semantic.{key}: there is no folder {model}", "name the folder of a model, or a model of the hub"
        )
