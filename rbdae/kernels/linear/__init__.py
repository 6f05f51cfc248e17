"""Linear algebra of the constrained system."""
