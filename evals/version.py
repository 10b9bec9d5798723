"""The version of the distribution `rag-evals`."""

__version__ = "0.1.0"
