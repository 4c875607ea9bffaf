"""Helpers of the formulas of the resampling ops."""
