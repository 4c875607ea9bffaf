"""Helpers of the formulas of the view ops."""
