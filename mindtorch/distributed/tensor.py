"""Tensors whose parts are in several processes: nothing is one."""

from typing import Any, NoReturn

from mindtorch.distributed.refusals import refuse
from mindtorch.tensor import Tensor


class DTensor(Tensor):
    """Programs ask whether a tensor is one; none can be made."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        refuse()


distribute_tensor = refuse
