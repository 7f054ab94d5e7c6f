"""Nebot-Troyano and Belanche, *A kernel extension to handle missing data*; its kernel is `HeterogeneousKernel`."""
