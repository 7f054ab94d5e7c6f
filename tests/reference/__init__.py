"""Slow, plain versions of the mathematics, written from the formulas and not from the library."""
