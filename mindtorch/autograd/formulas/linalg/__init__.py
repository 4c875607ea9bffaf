"""Helpers of the formulas of the linalg ops."""
