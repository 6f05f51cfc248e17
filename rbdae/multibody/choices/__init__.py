"""What is chosen: velocities, rows, and where the unknowns are."""
