"""Solvers: plain arrays in, a frozen result out."""

from gapkernel.solvers.base import Solution, Solver
from gapkernel.solvers.libsvm import Classification

__all__ = ["Classification", "Solution", "Solver"]
