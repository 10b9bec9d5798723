"""Giving documents to the server, once each, and seeing when they can be searched."""

from evals.client.ingest.items import Upload, uploads_in, uploads_of
from evals.client.ingest.listing import document_names, listed_documents
from evals.client.ingest.uploading import IngestReport, ingest, upload_key

__all__ = [
    "IngestReport",
    "Upload",
    "document_names",
    "ingest",
    "listed_documents",
    "upload_key",
    "uploads_in",
    "uploads_of",
]
