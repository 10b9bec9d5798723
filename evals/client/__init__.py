"""HTTP client of RAG servers. Servers differ only in their profile, which is data."""

from evals.client.rag_client import RAGClient
from evals.client.spec import ServerSpec

__all__ = ["RAGClient", "ServerSpec"]
