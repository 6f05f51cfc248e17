"""Kernels of the joints."""
