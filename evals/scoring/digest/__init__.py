"""What views need of the records of a run, derived in one walk over them and kept beside the records."""
