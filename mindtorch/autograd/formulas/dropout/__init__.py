"""Helpers of the formulas of the dropout ops."""
