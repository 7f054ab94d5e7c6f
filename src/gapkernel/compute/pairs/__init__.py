"""Engines that compare pairs of rows, compiled."""
