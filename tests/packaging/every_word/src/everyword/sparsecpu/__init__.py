"""Hand-written functions."""
