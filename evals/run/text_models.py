"""Comparing the texts of a run before its records are scored one by one: models work faster on a batch than on a text.

What is compared is remembered by the models themselves, where the metrics look it up.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from evals.metrics.base import BaseMetric, Need
from evals.metrics.embedders import Embedding, Semantics
from evals.run.observer import Observer
from evals.schemas.results import EvalRecord
from evals.scoring.settings import ScoreSettings, score_of

_AT_ONCE = 16
"""Records whose texts are compared at once; between two batches Ctrl-C can end the work."""
_FAILURES = (RuntimeError, ValueError, OSError, MemoryError, IndexError)
"""What models raise when they run out of memory, or meet a text that they cannot take."""


class _Asked:
    """Stands for both models: takes down what metrics ask, and gives them anything."""

    name = "none"

    def __init__(self) -> None:
        self.texts: dict[str, None] = {}
        self.pairs: dict[tuple[str, str], None] = {}

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        self.texts.update(dict.fromkeys(texts))
        return [[1.0]] * len(texts)

    def f1(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self.pairs.update(dict.fromkeys(pairs))
        return [0.0] * len(pairs)


async def compare_texts(
    metrics: Sequence[BaseMetric], records: Iterable[EvalRecord], settings: ScoreSettings, observer: Observer
) -> ScoreSettings:
    """Embed and score every text that the metrics will ask for, off the event loop.

    Args:
        metrics: Those that need a model are measured, with one that takes down what they ask.
        records: All records of the run.
        settings: How they are scored.
        observer: Receives the progress.

    Returns:
        The settings; where a model fails, with the reason instead of it, so that a run does not lose its other metrics.
    """
    semantics = settings.semantics
    if semantics is None or not (semantics.embedder or semantics.scorer):
        return settings
    wanting = [metric for metric in metrics if metric.needs & {Need.EMBEDDER, Need.TEXT_SCORER}]
    observer.phase("comparing texts")
    left, done = iter(records), 0
    try:
        while batch := list(islice(left, _AT_ONCE)):
            asked = _Asked()
            models = replace(semantics, embedder=semantics.embedder and asked, scorer=semantics.scorer and asked)
            for sample in (settings.sample_of(record) for record in batch if record.response is not None):
                sample.semantics = models
                for metric in wanting:
                    score_of(metric, sample)
            if semantics.embedder is not None and asked.texts:
                await asyncio.to_thread(semantics.embedder.embed, list(asked.texts))
            if semantics.scorer is not None and asked.pairs:
                await asyncio.to_thread(semantics.scorer.f1, list(asked.pairs))
            done += len(batch)
            observer.progress(done, done)
    except _FAILURES as error:
        reason = f"comparing the texts failed: {type(error).__name__}: {error}".splitlines()[0][:300]
        observer.note(reason)
        return replace(settings, semantics=Semantics(reason=reason))
    return settings
