"""The backends: sets of kernels, each over an array class of its own."""
