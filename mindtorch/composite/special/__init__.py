"""The special ops that are written in other ops."""
