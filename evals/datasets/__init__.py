"""Datasets: questions with their gold and the documents that they were drawn from."""
