"""The conv ops that are written in other ops."""
