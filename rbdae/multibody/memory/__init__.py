"""A model in one formulation and selection, as kernels read it."""
