"""Machine code of kernels, and what is bound to a workspace."""
