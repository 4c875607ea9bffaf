"""The dropout ops that are written in other ops."""
