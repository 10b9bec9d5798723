"""Judges: language models that decide what only a reader can decide, and whose every word is checked."""
