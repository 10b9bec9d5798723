"""Pages, files and comments made of saved runs."""
