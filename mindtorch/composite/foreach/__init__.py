"""The foreach ops that are written in other ops."""
