"""The linalg ops that are written in other ops."""
