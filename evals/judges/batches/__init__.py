"""Judging by batches of requests, which cost half and take up to a day."""
