"""The factory ops that are written in other ops."""
