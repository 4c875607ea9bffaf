"""The padding ops that are written in other ops."""
