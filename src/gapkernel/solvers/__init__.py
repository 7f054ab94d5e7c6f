"""Solvers: plain arrays in, a frozen result out."""
