"""Asking a RAG server over HTTP. Servers differ only in their profile, which is data."""

from evals.client.rag_client import RAGClient
from evals.client.spec import ServerSpec

__all__ = ["RAGClient", "ServerSpec"]
