"""What happens in a run, step by step."""
