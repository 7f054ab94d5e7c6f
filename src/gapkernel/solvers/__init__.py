"""Solvers: plain arrays in, a frozen result out."""

from gapkernel.solvers.base import Solution, Solver

__all__ = ["Solution", "Solver"]
