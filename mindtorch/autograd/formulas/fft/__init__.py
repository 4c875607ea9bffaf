"""Helpers of the formulas of the fft ops."""
