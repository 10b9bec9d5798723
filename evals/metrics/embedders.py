"""From the names of models to what metrics compare texts with, checked before anything is asked."""

import os
import sys
import warnings
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from math import isnan, sqrt
from operator import mul
from pathlib import Path
from typing import Any, Protocol

from pydantic import Field

from evals.errors import ConfigError
from evals.schemas.base import Finite, Record
from evals.store.disk_list import DiskList
from evals.text.folding import hash64

# Comparing texts by meaning: embeddings and BERTScore, behind two small protocols.


__all__ = ["Embedder", "Semantics", "TextScorer", "Vector", "cosine"]


# What compares texts, as metrics see it: an embedder, and a scorer of pairs.


Vector = Sequence[float]

COVERAGE_THRESHOLD = 0.85


class Embedder(Protocol):
    """Turns texts into vectors whose direction stands for their meaning."""

    name: str
    """The model, as it is saved with a run."""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
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
        at_a_time: How many batches of texts may be compared at a time: more than one where several machines do it.
    """

    embedder: Embedder | None = None
    scorer: TextScorer | None = None
    reason: str | None = None
    coverage_threshold: float = COVERAGE_THRESHOLD
    at_a_time: int = 1

    @property
    def compares(self) -> bool:
        """Whether a model takes part."""
        return self.embedder is not None or self.scorer is not None

    def names(self) -> dict[str, str] | None:
        """What was used, as it is saved with a run; None where nothing was."""
        used = {"embedder": self.embedder, "scorer": self.scorer}
        return {part: tool.name for part, tool in used.items() if tool is not None} or None


def cosine(a: Vector, b: Vector) -> float:
    """The cosine of the angle between two vectors.

    Formula: a·b / (|a| |b|), from -1 to 1; 0 where one of the two has no length, NaN where a number is none.

    Raises:
        ValueError: They are not of the same length.
    """
    if len(a) != len(b):
        raise ValueError(f"vectors of {len(a)} and {len(b)} numbers cannot be compared")
    lengths = sqrt(sum(map(mul, a, a))) * sqrt(sum(map(mul, b, b)))
    value = sum(map(mul, a, b)) / lengths if lengths else 0.0
    # Rounding takes equal vectors a little over 1; min and max would make a 1 of NaN.
    return value if isnan(value) else max(-1.0, min(1.0, value))


# The recorded name of a model that is a folder: it tells two models apart, and does not say where they are.


_SAMPLE = 65_536


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


# Model libraries at work without a word: the library of ours never writes to the terminal.


@contextmanager
def quietly() -> Iterator[None]:
    """Keep warnings and progress bars of model libraries from the terminal; a download on a terminal shows its bar."""
    if not sys.stderr.isatty():
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def hush_transformers() -> None:
    """Turn off the log and the bars that `transformers` writes while it loads weights."""
    import transformers  # noqa: PLC0415 - seconds

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()


# BERTScore by the package bert-score, its authors' own.


_BATCH = 32


_LONGEST = 512
"""Tokens of a text, where the tokenizer names no limit."""


class BertScorer:
    """BERTScore with one model and layer; loaded once in a process.

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
            self._scorer = _load_bert_scorer(model, layers, rescale, device)
        self.name: str = self._scorer.hash.replace(model, shown_name(model))

    def f1(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The F1 of each (candidate, reference), in their order; 0 where the tokenizer finds nothing in one of them."""
        with quietly():
            said = {text for text in {text for pair in pairs for text in pair} if self._holds_tokens(text)}
            scored = [pair for pair in dict.fromkeys(pairs) if said.issuperset(pair)]
            if not scored:
                return [0.0] * len(pairs)
            candidates, references = map(list, zip(*scored, strict=True))
            _, _, f1 = self._scorer.score(candidates, references, batch_size=_BATCH)
        found = dict(zip(scored, f1.tolist(), strict=True))
        return [found.get(pair, 0.0) for pair in pairs]

    def _holds_tokens(self, text: str) -> bool:
        """The package breaks on an empty text, and prints where there is nothing but control characters."""
        return bool(text.strip()) and bool(self._scorer._tokenizer.encode(text, add_special_tokens=False))


def knows_layers(model: str) -> bool:
    """Whether the package knows which layer of the model to use."""
    with quietly():
        from bert_score.utils import model2layers  # noqa: PLC0415 - with torch, many seconds

    return model in model2layers


@lru_cache(maxsize=1)
def _load_bert_scorer(model: str, layers: int | None, rescale: bool, device: str | None) -> Any:
    import bert_score  # noqa: PLC0415 - with torch, many seconds

    hush_transformers()
    if rescale and not (Path(bert_score.__file__).parent / "rescale_baseline" / "en" / f"{model}.tsv").is_file():
        raise ConfigError(
            f"semantic.bert_score_rescale: bert-score has no English baseline for {model}",
            "leave scores as they are, or choose one of its models, such as distilbert-base-uncased or roberta-large",
        )
    english = {"rescale_with_baseline": True, "lang": "en"} if rescale else {}
    scorer = bert_score.BERTScorer(model_type=model, num_layers=layers, device=device, **english)
    tokenizer = scorer._tokenizer
    if tokenizer.model_max_length > 1_000_000:
        # Several models, DeBERTa among them, name no limit; the tokenizer cannot take the number that stands for that.
        tokenizer.model_max_length = min(_LONGEST, getattr(scorer._model.config, "max_position_embeddings", _LONGEST))
    return scorer


# The part of the configuration that says which models compare texts.


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


# Every text is embedded once in a run, and every pair scored once; of texts only their hashes are held.


class RememberingEmbedder:
    """Passes on to an embedder what it has not embedded before, each text once.

    Args:
        embedder: Does the work.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._places: dict[int, int] = {}
        """By the hash of a text, where its vector lies."""
        self._vectors: DiskList[Vector] = DiskList()

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, in their order."""
        keys = {text: hash64(text) for text in texts}
        new = [text for text, key in keys.items() if key not in self._places]
        found = dict(zip(new, self._embedder.embed(new), strict=True)) if new else {}
        for text, vector in found.items():
            self._places[keys[text]] = len(self._places)
            self._vectors.append(vector)
        return [found[text] if text in found else self._vectors[self._places[keys[text]]] for text in texts]


class RememberingScorer:
    """Passes on to a scorer the pairs that it has not scored before, each once.

    A pair with an empty text scores 0 and is never passed on: BERTScore's own package breaks on it.

    Args:
        scorer: Does the work.
    """

    def __init__(self, scorer: TextScorer) -> None:
        self.name = scorer.name
        self._scorer = scorer
        self._scores: dict[int, float] = {}

    def f1(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The F1 of each (candidate, reference), in their order."""
        keys = {pair: key_of_pair(pair) for pair in pairs}
        new = [pair for pair, key in keys.items() if key not in self._scores and all(text.strip() for text in pair)]
        scores = self._scorer.f1(new) if new else ()
        self._scores.update(zip([keys[pair] for pair in new], scores, strict=True))
        return [self._scores.get(keys[pair], 0.0) for pair in pairs]


def key_of_pair(pair: tuple[str, str]) -> int:
    """The hash of the two together, which no other pair has."""
    return hash64(f"{len(pair[0])} {pair[0]}{pair[1]}")


# Embeddings by the package sentence-transformers.


class SentenceTransformersEmbedder:
    """A model of sentence-transformers, from the hub or a folder; loaded once in a process.

    Args:
        model: Its id on the hub, or its folder.
        device: Such as "cpu" or "cuda:1"; the best there is where None.

    Raises:
        Exception: Whatever the package raises for a model that it cannot load.
    """

    def __init__(self, model: str, *, device: str | None = None) -> None:
        with quietly():
            self._model, version = _load_sentence_transformer(model, device)
        self.name = f"{shown_name(model)} (sentence-transformers {version})"

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, in their order. Texts are cut where the model's window ends."""
        with quietly():
            rows = self._model.encode(list(texts), batch_size=_BATCH, show_progress_bar=False, convert_to_numpy=True)
        return [array("d", row.tolist()) for row in rows]


@lru_cache(maxsize=1)
def _load_sentence_transformer(model: str, device: str | None) -> tuple[Any, str]:
    import sentence_transformers  # noqa: PLC0415 - with torch, many seconds

    hush_transformers()
    return sentence_transformers.SentenceTransformer(model, device=device), sentence_transformers.__version__


INSTALL = "pip install 'rag-evals[semantic]'"


def check_choice(choice: ModelChoice) -> None:
    """Check what can be known without loading anything.

    Raises:
        ConfigError: A folder does not exist, or its layer is not said.
    """
    config, model = choice.config, choice.config.bert_score_model
    if choice.embedder:
        _check_folder("embedder", config.embedder)
    if choice.scorer:
        _check_folder("bert_score_model", model)
        if Path(model).is_dir() and config.bert_score_layers is None:
            raise ConfigError(
                f"semantic.bert_score_model is a folder ({model}), so the layer to compare is unknown",
                "set semantic.bert_score_layers, for example to 9 for a BERT of 12 layers",
            )


def _check_folder(key: str, model: str) -> None:
    looks_like_a_path = model.startswith((".", "/", "~")) or "\\" in model or model.count("/") > 1
    if looks_like_a_path and not Path(model).is_dir():
        raise ConfigError(
            f"semantic.{key}: there is no folder {model}", "name the folder of a model, or a model of the hub"
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
        with _loading("embedder", config.embedder, settle_hub):
            embedder = RememberingEmbedder(SentenceTransformersEmbedder(config.embedder, device=config.device))
    if choice.scorer and "bert-score" not in missing:
        _check_layers(config)
        model, layers, rescale = config.bert_score_model, config.bert_score_layers, config.bert_score_rescale
        with _loading("bert_score_model", model, settle_hub):
            scorer = RememberingScorer(BertScorer(model, layers=layers, rescale=rescale, device=config.device))
    are = "are" if missing[1:] else "is"
    reason = f"{' and '.join(missing)} {are} not installed: {INSTALL}" if missing else None
    return Semantics(embedder, scorer, reason, config.sentence_coverage_threshold)


def _check_layers(config: SemanticConfig) -> None:
    if config.bert_score_layers is None and not knows_layers(config.bert_score_model):
        raise ConfigError(
            f"semantic.bert_score_model: bert-score does not know which layer of {config.bert_score_model} to compare",
            "set semantic.bert_score_layers",
        )


@contextmanager
def _loading(key: str, model: str, settle_hub: Callable[[], bool]) -> Iterator[None]:
    """Turn what a library raises for a model that it cannot load into an error that names the key."""
    reached = Path(model).is_dir() or settle_hub()
    try:
        yield
    except ConfigError:
        raise
    except Exception as error:  # libraries raise what they like for a model they cannot load; it stays the cause
        if not reached and isinstance(error, OSError):
            raise ConfigError(
                f"semantic.{key}: the model hub cannot be reached and {model} is not in the local cache",
                f"put a model's folder into semantic.{key}, name a mirror with HF_ENDPOINT, "
                "or leave out the metrics that need it",
            ) from error
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise ConfigError(
            f"semantic.{key}: cannot load {model}: {lines[0]}",
            f"put the name or the folder of another model into semantic.{key}, or leave out the metrics that need it",
        ) from error
