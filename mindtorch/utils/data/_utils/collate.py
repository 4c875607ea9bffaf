"""The functions of `mindtorch.utils.data.collate`, where programs find them in torch."""

from mindtorch.utils.data.collate import default_collate, default_convert

__all__ = ["default_collate", "default_convert"]
