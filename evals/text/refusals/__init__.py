"""Does an answer decline to answer? By words and their position, not by bare substrings."""
