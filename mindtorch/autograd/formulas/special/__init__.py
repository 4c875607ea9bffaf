"""Helpers of the formulas of the special ops."""
