"""Helpers of the formulas of the conv ops."""
