"""Moments of kernel values over what is missing, compiled."""
