"""Backends: the APIs of judges."""
