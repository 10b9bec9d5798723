"""The terminal itself: streams, consoles, progress, and the way a command ends."""
