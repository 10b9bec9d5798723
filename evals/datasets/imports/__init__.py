"""Question files as other tools write them: their columns, their nesting, their judgements of relevance."""
