"""Helpers of the formulas of the attention ops."""
