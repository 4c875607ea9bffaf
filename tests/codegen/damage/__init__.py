"""Damaged YAML: a small project whose files are damaged in thousands of ways, and what the generator makes of each."""
