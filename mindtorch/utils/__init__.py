"""Helpers around training."""

from mindtorch.utils import data

__all__ = ["data"]
