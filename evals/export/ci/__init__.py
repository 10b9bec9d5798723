"""What a command found, for those who look at it in CI: a comment, a summary of the job, annotations."""
