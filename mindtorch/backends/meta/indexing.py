"""What ops of indices give on the meta device, where no rule of shapes says it."""

from mindtorch._core.promotion import INT64
from mindtorch.backends.cpu.common.checks import check_static_size
from mindtorch.backends.meta.array import MetaArray
from mindtorch.backends.meta.results import deliver


def nonzero_static(input: MetaArray, size: int, fill_value: int = -1) -> MetaArray:
    check_static_size(size)
    return deliver(None, (size, input.ndim), INT64, None)
