"""Helpers of the formulas of the embedding ops."""
