"""The nn ops that are written in other ops."""
