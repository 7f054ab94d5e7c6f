"""Intervals and sets that cover as often as they promise, by the scores of rows that were left out."""
