"""Embedding and BERTScore on the workers of a cluster: each loads its models once, with the first texts.

Texts go there in the batches that this process would have made, so that the numbers are the same.
"""

from collections.abc import Sequence
from functools import lru_cache
from threading import Lock

from evals.datasets.hub import settle_hub
from evals.engines.cluster import Cluster
from evals.errors import EngineError
from evals.semantics.base import Semantics, Vector
from evals.semantics.config import ModelChoice
from evals.semantics.loading import check_choice, load_semantics
from evals.semantics.memo import RememberingEmbedder, RememberingScorer

_BATCHES_A_WORKER = 2
"""While one is compared, the next is on its way."""
Pairs = Sequence[tuple[str, str]]


async def cluster_semantics(cluster: Cluster, choice: ModelChoice) -> Semantics:
    """What compares texts, by models that lie on the workers; nothing is loaded here.

    Raises:
        ConfigError: A model cannot be loaded.
        EngineError: There is no worker, or the models of two differ.
    """
    check_choice(choice)
    workers = await cluster.workers()
    found = [await cluster.call(worker, model_names, choice) for worker in workers]
    if not found:
        raise EngineError("the cluster has no worker", "start some with `dask worker`")
    for worker, there in zip(workers, found, strict=True):
        if there != found[0]:
            raise EngineError(
                f"worker {worker} has other models than {workers[0]}: {there}, not {found[0]}",
                "give all workers the same packages and the same folders of models",
            )
    embedder, scorer, reason = found[0]
    return Semantics(
        RememberingEmbedder(_Embedder(cluster, choice, embedder)) if embedder else None,
        RememberingScorer(_Scorer(cluster, choice, scorer)) if scorer else None,
        reason,
        choice.config.sentence_coverage_threshold,
        at_a_time=_BATCHES_A_WORKER * len(workers),
    )


class _Embedder:
    """An embedder whose model lies on the workers."""

    def __init__(self, cluster: Cluster, choice: ModelChoice, name: str) -> None:
        self.name = name
        self._cluster = cluster
        self._choice = choice

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, in their order."""
        vectors: list[Vector] = self._cluster.wait(embed_there, self._choice, list(texts))
        return vectors


class _Scorer:
    """A scorer of pairs whose model lies on the workers."""

    def __init__(self, cluster: Cluster, choice: ModelChoice, name: str) -> None:
        self.name = name
        self._cluster = cluster
        self._choice = choice

    def f1(self, pairs: Pairs) -> list[float]:
        """The F1 of each (candidate, reference), in their order."""
        scores: list[float] = self._cluster.wait(score_there, self._choice, list(pairs))
        return scores


_loading = Lock()
"""A worker of several threads would else load a model in each."""


def _loaded(choice: ModelChoice) -> Semantics:
    """The models of this process, loaded once."""
    with _loading:
        return _load(choice)


@lru_cache(maxsize=1)
def _load(choice: ModelChoice) -> Semantics:
    return load_semantics(choice, settle_hub)


def model_names(choice: ModelChoice) -> tuple[str | None, str | None, str | None]:
    """The names of embedder and scorer on this worker, and why one is lacking; loads them."""
    there = _loaded(choice)
    return (
        there.embedder.name if there.embedder else None,
        there.scorer.name if there.scorer else None,
        there.reason,
    )


def embed_there(choice: ModelChoice, texts: list[str]) -> list[Vector]:
    """Embed on this worker.

    Raises:
        RuntimeError: It has not got the model.
    """
    embedder = _loaded(choice).embedder
    if embedder is None:
        raise RuntimeError(f"this worker has no embedder: {_loaded(choice).reason}")
    return embedder.embed(texts)


def score_there(choice: ModelChoice, pairs: list[tuple[str, str]]) -> list[float]:
    """Score pairs on this worker.

    Raises:
        RuntimeError: It has not got the model.
    """
    scorer = _loaded(choice).scorer
    if scorer is None:
        raise RuntimeError(f"this worker has no BERTScore: {_loaded(choice).reason}")
    return scorer.f1(pairs)
