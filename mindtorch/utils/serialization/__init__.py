"""Settings of `save` and `load`."""

from mindtorch.utils.serialization import config as config
