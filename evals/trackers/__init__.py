"""Where runs are followed beside their own files: trackers of experiments, and traces. Each is an extra of its own."""
