"""Hand-written Python, read with ``ast``: kernels, composites, helpers, rules, and the library's calls of ops."""
