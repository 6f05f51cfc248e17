"""How kernels become machine code."""
