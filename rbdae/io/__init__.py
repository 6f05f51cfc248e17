"""Trajectories in files."""
