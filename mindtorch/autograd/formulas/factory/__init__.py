"""Helpers of the formulas of the factory ops."""
