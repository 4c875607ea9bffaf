"""Helpers of the formulas of the normalization ops."""
