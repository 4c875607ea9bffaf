"""Helpers of the formulas of the pooling ops."""
