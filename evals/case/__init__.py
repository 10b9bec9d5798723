"""One record and all that is derived from it: which chunks are gold, what is cited, whether the answer abstains."""
