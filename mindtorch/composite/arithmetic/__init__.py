"""The arithmetic ops that are written in other ops."""
