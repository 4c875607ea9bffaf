"""The transforms of functions: `vmap`, forward and reverse mode, Jacobians."""
