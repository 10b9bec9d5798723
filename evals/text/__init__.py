"""Text analysis shared by metrics: words, sentences, numbers, phrases, negation."""
