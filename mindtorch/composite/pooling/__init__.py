"""The pooling ops that are written in other ops."""
