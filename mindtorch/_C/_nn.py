"""The names of `torch._C._nn`: the arguments of `to`, and the functions of ops by which traced programs call them."""

from typing import Any

from mindtorch._C._of_ops import functions_of_ops
from mindtorch._core.device import as_device, device
from mindtorch._core.dtype import dtype
from mindtorch._core.memory_format import memory_format
from mindtorch._tensor_methods.moving import options_of_to


def _parse_to(*args: Any, **kwargs: Any) -> tuple[device | None, dtype | None, bool, memory_format | None]:
    """The device, dtype, `non_blocking` and memory format in the arguments of `to`."""
    options = options_of_to(args, kwargs)
    wanted = options["device"]
    return (
        None if wanted is None else as_device(wanted),
        options["dtype"],
        options["non_blocking"],
        options["memory_format"],
    )


__getattr__ = functions_of_ops(__name__)
