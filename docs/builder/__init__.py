"""Makes the documentation site: a page per op, an index, the coverage of PyTorch, and the pages of docs/."""
