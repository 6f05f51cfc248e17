"""Kernels of the bodies."""
