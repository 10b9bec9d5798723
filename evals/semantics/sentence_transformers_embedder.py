"""Embeddings by the package sentence-transformers."""

from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from evals.semantics.base import Vector
from evals.semantics.folder import shown_name
from evals.semantics.quiet import hush_transformers, quietly

_BATCH = 32


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
            self._model, version = _load(model, device)
        self.name = f"{shown_name(model)} (sentence-transformers {version})"

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, in their order. Texts are cut where the model's window ends."""
        with quietly():
            rows = self._model.encode(list(texts), batch_size=_BATCH, show_progress_bar=False, convert_to_numpy=True)
        return [array("d", row.tolist()) for row in rows]


@lru_cache(maxsize=1)
def _load(model: str, device: str | None) -> tuple[Any, str]:
    import sentence_transformers  # noqa: PLC0415 - with torch, many seconds

    hush_transformers()
    return sentence_transformers.SentenceTransformer(model, device=device), sentence_transformers.__version__
