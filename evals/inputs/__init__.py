"""Reading what people and servers write: YAML layers, rows of files, JSON bodies; and saying what is wrong with it."""
