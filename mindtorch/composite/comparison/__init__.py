"""The comparison ops that are written in other ops."""
