"""A small, self-contained RAG service over HTTP.

It answers questions from uploaded text with BM25 retrieval and extractive answers, needs no
model and no network, and gives the same answer to the same question every time. The evaluation
harness uses it as its embedded default and the tests use it as a realistic fixture. Nothing in
this package imports from the rest of ``evals``.
"""
