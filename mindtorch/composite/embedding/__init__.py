"""The embedding ops that are written in other ops."""
