"""What a run holds of its records while they are walked once: results in columns, counts, and what gives notes."""
