"""The indexing ops that are written in other ops."""
