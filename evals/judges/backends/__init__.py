"""The APIs by which judges are reached."""
