"""The normalization ops that are written in other ops."""
