"""What a run says of its judge: what verdicts were lost, and what there is to know of those that are there."""
