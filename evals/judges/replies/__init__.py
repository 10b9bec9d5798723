"""What a judge says: read, checked against what it was given, and made a verdict."""
