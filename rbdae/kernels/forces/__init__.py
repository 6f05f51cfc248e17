"""Kernels of the applied forces."""
