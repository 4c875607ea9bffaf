"""Helpers of the formulas of the loss ops."""
