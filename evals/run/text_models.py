"""Comparing the texts of a run before its records are scored one by one: models work faster on a batch than on a text.

What is found is remembered by the embedder and the scorer themselves, where the metrics find it.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, islice

from evals.metrics.base import BaseMetric
from evals.metrics.embedders import Semantics
from evals.run.observer import Observer
from evals.schemas.results import EvalRecord
from evals.scoring.settings import ScoreSettings

_AT_ONCE = 16
"""Records whose texts are compared at once; between two batches Ctrl-C can end the work."""

_FAILURES = (RuntimeError, ValueError, OSError, MemoryError, IndexError)
"""What models raise when they run out of memory, or meet a text that they cannot take."""


async def compare_texts(
    metrics: Sequence[BaseMetric], records: Iterable[EvalRecord], settings: ScoreSettings, observer: Observer
) -> ScoreSettings:
    """Embed and score every text that the metrics will ask for, off the event loop.

    Args:
        metrics: Say what they will ask for.
        records: All records of the run.
        settings: How they are scored.
        observer: Receives the progress.

    Returns:
        The settings; where a model fails, with the reason instead of it, so that a run does not lose its other metrics.
    """
    semantics = settings.semantics
    if semantics is None or not semantics.compares:
        return settings
    wanting = [
        metric
        for metric in metrics
        if type(metric).texts is not BaseMetric.texts or type(metric).text_pairs is not BaseMetric.text_pairs
    ]
    observer.phase("comparing texts")
    left, done = iter(records), 0
    try:
        while batch := list(islice(left, _AT_ONCE)):
            samples = [settings.sample_of(record) for record in batch if record.response is not None]
            each = [(metric, sample) for sample in samples for metric in wanting]
            texts = list(dict.fromkeys(chain.from_iterable(metric.texts(sample) for metric, sample in each)))
            pairs = list(dict.fromkeys(chain.from_iterable(metric.text_pairs(sample) for metric, sample in each)))
            if semantics.embedder is not None and texts:
                await asyncio.to_thread(semantics.embedder.embed, texts)
            if semantics.scorer is not None and pairs:
                await asyncio.to_thread(semantics.scorer.f1, pairs)
            done += len(batch)
            observer.progress(done, done)
    except _FAILURES as error:
        reason = f"comparing the texts failed: {type(error).__name__}: {error}".splitlines()[0][:300]
        observer.note(reason)
        return replace(settings, semantics=Semantics(reason=reason))
    return settings
