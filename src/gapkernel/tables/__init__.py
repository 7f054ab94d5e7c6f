"""The one door for data."""
