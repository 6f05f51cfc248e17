"""A system as arrays, in any formulation."""
