"""The web application of the reference server."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError

from .auth import BearerAuth
from .document_routes import document_router
from .documents import Document
from .faults import Faults
from .info_routes import info_router
from .limits import BodyLimit, HostCheck, refuse_body
from .misbehave import parse_switch
from .query_routes import query_router
from .settings import Settings
from .store import DocumentStore


def create_app(
    settings: Settings | None = None,
    *,
    documents: Sequence[Document] = (),
    misbehave: Sequence[str] = (),
) -> FastAPI:
    """Make the application, with the documents already in it.

    ``app.state.stopping`` is an event that the server sets when it shuts down.
    """
    settings = settings or Settings()
    if misbehave:
        settings = replace(settings, misbehave=(*settings.misbehave, *misbehave))
    store = DocumentStore()
    store.put(documents)
    app = FastAPI(title="Reference RAG server", version="1.0.0", docs_url=None, redoc_url=None)
    app.state.stopping = asyncio.Event()
    app.add_exception_handler(RequestValidationError, refuse_body)
    switches = [parse_switch(text) for text in settings.misbehave]
    for router in (info_router(settings), document_router(settings, store), query_router(settings, store, switches)):
        app.include_router(router)
    if switches:
        app.add_middleware(Faults, switches=switches, stopping=app.state.stopping)
    if settings.auth_token:
        app.add_middleware(BearerAuth, token=settings.auth_token)
    app.add_middleware(BodyLimit, max_upload_bytes=settings.max_upload_bytes)
    app.add_middleware(HostCheck, allowed=settings.allow_hosts)
    return app
