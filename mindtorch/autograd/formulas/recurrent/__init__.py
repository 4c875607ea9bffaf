"""Helpers of the formulas of the recurrent ops."""
