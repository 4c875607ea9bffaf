"""The reduction ops that are written in other ops."""
