"""Helpers of the formulas of the nn ops."""
