"""Where programs find `collate` in torch."""

from mindtorch.utils.data._utils import collate as collate
