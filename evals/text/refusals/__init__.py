"""Detect answers that decline, by their words."""
