"""The activation ops that are written in other ops."""
