"""Helpers of the formulas of the indexing ops."""
