"""Comparing texts by meaning: embeddings and BERTScore, behind two small protocols."""

from evals.semantics.base import Embedder, Semantics, TextScorer, Vector, cosine

__all__ = ["Embedder", "Semantics", "TextScorer", "Vector", "cosine"]
