"""The view ops that are written in other ops."""
