"""Machine code by llvmlite: straight code from expression graphs, loops from a part of Python."""
