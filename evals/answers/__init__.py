"""Traces of a RAG server: what users asked, what was retrieved and what was answered, without references."""
