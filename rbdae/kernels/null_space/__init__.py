"""Kernels of the null-space forms."""
