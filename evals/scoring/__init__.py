"""From records to numbers: the scorecard, the weighted score, how questions ended, gates and diagnosis."""
