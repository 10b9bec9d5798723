"""Logins that take more than a header: a token that is fetched, and renewed."""
