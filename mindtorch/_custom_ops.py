"""The old place of what is in `mindtorch.library`."""

from mindtorch.library import get_ctx as get_ctx
