"""A system laid out in arrays."""
