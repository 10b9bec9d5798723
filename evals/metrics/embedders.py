"""Comparing texts by meaning: an embedder and BERTScore, behind two small protocols, loaded by the names of models."""

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from itertools import chain
from math import isnan, sqrt
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from pydantic import Field

from evals.errors import ConfigError
from evals.schemas.base import Finite, Record

Embedding = Sequence[float]
COVERAGE_THRESHOLD = 0.85
INSTALL = "pip install 'rag-evals[semantic]'"
_BATCH = 32
_SAMPLE = 65_536
"""Bytes of each end of a model's files that tell it from others."""


class Embedder(Protocol):
    """Turns texts into vectors whose direction stands for their meaning."""

    name: str
    """The model, as it is saved with a run."""

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """One vector for each text, in their order."""


class TextScorer(Protocol):
    """Says how much a text says the same as another, token by token."""

    name: str
    """Everything that its numbers depend on, as it is saved with a run: model, layer, idf, versions, rescaling."""

    def f1(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The F1 of each (candidate, reference), in their order; 0 where one of the two is empty."""


@dataclass(frozen=True, slots=True)
class Semantics:
    """What a run has for comparing texts.

    Attributes:
        embedder: None where no metric wants one, or it cannot be had.
        scorer: The same, for BERTScore.
        reason: Why one cannot be had, as a sentence that says the way out; None where nothing is lacking.
        coverage_threshold: From which BERTScore on a key sentence counts as covered.
    """

    embedder: Embedder | None = None
    scorer: TextScorer | None = None
    reason: str | None = None
    coverage_threshold: float = COVERAGE_THRESHOLD

    def names(self) -> dict[str, str] | None:
        """What was used, as it is saved with a run; None where nothing was."""
        used = {"embedder": self.embedder, "scorer": self.scorer}
        return {part: tool.name for part, tool in used.items() if tool is not None} or None


def cosine(a: Embedding, b: Embedding) -> float:
    """The cosine of the angle between two vectors.

    Formula: a·b / (|a| |b|), from -1 to 1; 0 where one of the two has no length, NaN where a number is none.

    Raises:
        ValueError: They are not of the same length.
    """
    if len(a) != len(b):
        raise ValueError(f"vectors of {len(a)} and {len(b)} numbers cannot be compared")
    lengths = sqrt(sum(map(mul, a, a))) * sqrt(sum(map(mul, b, b)))
    value = sum(map(mul, a, b)) / lengths if lengths else 0.0
    return value if isnan(value) else max(-1.0, min(1.0, value))  # rounding takes equal vectors a little over 1


# The models: sentence-transformers, and BERTScore by the package of its authors.


def shown_name(model: str) -> str:
    """The hub id as it is; for a folder its name and a hash, such as `my-model@1f0c6a2b`.

    The hash is over names, sizes, beginnings and ends of the files: training changes it, moving does not, and it does
    not read gigabytes.
    """
    folder = Path(model)
    if not folder.is_dir():
        return model
    digest = sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder).as_posix()}\0{size}\0".encode())
        with path.open("rb") as file:
            digest.update(file.read(_SAMPLE))
            file.seek(max(0, size - _SAMPLE))
            digest.update(file.read(_SAMPLE))
    return f"{folder.resolve().name}@{digest.hexdigest()[:8]}"


@contextmanager
def quietly() -> Iterator[None]:
    """Keep warnings and progress bars of model libraries from the terminal; a download on a terminal shows its bar.

    What stands in the environment counts only for libraries that are imported after it.
    """
    if not sys.stderr.isatty():
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if find_spec("transformers") is not None:
            from transformers.utils import logging  # noqa: PLC0415 - seconds

            logging.set_verbosity_error()
            logging.disable_progress_bar()
        yield


class SentenceTransformersEmbedder:
    """A model of sentence-transformers.

    Args:
        model: Its id on the hub, or its folder.
        device: Such as "cpu" or "cuda:1"; the best there is where None.

    Raises:
        Exception: Whatever the package raises for a model that it cannot load.
    """

    def __init__(self, model: str, *, device: str | None = None) -> None:
        with quietly():
            import sentence_transformers as package  # noqa: PLC0415 - with torch, many seconds

            self._model = package.SentenceTransformer(model, device=device)
        self.name = f"{shown_name(model)} (sentence-transformers {package.__version__})"

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """One vector for each text, in their order. Texts are cut where the model's window ends."""
        with quietly():
            rows = self._model.encode(list(texts), batch_size=_BATCH, show_progress_bar=False, convert_to_numpy=True)
        return [row.tolist() for row in rows]


class BertScorer:
    """BERTScore with one model and layer.

    Args:
        model: Its id on the hub, or its folder.
        layers: The layer whose vectors are compared; the package's choice for the model where None.
        rescale: Spread the scores by the package's English baseline for the model: (F1 - b) / (1 - b).
        device: Such as "cpu" or "cuda:1"; the best there is where None.

    Raises:
        ConfigError: Rescaling is wanted, and the package has no baseline for the model.
        Exception: Whatever the package raises for a model that it cannot load.
    """

    def __init__(
        self, model: str, *, layers: int | None = None, rescale: bool = False, device: str | None = None
    ) -> None:
        with quietly():
            import bert_score  # noqa: PLC0415 - with torch, many seconds
            from bert_score.utils import model2layers  # noqa: PLC0415

            baselines = Path(bert_score.__file__).parent / "rescale_baseline" / "en"
            if layers is None and model not in model2layers:
                problem = f"semantic.bert_score_model: bert-score does not know which layer of {model} to compare"
                raise ConfigError(problem, "set semantic.bert_score_layers")
            if rescale and not (baselines / f"{model}.tsv").is_file():
                problem = f"semantic.bert_score_rescale: bert-score has no English baseline for {model}"
                models = "one of its models, such as distilbert-base-uncased or roberta-large"
                raise ConfigError(problem, f"leave scores as they are, or choose {models}")
            options = {"device": device, "rescale_with_baseline": rescale, "lang": "en"}
            self._scorer = bert_score.BERTScorer(model_type=model, num_layers=layers, **options)
        if self._scorer._tokenizer.model_max_length > 1_000_000:  # several models, DeBERTa among them, name no limit
            most = getattr(self._scorer._model.config, "max_position_embeddings", 512)
            self._scorer._tokenizer.model_max_length = min(512, most)
        self.name: str = self._scorer.hash.replace(model, shown_name(model))

    def f1(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The F1 of each (candidate, reference), in their order; 0 where the tokenizer finds nothing in one of them."""
        encode = self._scorer._tokenizer.encode
        with quietly():
            texts = filter(str.strip, {*chain.from_iterable(pairs)})
            readable = {text for text in texts if encode(text, add_special_tokens=False)}
            scored = [pair for pair in dict.fromkeys(pairs) if readable.issuperset(pair)]
            columns = map(list, zip(*scored, strict=True))
            f1 = self._scorer.score(*columns, batch_size=_BATCH)[2].tolist() if scored else []
        values = dict(zip(scored, f1, strict=True))
        return [values.get(pair, 0.0) for pair in pairs]


# Which models, by the configuration.


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
        names = [os.path.expanduser(name) for name in (self.embedder, self.bert_score_model)]
        return ModelChoice(names[0] if embedder else None, names[1] if scorer else None, self)


class ModelChoice(NamedTuple):
    """The models that the metrics of a run want.

    Attributes:
        embedder: Its id on the hub, or its folder; None where no metric wants it.
        scorer: The same of BERTScore's model.
        config: How both are configured.
    """

    embedder: str | None
    scorer: str | None
    config: SemanticConfig


def check_choice(choice: ModelChoice) -> None:
    """Check what can be known without loading anything.

    Raises:
        ConfigError: A folder does not exist, or its layer is not said.
    """
    for key, model in (("embedder", choice.embedder), ("bert_score_model", choice.scorer)):
        is_path = model and (model.startswith((".", "/", "~")) or "\\" in model or model.count("/") > 1)
        if is_path and not Path(model or "").is_dir():
            hint = "name the folder of a model, or a model of the hub"
            raise ConfigError(f"semantic.{key}: there is no folder {model}", hint)
    if choice.scorer and Path(choice.scorer).is_dir() and choice.config.bert_score_layers is None:
        problem = f"semantic.bert_score_model is a folder ({choice.scorer}), so the layer to compare is unknown"
        raise ConfigError(problem, "set semantic.bert_score_layers, for example to 9 for a BERT of 12 layers")


def load_semantics(choice: ModelChoice, probe_hub: Callable[[], bool]) -> Semantics:
    """Load the models; a package that is not installed is a reason, not an error.

    Args:
        choice: Which.
        probe_hub: Says whether the hub answers, and keeps the libraries from trying where it does not; asked only
            where a model is not a folder.

    Raises:
        ConfigError: A model cannot be loaded.
    """
    check_choice(choice)
    config, missing = choice.config, []

    def load(part: str, model: str | None, package: str, make: Any, **options: Any) -> Any:
        if model is None:
            return None
        if find_spec(package) is None:
            missing.append(package.replace("_", "-"))
            return None
        reached = Path(model).is_dir() or probe_hub()
        try:
            return _made(make, model, device=config.device, **options)
        except ConfigError:
            raise
        except Exception as error:  # libraries raise what they like for a model they cannot load; it stays the cause
            raise _unusable(f"semantic.{part}", model, error, reached=reached) from error

    embedder = load("embedder", choice.embedder, "sentence_transformers", SentenceTransformersEmbedder)
    layer = {"layers": config.bert_score_layers, "rescale": config.bert_score_rescale}
    scorer = load("bert_score_model", choice.scorer, "bert_score", BertScorer, **layer)
    are = "are" if missing[1:] else "is"
    reason = f"{' and '.join(missing)} {are} not installed: {INSTALL}" if missing else None
    return Semantics(embedder, scorer, reason, config.sentence_coverage_threshold)


_made = lru_cache(maxsize=2)(lambda make, model, **options: make(model, **options))
"""Loads a model once in a process."""


def _unusable(key: str, model: str, error: Exception, *, reached: bool) -> ConfigError:
    """What a library raises for a model that cannot be loaded, in words for the key of the configuration."""
    way_out = "or leave out the metrics that need it"
    if not reached and isinstance(error, OSError):
        hint = f"put a model's folder into {key}, name a mirror with HF_ENDPOINT, {way_out}"
        return ConfigError(f"{key}: the model hub cannot be reached and {model} is not in the local cache", hint)
    cause = (str(error).strip().splitlines() or [type(error).__name__])[0]
    hint = f"put the name or the folder of another model into {key}, {way_out}"
    return ConfigError(f"{key}: cannot load {model}: {cause}", hint)
