"""Kernels as graphs, with their derivatives, and what evaluates them in Python."""
