"""What needs nothing of the library: errors, warnings, lazy imports, trees of containers."""
