"""Language, with no metric in it: words, sentences, numbers, phrases, and how English takes back what it says."""
