"""Expectation maximisation from rows with gaps."""
