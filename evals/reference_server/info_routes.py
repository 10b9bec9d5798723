"""Health and what the server says about itself."""

from typing import Any

from fastapi import APIRouter

from .schemas import ModelsInfo
from .settings import Settings


def info_router(settings: Settings) -> APIRouter:
    """The routes that never change while the server runs."""
    router = APIRouter()

    @router.get("/health")
    async def health() -> dict[str, str]:
        """Say that the server is up."""
        return {"status": "healthy"}

    @router.get("/models/info")
    async def models_info() -> ModelsInfo:
        """Which models the server uses: none, it quotes its documents."""
        return ModelsInfo()

    @router.get("/config")
    async def config() -> dict[str, int]:
        """Limits a client should know."""
        return {"max_upload_size_mb": settings.max_upload_mb}

    @router.get("/metrics/retrieval")
    async def retrieval() -> dict[str, Any]:
        """How the server retrieves."""
        return retrieval_settings(settings)

    return router


def retrieval_settings(settings: Settings) -> dict[str, Any]:
    """The retrieval settings in the form of the contract."""
    vector = {
        "chunk_size": settings.chunk_words,
        "chunk_overlap": 0,
        "vector_store": None,
        "collection_name": None,
    }
    return {
        "retrieval_top_k": settings.top_k,
        "final_top_n": settings.top_k,
        "hybrid_search": {
            "enabled": False,
            "bm25": {"enabled": True},
            "vector": vector,
            "fusion_method": None,
            "rrf_k": None,
        },
        "contextual_retrieval": {"enabled": False},
        "reranker": {"enabled": False, "model": None, "top_n": None},
    }
