"""Random numbers that belong to a row."""
