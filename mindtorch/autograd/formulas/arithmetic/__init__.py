"""Helpers of the formulas of the arithmetic ops."""
