"""What all views share: how numbers and foreign text are shown, and what a pattern of metrics usually means."""
