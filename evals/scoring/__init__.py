"""From records to numbers: results, statistics, scorecard, weighted score."""
