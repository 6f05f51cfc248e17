"""Expression graphs: the computations of kernels as data, recorded by running them on symbols."""
