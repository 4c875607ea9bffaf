"""Helpers of the formulas of the sparse ops."""
