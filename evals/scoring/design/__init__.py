"""Runs that ask a question more than once: again and again, or at several levels of load."""
