"""Helpers of the formulas of the pointwise ops."""
