"""The attention ops that are written in other ops."""
