"""Helpers of the formulas of the reduction ops."""
