"""Comparing tensors in tests."""

from mindtorch.testing.comparison import assert_close

__all__ = ["assert_close"]
