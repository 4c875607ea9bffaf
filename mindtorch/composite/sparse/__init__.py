"""The sparse ops that are written in other ops."""
