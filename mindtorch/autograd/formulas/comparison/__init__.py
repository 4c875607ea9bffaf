"""Helpers of the formulas of the comparison ops."""
