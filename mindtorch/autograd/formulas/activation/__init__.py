"""Helpers of the formulas of the activation ops."""
