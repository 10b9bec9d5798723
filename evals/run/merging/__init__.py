"""One run of all shards: what they must have in common, their records in the order of the whole, and what is summed."""
