"""Kernels on one column, gaps included."""
