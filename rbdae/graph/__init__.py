"""Expression graphs: what kernels compute, as data, recorded by running them on symbols."""
